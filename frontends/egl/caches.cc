// SPDX-License-Identifier: MIT
#include "caches.h"

#include <cairn/cairn_broker.h>
#include <fcntl.h>

#include <map>

#include "key.h"
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

// Short, because it is a name for people; the whole identity is in every key.
std::string identifier_of(const std::string &identity) {
    KeyBuilder builder("gl-driver/1");
    builder.add(Tag::identity, identity);
    const Key hash = builder.finish();
    std::string identifier = "egl-";
    for (size_t i = 0; i < 8; ++i) {
        constexpr const char *kDigits = "0123456789abcdef";
        identifier.push_back(kDigits[hash[i] >> 4]);
        identifier.push_back(kDigits[hash[i] & 15]);
    }
    return identifier;
}

cairn_cache *open_cache(const std::string &identity) {
    const std::string identifier = identifier_of(identity);
    cairn_options options = {};
    options.size = sizeof options;
    options.identifier = identifier.c_str();
    options.version = kVersion;
    options.about = identity.c_str();
    // An application asks for a program once or twice: copies in memory would only cost.
    options.memory_bytes = UINT64_MAX;
    options.log = log_from_cache;
    cairn_cache *cache = nullptr;
    const int result = cairn_open(&options, &cache);
    if (result != CAIRN_OK) {
        log_line("cache %s: %s: programs are not cached", identifier.c_str(),
                 cairn_result_string(result));
        return nullptr;
    }
    log_line("cache %s", identifier.c_str());
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

cairn_cache *cache_for(const std::string &identity) {
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
    return all.by_identity[identity] = open_cache(identity);
}

}  // namespace cairn::egl
