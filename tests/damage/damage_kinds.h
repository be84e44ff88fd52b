// The ways in which a file of a cache is damaged: a table of kinds, each for one file, all drawn from a
// seed.
// SPDX-License-Identifier: MIT
//
// Thread safety: none needed. Files may be in use by other processes meanwhile.
// Ownership: nothing is kept open; what a kind makes beside the file belongs to the cache's directory.
// Failure: a kind that the file cannot have any more (it is gone, or a directory by now) changes
// nothing, and says so.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "damage/sample_cache.h"
#include "support/random.h"

namespace cairn_test {

// Files of a cache's directory, by what they are for.
enum class FileKind : unsigned {
    index,
    segment,
    lock,
    ghosts,
    reuse,
    about,
    leases,
    layer,
    order,
    history,
    crashes,
    generation,
    count
};

const char *file_kind_name(FileKind kind);
// Of a file's name without its directory; nullopt: it is none of these.
std::optional<FileKind> file_kind_of(std::string_view name);

// Whether processes may have the files mapped. Who shortens a mapped file in place ends them by a
// SIGBUS of the kernel, and the README says so: that alone is not done then.
enum class Use { at_rest, mapped };

struct DamageScene {
    std::string directory;   // of the cache that is damaged
    std::string other;       // of another cache, which stays as it is; "": there is none
    std::string older = {};  // of an earlier state of the cache; "": there is none
    Use use = Use::at_rest;
    std::vector<std::uint64_t> mapped =
        {};  // inodes that processes may have mapped, whatever their names
};

struct Damaged {
    std::vector<Range> ranges;  // all bytes that may have changed
    std::string what;           // for people

    bool touched(std::string_view file) const;
};

class Damager;

struct DamageKind {
    const char *name;
    void (*apply)(Damager &damager, unsigned argument);
    unsigned argument = 0;
    // The file loses bytes in place.
    bool shortens = false;
    // Counts only for a user who is not root.
    bool is_permission = false;
};

std::span<const DamageKind> damage_kinds();
const DamageKind *find_damage_kind(std::string_view name);
// Not: the index, of which an earlier state leads to what was stored then, and nothing in it tells.
bool can_have(const DamageKind &kind, FileKind file, Use use);

// Notes which inodes have names of files that are mapped. Call it before each damage, as files come and
// go.
void note_mapped(DamageScene &scene);

// Damages the file `name` of the cache.
Damaged damage_file(const DamageKind &kind, const DamageScene &scene, const std::string &name,
                    Random &random);

}  // namespace cairn_test
