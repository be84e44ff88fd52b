// SPDX-License-Identifier: MIT
#include "caches.h"

#include <cairn/cairn_broker.h>
#include <cairn/cairn_control.h>
#include <cairn/cairn_program_cache.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "common/application.h"
#include "counters.h"
#include "display_cache.h"
#include "hook.h"
#include "log.h"
#include "mutex.h"
#include "os/file.h"
#include "settings.h"

namespace cairn::egl {
namespace {

// Raised when entries of an older layout would be misread.
constexpr uint64_t kVersion = CAIRN_EGL_CONTENTS_VERSION;

struct OpenedCache {
    cairn_cache *cache = nullptr;  // null: it cannot be opened
    bool is_of_blobs = false;      // which drivers store without being asked
    uint64_t failed = 0;           // guarded by the mutex: failed writes that were counted
};

// In a sandbox, the cache behind the broker is the only one. No identity is like this.
constexpr const char *kBroker = "broker";

struct Caches {
    Mutex mutex;
    std::map<std::string, OpenedCache> by_identity;  // guarded by mutex; nothing is removed
};

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
void count_failed(OpenedCache &opened) {
    cairn_program_cache_stats stats = {};
    stats.size = sizeof stats;
    if (cairn_program_cache_stats_get(opened.cache, &stats) != CAIRN_OK) {
        return;
    }
    const MutexLock lock(the_only<Caches>().mutex);
    const uint64_t before = std::exchange(opened.failed, stats.queue_failed);
    if (stats.queue_failed > before) {
        count(&RunReport::store_failed, stats.queue_failed - before);
        // Nobody has counted blobs as stored.
        if (!opened.is_of_blobs) {
            count(&RunReport::stored, before - stats.queue_failed);
        }
        note_problem(kProblemNotStored, "the disk is full, or cannot be written");
    }
}

constexpr uint32_t kKind = CAIRN_KIND_CACHE_FOR_DRIVER;

struct Switch {
    Switch() {
        cairn_control_options options = {};
        options.size = sizeof options;
        options.flags = settings().persists ? 0u : uint32_t{CAIRN_CONTROL_OPEN_READ_ONLY};
        options.log = log_from_cache;
        if (cairn_control_open(&options, &control) != CAIRN_OK) {
            control = nullptr;
        }
        clears_seen = cairn_control_clears(control, kKind);
        was_on = (cairn_control_disabled(control) & kKind) == 0;
        if (!was_on) {
            log_line("caching is switched off (cairn control --kind cache-for-driver)");
        }
    }

    cairn_control *control = nullptr;  // constant after construction; null: none could be opened
    std::atomic<uint64_t> clears_seen;
    std::atomic<bool> was_on;  // for the log only
};

// Lives for ever, see main.cc. Null until a display is initialised.
std::atomic<Switch *> g_switch = nullptr;

}  // namespace

cairn_cache *cache_for(const std::string &identity, uint32_t limit_percent) {
    static const int is_registered = atexit([] { attempt(flush_caches); });
    if (is_registered != 0) {
        log_line("what is stored last may be lost when the process exits");
    }
    const bool has_broker = settings().has_broker();
    const std::string key = has_broker ? std::string(kBroker) : identity;
    Caches &all = the_only<Caches>();
    const MutexLock lock(all.mutex);
    const auto found = all.by_identity.find(key);
    if (found != all.by_identity.end()) {
        return found->second.cache;
    }
    OpenedCache opened;
    opened.cache = has_broker ? open_broker() : open_cache(identity, limit_percent);
    opened.is_of_blobs = !has_broker && limit_percent == kBlobsPercent;
    all.by_identity[key] = opened;
    return opened.cache;
}

void flush_caches() {
    constexpr uint32_t kPatienceMs = 1000;
    std::vector<OpenedCache *> all_opened;
    {
        Caches &all = the_only<Caches>();
        const MutexLock lock(all.mutex);
        for (auto &[identity, opened] : all.by_identity) {
            if (opened.cache != nullptr) {
                all_opened.push_back(&opened);
            }
        }
    }
    for (OpenedCache *opened : all_opened) {
        cairn_flush(opened->cache, kPatienceMs);
        count_failed(*opened);
    }
}

void open_switch() {
    // A process with a broker may go into a sandbox, where the control file could not be looked at.
    if (settings().has_broker()) return;
    static auto *the_one = new Switch;
    g_switch.store(the_one, std::memory_order_release);
}

bool is_caching_on() {
    Switch *const opened = g_switch.load(std::memory_order_acquire);
    if (opened == nullptr) {
        return true;
    }
    Switch &own = *opened;
    // Noted as seen when it is done: another thread that comes meanwhile does it as well.
    const uint64_t clears = cairn_control_clears(own.control, kKind);
    if (clears != own.clears_seen.load(std::memory_order_acquire)) {
        clear_display_caches();
        own.clears_seen.store(clears, std::memory_order_release);
    }
    const bool is_on = (cairn_control_disabled(own.control) & kKind) == 0;
    if (is_on != own.was_on.load(std::memory_order_relaxed) &&
        own.was_on.exchange(is_on) != is_on) {
        log_line("caching is switched %s", is_on ? "on" : "off");
    }
    return is_on;
}

}  // namespace cairn::egl
