// SPDX-License-Identifier: MIT
#include "cache/crash_memory.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/hash.h"
#include "os/environment.h"
#include "store/space.h"

namespace cairn {
namespace {

constexpr std::uint64_t kMagic = 0x3148'5341'5243'4e43;  // "CNCRASH1"
constexpr std::size_t kPastEntries = 128;
// Bytes of the file that are locked, behind its contents.
constexpr std::uint64_t kSettleByte = 1u << 20;
constexpr std::uint64_t kFirstSessionByte = kSettleByte + 1;
constexpr std::uint64_t kSessions = 1024;
constexpr unsigned kSettlePatienceUs = 20'000;
constexpr std::uint64_t kDropsMax = 2;

// A slot's word: what it is, whose, and which use of the file it is.
enum State : std::uint64_t { free_slot = 0, filling = 1, in_use = 2, condemned = 3 };
constexpr std::uint64_t word_of(State state, std::uint64_t session, std::uint64_t number) {
    return number << 24 | session << 8 | state;
}
constexpr State state_of(std::uint64_t word) {
    return static_cast<State>(word & 0xff);
}
constexpr std::uint64_t session_of(std::uint64_t word) {
    return word >> 8 & 0xffff;
}
constexpr std::uint64_t number_of(std::uint64_t word) {
    return word >> 24;
}

// The past of an entry: how often it was dropped, and the last use that was counted.
constexpr std::uint64_t kNumberBits = 40;
constexpr std::uint64_t past_word(std::uint64_t drops, std::uint64_t number) {
    return drops << kNumberBits | number;
}
constexpr std::uint64_t drops_of(std::uint64_t word) {
    return word >> kNumberBits;
}
constexpr std::uint64_t last_number_of(std::uint64_t word) {
    return word & ((std::uint64_t{1} << kNumberBits) - 1);
}

}  // namespace

struct CrashMemory::Slot {
    std::uint64_t word;
    std::uint64_t key_size;
    std::array<std::byte, kKeyMax> key;
    std::array<std::byte, 48> reserved;

