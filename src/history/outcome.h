// What a look-up of a front end ends in: docs/why.md.
// SPDX-License-Identifier: MIT
//
// The numbers are in files and in memory that processes share: none is ever used for something else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cairn {

enum class Outcome : std::uint8_t {
    // Found.
    hit_memory = 0,
    hit_disk = 1,
    hit_pack = 2,
    // Not found, or not usable, so that the driver made the program.
    never_seen = 3,
    other_driver = 4,    // seen with another driver, or another version or setting of it
    other_context = 5,   // seen in a context with other traits
    other_settings = 6,  // the same sources with other bindings or settings
    evicted = 7,
    cleared = 8,  // nothing is known from before the cache was emptied
    damaged = 9,
    refused = 10,        // by the driver
    kept_out = 11,       // the driver has died with it
    not_cacheable = 12,  // Detail says why
    unusable = 13,       // the cache
    late = 14,           // another process or machine was making it or had it
    unknown = 15,        // Detail says why it cannot be known
};
inline constexpr std::size_t kOutcomes = 16;

constexpr bool is_hit(Outcome outcome) {
    return outcome <= Outcome::hit_pack;
}

// More about an outcome; which of them belong to which is in docs/why.md.
enum class Detail : std::uint8_t {
    none = 0,
    // not_cacheable
    switched_off = 1,     // `cairn control` switched caching off
    memory_off = 2,       // the application gave its cache no room (GL_ANGLE_program_cache_control)
    no_binaries = 3,      // the driver gives no program binaries, or not of this program
    contexts_differ = 4,  // contexts that share objects compile differently
    sources_replaced = 5,   // MESA_SHADER_READ_PATH
    includes_others = 6,    // a source includes named strings
    shader_not_known = 7,   // a shader failed, is a binary, or is one that Cairn has not seen
    program_not_known = 8,  // the program was changed in a way that Cairn does not understand
    linked_before = 9,      // separable, or while there is transform feedback
    not_linked = 10,        // the driver refused the program: there is nothing to keep
    hash_collision = 12,    // a session of D3D12 has another key of the same hash
    // unusable
    not_opened = 20,  // the cache could not be opened
    not_stored = 21,  // when it was made last, it could not be stored
    // unknown
    in_memory_only = 30,   // no cache on disk is used, so that nothing is remembered
    behind_a_broker = 31,  // the process may open no files
    not_remembered = 32,   // what the cache remembers could not be opened
    gone = 33,             // it was made before, and is no longer there
    // kept_out
    dropped_once = 40,  // and may be kept again
    // late
    leased = 50,          // another process was making it
    asked = 51,           // the user's agent did not answer in time
    made_meanwhile = 52,  // another process, or thread, made it at the same time
};

// In output for programs, and part of names in metrics: "never-seen".
const char *outcome_name(Outcome outcome);
// For people: "never seen before".
const char *outcome_words(Outcome outcome);
// For people, as a reason: "the driver gives no program binaries"; "" for none.
const char *detail_words(Detail detail);

}  // namespace cairn
