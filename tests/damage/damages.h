// Ways in which the files of a cache can be damaged, chosen at random.
// SPDX-License-Identifier: MIT
//
// Thread safety: none needed. Files may be in use by other processes meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "damage/sample_cache.h"
#include "support/random.h"

namespace cairn_test {

enum class Damage : unsigned {
    flips,      // 1 to 50 bits
    zeros,      // 1 to 50 pages of zeros
    garbage,    // 1 to 50 pages, or parts of them, of random bytes
    cut,        // a file loses its end, or all of its bytes
    extension,  // random bytes behind the end
    swap,       // a segment is exchanged with another one, of the same cache or another
    foreign,    // a file is replaced by its like of another cache
    deletion,   // a file is removed
    mixture,    // several of these
    count
};

const char *damage_name(Damage damage);

// Whether changing the index is limited to what a process that has it mapped survives: its file
// must not shrink.
enum class Index { at_rest, mapped };

struct Damaged {
    std::vector<Range> ranges;  // all bytes that may have changed
    std::string what;           // for people
};

// Damages the cache in `directory`; `foreign` is the directory of another cache.
Damaged damage_cache(Damage damage, const std::string &directory, const std::string &foreign,
                     Index index, Random &random);

}  // namespace cairn_test
