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

#include "account.h"
#include "common/application.h"
#include "common/run_report.h"
#include "hook.h"
#include "mutex.h"
#include "os/file.h"
#include "program_memory.h"
#include "recipe/recipe.h"
#include "settings.h"

namespace cairn::gl {
namespace {

// Raised when entries of an older layout would be misread.
constexpr uint64_t kVersion = CAIRN_EGL_CONTENTS_VERSION;

struct OpenedCache {
    cairn_cache *cache = nullptr;  // null: it cannot be opened
    bool is_of_blobs = false;      // which drivers store without being asked
    uint64_t failed = 0;           // guarded by the mutex: failed writes that were counted
    Account *account = nullptr;    // null: it has none
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

void hear(void *, int severity, const char *line) {
    log().write(static_cast<Severity>(severity), "%s", line);
    if (severity <= CAIRN_LOG_WARNING) {
        t_said = {};
        std::string_view(line).copy(t_said.data(), t_said.size() - 1);
    }
}

int open_on_disk(const std::string &identity, uint32_t limit_percent, cairn_cache *&cache) {
    const std::string name = cache_name();
    cairn_program_cache_options options = options_of(name, identity);
    options.limit_percent = limit_percent;
    if (identity == recipe::kIdentity) {
        // Each recording sees what it stores, and nothing of packs.
        options.version = recipe::kVersion;
        options.flags = CAIRN_OPEN_NO_LAYERS | CAIRN_OPEN_COMPRESS | CAIRN_PROGRAM_CACHE_NO_LOADING;
    }
    // A ProgramMemory keeps programs in memory.
    options.memory_bytes = CAIRN_NONE;
    return cairn_program_cache_open(&options, &cache);
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
    const std::string name = cache_name();
    cairn_broker_options options = {};
    options.size = sizeof options;
    options.identifier = name.c_str();
    options.version = kVersion;
    int fd = -1;
    const int result = cairn_broker_connect(&options, &fd);
    if (result != CAIRN_OK) {
        log().write(Severity::warning, "no broker: %s", cairn_result_string(result));
    }
    return fd;
}

// Opens no file, even if the broker does not answer: the process may be in a sandbox, or about to
// enter one. A descriptor that is no connection stays as it is.
int open_broker(cairn_cache *&cache) {
    cairn_broker_options options = {};
    options.size = sizeof options;
    options.memory_bytes = CAIRN_NONE;
    options.log = hear;
    return cairn_broker_open_fd(broker_connection(), &options, &cache);
}

// Null when it cannot be opened.
cairn_cache *open_cache(const std::string &identity, uint32_t limit_percent) {
    const bool has_broker = settings().has_broker();
    cairn_cache *cache = nullptr;
    t_said = {};
    const int result =
        has_broker ? open_broker(cache) : open_on_disk(identity, limit_percent, cache);
    if (result != CAIRN_OK) {
        const char *why = cairn_result_string(result);
        log().write(Severity::error, "programs are not cached: %s", why);
        note_problem(kProblemNotUsed, t_said[0] == '\0' ? why : t_said.data());
        return nullptr;
    }
    log().write(Severity::info, "cache %s",
                has_broker ? "behind the broker" : cairn_program_cache_identifier(cache));
    return cache;
}

Account *account_of(cairn_cache *cache, const std::string &identity, bool has_broker) {
    if (cache == nullptr) return new_account(Detail::not_opened);
    if (has_broker) return new_account(Detail::behind_a_broker);
    return new_account(cache, identity);
}

// Counts the entries that were taken for stored and could not be written since.
void count_failed(OpenedCache &opened) {
    cairn_program_cache_stats stats = {};
    stats.size = sizeof stats;
    if (cairn_program_cache_stats_get(opened.cache, &stats) != CAIRN_OK) return;
    const MutexLock lock(the_only<Caches>().mutex);
    const uint64_t before = std::exchange(opened.failed, stats.queue_failed);
    if (stats.queue_failed > before) {
        count(&RunReport::store_failed, stats.queue_failed - before);
        if (opened.account != nullptr) {
            opened.account->add(Number::store_failed, stats.queue_failed - before);
        }
        // Nobody has counted blobs as stored.
        if (!opened.is_of_blobs) {
            count(&RunReport::stored, before - stats.queue_failed);
        }
        note_problem(kProblemNotStored, "the disk is full, or cannot be written");
    }
}

constexpr uint32_t kKind = CAIRN_KIND_CACHE_FOR_DRIVER;

// Null until open_switch(), and where it cannot be opened.
std::atomic<cairn_control *> g_control = nullptr;
std::atomic<uint64_t> g_clears_seen = 0;
std::atomic<bool> g_was_on = true;  // for the log only

cairn_control *open_control() {
    cairn_control_options options = {};
    options.size = sizeof options;
    options.flags = settings().persists ? 0u : uint32_t{CAIRN_CONTROL_OPEN_READ_ONLY};
    options.log = hear;
    cairn_control *control = nullptr;
    return cairn_control_open(&options, &control) == CAIRN_OK ? control : nullptr;
}

}  // namespace

std::string cache_name() {
    return "gl-" + application_name();
}

cairn_program_cache_options options_of(const std::string &name, const std::string &identity) {
    cairn_program_cache_options options = {};
    options.size = sizeof options;
    options.application = name.c_str();
    options.identity = identity.c_str();
    options.version = kVersion;
    options.log = hear;
    return options;
}

cairn_cache *cache_for(const std::string &identity, uint32_t limit_percent) {
    static const int is_registered = atexit([] { attempt(flush_caches); });
    if (is_registered != 0) {
        log().write(Severity::warning, "what is stored last may be lost when the process exits");
    }
    const bool has_broker = settings().has_broker();
    const std::string key = has_broker ? std::string(kBroker) : identity;
    auto &all = the_only<Caches>();
    const MutexLock lock(all.mutex);
    const auto found = all.by_identity.find(key);
    if (found != all.by_identity.end()) return found->second.cache;
    OpenedCache opened;
    opened.cache = open_cache(identity, limit_percent);
    opened.is_of_blobs = !has_broker && limit_percent == kBlobsPercent;
    if (!opened.is_of_blobs && identity != recipe::kIdentity) {
        opened.account = account_of(opened.cache, identity, has_broker);
    }
    all.by_identity[key] = opened;
    return opened.cache;
}

Account &account_for(const std::string &identity) {
    auto &all = the_only<Caches>();
    const MutexLock lock(all.mutex);
    const auto found = all.by_identity.find(settings().has_broker() ? kBroker : identity);
    const bool has_one = found != all.by_identity.end() && found->second.account != nullptr;
    return has_one ? *found->second.account : account_of_none();
}

cairn_cache *recipes_cache() {
    return cache_for(recipe::kIdentity, kRecipesPercent);
}

void flush_caches() {
    constexpr uint32_t kPatienceMs = 1000;
    std::vector<OpenedCache *> all_opened;
    {
        auto &all = the_only<Caches>();
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
        if (opened->account != nullptr) opened->account->note_evictions();
    }
}

void open_switch() {
    // A process with a broker may go into a sandbox, where the control file could not be looked at.
    if (settings().has_broker()) return;
    static cairn_control *const the_control = [] {
        cairn_control *const opened = open_control();
        if (opened != nullptr) g_clears_seen = cairn_control_clears(opened, kKind);
        return opened;
    }();
    g_control.store(the_control, std::memory_order_release);
    is_caching_on();  // which says so in the log where it is not
}

bool is_caching_on() {
    const cairn_control *control = g_control.load(std::memory_order_acquire);
    if (control == nullptr) return true;
    // Noted as seen when it is done: another thread that comes meanwhile does it as well.
    const uint64_t clears = cairn_control_clears(control, kKind);
    if (clears != g_clears_seen.load(std::memory_order_acquire)) {
        clear_program_memories();
        g_clears_seen.store(clears, std::memory_order_release);
    }
    const bool is_on = (cairn_control_disabled(control) & kKind) == 0;
    if (is_on != g_was_on.load(std::memory_order_relaxed) && g_was_on.exchange(is_on) != is_on) {
        log().write(Severity::info,
                    "caching is switched %s (cairn control --kind cache-for-driver)",
                    is_on ? "on" : "off");
    }
    return is_on;
}

}  // namespace cairn::gl
