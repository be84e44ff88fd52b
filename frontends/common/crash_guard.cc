// SPDX-License-Identifier: MIT
#include "common/crash_guard.h"

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "os/byte_lock.h"
#include "os/file.h"
#include "os/mapping.h"
#include "os/root.h"

namespace cairn {

constinit thread_local GuardedThread t_guarded;

namespace {

using Word = std::atomic_ref<std::uint64_t>;

constexpr std::uint64_t kMagic = 0x3144'5241'5547'4e43;  // "CNGUARD1"
// Crashes that follow each other so soon count together.
constexpr std::uint64_t kTogetherNs = 60'000'000'000;
// Two crashes are enough; or six of binaries that the cache then drops one after the other.
constexpr std::uint64_t kStrikesMax = 6;
constexpr std::uint64_t kStrikesOfCrash = 3;
constexpr std::uint64_t kStrikesOfBinary = 1;
constexpr std::size_t kSlots = 31;
constexpr std::size_t kWords = 14;
// Bytes of the file that are locked, behind its contents.
constexpr std::uint64_t kJoinByte = 1u << 20;
constexpr std::uint64_t kFirstSlotByte = kJoinByte + 1;
constexpr std::uint64_t kJoinPatienceUs = 20'000;

// Of a process.
struct Slot {
    std::uint64_t is_used;  // 0: free, or its process is exiting
    std::uint64_t boot;
    std::array<std::uint64_t, kWords> inside;  // of threads: since when; 0: outside
};

struct Layout {
    std::uint64_t magic;
    std::uint64_t crashes;
    std::uint64_t off_since_ns;
    std::uint64_t last_boot;  // of the last crash
    std::uint64_t last_ns;    // when it was, by the monotonic clock of that boot
    std::uint64_t strikes;    // of the last crash, and of those that went before it so soon
    std::array<std::uint64_t, 10> reserved;
    std::array<Slot, kSlots> slots;
};
static_assert(sizeof(Slot) == 128 && sizeof(Layout) == 4096);

struct GuardFile {
    File file;
    Mapping mapping;

