// The program cairn-convert, which converts shaders for the library: what it has, and one
// conversion. docs/convert.md has what is said.
// SPDX-License-Identifier: MIT
//
// Thread safety: const methods may run concurrently; each starts a process of its own.
// Failure: not_found: it is not installed; denied, io and others: it cannot be started, or does not
// say what it should; busy: not in time; no_memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "store/blob.h"

namespace cairn {

inline constexpr std::size_t kConversionInputMax = 16u << 20;

// Which converters there are, and the files that hold their code, as the worker described them.
class WorkerDescription {
  public:
    explicit WorkerDescription(std::string text) : text_(std::move(text)) {}

    const std::string &text() const { return text_; }
    // Changes whenever the converter could give another output; nullopt: there is none of this id.
    std::optional<std::string> version_of(std::string_view converter) const;
    // Whether it is of this program, and no file of it has changed since.
    bool is_current(const std::string &program) const;

  private:
    std::string text_;
};

// An entry of the cache `conversions`, and what it says.
struct ConversionEntry {
    Bytes messages, output;
};
std::optional<ConversionEntry> decode_conversion(Bytes entry);

class ConversionWorker {
  public:
    explicit ConversionWorker(std::string program) : program_(std::move(program)) {}

    const std::string &program() const { return program_; }
    Result<WorkerDescription> describe(std::uint64_t deadline_ns) const;

    struct Request {
        std::string converter;
        std::vector<std::string> options;  // NAME=VALUE
        Bytes input;
        std::uint64_t timeout_ms;
        std::uint64_t memory_bytes;
    };
    struct Answer {
        enum Outcome : std::uint32_t { converted = 0, refused = 1, no_converter = 2, option = 3 };
        Outcome outcome;
        std::string version;  // of the converter that was used
        BlobRef entry;        // its value is what decode_conversion takes
    };
    Result<Answer> convert(const Request &request, std::uint64_t deadline_ns) const;

  private:
    const std::string program_;
};

}  // namespace cairn
