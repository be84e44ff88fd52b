// SPDX-License-Identifier: MIT
// The caches below a root, and the control of them, as tools see them. A cache is a directory with
// a lock file; it is opened in the version that it has.
// Thread safety: externally synchronised.
// Failure: a Failure with the library's own explanation. A root that does not exist holds no caches
// and is no failure.
#pragma once

#include <cairn/cairn.h>
#include <cairn/cairn_control.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cache/crash_memory.h"
#include "command.h"
#include "os/file.h"
#include "output.h"

namespace cairn::cli {

// The first warning or error that the library logged about a cache.
struct CacheLog {
    std::mutex mutex;
    std::string first_line;
};

// The cairn_log_fn that fills it; `user` is the CacheLog.
void keep_first_line(void *user, int severity, const char *line);
// The line that is in it now, or "". Threads of the cache may be writing to it.
std::string first_line(CacheLog &log);

// An open cache, closed with its handle.
struct CacheCloser {
    std::shared_ptr<CacheLog> log;  // must outlive the cache

    void operator()(cairn_cache *cache) const { cairn_close(cache); }
};
using CacheHandle = std::unique_ptr<cairn_cache, CacheCloser>;

// From now on `root` is the root, as --dir says, and not that of the environment. Commands pass it
// on as an argument, since the library ignores CAIRN_DIR in a set-user-id program.
void choose_root(const std::string &root);
// Empty: none was chosen.
const std::string &chosen_root();

// The chosen root, else the one that the library uses: an absolute path. A Failure where there is
// none, or CAIRN_DIR is relative.
std::string resolve_root();

// Why the library refuses `root`; empty when it does not, also when there is no such directory yet.
std::string root_problem(const std::string &root);

// The same as resolve_root; a Failure, too, where the library refuses it.
std::string usable_root();

// No cache has this name. The message suggests a similar one.
Failure no_such_cache(const std::string &root, const std::string &identifier);

// Identifiers of the caches directly below `root`, sorted.
Words list_caches(const std::string &root);

// The name of an application as people know it: the front ends for GL put "gl-" in front of it.
std::string application_name(const std::string &application);

// Whether it is the one that is meant, by either name; always where that is empty.
bool is_of_application(const std::string &application, const std::string &meant);

// The machine code that drivers keep below the root for an application, or for all.
uint64_t driver_caches_bytes(const std::string &root, const std::string &application);

// The caches of applications below a root, by identifier: each one's application, as a program cache
// says it, or as one that the broker keeps for a front end is named.
std::map<std::string, std::string> list_applications(const std::string &root);

// The cache's own text about itself; empty when it has none.
std::string about_text(const std::string &root, const std::string &identifier);

// Opens an existing cache, with the limit that it has.
CacheHandle open_cache(const std::string &root, const std::string &identifier, Access access);

// Throws a Failure "cannot <what>: ..." with the library's explanation, unless `result` is
// CAIRN_OK.
void require_ok(const CacheHandle &cache, int result, const std::string &what);

cairn_stats cache_stats(const CacheHandle &cache);

// Calls `visit` with each entry, until it returns false. A Failure "cannot <what>: ..." where the
// cache cannot be read.
void for_each_entry(const CacheHandle &cache, const std::string &what,
                    const std::function<bool(const cairn_entry &)> &visit);

struct CacheSummary {
    std::string identifier;
    std::string application;  // as people know it; empty: it is no program cache
    std::string about;        // first line of its text
    uint64_t used_at_ms = 0;  // when one of its files changed last, as each use does; since 1970
    cairn_stats stats = {};
    CrashCounts crashes;
    std::size_t start_keys = 0;  // that starts of a program cache have recorded
    std::string problem;         // why it could not be read; then `stats` is zero
};

// Of all caches below a root.
std::vector<CacheSummary> summarize_caches(const std::string &root);

// What `cairn stats --json` and `cairn ls --json` print of them: see docs/cli.md.
nlohmann::ordered_json json_of(const std::string &root, const std::vector<CacheSummary> &caches);

// Whether all could be read, as an exit code.
int exit_code_of(const std::vector<CacheSummary> &caches);

using ControlHandle = std::unique_ptr<cairn_control, decltype(&cairn_control_close)>;

// `log` must outlive the control.
ControlHandle open_control(const std::string &root, uint32_t flags, CacheLog &log);

// The caches that a command changes: `cairn VERB CACHE...`, `--application NAME` and `--all`.
//
// Whether the command asks before it changes all caches, and has --yes.
enum class Asks { no, yes };

struct Selection {
    Words names;
    std::string application;
    bool all = false;
    Asks asks = Asks::no;
    bool yes = false;
};

// `about_names` explains the names.
void add_selection(Arguments &take, Selection &selection, const char *about_names, Asks asks);

// Those below `root` that are meant. Throws a Failure where none was named; there may be none.
Words selected_caches(const Selection &selection, const char *verb, const std::string &root);

// Does something with the machine code that drivers keep for the selected applications in
// directories of their own: clear_driver_caches() or remove_driver_caches(), see
// cache/driver_cache.h. With --all or --application.
using DriverChange = Status (*)(const std::string &root, const std::string &application,
                                const Log &log);
void change_selected_driver_caches(const Selection &selection, DriverChange change);

// Changes a cache, and returns what to say of it; throws a Failure if it cannot.
using Change = std::function<std::string(const std::string &root, const std::string &name)>;

// Returns the exit code. `verb`: "clear".
int change_selected(const Selection &selection, const char *verb, const Change &change);

}  // namespace cairn::cli
