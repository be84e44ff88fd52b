// SPDX-License-Identifier: MIT
#include "program_memory.h"

#include <cairn/internal/front_end.h>

#include <set>

#include "caches.h"

namespace cairn::gl {
namespace {

cairn_cache *open_entries() {
    cairn_options options = {};
    options.size = sizeof options;
    options.identifier = "programs";
    options.mode = CAIRN_MODE_MEMORY;
    options.flags = CAIRN_OPEN_COUNT_VALUES_ONLY;
    options.limit_bytes = ProgramMemory::kLimitDefault;
    options.limit_entries = ProgramMemory::kEntriesMax;
    options.policy = "lru";  // EGL shows the order of use
    cairn_cache *cache = nullptr;
    return cairn_open(&options, &cache) == CAIRN_OK ? cache : nullptr;
}

struct Memories {
    Mutex mutex;
    std::set<ProgramMemory *> all;  // guarded by mutex
};

}  // namespace

ProgramMemory::ProgramMemory(Use use) : use_(use) {
    auto &memories = the_only<Memories>();
    const MutexLock lock(memories.mutex);
    memories.all.insert(this);
    entries_ = open_entries();
}

ProgramMemory::~ProgramMemory() {
    auto &memories = the_only<Memories>();
    const MutexLock lock(memories.mutex);
    memories.all.erase(this);
    cairn_close(entries_);
}

void ProgramMemory::put(cairn_blob *entry) {
    if (!is_on() || !is_caching_on() || entry == nullptr || cairn_blob_size(entry) > kBinaryMax) {
        return;
    }
    cairn_put_blob(entries_, entry);
}

uint64_t ProgramMemory::set_limit(uint32_t bytes, uint32_t keep_bytes) {
    const MutexLock lock(changing_limit_);
    limit_ = bytes;
    uint64_t freed = 0;
    cairn_resize(entries_, bytes, keep_bytes, &freed);
    return freed;
}

void clear_program_memories() {
    auto &memories = the_only<Memories>();
    const MutexLock lock(memories.mutex);
    for (ProgramMemory *memory : memories.all) {
        memory->clear();
    }
}

}  // namespace cairn::gl
