// The directory in which a driver keeps the machine code of one application, `<root>/.driver/NAME/`,
// and what packs put there.
// SPDX-License-Identifier: MIT
//
// A driver makes machine code when it draws, which is not in program binaries. It keeps that in
// files of its own. Where a pack has such files for an application, or the user asks for it, the
// application's driver gets a directory of its own, which begins with what the driver's usual
// directory has, so that no start gets colder. docs/driver_cache.md says how drivers are told.
//
// The files are the driver's: their names are checked against its layouts, their bytes are copied.
// A file appears whole, and none is replaced. Beside the drivers' directories there are files of
// ours: `placed-ID` says that all files of a pack's part have been put there, so that it is done
// once, and what was cleared does not come back; `recording` names the last recording; `driver` says
// which driver has used it last; `used` was last modified when the directory was last used; `lock` is
// locked by who puts files there.
//
// Thread safety: functions without state; any number of processes may be at it.
// Failure: what cannot be written is left out: the driver then compiles it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "cache/layers.h"
#include "os/file.h"

namespace cairn {

// What a directory of an application's own may have, besides what its driver writes.
inline constexpr std::size_t kDriverFilesMax = 16384;
inline constexpr std::uint64_t kDriverBytesMax = 256u << 20;
inline constexpr std::uint64_t kDriverFileMax = 64u << 20;

// The directory of all of them, and of one.
std::string driver_caches_path(const std::string &root);
std::string driver_cache_path(const std::string &root, const std::string &application);

struct DriverCacheWish {
    bool is_users = false;  // by the configuration
    // Not empty: it is to have what this recording makes, and nothing else. Each new name begins
    // anew.
    std::string recording;
    // A new directory takes no longer than this to begin with what the driver has in its usual one.
    std::uint64_t seeding_us = 100'000;
};
// Where the application's driver is to keep machine code; nullopt: where it always does. There is
// such a directory where there was one, the wish says so, or a pack has files for it.
std::optional<std::string> open_driver_cache(const std::string &root,
                                             const std::string &application,
                                             const DriverCacheWish &wish, const Log &log);
// Whether open_driver_cache() would find or make one.
bool wants_driver_cache(const std::string &root, const std::string &application,
                        const DriverCacheWish &wish);

// What a part with a driver's files is of: the application, and those lines of a generation's text
// that are about the driver and not about one of its contexts.
LayeredSubject driver_subject(const std::string &application, std::string_view generation);

// Notes that this driver uses the application's directory, where there is one.
void note_driver(const std::string &root, const LayeredSubject &subject);
// Whose files they are, as was noted; nullopt: nobody knows.
std::optional<LayeredSubject> noted_driver(const std::string &root, const std::string &application);

// Puts the files that packs have for this driver into the application's directory, where there is
// one. Returns how many were new.
std::uint64_t place_driver_files(const std::string &root, const LayeredSubject &subject,
                                 const std::vector<std::string> &paths, const Log &log);

// Calls `visit` with each of the driver's files, by its name below the application's directory, in
// order of the names.
void visit_driver_files(
    const std::string &root, const std::string &application,
    const std::function<void(const std::string &name, const File &file)> &visit);

// One of these files.
Result<File> open_driver_file(const std::string &root, const std::string &application,
                              const std::string &name);

// Deletes the driver's files of an application; of all, where it is empty. What packs have for it
// does not come back.
Status clear_driver_caches(const std::string &root, const std::string &application, const Log &log);
// The same with the directories themselves: the next start begins anew.
Status remove_driver_caches(const std::string &root, const std::string &application,
                            const Log &log);

// Removes those of applications that were not started for so long, and the least recently used ones
// while all take more than `total_bytes`.
void tidy_driver_caches(const std::string &root, std::uint64_t unused_max_ns,
                        std::uint64_t total_bytes, const Log &log);

// Bytes of all files of an application's driver.
std::uint64_t driver_cache_bytes(const std::string &root, const std::string &application);

}  // namespace cairn
