// SPDX-License-Identifier: MIT
#include "warm_set.h"

#include <cairn/cairn.h>
#include <cairn/cairn_egl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace cairn::cli {
namespace {

constexpr std::string_view kMagic = "CAIRNSET";
constexpr uint32_t kFormatVersion = 1;
constexpr size_t kCheckSize = CAIRN_PROGRAM_KEY_SIZE;
constexpr size_t kAboutSizeMax = 65536;

// Places in the head, behind the magic bytes and the version of the format.
constexpr size_t kCountAt = 12, kVersionAt = 16, kIdentifierSizeAt = 24, kAboutSizeAt = 28;
constexpr size_t kHeadSize = 32;

template <typename Number>
void put(std::string &bytes, Number number) {
    std::array<std::byte, sizeof number> raw;
    put_le(MutableBytes(raw), 0, number);
    bytes.append(reinterpret_cast<const char *>(raw.data()), raw.size());
}

std::string check_of(std::string_view bytes) {
    std::string check(kCheckSize, '\0');
    cairn_key_builder *builder = cairn_key_begin("cairn-warm-set/1");
    cairn_key_add(builder, 1, bytes.data(), bytes.size());
    cairn_key_finish(builder, reinterpret_cast<uint8_t *>(check.data()));
    return check;
}

std::string_view as_text(Bytes bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

Bytes take(Bytes &rest, size_t size) {
    const Bytes taken = rest.first(size);
    rest = rest.subspan(size);
    return taken;
}

// An entry's key, cost and size, without the binary.
constexpr size_t kEntryHeadSize = CAIRN_EGL_KEY_SIZE + 4 + 4;

// Takes an entry off the front. False: no program's is there.
bool take_entry(Bytes &rest, WarmEntry &entry) {
    if (rest.size() < kEntryHeadSize) return false;
    const Bytes head = take(rest, kEntryHeadSize);
    std::memcpy(entry.key.data(), head.data(), entry.key.size());
    entry.cost_us = get_le<uint32_t>(head, CAIRN_EGL_KEY_SIZE);
    const size_t size = get_le<uint32_t>(head, CAIRN_EGL_KEY_SIZE + 4);
    if (size > kWarmBinarySizeMax || size > rest.size()) return false;
    entry.binary = as_text(take(rest, size));
    return cairn_egl_entry_check(entry.key.data(), entry.key.size(), entry.binary.data(), size) ==
           CAIRN_OK;
}

// Why this cannot be such a file; empty when it may be one.
std::string envelope_problem(Bytes file) {
    if (!as_text(file).starts_with(kMagic)) return "it is no file of `cairn export`";
    if (file.size() >= kCountAt && get_le<uint32_t>(file, kMagic.size()) != kFormatVersion) {
        return fmt::format("it has format version {}, and this `cairn` reads {}",
                           get_le<uint32_t>(file, kMagic.size()), kFormatVersion);
    }
    const size_t end = file.size() - std::min(kCheckSize, file.size());
    if (end < kMagic.size() || check_of(as_text(file.first(end))) != as_text(file.subspan(end))) {
        return "it is damaged or not complete";
    }
    return "";
}

}  // namespace

std::string encode_warm_set(const WarmSet &set) {
    std::string bytes(kMagic);
    const std::string about = set.about.substr(0, kAboutSizeMax);
    put(bytes, kFormatVersion);
    put(bytes, static_cast<uint32_t>(set.entries.size()));
    put(bytes, set.version);
    put(bytes, static_cast<uint32_t>(set.identifier.size()));
    put(bytes, static_cast<uint32_t>(about.size()));
    bytes.append(set.identifier).append(about);
    for (const WarmEntry &entry : set.entries) {
        bytes.append(entry.key.begin(), entry.key.end());
        put(bytes, entry.cost_us);
        put(bytes, static_cast<uint32_t>(entry.binary.size()));
        bytes.append(entry.binary);
    }
    return bytes + check_of(bytes);
}

uint64_t encoded_size(const WarmEntry &entry) {
    return kEntryHeadSize + entry.binary.size();
}

bool begins_as_warm_set(std::string_view bytes) {
    return bytes.starts_with(kMagic.substr(0, bytes.size()));
}

std::optional<WarmSet> decode_warm_set(Bytes file, std::string &problem) {
    problem = envelope_problem(file);
    if (!problem.empty()) return std::nullopt;
    Bytes rest = file.first(file.size() - kCheckSize);
    problem = "its head makes no sense";
    if (rest.size() < kHeadSize) return std::nullopt;
    const Bytes head = take(rest, kHeadSize);
    const uint64_t count = get_le<uint32_t>(head, kCountAt);
    const size_t identifier_size = get_le<uint32_t>(head, kIdentifierSizeAt);
    const size_t about_size = get_le<uint32_t>(head, kAboutSizeAt);
    // A hostile author can write any number and a good check: take memory for real bytes only.
    if (identifier_size > CAIRN_IDENTIFIER_SIZE_MAX || about_size > kAboutSizeMax ||
        rest.size() < identifier_size + about_size + count * kEntryHeadSize) {
        return std::nullopt;
    }
    WarmSet set;
    set.version = get_le<uint64_t>(head, kVersionAt);
    set.identifier = as_text(take(rest, identifier_size));
    set.about = as_text(take(rest, about_size));
    for (uint64_t i = 0; i < count; ++i) {
        if (!take_entry(rest, set.entries.emplace_back())) {
            problem = fmt::format("its entry {} of {} is not a program's", i + 1, count);
            return std::nullopt;
        }
    }
    problem = rest.empty() ? "" : "there is more in it than its entries";
    return rest.empty() ? std::optional(std::move(set)) : std::nullopt;
}

}  // namespace cairn::cli
