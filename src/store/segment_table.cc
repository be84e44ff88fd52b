// SPDX-License-Identifier: MIT
#include "store/segment_table.h"

#include "store/segment_format.h"

namespace cairn {
namespace {

constexpr std::uint64_t held(std::uint32_t segment) {
    return (std::uint64_t{segment} + 1) << 32;
}

}  // namespace

SegmentTable::~SegmentTable() {
    for (Opened &opened : opened_) {
        if (opened.state.load() != 0) UniqueFd(opened.fd).reset(-1);
    }
}

Result<File> SegmentTable::open_file(std::uint32_t segment) const {
    if (lent_ != nullptr) return lent_->segment(segment);
    return directory_.open_file(segment_file_name(segment), Access::read_only);
}

Result<SegmentTable::OpenSegment> SegmentTable::find_open(std::uint32_t segment, bool waits) {
    Opened &opened = opened_[segment % kOpenedCount];
    const std::uint64_t seen = opened.state.fetch_add(1, std::memory_order_acquire);
    if ((seen >> 32) == (held(segment) >> 32) && (seen & 0xFFFFFFFF) < kBusy) {
        return OpenSegment(&opened.state, File(UniqueFd(opened.fd)), waits);
    }
    opened.state.fetch_sub(1, std::memory_order_relaxed);
    return Error::not_found;
}

Result<SegmentTable::OpenSegment> SegmentTable::open(std::uint32_t segment) {
    auto found = find_open(segment, true);
    if (!found.ok()) found = reopen(segment);
    return found;
}

// Puts the file into a place that has no readers, and becomes its reader.
Result<SegmentTable::OpenSegment> SegmentTable::reopen(std::uint32_t segment) {
    TRY_ASSIGN(File file, open_file(segment));
    Opened &opened = opened_[segment % kOpenedCount];
    std::uint64_t seen = opened.state.load();
    if ((seen & 0xFFFFFFFF) != 0 || !opened.state.compare_exchange_strong(seen, seen | kBusy)) {
        return OpenSegment(nullptr, std::move(file), true);
    }
    if (seen != 0) UniqueFd(opened.fd).reset(-1);
    opened.fd = file.release();
    // Add rather than store: other threads may have counted themselves in meanwhile, and will count
    // themselves out.
    opened.state.fetch_add(held(segment) - (seen >> 32 << 32) - kBusy + 1,
                           std::memory_order_release);
    return OpenSegment(&opened.state, File(UniqueFd(opened.fd)), true);
}

void SegmentTable::forget_deleted() {
    if (lent_ != nullptr) lent_->forget_deleted();
    for (Opened &opened : opened_) {
        std::uint64_t seen = opened.state.load();
        if (seen == 0 || (seen & 0xFFFFFFFF) != 0) continue;
        if (!opened.state.compare_exchange_strong(seen, seen | kBusy)) continue;
        File file{UniqueFd(opened.fd)};
        const auto info = file.info();
        const bool deleted = info.ok() && info->links == 0;
        if (deleted) {
            file = File();
        } else {
            file.release();
        }
        opened.state.fetch_sub(deleted ? (seen | kBusy) : kBusy, std::memory_order_release);
    }
}

}  // namespace cairn