    Layout &layout() const { return *reinterpret_cast<Layout *>(mapping.data()); }
    CrashRecord record() const {
        return {Word(layout().crashes).load(), Word(layout().off_since_ns).load()};
    }
};

// The place of this process; null: it is not watched.
Slot *g_slot = nullptr;
std::uint64_t g_process = 0;
std::atomic<unsigned> g_threads = 0;
// What threads write to that are not watched. They write it, and no process reads it.
alignas(Word::required_alignment) std::uint64_t g_nowhere = 0;

std::string file_of(const std::string &application) {
    return kCrashGuardPrefix + application;
}

Result<GuardFile> map(File file) {
    TRY_ASSIGN(Mapping mapping, Mapping::file(file, Access::read_write, 0, sizeof(Layout)));
    return GuardFile{std::move(file), std::move(mapping)};
}

// not_found, too, where the file is not one of these.
Result<GuardFile> open_existing(const std::string &root, const std::string &application) {
    TRY_ASSIGN(const Directory directory, open_root(root, Create::no, Log()));
    TRY_ASSIGN(File file, directory.open_file(file_of(application), Access::read_write));
    TRY_ASSIGN(const FileInfo info, file.info());
    if (info.size_bytes < sizeof(Layout)) return Error::not_found;
    TRY_ASSIGN(GuardFile guard, map(std::move(file)));
    if (Word(guard.layout().magic).load() != kMagic) return Error::not_found;
    return guard;
}

// Zeros are all that a new file needs, so several processes may make it at once; what is no such
// file is replaced. Its block is there before it is mapped: a full disk cannot raise SIGBUS later.
Result<GuardFile> open_or_make(const std::string &root, const std::string &application) {
    TRY_ASSIGN(const Directory directory, open_root(root, Create::yes, Log()));
    for (unsigned attempt = 0; attempt < 2; ++attempt) {
        TRY_ASSIGN(File file, directory.open_or_make_file(file_of(application)));
        TRY_ASSIGN(const FileInfo info, file.info());
        if (info.size_bytes < sizeof(Layout)) TRY(file.extend(sizeof(Layout)));
        TRY_ASSIGN(GuardFile guard, map(std::move(file)));
        std::uint64_t magic = 0;
        if (Word(guard.layout().magic).compare_exchange_strong(magic, kMagic) || magic == kMagic) {
            return guard;
        }
        TRY(directory.remove_file(file_of(application)));
    }
    return Error::corrupt;
}

// When the process of this slot, which has ended, went into the front end for the last time;
// nullopt: it was outside, or nobody can tell, as after a power loss. Frees the slot.
std::optional<std::uint64_t> settle(Slot &slot, std::uint64_t boot) {
    std::uint64_t last_ns = 0;
    for (std::uint64_t &word : slot.inside) {
        last_ns = std::max(last_ns, Word(word).exchange(0));
    }
    const bool was_watched = Word(slot.is_used).exchange(0) == 1 && slot.boot == boot && boot != 0;
    if (!was_watched || last_ns == 0) return std::nullopt;
    return std::min(last_ns, monotonic_ns());
}

// Crashes that are found together are one event: each process settles what went before it, so
// theirs ran at the same time.
void note_crashes(Layout &layout, std::uint64_t boot, const std::vector<std::uint64_t> &crashes) {
    if (crashes.empty()) return;
    Word(layout.crashes).fetch_add(crashes.size());
    const std::uint64_t time_ns = std::ranges::max(crashes);
    const bool follows = layout.last_boot == boot && layout.last_ns != 0 &&
                         time_ns - std::min(time_ns, layout.last_ns) <= kTogetherNs;
    const bool are_of_binaries = std::ranges::all_of(
        crashes, [](std::uint64_t crash) { return (crash & InsideFrontEnd::kInDriverBit) != 0; });
    layout.strikes =
        (follows ? layout.strikes : 0) + (are_of_binaries ? kStrikesOfBinary : kStrikesOfCrash);
    if (layout.strikes >= kStrikesMax && layout.off_since_ns == 0) {
        Word(layout.off_since_ns).store(wall_clock_ns());
    }
    layout.last_boot = boot;
    layout.last_ns = time_ns;
}

// The lock of a slot is free when its process has ended. Settles all of these, and keeps the lock
// of the first; null: none is free.
Slot *settle_and_take(const GuardFile &guard, std::uint64_t boot) {
    Slot *own = nullptr;
    std::vector<std::uint64_t> crashes;
    for (std::size_t i = 0; i < kSlots; ++i) {
        Slot &slot = guard.layout().slots[i];
        if (own != nullptr && Word(slot.is_used).load() == 0) continue;
        const auto is_ours = guard.file.try_lock(kFirstSlotByte + i, LockKind::exclusive);
        if (!is_ours.ok() || !is_ours.value()) continue;
        if (const auto crash = settle(slot, boot)) crashes.push_back(*crash);
        if (own == nullptr) {
            own = &slot;
        } else {
            guard.file.unlock(kFirstSlotByte + i);
        }
    }
    note_crashes(guard.layout(), boot, crashes);
    return own;
}

// At exit() other threads may still be inside; that is no crash. A child of fork() leaves its
// parent's slot alone.
void leave() {
    if (g_slot != nullptr && process_number() == g_process) Word(g_slot->is_used).store(0);
}

// From now on the process is watched. The file stays open and mapped until it ends.
void watch(GuardFile guard, Slot &slot, std::uint64_t boot) {
    slot.boot = boot;
    Word(slot.is_used).store(1);
    g_slot = &slot;
    g_process = process_number();
    guard.file.release();
    guard.mapping.release();
    if (::atexit(leave) != 0) Word(slot.is_used).store(0);
}

}  // namespace

CrashRecord join_crash_guard(const std::string &root, const std::string &application) {
    auto opened = open_or_make(root, application);
    if (!opened.ok()) return {};
    GuardFile guard = std::move(opened.value());
    const std::uint64_t boot = boot_number();
    Slot *own = nullptr;
    {
        const auto alone = ByteLock::acquire(guard.file, kJoinByte, kJoinPatienceUs);
        if (alone.ok()) own = settle_and_take(guard, boot);
    }
    const CrashRecord record = guard.record();
    if (own != nullptr && record.off_since_ns == 0) watch(std::move(guard), *own, boot);
    return record;
}

Result<CrashRecord> read_crash_record(const std::string &root, const std::string &application) {
    TRY_ASSIGN(const GuardFile guard, open_existing(root, application));
    return guard.record();
}

Status forgive_crashes(const std::string &root, const std::string &application) {
    TRY_ASSIGN(const GuardFile guard, open_existing(root, application));
    Word(guard.layout().last_boot).store(0);
    Word(guard.layout().off_since_ns).store(0);
    return {};
}

std::vector<std::string> guarded_applications(const std::string &root) {
    std::vector<std::string> names;
    const auto directory = Directory::open(root);
    if (!directory.ok()) return names;
    (void)directory->list([&](const char *name) {
        const std::string_view text = name;
        if (text.starts_with(kCrashGuardPrefix)) {
            names.emplace_back(text.substr(std::string_view(kCrashGuardPrefix).size()));
        }
    });
    std::ranges::sort(names);
    return names;
}

// Threads beyond the first few share words. The last store of two such threads stays: at worst a
// crash goes unnoticed.
void InsideFrontEnd::find_word() {
    if (g_slot == nullptr) {
        t_guarded.word = &g_nowhere;
    } else {
        t_guarded.word = &g_slot->inside[g_threads.fetch_add(1) % kWords];
    }
}

}  // namespace cairn
