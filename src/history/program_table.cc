// SPDX-License-Identifier: MIT
#include "history/program_table.h"

#include <algorithm>
#include <optional>

#include "os/byte_lock.h"
#include "os/environment.h"

namespace cairn {
namespace {

constexpr std::uint64_t kGrowPatienceUs = 2000;
constexpr std::uint64_t kLookNs = 1'000'000'000;
constexpr std::uint64_t kExtendRetryNs = 10'000'000'000;

// The first record of a bucket in its level. Each level goes by other bits of the digest, so that
// what shares a bucket in one does not in the next.
std::size_t first_in_bucket(std::size_t level, std::uint64_t sources) {
    constexpr std::array<unsigned, kLevelsMax> kFirstBits = {0, 8, 18, 32};
    const std::size_t buckets = level_records(level) / kBucketRecords;
    std::uint64_t mixed = sources * 0x9E3779B97F4A7C15u;
    mixed ^= mixed >> 32;
    return static_cast<std::size_t>(mixed >> kFirstBits[level]) % buckets * kBucketRecords;
}

bool is_same(const ProgramRecord &record, const ProgramParts &program) {
    return record.sources == program.sources && record.context == program.context &&
           record.settings_and_key == (std::uint64_t{program.settings} << 32 | program.key);
}

// Nothing was ever there. A program is put into the first bucket of its own that has such a place, and
// no place becomes so again: further levels do not have what this bucket has not.
bool is_new(const ProgramRecord &record) {
    return (record.sources | record.context | record.settings_and_key | record.state) == 0;
}

// Calls `visit` with what a bucket has of the sources. Whether to look at the next level.
bool visit_bucket(const ProgramRecord *records, std::uint64_t sources,
                  const ProgramTable::Visit &visit) {
    bool is_full = true;
    for (std::size_t i = 0; i < kBucketRecords; ++i) {
        const std::uint64_t there = std::atomic_ref(const_cast<std::uint64_t &>(records[i].sources))
                                        .load(std::memory_order_relaxed);
        if (there != sources && there != 0) continue;
        const ProgramRecord record = load_record(records[i]);
        is_full &= !is_new(record);
        const ProgramStateRead state = read_program_state(record);
        if (record.sources == sources && state.is_whole && !visit(record, state)) return false;
    }
    return is_full;
}

}  // namespace

ProgramRecord *ProgramTable::bucket(std::size_t level, std::uint64_t sources) const {
    return reinterpret_cast<ProgramRecord *>(mapped_[level].data() +
                                             programs_offset(links_, level)) +
           first_in_bucket(level, sources);
}

// nullopt: the application has closed our descriptor, and its number may stand for a file of its
// own by now, which must not grow.
std::optional<FileInfo> ProgramTable::info_now() const {
    const auto now = file_.info();
    if (!now.ok() || now->inode != info_.inode || now->device != info_.device) return std::nullopt;
    return now.value();
}

// To ask a full disk costs much, each time: not again for some time after it said no.
bool ProgramTable::extend(std::uint64_t size) {
    const std::uint64_t now_ns = coarse_monotonic_ns();
    if (now_ns < extend_after_ns_.load(std::memory_order_relaxed)) return false;
    if (file_.extend(size).ok()) return true;
    extend_after_ns_.store(now_ns + kExtendRetryNs, std::memory_order_relaxed);
    return false;
}

// Another process may have added a level. False: there are no more. Its blocks are there before it
// is mapped, also where somebody has copied the file without its zeroes: a full disk cannot raise
// SIGBUS later.
bool ProgramTable::map_next() {
    if (levels_.load(std::memory_order_acquire) == kLevelsMax) return false;
    const MutexLock lock(mutex_.get());
    const std::size_t level = levels_.load(std::memory_order_relaxed);
    if (level == kLevelsMax) return false;
    const std::size_t end = programs_offset(links_, level + 1);
    const auto info = info_now();
    if (!info || info->size_bytes < end) return false;
    if (info->disk_bytes < info->size_bytes && !extend(end)) return false;
    // From the beginning, which is a multiple of any page size.
    auto mapping = Mapping::file(file_, Access::read_write, 0, end);
    if (!mapping.ok()) return false;
    mapped_[level] = std::move(mapping.value());
    levels_.store(level + 1, std::memory_order_release);
    return true;
}

// True: the file has more than so many levels. One process at a time: a file system that cannot reserve blocks
// has zeroes written, which must not go over what another process has put there already.
bool ProgramTable::grow(std::size_t levels) {
    if (levels == kLevelsMax) return false;
    const std::size_t end = programs_offset(links_, levels + 1);
    if (end > size_max_ || !info_now()) return false;
    const auto alone = ByteLock::acquire(file_, kHistoryChangeByte, kGrowPatienceUs);
    const auto info = info_now();
    if (!alone.ok() || !info) return false;
    return info->size_bytes >= end || extend(end);
}

void ProgramTable::visit(std::uint64_t sources, const Visit &visit) {
    std::size_t level = 0;
    do {
        for (; level < levels_.load(std::memory_order_acquire); ++level) {
            if (!visit_bucket(bucket(level, sources), sources, visit)) return;
        }
    } while (map_next());
}

// The record that the program has, a free one, or the oldest in the last level's bucket. Null: there
// are no levels.
ProgramRecord *ProgramTable::place_for(const ProgramParts &program) {
    while (true) {
        ProgramRecord *unused = nullptr;
        ProgramRecord *oldest = nullptr;
        bool are_all_its_own = false;  // in the last level's bucket
        const std::size_t levels = levels_.load(std::memory_order_acquire);
        for (std::size_t level = 0; level < levels; ++level) {
            ProgramRecord *const records = bucket(level, program.sources);
            std::uint32_t oldest_minutes = UINT32_MAX;
            are_all_its_own = true;
            bool has_new = false;
            for (std::size_t i = 0; i < kBucketRecords; ++i) {
                // Of those of one minute it is another one for each program.
                ProgramRecord &place = records[(i + program.key) % kBucketRecords];
                const ProgramRecord record = load_record(place);
                const ProgramStateRead state = read_program_state(record);
                if (state.is_whole && is_same(record, program)) return &place;
                has_new |= is_new(record);
                are_all_its_own &= state.is_whole && record.sources == program.sources;
                if (!state.is_whole) {
                    if (unused == nullptr) unused = &place;
                } else if (state.minutes < oldest_minutes) {
                    oldest_minutes = state.minutes;
                    oldest = &place;
                }
            }
            if (has_new) return unused;
        }
        if (map_next()) continue;
        if (unused != nullptr) return unused;
        // A larger table has no more room for programs of the same sources.
        if (are_all_its_own) return oldest;
        if (!grow(levels)) return oldest;
        // If it is mapped, by this thread or by another one, there is room.
        (void)map_next();
        if (levels_.load(std::memory_order_acquire) == levels) return oldest;
    }
}

void ProgramTable::put(const ProgramParts &program, bool is_stored, std::uint32_t minutes) {
    ProgramRecord *const place = place_for(program);
    if (place == nullptr) return;
    ProgramRecord record = {program.sources, program.context,
                            std::uint64_t{program.settings} << 32 | program.key, 0};
    record.state = program_state(record, minutes, is_stored);
    store_record(*place, record);
}

bool SiblingPrograms::look() {
    const auto got = file_.read_at(0, std::as_writable_bytes(std::span(&header_, 1)));
    const auto info = file_.info();
    const bool is_known =
        header_.magic == kHistoryMagicSmall || header_.magic == kHistoryMagicLarge;
    if (!got.ok() || got.value() != sizeof header_ || !info.ok() || !is_known) return false;
    if (header_.is_void != 0 || header_.driver_check != check_of_driver(header_.driver))
        return false;
    // A hole may have no block on a full disk, even for being read.
    return info->disk_bytes >= info->size_bytes && map(info->size_bytes);
}

bool SiblingPrograms::map(std::uint64_t file_size) {
    const std::size_t links = links_of(header_.magic);
    std::size_t levels = 0;
    while (levels < kLevelsMax && programs_offset(links, levels + 1) <= file_size) ++levels;
    if (levels == 0) return false;  // cut, or not yet of its size: what is not there is not mapped
    const std::size_t size = programs_offset(links, levels);
    if (levels == levels_ && mapping_.size() == size) return true;
    auto mapped = Mapping::file(file_, Access::read_only, 0, size);
    if (!mapped.ok()) return false;
    mapping_ = std::move(mapped.value());
    levels_ = levels;
    return true;
}

std::optional<std::uint64_t> SiblingPrograms::driver() {
    const std::uint64_t now_ns = coarse_monotonic_ns();
    if (now_ns >= look_ns_) {
        is_usable_ = look();
        look_ns_ = now_ns + kLookNs;
    }
    return is_usable_ ? std::optional(header_.driver) : std::nullopt;
}

std::optional<ContextRecord> SiblingPrograms::context(std::uint64_t digest) const {
    const auto *const records = reinterpret_cast<const ContextRecord *>(mapping_.data());
    return find_context(digest, [&](std::size_t i) { return load_record(records[1 + i]); });
}

void SiblingPrograms::visit(std::uint64_t sources, const ProgramTable::Visit &visit) const {
    for (std::size_t level = 0; level < levels_; ++level) {
        const std::size_t offset = programs_offset(links_of(header_.magic), level) +
                                   first_in_bucket(level, sources) * sizeof(ProgramRecord);
        const auto *const bucket =
            reinterpret_cast<const ProgramRecord *>(mapping_.data() + offset);
        if (!visit_bucket(bucket, sources, visit)) return;
    }
}

}  // namespace cairn
