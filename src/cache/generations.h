// Generations: caches side by side, one for each identity of driver and application build; which
// there are, what each may take, and which have to go.
// SPDX-License-Identifier: MIT
//
// A generation is a cache, and in its directory the file `generation`, which says in words what it
// is of. When it was last used is when that file was last modified.
//
// A generation that nobody has used for a long time is removed, and so are the least recently used
// ones while all together take more room than they may. Then it is the turn of applications that
// take more than their share: one cannot flush the others. An application that was given a limit of
// its own has that, and is not counted with the others. The latest one of an application is not
// superseded: it loses what was used longest ago. None is touched that somebody has open.
//
// An application's recipes (recipe/recipe.h) are a generation, too, which is of no driver. It counts as
// used when any generation of the application was, is not taken for the latest one, and goes as a
// whole only with the last of the others.
//
// The limit that the user gives an application is that of all its generations together. Each keeps
// below its part of it by itself. The upkeep may run in the process of another application, so each
// generation's directory says in the file `limit` what the user gave its application.
//
// A directory is renamed before its files are deleted: a process that is killed in between leaves
// a directory that nobody takes for a cache, and the next process deletes it.
//
// Thread safety: functions without state; any number of processes may be at it. wishes_for()
// reads the environment.
// Failure: as their Status. A generation that cannot be read is none, and one that cannot be
// removed stays. A limit that is not understood counts for nothing, and has a log line; a file that
// cannot be written is for the next one to write.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "cache/layers.h"
#include "os/file.h"

namespace cairn {

inline constexpr const char *kGenerationFileName = "generation";

struct Generation {
    std::string application;
    std::string build;
    std::string identity;
};

// Whether an application may be named so: 1 to 64 characters as in identifiers.
bool valid_application(const std::string &application);

// The identifier of its cache: the application, a dash, and 16 digits of a hash of it all.
std::string identifier_of(const Generation &generation);

// Whether an identifier has that form.
bool may_be_generation(std::string_view identifier);

// The text of the file.
std::string describe(const Generation &generation);

// The application that such a text names; nullopt: it is no such text, or of another cache.
std::optional<std::string> application_of(std::string_view text, std::string_view identifier);

// Whether such a text is of an application's recipes.
bool is_of_recipes(std::string_view text);

// The cache in this directory, be it a generation or not, as packs know it.
LayeredSubject subject_of(const Directory &directory, const std::string &identifier,
                          std::uint64_t version);

// Says in a cache's directory what it is, and that it is being used now. What was said there before
// does not matter: the cache's name has the hash of what it is, and a store holds nothing from a cache
// of another name. What cannot be said, as on a full disk, is for the next one to say.
void claim(const Directory &directory, const Generation &generation);

// What the user wants of an application's caches; nullopt: the user has said nothing. The
// configuration calls an application what people call it, without the prefix "gl-" of the
// front ends for GL.
struct Wishes {
    // The room that they may take: by CAIRN_LIMIT, else by the configuration. At least kLimitLeast.
    std::optional<std::uint64_t> limit_bytes;
    std::optional<bool> compress;
    bool records = true;  // what starts use
    bool shares = false;  // by the user's agent; never what is not recorded
    // So long a miss may wait for the user's agent; 0: nobody asks it. Never of what is not shared.
    std::uint64_t ask_ms = 0;
};
Wishes wishes_for(std::string_view application, const Log &log);

// Below this, the parts that generations have would be smaller than a cache can be.
inline constexpr std::uint64_t kLimitLeast = 4u << 20;

// The limit in a generation's directory.
std::optional<std::uint64_t> recorded_limit(const Directory &directory);
// True: it said something else before.
bool record_limit(const Directory &directory, std::optional<std::uint64_t> limit_bytes);

struct KnownGeneration {
    std::string identifier;
    std::string application;
    std::uint64_t used_ns;                     // since 1970, to the hour
    std::uint64_t bytes;                       // on disk
    std::optional<std::uint64_t> limit_bytes;  // that its application was given
    bool is_recipes = false;
    // When somebody last had a use for it. Of recipes, that is when any generation of the application
    // was used.
    std::uint64_t needed_ns = 0;
};

// `stop` may be null; once it is set, no more are looked at.
std::vector<KnownGeneration> list_generations(const Directory &root,
                                              const std::atomic<bool> *stop = nullptr);

// busy: somebody has it open, or has used it since `used_ns`.
Status remove_generation(const Directory &root, const KnownGeneration &generation);

// Removes a cache with all that is in its directory, also while processes have it open.
Status remove_cache(const Directory &root, const std::string &identifier);

// Removes the files of all formats but this one (store/formats.h), also while processes of other
// versions have the cache open: those of a format that is known find nothing from then on. `cache`: its
// directory.
Status remove_other_formats(const Directory &cache, const std::string &identifier,
                            std::uint32_t own);

struct Upkeep {
    // Generations that were not used for longer go, and formats that were not for four times as long.
    std::uint64_t unused_max_ns;
    std::uint64_t total_bytes;  // of all generations of applications without a limit of their own
};

// Whether it is time to look, for a process that has this cache open: where there is anything else,
// an hour after somebody has. Then it counts as done.
bool is_upkeep_due(const Directory &root, const std::string &identifier);

// Removes what has to go. Ends early when `stop` is set; then it is due again.
void remove_superseded(const std::string &path, const Upkeep &upkeep, const std::atomic<bool> &stop,
                       const Log &log);

}  // namespace cairn
