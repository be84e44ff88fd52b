// SPDX-License-Identifier: MIT
#include "history/program_table.h"

#include <algorithm>
#include <optional>

#include "os/byte_lock.h"

namespace cairn {
namespace {

constexpr std::uint64_t kGrowPatienceUs = 2000;

// The first record of a bucket in its level.
std::size_t first_in_bucket(std::size_t level, std::uint64_t sources) {
    const std::size_t buckets = level_records(level) / kBucketRecords;
    // Each level by other bits, so that what shares a bucket in one does not in the next.
    const std::uint64_t mixed = (sources ^ level) * 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(mixed >> 40) % buckets * kBucketRecords;
}

bool is_same(const ProgramRecord &record, const ProgramParts &program) {
    return record.sources == program.sources && record.context == program.context &&
           record.settings_and_key == (std::uint64_t{program.settings} << 32 | program.key);
}

}  // namespace

ProgramRecord *ProgramTable::bucket(std::size_t level, std::uint64_t sources) const {
    return reinterpret_cast<ProgramRecord *>(mapped_[level].data()) +
           first_in_bucket(level, sources);
}

// Another process may have added a level. False: there are no more.
bool ProgramTable::map_next() {
    const MutexLock lock(mutex_);
    const std::size_t level = levels_.load(std::memory_order_relaxed);
    if (level == kLevelsMax) return false;
    const auto info = file_.info();
    if (!info.ok() || info->size_bytes < programs_offset(links_, level + 1)) return false;
    auto mapping = Mapping::file(file_, Access::read_write, programs_offset(links_, level),
                                 level_records(level) * sizeof(ProgramRecord));
    if (!mapping.ok()) return false;
    mapped_[level] = std::move(mapping.value());
    levels_.store(level + 1, std::memory_order_release);
    return true;
}

// Its blocks are there before it is mapped: a full disk cannot raise SIGBUS later.
bool ProgramTable::grow() {
    const std::size_t level = levels_.load(std::memory_order_acquire);
    if (level == kLevelsMax) return false;
    const std::size_t size = programs_offset(links_, level + 1);
    if (size > size_max_) return false;
    const auto alone = ByteLock::acquire(file_, kHistoryChangeByte, kGrowPatienceUs);
    if (!alone.ok()) return false;
    const auto info = file_.info();
    if (!info.ok()) return false;
    return info->size_bytes >= size || file_.extend(size).ok();
}

void ProgramTable::visit(std::uint64_t sources, const Visit &visit) {
    std::size_t level = 0;
    do {
        for (; level < levels_.load(std::memory_order_acquire); ++level) {
            ProgramRecord *const records = bucket(level, sources);
            for (std::size_t i = 0; i < kBucketRecords; ++i) {
                const ProgramRecord record = load_record(records[i]);
                if (record.sources != sources) continue;
                const ProgramStateRead state = read_program_state(record);
                if (state.is_whole && !visit(record, state)) return;
            }
        }
    } while (map_next());
}

// The record that the program has, a free one, or the oldest. Null: there are no levels.
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
            for (std::size_t i = 0; i < kBucketRecords; ++i) {
                const ProgramRecord record = load_record(records[i]);
                const ProgramStateRead state = read_program_state(record);
                if (state.is_whole && is_same(record, program)) return &records[i];
                are_all_its_own &= record.sources == program.sources;
                if (!state.is_whole) {
                    if (unused == nullptr) unused = &records[i];
                } else if (state.minutes < oldest_minutes) {
                    oldest_minutes = state.minutes;
                    oldest = &records[i];
                }
            }
        }
        if (map_next()) continue;
        if (unused != nullptr) return unused;
        // A larger table has no more room for programs of the same sources.
        if (are_all_its_own && levels > 0) return oldest;
        if (!grow() || !map_next()) return oldest;
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

// Zeroes where it is no such file, or no longer in use.
HistoryHeader SiblingPrograms::header() const {
    HistoryHeader header = {};
    const auto got = file_.read_at(0, std::as_writable_bytes(std::span(&header, 1)));
    const bool is_known = header.magic == kHistoryMagicSmall || header.magic == kHistoryMagicLarge;
    const bool is_in_use = got.ok() && is_known && header.is_void == 0;
    return is_in_use ? header : HistoryHeader{};
}

std::uint64_t SiblingPrograms::driver() const {
    return header().driver;
}

std::optional<ContextRecord> SiblingPrograms::context(std::uint64_t digest) const {
    std::array<ContextRecord, kContextRecords> records = {};
    const auto got =
        file_.read_at(sizeof(HistoryHeader), std::as_writable_bytes(std::span(records)));
    if (!got.ok()) return std::nullopt;
    return find_context(digest, [&](std::size_t i) { return records[i]; });
}

void SiblingPrograms::visit(std::uint64_t sources, const ProgramTable::Visit &visit) const {
    const HistoryHeader header = this->header();
    if (header.magic == 0) return;
    for (std::size_t level = 0; level < kLevelsMax; ++level) {
        std::array<ProgramRecord, kBucketRecords> records = {};
        const std::size_t offset = programs_offset(links_of(header.magic), level) +
                                   first_in_bucket(level, sources) * sizeof(ProgramRecord);
        const auto got = file_.read_at(offset, std::as_writable_bytes(std::span(records)));
        if (!got.ok() || got.value() != sizeof records) return;
        for (const ProgramRecord &record : records) {
            if (record.sources != sources) continue;
            const ProgramStateRead state = read_program_state(record);
            if (state.is_whole && !visit(record, state)) return;
        }
    }
}

}  // namespace cairn
