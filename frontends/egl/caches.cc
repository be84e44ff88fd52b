// SPDX-License-Identifier: MIT
#include "caches.h"

#include <cairn/cairn_broker.h>
#include <cairn/cairn_program_cache.h>

#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "common/application.h"
#include "counters.h"
#include "hook.h"
#include "log.h"
#include "mutex.h"
#include "os/file.h"
#include "settings.h"

namespace cairn::egl {
namespace {

// Raised when entries of an older layout would be misread.
constexpr uint64_t kVersion = CAIRN_EGL_CONTENTS_VERSION;

struct Caches {
    Mutex mutex;
    std::map<std::string, cairn_cache *> by_identity;  // guarded by mutex
    cairn_cache *broker = nullptr;                     // the same for all, once it was asked for
    bool broker_asked = false;
    std::map<cairn_cache *, uint64_t> failed;  // guarded by mutex: writes that were counted
    std::set<cairn_cache *> of_blobs;          // guarded by mutex: what drivers keep by themselves
};

// Lives for ever, see main.cc.
Caches &caches() {
    static auto *the_caches = new Caches;
    return *the_caches;
}

// The last line that a cache logged on this thread. A string would have to be destroyed with the
// thread.
thread_local std::array<char, sizeof(RunReport::problem_text)> t_said = {};

void hear(void *user, int severity, const char *line) {
    log_from_cache(user, severity, line);
    if (severity <= CAIRN_LOG_WARNING) {
        t_said = {};
        std::string_view(line).copy(t_said.data(), t_said.size() - 1);
    }
}

void note_not_used(int result) {
    log_line("programs are not cached: %s", cairn_result_string(result));
    note_problem(kProblemNotUsed, t_said[0] == '\0' ? cairn_result_string(result) : t_said.data());
}

// Each program has caches of its own: no program evicts the entries of another, and each is removed
// by itself.
std::string application() {
    return "egl-" + application_name();
}

cairn_cache *open_cache(const std::string &identity, uint32_t limit_percent) {
    const std::string name = application();
    cairn_program_cache_options options = {};
    options.size = sizeof options;
    options.application = name.c_str();
    options.identity = identity.c_str();
    options.version = kVersion;
    options.limit_percent = limit_percent;
    // The display's cache keeps programs in memory.
    options.memory_bytes = CAIRN_NONE;
    options.log = hear;
    cairn_cache *cache = nullptr;
    t_said = {};
    const int result = cairn_program_cache_open(&options, &cache);
    if (result != CAIRN_OK) {
        note_not_used(result);
        return nullptr;
    }
    log_line("cache %s", cairn_program_cache_identifier(cache));
    return cache;
}

// The descriptor stays the settings' own. Below 0: it cannot be had.
int copy_of(int descriptor) {
    UniqueFd lent(descriptor);
    auto copy = lent.duplicate();
    lent.release();
    return copy.ok() ? copy->release() : -1;
}

// The launcher's connection to a broker, or one of our own; below 0: none. Later, in its sandbox,
// the process may not be allowed to connect.
int broker_connection() {
    if (settings().broker_fd >= 0) return copy_of(settings().broker_fd);
    const std::string name = application();
    cairn_broker_options options = {};
    options.size = sizeof options;
    options.identifier = name.c_str();
    options.version = kVersion;
    int fd = -1;
    const int result = cairn_broker_connect(&options, &fd);
    if (result != CAIRN_OK) log_line("no broker: %s", cairn_result_string(result));
    return fd;
}

// Opens no file, even if the broker does not answer: the process may be in a sandbox, or about to
// enter one. A descriptor that is no connection stays as it is.
cairn_cache *open_broker() {
    cairn_broker_options options = {};
    options.size = sizeof options;
    options.memory_bytes = CAIRN_NONE;
    options.log = hear;
    cairn_cache *cache = nullptr;
    t_said = {};
    const int result = cairn_broker_open_fd(broker_connection(), &options, &cache);
    if (result == CAIRN_OK) {
        log_line("cache behind the broker");
    } else {
        note_not_used(result);
    }
    return cache;
}

// Counts the entries that were taken for stored and could not be written since.
void count_failed(cairn_cache *cache) {
    cairn_program_cache_stats stats = {};
    stats.size = sizeof stats;
    if (cairn_program_cache_stats_get(cache, &stats) != CAIRN_OK) {
        return;
    }
    Caches &all = caches();
    const MutexLock lock(all.mutex);
    const uint64_t before = std::exchange(all.failed[cache], stats.queue_failed);
    if (stats.queue_failed > before) {
        count(&RunReport::store_failed, stats.queue_failed - before);
        // Nobody has counted blobs as stored.
        if (!all.of_blobs.contains(cache)) {
            count(&RunReport::stored, before - stats.queue_failed);
        }
        note_problem(kProblemNotStored, "the disk is full, or cannot be written");
    }
}

}  // namespace

cairn_cache *cache_for(const std::string &identity, uint32_t limit_percent) {
    static const int is_registered = atexit([] { attempt(flush_caches); });
    if (is_registered != 0) {
        log_line("what is stored last may be lost when the process exits");
    }
    Caches &all = caches();
    const MutexLock lock(all.mutex);
    if (settings().has_broker()) {
        if (!all.broker_asked) all.broker = open_broker();
        all.broker_asked = true;
        return all.broker;
    }
    const auto found = all.by_identity.find(identity);
    if (found != all.by_identity.end()) {
        return found->second;
    }
    cairn_cache *const cache = open_cache(identity, limit_percent);
    if (limit_percent == kBlobsPercent) all.of_blobs.insert(cache);
    return all.by_identity[identity] = cache;
}

void flush_caches() {
    constexpr uint32_t kPatienceMs = 1000;
    std::vector<cairn_cache *> opened;
    {
        Caches &all = caches();
        const MutexLock lock(all.mutex);
        for (const auto &[identity, cache] : all.by_identity) {
            if (cache != nullptr) {
                opened.push_back(cache);
            }
        }
        if (all.broker != nullptr) {
            opened.push_back(all.broker);
        }
    }
    for (cairn_cache *cache : opened) {
        cairn_flush(cache, kPatienceMs);
        count_failed(cache);
    }
}

}  // namespace cairn::egl
