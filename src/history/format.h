// Layout of the file `history`: docs/formats/history.md.
// SPDX-License-Identifier: MIT
//
//     header     64 bytes
//     contexts   63 of 64 bytes, up to offset 4096
//     runs       16 of 512 bytes
//     links      64 or 1024 of 64 bytes: the last that were not found
//     programs   1 to 4 levels of a table, each eight times as large as the one before
//
// All is made of words that are written atomically. What has several of them ends in a word that
// checks them, and is written last: what a killed process has left half written, or something else
// has damaged, is not there.
//
// Thread safety: constants and pure functions.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/checksum.h"
#include "history/tally.h"

namespace cairn {

// Of a file with few links, and of one with many.
inline constexpr std::uint64_t kHistoryMagicSmall = 0x3153'5453'4948'4e43;  // "CNHISTS1"
inline constexpr std::uint64_t kHistoryMagicLarge = 0x314c'5453'4948'4e43;  // "CNHISTL1"

struct HistoryHeader {
    std::uint64_t magic;
    std::uint64_t is_void;       // not 0: the cache was cleared, and this file is no longer in use
    std::uint64_t last_link;     // a number that grows with each, checked (base/checked_word.h)
    std::uint64_t driver;        // a digest of what the identity says of the driver alone
    std::uint64_t driver_check;  // of that
    std::array<std::uint64_t, 3> reserved;
};

// What is kept of a context: digests of its traits.
enum class ContextField : unsigned { request, version, language, extensions, flags, profile };
inline constexpr std::size_t kContextFields = 6;
const char *context_field_name(ContextField field);

struct ContextRecord {
    std::uint64_t digest;  // of a context, see ProgramParts
    std::array<std::uint32_t, kContextFields> fields;
    std::array<std::uint64_t, 3> reserved;
    std::uint64_t check;
};

// A process that looks programs up.
struct RunRecord {
    std::uint64_t start_ns;  // since 1970; 0: free
    std::uint64_t process;   // its number
    std::uint64_t check;     // of these two
    // Checked words. When a link of it was not found last, in milliseconds since 1970.
    std::uint64_t last_ms;
    // Since when the driver makes a program, by the monotonic clock; 0: it makes none.
    std::uint64_t making_us;
    std::uint64_t is_continued;  // not 0: the cache was cleared while the process ran
    // Checked words: what was put and is not on disk yet.
    std::uint64_t queued_entries;
    std::uint64_t queued_bytes;  // of their keys and values
    Tally tally;
    std::array<std::uint64_t, 16> reserved_too;
};

// A link that was not found, or could not be looked for.
struct LinkRecord {
    std::uint64_t number;              // from HistoryHeader::last_link
    std::uint64_t run_start_ns;        // of the run
    std::uint64_t time_ns;             // since 1970, when it was done
    std::uint64_t what;                // Outcome | Detail << 8 | cost in microseconds << 16
    std::array<std::uint64_t, 2> key;  // the first 16 bytes of the program's
    std::uint64_t other;               // see Link
    std::uint64_t check;
};

// A program that was made or found.
struct ProgramRecord {
    std::uint64_t sources;
    std::uint64_t context;
    std::uint64_t settings_and_key;  // settings << 32 | key
    std::uint64_t state;  // minutes since 2020 << 40 | was stored << 39 | check of it all, 39 bits
};

static_assert(sizeof(HistoryHeader) == 64 && sizeof(ContextRecord) == 64);
static_assert(sizeof(RunRecord) == 512 && sizeof(LinkRecord) == 64 && sizeof(ProgramRecord) == 32);

inline constexpr std::size_t kContextRecords = 63;
inline constexpr std::size_t kRunRecords = 16;
inline constexpr std::size_t kLinksSmall = 64;
inline constexpr std::size_t kLinksLarge = 1024;
inline constexpr std::size_t kRunsOffset = 4096;
inline constexpr std::size_t kLinksOffset = kRunsOffset + kRunRecords * sizeof(RunRecord);
inline constexpr std::size_t kBucketRecords = 8;
inline constexpr std::size_t kLevelsMax = 4;

constexpr std::size_t level_records(std::size_t level) {
    return std::size_t{256} << (3 * level);
}
constexpr std::size_t links_of(std::uint64_t magic) {
    return magic == kHistoryMagicLarge ? kLinksLarge : kLinksSmall;
}
// Where a level of programs begins; the one before it ends there.
constexpr std::size_t programs_offset(std::size_t links, std::size_t level) {
    std::size_t offset = kLinksOffset + links * sizeof(LinkRecord);
    for (std::size_t i = 0; i < level; ++i) offset += level_records(i) * sizeof(ProgramRecord);
    return offset;
}
static_assert(kLinksOffset % 4096 == 0 && programs_offset(kLinksSmall, 0) % 4096 == 0 &&
              programs_offset(kLinksLarge, 0) % 4096 == 0 &&
              programs_offset(kLinksSmall, 1) % 4096 == 0);

// Places of checked words that are in no Tally.
inline constexpr std::uint64_t kLastPlace = kNumbers;
inline constexpr std::uint64_t kMakingPlace = kNumbers + 1;
inline constexpr std::uint64_t kLastLinkPlace = kNumbers + 2;
inline constexpr std::uint64_t kQueuedEntriesPlace = kNumbers + 3;
inline constexpr std::uint64_t kQueuedBytesPlace = kNumbers + 4;

// Bytes of the file that are locked, behind its contents.
inline constexpr std::uint64_t kHistoryChangeByte = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kFirstRunByte = kHistoryChangeByte + 1;

// Records are read and written word by word, the last word last.
template <typename Record>
Record load_record(const Record &shared) {
    constexpr std::size_t kWords = sizeof(Record) / sizeof(std::uint64_t);
    using Words = std::array<std::uint64_t, kWords>;
    auto &words = reinterpret_cast<Words &>(const_cast<Record &>(shared));
    Words copy;
    const auto load = [&](std::size_t i, std::memory_order order) {
        copy[i] = std::atomic_ref(words[i]).load(order);
    };
    load(kWords - 1, std::memory_order_acquire);
    for (std::size_t i = 0; i + 1 < kWords; ++i) load(i, std::memory_order_relaxed);
    return std::bit_cast<Record>(copy);
}
template <typename Record>
void store_record(Record &shared, const Record &record) {
    constexpr std::size_t kWords = sizeof(Record) / sizeof(std::uint64_t);
    using Words = std::array<std::uint64_t, kWords>;
    auto &words = reinterpret_cast<Words &>(shared);
    const auto copy = std::bit_cast<Words>(record);
    std::atomic_ref(words[kWords - 1]).store(0, std::memory_order_release);
    for (std::size_t i = 0; i + 1 < kWords; ++i) {
        std::atomic_ref(words[i]).store(copy[i], std::memory_order_relaxed);
    }
    std::atomic_ref(words[kWords - 1]).store(copy[kWords - 1], std::memory_order_release);
}

// The check of a record: of all its words but the last.
template <typename Record>
std::uint64_t check_of(const Record &record) {
    return checksum(as_bytes(std::string_view(reinterpret_cast<const char *>(&record),
                                              sizeof record - sizeof(std::uint64_t))),
                    sizeof record);
}
inline std::uint64_t check_of(const RunRecord &run) {
    const std::array words = {run.start_ns, run.process};
    return checksum(std::as_bytes(std::span(words)), sizeof run);
}

inline std::uint64_t check_of_driver(std::uint64_t driver) {
    return checksum(std::as_bytes(std::span(&driver, 1)), sizeof(HistoryHeader));
}

// The context of this digest; `record_at` gives the record at a place.
template <typename RecordAt>
std::optional<ContextRecord> find_context(std::uint64_t digest, RecordAt record_at) {
    for (std::size_t i = 0; i < kContextRecords; ++i) {
        const ContextRecord record = record_at(i);
        if (record.digest == digest && record.check == check_of(record)) return record;
    }
    return std::nullopt;
}
// A bit for each ContextField that differs; 0: one of the two is not known.
std::uint64_t differing_fields(const std::optional<ContextRecord> &a,
                               const std::optional<ContextRecord> &b);

// A program's state word, which checks the others and itself.
std::uint64_t program_state(const ProgramRecord &record, std::uint32_t minutes, bool is_stored);
struct ProgramStateRead {
    bool is_whole = false;
    bool is_stored = false;
    std::uint32_t minutes = 0;
};
ProgramStateRead read_program_state(const ProgramRecord &record);

// The file `sources`: records of this head and the text, one after the other.
inline constexpr std::uint32_t kSourcesMagic = 0x5343'4e43;  // "CNCS"
inline constexpr std::size_t kSourcesTextMax = 64u << 10;    // more of a text is not kept
inline constexpr std::size_t kSourcesSizeMax = 8u << 20;     // whatever the limit of the cache
struct SourcesHead {
    std::uint32_t magic;
    std::uint32_t size;  // of the text
    std::array<std::uint8_t, 16> key;
    std::uint64_t check;
};
static_assert(sizeof(SourcesHead) == 32);
std::uint64_t check_of_sources(const SourcesHead &head, std::string_view text);

// Minutes since 2020-01-01, 24 bits.
std::uint32_t minutes_of(std::uint64_t wall_ns);
std::uint64_t seconds_of_minutes(std::uint32_t minutes);  // since 1970

}  // namespace cairn