    Bytes key_bytes() const {
        return Bytes(key).first(
            static_cast<std::size_t>(std::min<std::uint64_t>(key_size, kKeyMax)));
    }
};

struct CrashMemory::Past {
    Fingerprint fingerprint;
    std::uint64_t word;  // 0: free
    std::uint64_t reserved;
};

struct CrashMemory::Layout {
    std::uint64_t magic;
    std::uint64_t dropped;
    std::uint64_t kept_out;
    std::uint64_t last_number;
    std::array<std::byte, 96> reserved;
    std::array<Slot, kSlots> slots;
    std::array<Past, kPastEntries> past;
};

CrashMemory::Layout &CrashMemory::layout() const {
    static_assert(sizeof(Slot) == 128 && sizeof(Past) == 32 && sizeof(Layout) == 12288);
    return *reinterpret_cast<Layout *>(mapping_.data());
}

// Zeros are all that a new file needs, so it may be made by several processes at once; what is no
// such file is replaced.
Result<std::unique_ptr<CrashMemory>> CrashMemory::open(const Directory &directory) {
    for (unsigned attempt = 0; attempt < 2; ++attempt) {
        TRY_ASSIGN(File file, directory.open_or_make_file(kCrashFileName));
        TRY_ASSIGN(const FileInfo info, file.info());
        if (info.size_bytes < sizeof(Layout)) TRY(file.extend(sizeof(Layout)));
        TRY_ASSIGN(Mapping mapping, Mapping::file(file, Access::read_write, 0, sizeof(Layout)));
        std::unique_ptr<CrashMemory> memory(new (std::nothrow)
                                                CrashMemory(std::move(file), std::move(mapping)));
        if (memory == nullptr) return Error::no_memory;
        std::uint64_t magic = 0;
        const bool is_ours =
            Word(memory->layout().magic).compare_exchange_strong(magic, kMagic) || magic == kMagic;
        if (is_ours) {
            TRY(memory->join_session());
            return memory;
        }
        TRY(directory.remove_file(kCrashFileName));
    }
    return Error::corrupt;
}

CrashCounts CrashMemory::read_counts(const Directory &directory) {
    const auto file = directory.open_file(kCrashFileName, Access::read_only);
    std::array<std::uint64_t, 3> words = {};
    if (!file.ok()) return {};
    const auto size = file.value().read_at(0, std::as_writable_bytes(std::span(words)));
    if (!size.ok() || size.value() != sizeof words || words[0] != kMagic) return {};
    return {words[1], words[2]};
}

// The process that gets the lock of a session is its only owner: entries that the session still has
// in use were given to a driver by a process that is gone.
Status CrashMemory::join_session() {
    const std::uint64_t first = process_number();
    for (std::uint64_t i = 0; i < kSessions; ++i) {
        const std::uint64_t session = (first + i) % kSessions;
        TRY_ASSIGN(const bool locked,
                   file_.try_lock(kFirstSessionByte + session, LockKind::exclusive));
        if (!locked) continue;
        session_ = session;
        condemn_all_of(session);
        return {};
    }
    return Error::busy;
}

void CrashMemory::condemn_all_of(std::uint64_t session) {
    for (Slot &slot : layout().slots) {
        std::uint64_t word = Word(slot.word).load();
        if (state_of(word) == free_slot || session_of(word) != session) continue;
        if (state_of(word) == in_use) {
            Word(slot.word).compare_exchange_strong(word,
                                                    word_of(condemned, session, number_of(word)));
        } else if (state_of(word) == filling) {
            Word(slot.word).compare_exchange_strong(word, 0);
        }
    }
}

void CrashMemory::condemn_those_of_the_dead() {
    for (Slot &slot : layout().slots) {
        const std::uint64_t word = Word(slot.word).load();
        const State state = state_of(word);
        const std::uint64_t session = session_of(word);
        const bool is_damaged = state == free_slot || state > condemned || session >= kSessions;
        if (word != 0 && is_damaged) Word(slot.word).store(0);
        if (is_damaged || state == condemned || session == session_) continue;
        const auto locked = file_.try_lock(kFirstSessionByte + session, LockKind::exclusive);
        if (!locked.ok() || !locked.value()) continue;
        condemn_all_of(session);
        file_.unlock(kFirstSessionByte + session);
    }
}

CrashMemory::Fingerprint CrashMemory::fingerprint(Bytes key) {
    Blake2b hash;
    hash.add(key);
    const auto digest = hash.finish();
    Fingerprint print;
    std::copy_n(digest.begin(), print.size(), print.begin());
    return print;
}

// Where a fingerprint is or goes: the place of the one that was dropped longest ago, when all are
// taken, and those that are kept out last.
CrashMemory::Past &CrashMemory::past_of(const Fingerprint &print) const {
    auto &past = layout().past;
    const auto found = std::find_if(past.begin(), past.end(), [&](Past &entry) {
        return Word(entry.word).load() != 0 && entry.fingerprint == print;
    });
    if (found != past.end()) return *found;
    return *std::min_element(past.begin(), past.end(), [](const Past &a, const Past &b) {
        return a.word < b.word;  // 0, then by drops, then by number
    });
}

// Counts a drop once, however many processes try. True when the entry was dropped before.
bool CrashMemory::note_drop(Bytes key, std::uint64_t number) {
    const Fingerprint print = fingerprint(key);
    Past &entry = past_of(print);
    std::uint64_t drops = 0;
    if (entry.word != 0 && entry.fingerprint == print) {
        drops = drops_of(entry.word);
        if (last_number_of(entry.word) == number) return drops >= kDropsMax;
    }
    Word(entry.word).store(0);
    entry.fingerprint = print;
    Word(entry.word).store(past_word(std::min(drops + 1, kDropsMax), number));
    Word(layout().dropped).fetch_add(1);
    const auto kept_out =
        std::count_if(layout().past.begin(), layout().past.end(),
                      [](const Past &each) { return drops_of(each.word) >= kDropsMax; });
    Word(layout().kept_out).store(static_cast<std::uint64_t>(kept_out));
    return drops + 1 >= kDropsMax;
}

// A process that is killed in between leaves the slot to the next one, which does not count it
// again.
void CrashMemory::settle_slot(Slot &slot, const Drop &drop) {
    std::uint64_t word = Word(slot.word).load();
    if (state_of(word) != condemned) return;
    const Bytes key = slot.key_bytes();
    const bool is_last = !key.empty() && note_drop(key, number_of(word));
    if (!key.empty()) drop(key, is_last);
    Word(slot.word).compare_exchange_strong(word, 0);
}

void CrashMemory::settle(const Drop &drop) {
    condemn_those_of_the_dead();
    auto &slots = layout().slots;
    const bool has_work = std::any_of(slots.begin(), slots.end(), [](Slot &slot) {
        return state_of(Word(slot.word).load()) == condemned;
    });
    if (!has_work) return;
    const auto lock = ByteLock::acquire(file_, kSettleByte, kSettlePatienceUs);
    if (!lock.ok()) return;  // another process settles them, or the next one will
    for (Slot &slot : slots) settle_slot(slot, drop);
}

std::uint32_t CrashMemory::begin_use(Bytes key) {
    if (key.empty() || key.size() > kKeyMax) return kNoTicket;
    const std::uint64_t number =
        Word(layout().last_number).fetch_add(1, std::memory_order_relaxed) + 1;
    for (std::uint32_t i = 0; i < kSlots; ++i) {
        const std::uint32_t ticket = next_slot_.load(std::memory_order_relaxed) + i;
        Slot &slot = layout().slots[ticket % kSlots];
        std::uint64_t word = free_slot;
        if (Word(slot.word).load(std::memory_order_relaxed) != free_slot ||
            !Word(slot.word).compare_exchange_strong(word, word_of(filling, session_, number))) {
            continue;
        }
        slot.key_size = key.size();
        std::memcpy(slot.key.data(), key.data(), key.size());
        Word(slot.word).store(word_of(in_use, session_, number), std::memory_order_release);
        next_slot_.store(ticket % kSlots, std::memory_order_relaxed);
        return ticket % kSlots;
    }
    return kNoTicket;
}

void CrashMemory::end_use(std::uint32_t ticket) {
    if (ticket >= kSlots) return;
    Slot &slot = layout().slots[ticket];
    std::uint64_t word = Word(slot.word).load(std::memory_order_relaxed);
    if (state_of(word) != in_use || session_of(word) != session_) return;
    Word(slot.word).compare_exchange_strong(word, free_slot, std::memory_order_release);
}

bool CrashMemory::is_kept_out(Bytes key) const {
    if (Word(layout().kept_out).load(std::memory_order_acquire) == 0) return false;
    return was_dropped_times(key, kDropsMax);
}

bool CrashMemory::was_dropped(Bytes key) const {
    if (Word(layout().dropped).load(std::memory_order_acquire) == 0) return false;
    return was_dropped_times(key, 1);
}

bool CrashMemory::was_dropped_times(Bytes key, std::uint64_t times) const {
    const Fingerprint print = fingerprint(key);
    auto &past = layout().past;
    return std::any_of(past.begin(), past.end(), [&](Past &entry) {
        return drops_of(Word(entry.word).load(std::memory_order_acquire)) >= times &&
               entry.fingerprint == print;
    });
}

CrashCounts CrashMemory::counts() const {
    return {Word(layout().dropped).load(), Word(layout().kept_out).load()};
}

}  // namespace cairn
