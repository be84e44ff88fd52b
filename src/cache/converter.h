// Conversions of shaders: looked up in the cache `conversions`, or made by a worker and stored.
// SPDX-License-Identifier: MIT
//
// While the kind CONVERSIONS is switched off, and where the cache cannot be used, each conversion
// is made anew.
//
// Thread safety: any thread. A forked child makes its own.
// Failure: busy: not in time; unsupported: the worker is not installed; no_memory; io: it could not
// be started, or did not answer as it should. Each but the first two has a log line.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "cache/cache.h"
#include "cache/control_file.h"
#include "os/deadline.h"
#include "os/file.h"

namespace cairn {

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

// The program cairn-convert, which converts shaders for the library: what it has, and one
// conversion. docs/convert.md has what is said. Const methods may run concurrently; each starts a
// process of its own. not_found: it is not installed; denied, io and others: it cannot be started,
// or does not say what it should; busy: not in time.
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

class Converter {
  public:
    struct Options {
        std::string root;     // of the cache; empty: none is to be had
        std::string program;  // an absolute path
        std::uint64_t limit_bytes = 0;
        std::uint64_t timeout_ms = 0;
        std::uint64_t process_bytes = 0;  // of memory
        Log log;
    };
    enum class Source { cached, kept, made };
    struct Conversion {
        ConversionWorker::Answer::Outcome outcome = ConversionWorker::Answer::converted;
        Source source = Source::made;
        BlobRef blob;           // which the entry lies in
        ConversionEntry entry;  // the output is that of `converted` only
    };

    explicit Converter(const Options &options);
    Converter(const Converter &) = delete;
    Converter &operator=(const Converter &) = delete;

    // The options are NAME=VALUE, in any order.
    Result<Conversion> convert(const std::string &converter, std::vector<std::string> options,
                               Bytes input);
    // The worker's list of converters.
    Result<std::string> describe();

  private:
    using Key = std::array<std::byte, 32>;

    bool is_on() const;
    std::optional<WorkerDescription> noted_description() const;
    Result<WorkerDescription> find_description(Deadline deadline);
    std::optional<Conversion> look_up(const Key &key) const;
    bool store(const Key &key, Bytes entry, std::uint64_t cost_ns) const;
    Result<Conversion> make(const ConversionWorker::Request &request, Deadline deadline) const;
    Error error_of_worker(Error error) const;

    // Constant after construction.
    const Log log_;
    const ConversionWorker worker_;
    const std::uint64_t timeout_ms_, process_bytes_;
    const ControlFile control_;
    std::unique_ptr<Cache> cache_;  // null: nothing is kept
    Directory directory_;           // of the cache

    Mutex mutex_;  // held while the worker is asked what it has
    std::optional<WorkerDescription> description_ GUARDED_BY(mutex_);
};

}  // namespace cairn
