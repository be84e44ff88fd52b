// SPDX-License-Identifier: MIT
#include "store/ghosts.h"

#include <algorithm>
#include <bit>
#include <new>
#include <span>
#include <utility>

#include "base/guarded.h"
#include "os/environment.h"
#include "store/small_file.h"

namespace cairn {
namespace {

constexpr std::uint64_t kMagic = 0x3254'534f'4847'4e43;  // "CNGHOST2"
constexpr std::size_t kMagicAt = 0, kCacheIdAt = 8;
// A cache of entries of some kilobytes has a word for about each entry that it can hold: the file has a 256th of
// the limit at most.
constexpr std::uint64_t kLimitPerWord = 2 * 1024;
constexpr std::uint64_t kMakeAgainNs = 100'000'000;

// A word: the time, the kind, the uses, and the fingerprint of the hash, from the lowest bit.
constexpr unsigned kTimeBits = 24, kKindBits = 2, kUsesBits = 4;
constexpr unsigned kUsesShift = kTimeBits + kKindBits, kPrintShift = kUsesShift + kUsesBits;
constexpr std::uint64_t kTimeMask = (std::uint64_t{1} << kTimeBits) - 1;
constexpr std::uint64_t kEpochS = 1'577'836'800;  // 2020-01-01

constexpr std::uint64_t print_of_hash(std::uint64_t hash) {
    return hash >> kPrintShift;
}
constexpr std::uint64_t print_of(std::uint64_t word) {
    return word >> kPrintShift;
}
constexpr std::uint64_t minutes_of(std::uint64_t word) {
    return word & kTimeMask;
}
constexpr unsigned kind_of(std::uint64_t word) {
    return static_cast<unsigned>(word >> kTimeBits) & ((1u << kKindBits) - 1);
}
constexpr unsigned uses_of(std::uint64_t word) {
    return static_cast<unsigned>(word >> kUsesShift) & ((1u << kUsesBits) - 1);
}
constexpr bool is_ghost(std::uint64_t word) {
    return kind_of(word) == static_cast<unsigned>(Ghost::Kind::evicted) ||
           kind_of(word) == static_cast<unsigned>(Ghost::Kind::damaged);
}
constexpr bool is_of(std::uint64_t word, std::uint64_t hash) {
    return is_ghost(word) && print_of(word) == print_of_hash(hash);
}

// Since 2020; a clock that is set to an earlier or much later time gives the first or last minute.
std::uint64_t minutes_now() {
    const std::uint64_t now_s = wall_clock_ns() / 1'000'000'000;
    return std::min(now_s < kEpochS ? 0 : (now_s - kEpochS) / 60, kTimeMask);
}

}  // namespace

std::uint64_t Ghosts::word_count(std::uint64_t limit_bytes) {
    const std::uint64_t wanted =
        std::clamp(limit_bytes / kLimitPerWord, kWordsMin + kWordsPerSet, kWordsMax + kWordsPerSet);
    return std::bit_floor(wanted) - kWordsPerSet;
}

Ghosts::Set Ghosts::Opened::read_set(std::uint64_t hash) const {
    std::array<std::byte, sizeof(Set)> bytes = {};
    (void)file.read_at(offset_of_set(hash), bytes);
    Set set;
    for (std::size_t i = 0; i < kWordsPerSet; ++i) set[i] = get_le<std::uint64_t>(bytes, i * 8);
    return set;
}

void Ghosts::Opened::write(std::uint64_t hash, const Set &set, std::size_t begin,
                           std::size_t end) const {
    std::array<std::byte, sizeof(Set)> bytes = {};
    for (std::size_t i = begin; i < end; ++i) put_le(bytes, i * 8, set[i]);
    const Bytes piece = Bytes(bytes).subspan(begin * 8, (end - begin) * 8);
    (void)file.write_at(offset_of_set(hash) + begin * 8, std::span(&piece, 1));
}

void Ghosts::note(Index &index, Account &account, std::uint64_t hash, Ghost::Kind kind,
                  unsigned uses) {
    if (!prepare(index, account)) return;
    const Opened *const opened = writable(index);
    if (opened == nullptr) return;
    const std::uint64_t now = minutes_now();
    // What is no ghost counts as empty. One of the future, from a clock or damage, as the oldest:
    // else it would stay for good.
    const auto rank = [&](std::uint64_t word) -> std::uint64_t {
        if (is_of(word, hash)) return 0;
        if (!is_ghost(word)) return 1;
        return minutes_of(word) > now ? 2 : 3 + minutes_of(word);
    };
    // Of those of one minute the last, which is the oldest.
    Set set = opened->read_set(hash);
    std::size_t place = kWordsPerSet - 1;
    for (std::size_t i = kWordsPerSet - 1; i-- > 0;) {
        if (rank(set[i]) < rank(set[place])) place = i;
    }
    std::copy_backward(set.begin(), set.begin() + place, set.begin() + place + 1);
    const std::uint64_t kind_bits = static_cast<unsigned>(kind);
    const std::uint64_t uses_bits = std::min(uses, (1u << kUsesBits) - 1);
    set[0] =
        print_of_hash(hash) << kPrintShift | uses_bits << kUsesShift | kind_bits << kTimeBits | now;
    opened->write(hash, set, 0, place + 1);
}

std::optional<Ghost> Ghosts::find(const Index &index, std::uint64_t hash) {
    const Opened *const opened = look(index);
    if (opened == nullptr) return std::nullopt;
    std::optional<std::uint64_t> latest;  // of two processes, each may have written one
    for (const std::uint64_t word : opened->read_set(hash)) {
        if (!is_of(word, hash)) continue;
        if (!latest || minutes_of(word) > minutes_of(*latest)) latest = word;
    }
    if (!latest) return std::nullopt;
    const std::uint64_t minutes = minutes_of(*latest);
    const bool is_known = minutes != 0 && minutes <= minutes_now();
    return Ghost{static_cast<Ghost::Kind>(kind_of(*latest)), is_known ? kEpochS + minutes * 60 : 0,
                 uses_of(*latest)};
}

void Ghosts::forget(const Index &index, std::uint64_t hash) {
    const Opened *const opened = writable(index);
    if (opened == nullptr || !opened->is_in_place()) return;
    Set set = opened->read_set(hash);
    for (std::size_t i = 0; i < kWordsPerSet; ++i) {
        if (!is_of(set[i], hash)) continue;
        set[i] = 0;
        opened->write(hash, set, i, i + 1);
    }
}

// In place, as others have it open.
void Ghosts::forget_all(const Index &index) {
    const Opened *const opened = writable(index);
    if (opened == nullptr || !opened->is_in_place()) return;
    static constexpr std::array<std::byte, 4096> kZeros = {};
    const std::uint64_t size = opened->count * 8;
    for (std::uint64_t done = 0; done < size; done += kZeros.size()) {
        const auto left = static_cast<std::size_t>(size - done);
        const Bytes piece = Bytes(kZeros).first(std::min(kZeros.size(), left));
        (void)opened->file.write_at(kHeaderSize + done, std::span(&piece, 1));
    }
}

void Ghosts::reopen() {
    opened_.store(nullptr, std::memory_order_release);
}

Ghosts::~Ghosts() {
    for (Opened *each = all_.load(); each != nullptr;) delete std::exchange(each, each->next);
}

// Null: there is no file.
const Ghosts::Opened *Ghosts::look(const Index &index) {
    const std::uint64_t made = index.ghost_files(std::memory_order_relaxed);
    const Opened *opened = opened_.load(std::memory_order_acquire);
    const bool is_current =
        opened != nullptr && opened->made == made && opened->cache_id == index.identity().cache_id;
    if (!is_current) opened = open(index);
    return opened != nullptr && opened->count != 0 ? opened : nullptr;
}

// Threads that do so at once each open it, and the last one counts.
const Ghosts::Opened *Ghosts::open(const Index &index) {
    const std::uint64_t made = index.ghost_files();
    auto *const opened =
        new (std::nothrow) Opened{made, index.identity().cache_id, index.access(), {}};
    if (opened == nullptr) return nullptr;
    (void)guarded([&] { return open_file(*opened); });
    opened->next = all_.load();
    while (!all_.compare_exchange_weak(opened->next, opened)) {
    }
    opened_.store(opened, std::memory_order_release);
    return opened;
}

// corrupt: it is of another cache, or damaged.
Status Ghosts::open_file(Opened &opened) const {
    TRY_ASSIGN(File file, directory_.open_file(kGhostFileName, opened.access));
    TRY_ASSIGN(const FileInfo info, file.info());
    const std::uint64_t size = info.size_bytes;
    if (size < kHeaderSize || size % 8 != 0) return Error::corrupt;
    const std::uint64_t count = (size - kHeaderSize) / 8;
    if (!std::has_single_bit(count + kWordsPerSet) || count < kWordsMin || count > kWordsMax) {
        return Error::corrupt;
    }
    std::array<std::byte, kHeaderSize> head = {};
    TRY_ASSIGN(const std::size_t read, file.read_at(0, head));
    if (read != head.size() || get_le<std::uint64_t>(head, kMagicAt) != kMagic ||
        get_le<std::uint64_t>(head, kCacheIdAt) != opened.cache_id) {
        return Error::corrupt;
    }
    opened.file = std::move(file);
    opened.info = info;
    opened.count = count;
    return {};
}

bool Ghosts::Opened::is_in_place() const {
    const auto now = file.info();
    return now.ok() && is_same_file(now.value(), info) && now->links != 0;
}

bool Ghosts::prepare(Index &index, Account &account) {
    const Opened *opened = look(index);
    if (opened != nullptr && !opened->is_in_place()) {
        reopen();
        opened = look(index);
    }
    if (opened != nullptr) return true;
    if (coarse_monotonic_ns() < make_again_ns_.load(std::memory_order_relaxed)) return true;
    const Status made = guarded([&] { return make(index, account); });
    if (made.error() == Error::busy) return false;
    if (!made.ok()) {
        make_again_ns_.store(coarse_monotonic_ns() + kMakeAgainNs, std::memory_order_relaxed);
    }
    return true;
}

// Null: there is no file, or we may not write to it.
const Ghosts::Opened *Ghosts::writable(const Index &index) {
    const Opened *const opened = look(index);
    return opened != nullptr && opened->access == Access::read_write ? opened : nullptr;
}

// One process makes it, and the others find it.
Status Ghosts::make(Index &index, Account &account) {
    const std::uint64_t size = kHeaderSize + 8 * word_count(account.limits().limit_bytes);
    return account.make_file(index, size, [&]() -> Status {
        Opened others{0, index.identity().cache_id, index.access(), {}};
        if (!open_file(others).ok()) {
            std::array<std::byte, kHeaderSize> head = {};
            put_le(head, kMagicAt, kMagic);
            put_le(head, kCacheIdAt, index.identity().cache_id);
            TRY(make_small_file(directory_, kGhostFileName, head, size));
        }
        index.count_ghost_file();
        return {};
    });
}

}  // namespace cairn
