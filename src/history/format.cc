// SPDX-License-Identifier: MIT
#include "history/format.h"

#include <algorithm>

namespace cairn {
namespace {

constexpr std::uint64_t kStoredBit = std::uint64_t{1} << 39;
constexpr std::uint64_t kCheckMask = kStoredBit - 1;
constexpr std::uint64_t kEpochS = 1'577'836'800;  // 2020-01-01
constexpr std::uint32_t kMinutesMax = (1u << 24) - 1;

}  // namespace

const char *context_field_name(ContextField field) {
    constexpr std::array<const char *, kContextFields> kNames = {
        "requested attributes", "GL_VERSION",       "GL_SHADING_LANGUAGE_VERSION",
        "GL_EXTENSIONS",        "GL_CONTEXT_FLAGS", "GL_CONTEXT_PROFILE_MASK"};
    return kNames[static_cast<std::size_t>(field) % kContextFields];
}

std::uint64_t differing_fields(const std::optional<ContextRecord> &a,
                               const std::optional<ContextRecord> &b) {
    std::uint64_t fields = 0;
    for (std::size_t i = 0; a && b && i < kContextFields; ++i) {
        if (a->fields[i] != b->fields[i]) fields |= std::uint64_t{1} << i;
    }
    return fields;
}

std::uint64_t program_state(const ProgramRecord &record, std::uint32_t minutes, bool is_stored) {
    const std::uint64_t word =
        std::uint64_t{minutes & kMinutesMax} << 40 | (is_stored ? kStoredBit : 0);
    const std::array words = {record.sources, record.context, record.settings_and_key, word};
    return word | (checksum(std::as_bytes(std::span(words)), sizeof record) & kCheckMask);
}

ProgramStateRead read_program_state(const ProgramRecord &record) {
    const auto minutes = static_cast<std::uint32_t>(record.state >> 40);
    const bool is_stored = (record.state & kStoredBit) != 0;
    return {program_state(record, minutes, is_stored) == record.state, is_stored, minutes};
}

std::uint64_t check_of_sources(const SourcesHead &head, std::string_view text) {
    const std::array words = {
        checksum(std::as_bytes(std::span(head.key)), head.size),
        checksum(as_bytes(text), head.magic),
    };
    return checksum(std::as_bytes(std::span(words)), sizeof head);
}

std::uint32_t minutes_of(std::uint64_t wall_ns) {
    const std::uint64_t seconds = wall_ns / 1'000'000'000;
    const std::uint64_t minutes = seconds < kEpochS ? 0 : (seconds - kEpochS) / 60;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(minutes, kMinutesMax));
}

std::uint64_t seconds_of_minutes(std::uint32_t minutes) {
    return kEpochS + std::uint64_t{minutes} * 60;
}

}  // namespace cairn
