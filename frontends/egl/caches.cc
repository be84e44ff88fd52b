// SPDX-License-Identifier: MIT
#include "caches.h"

#include <cairn/cairn_broker.h>
#include <cairn/cairn_program_cache.h>
#include <fcntl.h>

#include <cstdlib>
#include <map>
#include <vector>

#include "common/application.h"
#include "log.h"
#include "mutex.h"
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
};

// Lives for ever, see main.cc.
Caches &caches() {
    static auto *the_caches = new Caches;
    return *the_caches;
}

cairn_cache *open_cache(const std::string &identity, uint32_t limit_percent) {
    cairn_program_cache_options options = {};
    options.size = sizeof options;
    // Of each program its own: one cannot flush another, and is removed by itself.
    const std::string application = "egl-" + application_name();
    options.application = application.c_str();
    options.identity = identity.c_str();
    options.version = kVersion;
    options.limit_percent = limit_percent;
    // The display's cache is what is kept in memory.
    options.memory_bytes = UINT64_MAX;
    options.log = log_from_cache;
    cairn_cache *cache = nullptr;
    const int result = cairn_program_cache_open(&options, &cache);
    if (result != CAIRN_OK) {
        log_line("programs are not cached: %s", cairn_result_string(result));
        return nullptr;
    }
    log_line("cache %s", cairn_program_cache_identifier(cache));
    return cache;
}

// A process that a launcher gave a connection to a broker may be in a sandbox: no file is opened,
// also where the broker does not answer. A descriptor that is something else stays as it is.
cairn_cache *open_broker(int fd) {
    cairn_broker_options options = {};
    options.size = sizeof options;
    options.memory_bytes = UINT64_MAX;
    options.log = log_from_cache;
    cairn_cache *cache = nullptr;
    const int result = cairn_open_broker_fd(fcntl(fd, F_DUPFD_CLOEXEC, 0), &options, &cache);
    if (result != CAIRN_OK) {
        log_line("broker at descriptor %d: %s: programs are not cached", fd,
                 cairn_result_string(result));
        return nullptr;
    }
    log_line("cache behind the broker at descriptor %d", fd);
    return cache;
}

}  // namespace

cairn_cache *cache_for(const std::string &identity, uint32_t limit_percent) {
    static const int is_registered = atexit(flush_caches);
    if (is_registered != 0) {
        log_line("what is stored last may be lost when the process exits");
    }
    Caches &all = caches();
    const MutexLock lock(all.mutex);
    if (const int fd = settings().broker_fd; fd >= 0) {
        if (!all.broker_asked) all.broker = open_broker(fd);
        all.broker_asked = true;
        return all.broker;
    }
    const auto found = all.by_identity.find(identity);
    if (found != all.by_identity.end()) {
        return found->second;
    }
    return all.by_identity[identity] = open_cache(identity, limit_percent);
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
    }
}

}  // namespace cairn::egl
