// SPDX-License-Identifier: MIT
// The caches below a root, as tools see them: found by their lock file, opened in whatever version
// they have.
// Thread safety: externally synchronised. Failure: a Failure with the library's own explanation; a
// root that does not exist holds no caches and is no failure.
#pragma once

#include <cairn/cairn.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cache/crash_memory.h"
#include "failure.h"

namespace cairn::cli {

// What the library said about a cache: the first warning or error.
struct CacheLog {
    std::mutex mutex;
    std::string first_line;
};

// The cairn_log_fn that fills it; `user` is the CacheLog.
void keep_first_line(void *user, int severity, const char *line);
// What is in it now; "": nothing. Threads of the cache may be writing to it.
std::string first_line(CacheLog &log);

// An open cache, closed with its handle.
struct CacheCloser {
    std::shared_ptr<CacheLog> log;  // must outlive the cache

    void operator()(cairn_cache *cache) const { cairn_close(cache); }
};
using CacheHandle = std::unique_ptr<cairn_cache, CacheCloser>;

// An absolute path: of `dir`, or where that is empty the root that the library uses by itself. A
// Failure where there is none, or CAIRN_DIR is relative.
std::string resolve_root(const std::string &dir);

// Why the library refuses `root`; empty when it does not, also when there is no such directory yet.
std::string root_problem(const std::string &root);

// Throws a Failure when the library refuses `root`.
void require_usable_root(const std::string &root);

// For a name that no cache has, with one that may have been meant.
Failure no_such_cache(const std::string &root, const std::string &identifier);

// Identifiers of the caches directly below `root`, sorted.
std::vector<std::string> list_caches(const std::string &root);

// First line of the cache's `about` file, fit for a terminal; empty when there is none.
std::string about_cache(const std::string &root, const std::string &identifier);

// All of it.
std::string about_text(const std::string &root, const std::string &identifier);

enum class Access { read, write };

// Opens an existing cache, with the limit that it has.
CacheHandle open_cache(const std::string &root, const std::string &identifier, Access access);

struct NewCache {
    std::string identifier;
    uint64_t version;
    std::string about;
};

// Opens a cache to which entries are to be added and none lost, and makes it where it is missing. A
// Failure when it is there with contents of another version.
CacheHandle open_cache_to_fill(const std::string &root, const NewCache &cache);

// Throws a Failure "cannot <what>: ..." with the library's explanation, unless `result` is
// CAIRN_OK.
void require_ok(const CacheHandle &cache, int result, const std::string &what);

// Entries of a program cache that were dropped because a driver died with them; zeros for others.
CrashCounts crash_counts(const std::string &root, const std::string &identifier);

// When one of its files changed last, as each use does; in milliseconds since 1970.
uint64_t last_used_ms(const std::string &root, const std::string &identifier);

// Keys that starts of a program cache have recorded; 0 for other caches.
std::size_t start_keys(const std::string &root, const std::string &identifier);

cairn_stats cache_stats(const CacheHandle &cache);

}  // namespace cairn::cli
