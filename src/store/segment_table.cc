// SPDX-License-Identifier: MIT
#include "store/segment_table.h"

#include "store/segment_format.h"

namespace cairn {
namespace {

// Reads through a descriptor without taking ownership of it.
template <typename Call>
auto with_borrowed(int fd, Call call) {
    File file{UniqueFd(fd)};
    auto result = call(file);
    file.release();
    return result;
}

constexpr std::uint64_t held(std::uint32_t segment) {
    return (std::uint64_t{segment} + 1) << 32;
}

}  // namespace

Result<std::size_t> SegmentTable::OpenSegment::read_at(std::uint64_t offset,
                                                       MutableBytes out) const {
    return with_borrowed(fd_, [&](const File &file) {
        return waits_ ? file.read_at(offset, out) : file.read_cached_at(offset, out);
    });
}

Result<std::size_t> SegmentTable::OpenSegment::read_at(std::uint64_t offset, MutableBytes first,
                                                       MutableBytes second) const {
    return with_borrowed(fd_,
                         [&](const File &file) { return file.read_at(offset, first, second); });
}

Result<FileInfo> SegmentTable::OpenSegment::info() const {
    return with_borrowed(fd_, [](const File &file) { return file.info(); });
}

Result<std::uint64_t> SegmentTable::OpenSegment::next_data(std::uint64_t offset) const {
    return with_borrowed(fd_, [&](const File &file) { return file.next_data(offset); });
}

SegmentTable::~SegmentTable() {
    for (Opened &opened : opened_) {
        if (opened.state.load() != 0) UniqueFd(opened.fd).reset(-1);
    }
}

Result<File> SegmentTable::open_file(std::uint32_t segment) const {
    if (lent_ != nullptr) return lent_->segment(segment);
    return directory_.open_file(segment_file_name(segment), Access::read_only);
}

Result<SegmentTable::OpenSegment> SegmentTable::find_open(std::uint32_t segment) {
    Opened &opened = opened_[segment % kOpenedCount];
    const std::uint64_t seen = opened.state.fetch_add(1, std::memory_order_acquire);
    if ((seen >> 32) == (held(segment) >> 32) && (seen & 0xFFFFFFFF) < kBusy) {
        OpenSegment reader(&opened.state, opened.fd);
        reader.waits_ = false;
        return reader;
    }
    opened.state.fetch_sub(1, std::memory_order_relaxed);
    return Error::not_found;
}

Result<SegmentTable::OpenSegment> SegmentTable::open(std::uint32_t segment) {
    Opened &opened = opened_[segment % kOpenedCount];
    const std::uint64_t seen = opened.state.fetch_add(1, std::memory_order_acquire);
    if ((seen >> 32) == (held(segment) >> 32) && (seen & 0xFFFFFFFF) < kBusy) {
        return OpenSegment(&opened.state, opened.fd);
    }
    opened.state.fetch_sub(1, std::memory_order_relaxed);
    TRY_ASSIGN(File file, open_file(segment));
    if (replace(opened, seen, segment, file)) return OpenSegment(&opened.state, opened.fd);
    return OpenSegment(std::move(file));
}

// Puts a file into a place that has no readers; the caller becomes its reader.
bool SegmentTable::replace(Opened &opened, std::uint64_t seen, std::uint32_t segment, File &file) {
    if ((seen & 0xFFFFFFFF) != 0) return false;
    if (!opened.state.compare_exchange_strong(seen, seen | kBusy)) return false;
    if (seen != 0) UniqueFd(opened.fd).reset(-1);
    opened.fd = file.release();
    // Add rather than store: other threads may have counted themselves in meanwhile, and will count
    // themselves out.
    opened.state.fetch_add(held(segment) - (seen >> 32 << 32) - kBusy + 1,
                           std::memory_order_release);
    return true;
}

Result<SegmentTable::OpenSegment> SegmentTable::reopen(std::uint32_t segment) {
    TRY_ASSIGN(File file, open_file(segment));
    Opened &opened = opened_[segment % kOpenedCount];
    if (replace(opened, opened.state.load(), segment, file))
        return OpenSegment(&opened.state, opened.fd);
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
        const auto info = with_borrowed(opened.fd, [](const File &file) { return file.info(); });
        const bool deleted = info.ok() && info.value().links == 0;
        if (deleted) UniqueFd(opened.fd).reset(-1);
        opened.state.fetch_sub(deleted ? (seen | kBusy) : kBusy, std::memory_order_release);
    }
}

}  // namespace cairn
