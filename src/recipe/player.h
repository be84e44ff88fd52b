// What `cairn warm` and its player, the program cairn-warm, say to each other.
// SPDX-License-Identifier: MIT
//
// A message is its size (4 bytes, little-endian), and so many bytes. `cairn warm` writes a
// ContextKind first, and reads a Ready; then each Work, and reads a Done; it writes the next one when
// it has read that. When it closes its end the player waits until drivers and caches have written
// everything, and exits with 0. A player that dies or is silent for too long has failed at the Work
// that it has: that is how a driver that crashes or hangs shows.
//
// Thread safety: values and pure functions. Failure: as recipe.h; neither side trusts the other.
#pragma once

#include "recipe/recipe.h"

namespace cairn::recipe {

// The most bytes of a message.
inline constexpr std::size_t kMessageMax = std::size_t{64} << 20;

// The player's environment: for which application it works (the name that its caches have, without
// "gl-"), the executable file of that, and the name that it was called by (both may be missing).
inline constexpr const char *kWarmVariable = "CAIRN_WARM";
inline constexpr const char *kWarmInvocationVariable = "CAIRN_WARM_INVOCATION";
inline constexpr const char *kWarmExecutableVariable = "CAIRN_WARM_EXECUTABLE";

// A program to make, and the states to draw in.
struct Work {
    Program program;
    std::vector<Source> sources;  // of each stage
    std::vector<DrawState> states;
    bool operator==(const Work &) const = default;
};

struct Ready {
    std::uint32_t is_ready = 0;
    std::string cache;  // identifier of the cache that programs go to; "": none does
    std::string
        problem;  // why there is no such context, or what the kernel lets the player do; for people
    bool operator==(const Ready &) const = default;
};

enum class Outcome : std::uint32_t {
    made,     // the driver has linked it
    refused,  // it does not compile or link here
    lacking,  // the driver had no memory for it, or has lost the context
};

struct Done {
    std::uint32_t outcome = 0;             // an Outcome
    std::uint32_t drawn = 0, skipped = 0;  // states
    std::string problem;
    bool operator==(const Done &) const = default;
};

std::string encode(const Work &work);
std::string encode(const Ready &ready);
std::string encode(const Done &done);

std::optional<Work> decode_work(Bytes bytes);
std::optional<Ready> decode_ready(Bytes bytes);
std::optional<Done> decode_done(Bytes bytes);

}  // namespace cairn::recipe
