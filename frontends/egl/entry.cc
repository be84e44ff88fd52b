// SPDX-License-Identifier: MIT
#include "entry.h"

#include <cairn/internal/front_end.h>

#include <limits>

namespace cairn::egl {
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

// Takes numbers and texts off the front of a span. After the first one that is missing, all are
// empty.
class EntryReader {
  public:
    explicit EntryReader(std::span<const std::byte> bytes) : rest_(bytes) {}

    std::span<const std::byte> take(size_t size) {
        ok_ = ok_ && size <= rest_.size();
        const auto front = rest_.first(ok_ ? size : 0);
        rest_ = rest_.subspan(front.size());
        return front;
    }

    uint32_t number() {
        uint32_t value = 0;
        const auto four = take(4);
        for (size_t i = 0; i < four.size(); ++i) {
            value |= std::to_integer<uint32_t>(four[i]) << (8 * i);
        }
        return value;
    }

    Report report() {
        Report result;
        const uint32_t length = number();
        const auto text = take(number());
        result.log_length = static_cast<GLint>(length);
        ok_ = ok_ && length <= static_cast<uint32_t>(std::numeric_limits<GLint>::max()) &&
              length <= text.size() + kLogSlackMax;
        result.log.assign(reinterpret_cast<const char *>(text.data()), text.size());
        return result;
    }

    std::span<const std::byte> rest() const { return rest_; }
    bool ok() const { return ok_; }

  private:
    std::span<const std::byte> rest_;
    bool ok_ = true;
};

}  // namespace

std::string encode_shader(const Report &report) {
    std::string bytes;
    put(bytes, kShader);
    put(bytes, report);
    return bytes;
}

std::optional<Report> decode_shader(std::span<const std::byte> bytes) {
    EntryReader reader(bytes);
    const bool is_shader = reader.number() == kShader;
    Report report = reader.report();
    if (!is_shader || !reader.ok() || !reader.rest().empty()) {
        return std::nullopt;
    }
    return report;
}

std::string encode_program_head(const Report &report, GLenum format) {
    std::string bytes;
    put(bytes, kProgram);
    bytes.append(kSealSize, '\0');
    put(bytes, format);
    put(bytes, report);
    return bytes;
}

std::optional<ProgramEntry> decode_program(std::span<const std::byte> bytes) {
    EntryReader reader(bytes);
    const bool is_program = reader.number() == kProgram;
    reader.take(kSealSize);
    ProgramEntry entry;
    entry.format = reader.number();
    entry.report = reader.report();
    entry.binary = reader.rest();
    if (!is_program || !reader.ok() || entry.binary.empty()) {
        return std::nullopt;
    }
    return entry;
}

}  // namespace cairn::egl
