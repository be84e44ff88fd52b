// SPDX-License-Identifier: MIT
#include "store/segment_table.h"

#include "store/segment_format.h"

namespace cairn {
namespace {

constexpr std::uint64_t held(std::uint32_t segment) {
    return (std::uint64_t{segment} + 1) << 32;
}

}  // namespace

Result<File> SegmentTable::open_file(std::uint32_t segment) const {
    if (lent_ != nullptr) return lent_->segment(segment);
    return directory_.open_file(segment_file_name(segment), Access::read_only);
}

Result<SegmentTable::OpenSegment> SegmentTable::find_open(std::uint32_t segment) {
    Opened &opened = opened_[segment % kOpenedCount];
    const std::uint64_t seen = opened.state.fetch_add(1, std::memory_order_acquire);
    const bool is_open = seen >> 32 == held(segment) >> 32 && (seen & 0xFFFFFFFF) < kBusy;
    if (is_open) return OpenSegment(&opened);
    opened.state.fetch_sub(1, std::memory_order_relaxed);
    return Error::not_found;
}

Result<SegmentTable::OpenSegment> SegmentTable::open(std::uint32_t segment) {
    auto found = find_open(segment);
    return found.ok() ? std::move(found) : reopen(segment);
}

// Puts a file into a place that has no readers; the caller becomes its reader.
bool SegmentTable::replace(Opened &opened, std::uint32_t segment, File &file) {
    std::uint64_t seen = opened.state.load();
    if ((seen & 0xFFFFFFFF) != 0) return false;
    if (!opened.state.compare_exchange_strong(seen, seen | kBusy)) return false;
    opened.file = std::move(file);
    // Add rather than store: other threads may have counted themselves in meanwhile, and will count
    // themselves out.
    opened.state.fetch_add(held(segment) - (seen >> 32 << 32) - kBusy + 1,
                           std::memory_order_release);
    return true;
}

Result<SegmentTable::OpenSegment> SegmentTable::reopen(std::uint32_t segment) {
    TRY_ASSIGN(File file, open_file(segment));
    Opened &opened = opened_[segment % kOpenedCount];
    if (replace(opened, segment, file)) return OpenSegment(&opened);
    return OpenSegment(std::move(file));
}

bool SegmentTable::is_unreadable(std::uint32_t segment) const {
    return lent_ == nullptr && directory_.is_unreadable(segment_file_name(segment));
}

void SegmentTable::forget_deleted() {
    if (lent_ != nullptr) lent_->forget_deleted();
    for (Opened &opened : opened_) {
        std::uint64_t seen = opened.state.load();
        if (seen == 0 || (seen & 0xFFFFFFFF) != 0) continue;
        if (!opened.state.compare_exchange_strong(seen, seen | kBusy)) continue;
        const auto info = opened.file.info();
        const bool deleted = info.ok() && info->links == 0;
        if (deleted) opened.file = File();
        opened.state.fetch_sub(deleted ? (seen | kBusy) : kBusy, std::memory_order_release);
    }
}

}  // namespace cairn
