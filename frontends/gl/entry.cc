// SPDX-License-Identifier: MIT
#include "entry.h"

#include <cairn/internal/front_end.h>

#include <limits>
#include <utility>

namespace cairn::gl {
namespace {

// The first number of an entry says what it is and in which layout.
constexpr uint32_t kShader = 0x31534743;   // "CGS1"
constexpr uint32_t kProgram = 0x32504743;  // "CGP2"
// The seal of a program's entry follows it.
constexpr size_t kSealSize = CAIRN_EGL_ENTRY_HEAD_SIZE - sizeof kProgram;
// Drivers report lengths with and without the byte that ends a log; applications allocate the
// length.
constexpr uint32_t kLogSlackMax = 4096;

void put(std::string &bytes, uint32_t number) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
        bytes.push_back(static_cast<char>(number >> shift & 0xff));
    }
}

void put(std::string &bytes, const Report &report) {
    put(bytes, static_cast<uint32_t>(report.log_length));
    put(bytes, static_cast<uint32_t>(report.log.size()));
    bytes.append(report.log);
}

bool begins_with(Bytes bytes, uint32_t number) {
    return bytes.size() >= sizeof number && get_le<uint32_t>(bytes, 0) == number;
}

// The report at `at`, which is moved behind it.
std::optional<Report> report_at(Bytes bytes, size_t &at) {
    if (bytes.size() < at + 2 * sizeof(uint32_t)) return std::nullopt;
    const size_t length = get_le<uint32_t>(bytes, at);
    const size_t size = get_le<uint32_t>(bytes, at + sizeof(uint32_t));
    at += 2 * sizeof(uint32_t);
    if (size > bytes.size() - at || length > size + kLogSlackMax ||
        length > std::numeric_limits<GLint>::max()) {
        return std::nullopt;
    }
    const auto *text = reinterpret_cast<const char *>(bytes.data() + at);
    at += size;
    return Report{std::string(text, size), static_cast<GLint>(length)};
}

}  // namespace

std::string encode_shader(const Report &report) {
    std::string bytes;
    put(bytes, kShader);
    put(bytes, report);
    return bytes;
}

std::optional<Report> decode_shader(Bytes bytes) {
    size_t end = sizeof kShader;
    auto report = begins_with(bytes, kShader) ? report_at(bytes, end) : std::nullopt;
    return end == bytes.size() ? report : std::nullopt;
}

std::string encode_program_head(const Report &report, GLenum format) {
    std::string bytes;
    put(bytes, kProgram);
    bytes.append(kSealSize, '\0');
    put(bytes, format);
    put(bytes, report);
    return bytes;
}

std::optional<ProgramEntry> decode_program(Bytes bytes) {
    constexpr size_t kFormat = sizeof kProgram + kSealSize;
    size_t end = kFormat + sizeof(uint32_t);
    auto report = begins_with(bytes, kProgram) ? report_at(bytes, end) : std::nullopt;
    if (!report || end == bytes.size()) return std::nullopt;
    return ProgramEntry{std::move(*report), get_le<uint32_t>(bytes, kFormat), bytes.subspan(end)};
}

}  // namespace cairn::gl
