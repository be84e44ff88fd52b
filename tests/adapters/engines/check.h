// For the programs that are compiled with an engine's own headers: a check, and a cache in memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <cairn/cairn.hpp>
#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) {                                                      \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                        \
        }                                                                        \
    } while (false)

inline cairn::Cache open_cache() {
    cairn::Options options;
    options.identifier = "engine";
    options.mode = cairn::Mode::memory;
    auto opened = cairn::Cache::open(options);
    CHECK(opened.status == cairn::Status::ok);
    return std::move(opened.cache);
}
