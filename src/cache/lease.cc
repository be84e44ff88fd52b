// SPDX-License-Identifier: MIT
#include "cache/lease.h"

#include <algorithm>
#include <new>

#include "base/guarded.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "os/environment.h"
#include "os/per_process.h"
#include "os/root.h"

namespace cairn {
namespace {

// A lease that another process gives back is noticed after so long; one of this process wakes us.
constexpr std::uint64_t kPauseMinNs = 50'000;
constexpr std::uint64_t kPauseMaxNs = 1'000'000;
constexpr std::uint64_t kWritePatienceUs = 1'000'000;
// After a wait in vain it is so short, until it suffices or so long after.
constexpr std::uint64_t kHastyPatienceUs = 10'000;
constexpr std::uint64_t kHastyNs = 10'000'000'000;

// All processes find the same byte; the kernel's limit is 2^63 - 1.
std::uint64_t byte_of(Bytes key) {
    return keyed_hash(key, HashSeed{}) >> 2;
}

}  // namespace

// Those that are held or waited for in this process.
struct Lease::Table {
    Mutex mutex;
    Condition released;
    Lease *first GUARDED_BY(mutex) = nullptr;
    // The cache whose disk stood still at last. Each program would wait for it.
    std::uint64_t hasty_cache GUARDED_BY(mutex) = 0;  // 0: none
    std::uint64_t hasty_until_ns GUARDED_BY(mutex) = 0;
};

Lease::Table &Lease::table() {
    static auto *const kTables = new PerProcess<Table>;  // leases may be given back at exit
    return kTables->get();
}

Lease::Lease(Cache &cache, Scope scope, Bytes key)
    : cache_(cache),
      scope_(scope),
      byte_(byte_of(key)),
      process_(process_number()),
      thread_(std::this_thread::get_id()) {}

Lease::~Lease() {
    if (!is_listed_) return;
    if (process_ != process_number()) {
        // A child's copy. Closing its descriptor would take away locks that the child has itself.
        if (file_ != nullptr) (void)file_->release();
        return;
    }
    Table &all = table();
    const MutexLock lock(all.mutex);
    Lease **link = &all.first;
    while (*link != this) link = &(*link)->next_;
    *link = next_;
    if (!is_held_) {
        file_.reset();
        return;
    }
    if (file_ != nullptr) file_->unlock_of_process(byte_);
    file_.reset();
    all.released.wake_all();
}

void Lease::flush() {
    if (process_ != process_number()) return;
    Table &all = table();
    const std::uint64_t cache = cache_.serial();
    bool is_hasty = false;
    {
        const MutexLock lock(all.mutex);
        is_hasty = all.hasty_cache == cache && monotonic_ns() < all.hasty_until_ns;
    }
    const std::uint64_t patience_us = is_hasty ? kHastyPatienceUs : kWritePatienceUs;
    const Status done = guarded([&] { return cache_.flush(patience_us); });
    const MutexLock lock(all.mutex);
    if (done.ok() && all.hasty_cache == cache) all.hasty_cache = 0;
    if (done.error() == Error::busy && !is_hasty) {
        all.hasty_cache = cache;
        all.hasty_until_ns = monotonic_ns() + kHastyNs;
    }
}

Result<std::unique_ptr<Lease>> Lease::make(Cache &cache, Bytes key) {
    const CachePlace *place = cache.place();
    if (place == nullptr) return Error::unsupported;
    Scope scope = {0, cache.serial()};
    OpenedDirectory opened;
    if (!place->is_in_memory()) {
        TRY_ASSIGN(const Directory root, open_root(place->root, Create::no, Log()));
        TRY_ASSIGN(opened, open_cache_directory(root, place->identifier, Create::no, Log()));
        TRY_ASSIGN(const FileInfo info, opened.directory.info());
        scope = {info.device, info.inode};
    }
    std::unique_ptr<Lease> made(new (std::nothrow) Lease(cache, scope, key));
    if (made == nullptr) return Error::no_memory;
    TRY(made->join(place->is_in_memory() ? nullptr : &opened.directory));
    return made;
}

// Into the list, with the descriptor that those of the same scope share.
Status Lease::join(const Directory *directory) {
    Table &all = table();
    const MutexLock lock(all.mutex);
    const Lease *other = all.first;
    while (other != nullptr && !(other->scope_ == scope_)) other = other->next_;
    if (other != nullptr) {
        file_ = other->file_;
    } else if (directory != nullptr) {
        TRY_ASSIGN(File file, directory->open_or_make_file(kLeaseFileName));
        file_ = std::make_shared<File>(std::move(file));
    }
    next_ = all.first;
    all.first = this;
    is_listed_ = true;
    return {};
}

bool Lease::excludes(const Lease &other) const {
    return is_held_ && byte_ == other.byte_ && scope_ == other.scope_;
}

Result<bool> Lease::try_hold() {
    Table &all = table();
    const MutexLock lock(all.mutex);
    for (const Lease *other = all.first; other != nullptr; other = other->next_) {
        if (other->excludes(*this)) return false;
    }
    if (file_ != nullptr) {
        TRY_ASSIGN(is_held_, file_->try_lock_of_process(byte_));
    } else {
        is_held_ = true;
    }
    return is_held_;
}

bool Lease::is_held_by_this_thread() {
    Table &all = table();
    const MutexLock lock(all.mutex);
    const Lease *own = all.first;
    while (own != nullptr && !(own->is_held_ && own->thread_ == std::this_thread::get_id())) {
        own = own->next_;
    }
    return own != nullptr;
}

void Lease::wait_until(std::uint64_t deadline_ns) {
    Table &all = table();
    const MutexLock lock(all.mutex);
    (void)all.released.wait_until(all.mutex, deadline_ns);
}

Result<std::unique_ptr<Lease>> Lease::acquire(Cache &cache, Bytes key, std::uint64_t patience_us) {
    const std::uint64_t deadline_ns = monotonic_ns() + patience_us * 1000;
    const bool may_wait = !is_held_by_this_thread();
    TRY_ASSIGN(std::unique_ptr<Lease> lease, make(cache, key));
    for (std::uint64_t pause_ns = kPauseMinNs;; pause_ns = std::min(2 * pause_ns, kPauseMaxNs)) {
        // In this order: the holder before us stored the entry before it gave the lease back.
        TRY_ASSIGN(const bool held, lease->try_hold());
        const auto is_there = guarded([&] { return cache.contains(key); });
        if (is_there.ok() && is_there.value()) return std::unique_ptr<Lease>();
        if (held) return lease;
        const std::uint64_t now_ns = monotonic_ns();
        if (!may_wait || now_ns >= deadline_ns) return Error::busy;
        wait_until(std::min(now_ns + pause_ns, deadline_ns));
    }
}

}  // namespace cairn
