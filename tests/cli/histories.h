// A cache of a program with a history, as a front end makes them.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised. Failure: aborts.
#pragma once

#include <cairn/cairn_program_cache.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "history/history.h"

namespace cairn::cli_test {

// A run of an application, from its construction to its destruction.
class HistoryRun {
  public:
    HistoryRun(const std::string &root, const std::string &application,
               const std::string &identity) {
        cairn_program_cache_options options = {};
        options.size = sizeof options;
        options.root = root.c_str();
        options.application = application.c_str();
        options.identity = identity.c_str();
        options.version = 1;
        cairn_cache *cache = nullptr;
        if (cairn_program_cache_open(&options, &cache) != CAIRN_OK) fail("the cache");
        identifier_ = cairn_program_cache_identifier(cache);
        cairn_close(cache);
        auto opened = History::open({.root = root,
                                     .identifier = identifier_,
                                     .driver = 1,
                                     .limit_bytes = std::uint64_t{1} << 30});
        if (!opened.ok()) fail("the history");
        history_ = std::move(opened.value());
    }

    const std::string &identifier() const { return identifier_; }
    History &history() { return *history_; }

    void hit(unsigned count, std::uint64_t saved_ns) {
        for (unsigned i = 0; i < count; ++i) {
            history_->add(count_of(Outcome::hit_disk), 1);
            history_->add(ns_of(Outcome::hit_disk), 50'000);
            history_->add(Number::saved_ns, saved_ns);
        }
    }
    void miss(Outcome outcome, std::uint64_t cost_ns, std::uint8_t key,
              Detail detail = Detail::none, std::uint64_t other = 0) {
        history_->add(count_of(outcome), 1);
        history_->add(ns_of(outcome), cost_ns);
        Link link = {outcome, detail, {}, cost_ns, other};
        link.key.fill(key);
        history_->note_link(link);
    }

  private:
    [[noreturn]] static void fail(const char *what) {
        std::fprintf(stderr, "%s cannot be had\n", what);
        std::abort();
    }

    std::string identifier_;
    std::unique_ptr<History> history_;
};

}  // namespace cairn::cli_test
