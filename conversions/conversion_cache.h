// Conversions that are made once: the results of converters, kept in the cache "conversions".
// SPDX-License-Identifier: MIT
//
// The key is everything that the result depends on: the converter's id and version, every option
// with its value, and the input (docs/convert.md). Failures are not kept. While the kind
// CONVERSIONS is disabled (cairn_control.h) each conversion is made anew; nothing is looked up or
// stored.
//
// Thread safety: externally synchronised. Any number of processes share the cache.
// Failure: without a usable cache conversions are made anew, and problem() says why.
#pragma once

#include <cairn/cairn_control.h>

#include <memory>
#include <mutex>
#include <string>

#include "conversions/converter.h"
#include "conversions/sandbox.h"

namespace cairn::conversions {

inline constexpr const char *kIdentifier = "conversions";

enum class Source {
    cache,
    converter,           // and stored
    converter_uncached,  // not looked up, or not stored
};

struct Result {
    Converted converted;
    Source source = Source::converter_uncached;
};

// The first warning or error that a cache has logged.
struct FirstLine {
    std::mutex mutex;
    std::string text;

    static void keep(void *user, int severity, const char *line);
};

class ConversionCache {
  public:
    // `root` is that of the caches; made where it is missing.
    explicit ConversionCache(const std::string &root, const Limits &limits = {});
    ConversionCache(const ConversionCache &) = delete;
    ConversionCache &operator=(const ConversionCache &) = delete;

    // REQUIRES: options as complete_options() gives them.
    Result convert(const Converter &converter, const Options &options, std::string_view input);

    // Why nothing is cached; empty where it is.
    const std::string &problem() const { return problem_; }

  private:
    struct CloseCache {
        void operator()(cairn_cache *cache) const { cairn_close(cache); }
    };
    struct CloseControl {
        void operator()(cairn_control *control) const { cairn_control_close(control); }
    };

    bool is_on() const;
    bool look_up(std::string_view key, Converted &found) const;
    bool store(std::string_view key, const Converted &made, std::uint64_t cost_us) const;

    const Limits limits_;
    std::string problem_;
    FirstLine log_;  // outlives the cache, whose threads write to it
    std::unique_ptr<cairn_control, CloseControl> control_;
    std::unique_ptr<cairn_cache, CloseCache> cache_;
};

}  // namespace cairn::conversions
