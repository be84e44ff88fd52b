// SPDX-License-Identifier: MIT
#include "cache/disk_cache.h"

#include "cache/generations.h"
#include "cache/layer_file.h"
#include "cache/start_order.h"
#include "history/files.h"
#include "os/root.h"

namespace cairn {
namespace {

// What starts used, and what became of look-ups.
void forget_past(const Directory &directory) {
    forget_order(directory);
    forget_history(directory);
}

}  // namespace

Result<Directory> DiskCache::directory() const {
    TRY_ASSIGN(const Directory root, open_root(place_.root, Create::no, Log()));
    return root.open_directory(place_.identifier);
}

Fate DiskCache::fate_of(Bytes key) {
    if (const auto ghost = store_->ghost_of(key)) {
        const bool is_evicted = ghost->kind == Ghost::Kind::evicted;
        return {is_evicted ? FateKind::evicted : FateKind::damaged, ghost->when_s};
    }
    const std::uint64_t cleared_at_s = store_->cleared_at_s();
    return cleared_at_s == 0 ? Fate() : Fate{FateKind::cleared, cleared_at_s};
}

// What others see of the cache shrinks last: who notices that it was cleared finds nothing old. The
// order goes once more after that: who writes it looks whether the cache was cleared, before and
// afterwards. And packs are hidden once more, as a process may have met one meanwhile.
Status DiskCache::clear() {
    const auto own = directory();
    if (own.ok()) {
        const auto hidden = hide_layers(own.value(), 0, UINT64_MAX);
        if (!hidden.ok()) return hidden.error();
        forget_past(own.value());
    }
    TRY(store_->clear());
    if (!own.ok()) return {};
    const Status removed = remove_other_formats(own.value(), place_.identifier, store_->format());
    forget_past(own.value());
    const auto hidden = hide_layers(own.value(), 0, UINT64_MAX);
    return hidden.ok() ? removed : Status(hidden.error());
}

Result<std::uint64_t> DiskCache::clear_range(std::uint64_t begin_ns, std::uint64_t end_ns) {
    std::uint64_t hidden = 0;
    const auto own = directory();
    if (own.ok()) {
        TRY_ASSIGN(hidden, hide_layers(own.value(), begin_ns, end_ns));
        forget_past(own.value());  // it does not say when a key was used
    }
    const auto removed = store_->clear_range(begin_ns, end_ns);
    if (own.ok()) {
        forget_past(own.value());
        TRY_ASSIGN(const std::uint64_t late, hide_layers(own.value(), begin_ns, end_ns));
        hidden += late;
    }
    if (!removed.ok()) return removed.error();
    return removed.value() + hidden;
}

}  // namespace cairn
