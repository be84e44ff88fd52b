// SPDX-License-Identifier: MIT
#include "caches.h"

#include <cairn/cairn_program_cache.h>

#include <cstdlib>
#include <map>
#include <vector>

#include "log.h"
#include "mutex.h"

namespace cairn::egl {
namespace {

// Raised when entries of an older layout would be misread.
constexpr uint64_t kVersion = 2;

struct Caches {
    Mutex mutex;
    std::map<std::string, cairn_cache *> by_identity;  // guarded by mutex
};

// Lives for ever, see main.cc.
Caches &caches() {
    static auto *the_caches = new Caches;
    return *the_caches;
}

cairn_cache *open_cache(const std::string &identity) {
    cairn_program_cache_options options = {};
    options.size = sizeof options;
    options.application = "egl";
    options.identity = identity.c_str();
    options.version = kVersion;
    // The display's cache is what is kept in memory.
    options.memory_bytes = UINT64_MAX;
    options.log = log_from_cache;
    cairn_cache *cache = nullptr;
    const int result = cairn_program_cache_open(&options, &cache);
    if (result != CAIRN_OK) {
        log_line("programs are not cached: %s", cairn_result_string(result));
        return nullptr;
    }
    static const int is_registered = atexit(flush_caches);
    if (is_registered != 0) {
        log_line("what is stored last may be lost when the process exits");
    }
    log_line("cache %s", cairn_program_cache_identifier(cache));
    return cache;
}

}  // namespace

cairn_cache *cache_for(const std::string &identity) {
    Caches &all = caches();
    const MutexLock lock(all.mutex);
    const auto found = all.by_identity.find(identity);
    if (found != all.by_identity.end()) {
        return found->second;
    }
    return all.by_identity[identity] = open_cache(identity);
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
    }
    for (cairn_cache *cache : opened) {
        cairn_flush(cache, kPatienceMs);
    }
}

}  // namespace cairn::egl
