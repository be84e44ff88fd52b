// SPDX-License-Identifier: MIT
#include "history/counters.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "base/checksum.h"
#include "os/byte_lock.h"
#include "os/deadline.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/mapping.h"
#include "os/root.h"

namespace cairn {
namespace {

using Word = std::atomic_ref<std::uint64_t>;

constexpr std::uint64_t kPatienceUs = 20'000;
constexpr std::uint64_t kRetryNs = 1'000'000'000;
constexpr std::uint64_t kDayNs = std::uint64_t{24} * 3600 * 1'000'000'000;
// A mapping begins at a multiple of the largest pages that a system has.
constexpr std::size_t kPageBytesMax = 65536;

std::atomic<std::uint64_t> g_pretended_day = 0;

// Of the hash at the end of an identifier, see generation_end_size().
constexpr std::size_t kDigits = 16;
constexpr std::size_t kSessionDigits = 12;

std::optional<unsigned> value_of(char digit) {
    if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
    if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a') + 10;
    return std::nullopt;
}

// In a hyphen and so many hexadecimal digits, with something in front.
bool ends_in_digits(std::string_view text, std::size_t count) {
    if (text.size() <= count + 1 || text[text.size() - count - 1] != '-') return false;
    return std::ranges::all_of(text.substr(text.size() - count),
                               [](char digit) { return value_of(digit).has_value(); });
}

bool is_whole(const CounterRow &row) {
    const std::uint64_t check = Word(const_cast<std::uint64_t &>(row.check)).load();
    return check != 0 && check == row.right_check();
}

// Processes may still be counting for such a day, their clocks being as they are.
bool is_recent(std::uint64_t day, std::uint64_t today) {
    return day + 1 >= today && day <= today + 1;
}

bool is_expired(std::uint64_t day, std::uint64_t today) {
    return day != kEarlierDay && day + kCounterDays <= today;
}

bool has_numbers(const Numbers &numbers) {
    return std::ranges::any_of(numbers.values, [](std::uint64_t value) { return value != 0; });
}

// The check goes first and comes last: a process that is killed in between leaves a free row.
void fill(CounterRow &row, const CounterIdentity &identity, std::uint64_t day, const Tally &tally) {
    Word(row.check).store(0);
    row.day = day;
    row.identity = identity;
    row.reserved = {};
    for (std::size_t i = 0; i < kNumbers; ++i) Word(row.tally.words[i]).store(tally.words[i]);
    Word(row.check).store(row.right_check());
}

Tally tally_of(const Numbers &numbers) {
    Tally tally = {};
    for (std::size_t i = 0; i < kNumbers; ++i) {
        tally.words[i] = checked_word(std::min(numbers.values[i], kCheckedMax), i);
    }
    return tally;
}

// The file, mapped. Lookers need no lock; a process that changes more than the words of a row's tally is
// alone(): in one thread, of one process.
//
// Rows move by a fold. What it is to make of a row stands in the header, under a check, before the
// row is touched. The next one that is alone finishes a fold that a killed process has left, and doing it
// twice does no harm: only folds write to earlier rows. So no number is lost or counted twice.
class CounterFile {
  public:
    static Result<std::unique_ptr<CounterFile>> open(const Directory &directory, Create create);

    // Null: no row has this check.
    CounterRow *find(std::uint64_t check) const;

    // Runs `work` with no other process and no other thread at it. busy: somebody else was, for too
    // long. Nothing is locked or written where the descriptor is not that of the file any more, as
    // after closefrom().
    template <typename Run>
    Status alone(const Run &work);

    // These only in alone().
    CounterRow *claim(const CounterIdentity &identity, std::uint64_t day, std::uint64_t check);
    void forget(const std::string &application, std::uint64_t today);

  private:
    using Name = std::array<char, kCounterNameMax>;

    explicit CounterFile(File file) : file_(std::move(file)) {}
    Status have_blocks() const;
    Status map_whole_chunks();
    Status take_magic();
    bool lock();
    void unlock();

    CounterHeader &header() const { return *reinterpret_cast<CounterHeader *>(chunks_[0].base); }
    std::size_t slot_count() const {
        return chunk_count_.load(std::memory_order_acquire) * kCounterChunkSlots;
    }
    CounterRow &slot(std::size_t index) const {
        CounterRow *chunk = chunks_[index / kCounterChunkSlots].base;
        return chunk[index % kCounterChunkSlots];
    }
    // The first slot whose row is one that `is_meant`; 0: there is none.
    template <typename Filter>
    std::size_t find_slot(const Filter &is_meant) const;
    CounterRow *find_free() const;
    bool grow();
    void fold_expired(std::uint64_t today);
    bool make_room(std::uint64_t today);
    bool share_earlier_rows();
    bool fold(std::size_t from, const Name &application);
    void finish_fold();

    struct Unlocking {
        CounterFile &counters;
        ~Unlocking() { counters.unlock(); }
    };
    struct Chunk {
        Mapping mapping;  // up to the end of the chunk
        CounterRow *base = nullptr;
    };

    // Constant after opening.
    File file_;
    std::uint64_t device_ = 0;
    std::uint64_t inode_ = 0;

    // Those below the count are there for good.
    std::array<Chunk, kCounterChunksMax> chunks_;
    std::atomic<std::size_t> chunk_count_ = 0;
    // The number of the process of which a thread is alone. A forked child finds its parent's, which
    // keeps nobody out.
    std::atomic<std::uint64_t> turn_ = 0;
};

// Of this process, for ever; null: it counts nothing.
struct OpenedCounters {
    std::string root;
    std::unique_ptr<CounterFile> file;
};
std::atomic<OpenedCounters *> g_opened = nullptr;

// Zeros are all that a new file needs, so several processes may make it at once. Its blocks are
// there before it is mapped: a full disk cannot raise SIGBUS later.
Result<std::unique_ptr<CounterFile>> CounterFile::open(const Directory &directory, Create create) {
    const bool may_make = create == Create::yes;
    for (unsigned attempt = 0; attempt < 2; ++attempt) {
        auto opened = may_make ? directory.open_or_make_file(kCountersName)
                               : directory.open_file(kCountersName, Access::read_write);
        if (!opened.ok()) return opened.error();
        std::unique_ptr<CounterFile> counters(new CounterFile(std::move(opened.value())));
        TRY_ASSIGN(const FileInfo info, counters->file_.info());
        counters->device_ = info.device;
        counters->inode_ = info.inode;
        TRY(counters->have_blocks());
        TRY(counters->map_whole_chunks());
        const Status magic = counters->take_magic();
        if (magic.ok() || magic.error() != Error::corrupt || !may_make) {
            if (!magic.ok()) return magic.error();
            return counters;
        }
        // It is another file. Another process may have replaced it already.
        const auto named = directory.info(kCountersName);
        if (named.ok() && named->inode == info.inode) TRY(directory.remove_file(kCountersName));
    }
    return Error::corrupt;
}

// At least a chunk, and all that there is. The lock keeps two processes from writing zeros where the
// other counts already, on file systems that reserve blocks so.
Status CounterFile::have_blocks() const {
    const auto has_all = [](const FileInfo &info) {
        return info.size_bytes >= kCounterChunkBytes && info.disk_bytes >= info.size_bytes;
    };
    TRY_ASSIGN(const FileInfo before, file_.info());
    if (has_all(before)) return {};
    TRY_ASSIGN(const ByteLock lock, ByteLock::acquire(file_, kCountersLockByte, kPatienceUs));
    TRY_ASSIGN(const FileInfo info, file_.info());
    if (has_all(info)) return {};
    const std::uint64_t count =
        std::clamp<std::uint64_t>(info.size_bytes / kCounterChunkBytes, 1, kCounterChunksMax);
    return file_.extend(count * kCounterChunkBytes);
}

// Never beyond the end of the file: that would raise SIGBUS.
Status CounterFile::map_whole_chunks() {
    TRY_ASSIGN(const FileInfo info, file_.info());
    const auto there = static_cast<std::size_t>(
        std::min<std::uint64_t>(info.size_bytes / kCounterChunkBytes, kCounterChunksMax));
    for (std::size_t i = chunk_count_; i < there; ++i) {
        const std::size_t offset = i * kCounterChunkBytes;
        const std::size_t start = offset / kPageBytesMax * kPageBytesMax;
        TRY_ASSIGN(Mapping mapping, Mapping::file(file_, Access::read_write, start,
                                                  offset + kCounterChunkBytes - start));
        chunks_[i].base = reinterpret_cast<CounterRow *>(mapping.data() + (offset - start));
        chunks_[i].mapping = std::move(mapping);
        chunk_count_.store(i + 1, std::memory_order_release);
    }
    return chunk_count_ > 0 ? Status() : Status(Error::corrupt);
}

// corrupt: the file is not one of these. Where only the magic was damaged its rows tell.
Status CounterFile::take_magic() {
    std::uint64_t magic = 0;
    if (Word(header().magic).compare_exchange_strong(magic, kCountersMagic)) return {};
    if (magic == kCountersMagic) return {};
    if (find_slot(is_whole) == 0) return Error::corrupt;
    Word(header().magic).store(kCountersMagic);
    return {};
}

bool CounterFile::lock() {
    const std::uint64_t own = process_number();
    const auto try_turn = [&] {
        std::uint64_t seen = turn_.load();
        return seen != own && turn_.compare_exchange_strong(seen, own);
    };
    const auto is_true = [](const Result<bool> &locked) { return locked.ok() && locked.value(); };
    Backoff backoff(kPatienceUs);
    while (!try_turn()) {
        if (!backoff.pause()) return false;
    }
    bool is_first = false;
    do {
        is_first = is_first || is_true(file_.try_lock_of_process(kCountersForkLockByte));
        if (is_first && is_true(file_.try_lock(kCountersLockByte, LockKind::exclusive))) {
            return true;
        }
    } while (backoff.pause());
    if (is_first) file_.unlock_of_process(kCountersForkLockByte);
    turn_.store(0);
    return false;
}

void CounterFile::unlock() {
    file_.unlock(kCountersLockByte);
    file_.unlock_of_process(kCountersForkLockByte);
    turn_.store(0);
}

template <typename Run>
Status CounterFile::alone(const Run &work) {
    TRY_ASSIGN(const FileInfo info, file_.info());
    if (info.device != device_ || info.inode != inode_) return Error::io;
    if (!lock()) return Error::busy;
    const Unlocking unlocking{*this};
    // Where it cannot be mapped further, those rows do that are.
    (void)map_whole_chunks();
    finish_fold();
    work();
    return {};
}

CounterRow *CounterFile::find(std::uint64_t check) const {
    const std::size_t found = find_slot([check](const CounterRow &row) {
        return Word(const_cast<std::uint64_t &>(row.check)).load() == check && is_whole(row);
    });
    return found != 0 ? &slot(found) : nullptr;
}

template <typename Filter>
std::size_t CounterFile::find_slot(const Filter &is_meant) const {
    const std::size_t count = slot_count();
    for (std::size_t i = 1; i < count; ++i) {
        if (is_meant(slot(i))) return i;
    }
    return 0;
}

CounterRow *CounterFile::find_free() const {
    const std::size_t found = find_slot([](const CounterRow &row) { return !is_whole(row); });
    return found != 0 ? &slot(found) : nullptr;
}

bool CounterFile::grow() {
    const std::size_t count = chunk_count_;
    if (count == kCounterChunksMax) return false;
    if (!file_.extend((count + 1) * kCounterChunkBytes).ok()) return false;
    return map_whole_chunks().ok() && chunk_count_ > count;
}

// Null: there is no room.
CounterRow *CounterFile::claim(const CounterIdentity &identity, std::uint64_t day,
                               std::uint64_t check) {
    if (CounterRow *row = find(check)) return row;
    fold_expired(day);
    CounterRow *row = find_free();
    if (row == nullptr && (grow() || make_room(day))) row = find_free();
    if (row != nullptr) fill(*row, identity, day, Tally{});
    return row;
}

void CounterFile::fold_expired(std::uint64_t today) {
    for (std::size_t i = 1; i < slot_count(); ++i) {
        if (!is_expired(slot(i).day, today) || !is_whole(slot(i))) continue;
        (void)fold(i, slot(i).identity.application);
    }
}

// In a file that cannot grow. The oldest day goes, and the next one where that frees no row, as each
// application keeps one.
bool CounterFile::make_room(std::uint64_t today) {
    if (chunk_count_ < kCounterChunksMax) return false;
    for (std::uint64_t gone = kEarlierDay;;) {
        std::uint64_t oldest = UINT64_MAX;
        for (std::size_t i = 1; i < slot_count(); ++i) {
            const std::uint64_t day = slot(i).day;
            if (day > gone && day < oldest && !is_recent(day, today) && is_whole(slot(i))) {
                oldest = day;
            }
        }
        if (oldest == UINT64_MAX) return share_earlier_rows();
        bool has_freed = false;
        for (std::size_t i = 1; i < slot_count(); ++i) {
            if (slot(i).day != oldest || !is_whole(slot(i))) continue;
            has_freed = fold(i, slot(i).identity.application) || has_freed;
        }
        if (has_freed) return true;
        gone = oldest;
    }
}

// The last resort: two applications share a row from now on, that of no application.
bool CounterFile::share_earlier_rows() {
    for (std::size_t i = 1; i < slot_count(); ++i) {
        const bool has_name = slot(i).identity.application[0] != '\0';
        if (slot(i).day != kEarlierDay || !has_name || !is_whole(slot(i))) continue;
        if (fold(i, Name{})) return true;
    }
    return false;
}

// Adds a row to the earlier row of an application. Where there is none it becomes that row itself;
// else it is free then: true.
bool CounterFile::fold(std::size_t from, const Name &application) {
    Numbers sum = slot(from).tally.read();
    if (!has_numbers(sum)) {
        Word(slot(from).check).store(0);
        return true;
    }
    std::size_t to = find_slot([&](const CounterRow &row) {
        return row.day == kEarlierDay && row.identity.application == application && is_whole(row);
    });
    const bool is_new = to == 0;
    if (is_new) to = from;
    if (!is_new) sum += slot(to).tally.read();
    CounterFold &record = header().fold;
    record.from = from;
    record.to = to;
    record.application = application;
    record.tally = tally_of(sum);
    Word(record.check).store(record.right_check());
    finish_fold();
    return !is_new;
}

void CounterFile::finish_fold() {
    CounterFold &record = header().fold;
    if (record.is_whole(slot_count())) {
        const auto from = static_cast<std::size_t>(record.from);
        const auto to = static_cast<std::size_t>(record.to);
        fill(slot(to), record.identity(), kEarlierDay, record.tally);
        if (from != to) Word(slot(from).check).store(0);
    }
    Word(record.check).store(0);
}

// Rows that processes may be adding to stay theirs.
void CounterFile::forget(const std::string &application, std::uint64_t today) {
    const CounterIdentity meant(application, 0);
    for (std::size_t i = 1; i < slot_count(); ++i) {
        CounterRow &row = slot(i);
        const bool is_meant = application.empty() || row.identity.application == meant.application;
        if (!is_meant || !is_whole(row)) continue;
        if (!is_recent(row.day, today)) Word(row.check).store(0);
        for (std::uint64_t &word : row.tally.words) Word(word).store(0);
    }
}

// A copy of the file's bytes, as rows.
std::vector<CounterRow> read_slots(const File &file) {
    const auto info = file.info();
    if (!info.ok()) return {};
    std::vector<CounterRow> slots(static_cast<std::size_t>(
        std::min<std::uint64_t>(info->size_bytes / kCounterSlotBytes, kCounterSlotsMax)));
    const auto count = file.read_at(0, std::as_writable_bytes(std::span(slots)));
    slots.resize(count.ok() ? count.value() / kCounterSlotBytes : 0);
    return slots;
}

// What a killed process has left to finish, as finish_fold() does it.
void finish_fold_of(std::vector<CounterRow> &slots) {
    CounterHeader header = {};
    std::memcpy(&header, slots.data(), sizeof header);
    const CounterFold &record = header.fold;
    if (!record.is_whole(slots.size())) return;
    const auto from = static_cast<std::size_t>(record.from);
    const auto to = static_cast<std::size_t>(record.to);
    fill(slots[to], record.identity(), kEarlierDay, record.tally);
    if (from != to) slots[from].check = 0;
}

}  // namespace

// No function-local static: a thread that forks meanwhile would leave its child one that waits for ever.
bool open_counters(const std::string &root) {
    if (const OpenedCounters *there = g_opened.load(std::memory_order_acquire)) {
        return there->root == root;
    }
    const auto directory = open_root(root, Create::yes, Log());
    if (!directory.ok()) return false;
    auto opened = CounterFile::open(directory.value(), Create::yes);
    if (!opened.ok()) return false;
    auto own = std::make_unique<OpenedCounters>(OpenedCounters{root, std::move(opened.value())});
    OpenedCounters *there = nullptr;
    if (!g_opened.compare_exchange_strong(there, own.get())) return there->root == root;
    (void)own.release();
    return true;
}

std::size_t generation_end_size(std::string_view identifier) {
    constexpr std::size_t kSession = kSessionDigits + 1;
    const bool is_session =
        ends_in_digits(identifier, kSessionDigits) &&
        ends_in_digits(identifier.substr(0, identifier.size() - kSession), kSessionDigits);
    if (is_session) return 2 * kSession;
    return ends_in_digits(identifier, kDigits) ? kDigits + 1 : 0;
}

std::uint64_t generation_number(std::string_view identifier) {
    const std::string_view end =
        identifier.substr(identifier.size() - generation_end_size(identifier));
    if (end.size() != kDigits + 1) return end.empty() ? 0 : checksum(as_bytes(end), end.size());
    std::uint64_t number = 0;
    for (const char digit : end.substr(1)) number = number << 4 | *value_of(digit);
    return number;
}

DayTally::DayTally(const std::string &application, std::uint64_t generation)
    : identity_(application, generation), seed_(identity_.seed()) {}

void DayTally::add(Number which, std::uint64_t amount) {
    if (g_opened.load(std::memory_order_acquire) == nullptr) return;
    const std::uint64_t day = counters_today();
    CounterRow *row = row_.load(std::memory_order_acquire);
    // Another thread may be changing the three. Then the row is at worst that of the day before, which
    // is still this tally's.
    const bool is_right =
        row != nullptr && day_.load(std::memory_order_relaxed) == day &&
        Word(row->check).load(std::memory_order_acquire) == check_.load(std::memory_order_relaxed);
    if (!is_right) row = find_row(day);
    if (row != nullptr) row->tally.add(which, amount);
}

// Null: there can be none now.
CounterRow *DayTally::find_row(std::uint64_t day) {
    if (day == kEarlierDay) return nullptr;
    const std::uint64_t now_ns = coarse_monotonic_ns();
    if (now_ns < retry_ns_.load(std::memory_order_relaxed)) return nullptr;
    const std::uint64_t check = counter_check(seed_, day);
    CounterFile &file = *g_opened.load(std::memory_order_acquire)->file;
    CounterRow *row = file.find(check);
    if (row == nullptr) {
        (void)file.alone([&] { row = file.claim(identity_, day, check); });
    }
    if (row == nullptr) retry_ns_.store(now_ns + kRetryNs, std::memory_order_relaxed);
    check_.store(check, std::memory_order_relaxed);
    day_.store(day, std::memory_order_relaxed);
    row_.store(row, std::memory_order_release);
    return row;
}

std::uint64_t counters_today() {
    const std::uint64_t pretended = g_pretended_day.load(std::memory_order_relaxed);
    return pretended != 0 ? pretended : coarse_wall_clock_ns() / kDayNs;
}

void pretend_day(std::uint64_t day) {
    g_pretended_day.store(day, std::memory_order_relaxed);
}

std::vector<DayRow> read_counters(const std::string &root) {
    const auto directory = open_root(root, Create::no, Log());
    if (!directory.ok()) return {};
    const auto file = directory->open_file(kCountersName, Access::read_only);
    if (!file.ok()) return {};
    std::vector<CounterRow> slots;
    {
        // So that no fold is seen half done, unless its process was stopped.
        const auto still =
            ByteLock::acquire(file.value(), kCountersLockByte, kPatienceUs, LockKind::shared);
        slots = read_slots(file.value());
    }
    if (slots.empty()) return {};
    finish_fold_of(slots);
    std::vector<DayRow> rows;
    for (const CounterRow &slot : std::span(slots).subspan(1)) {
        if (!is_whole(slot)) continue;
        const Numbers numbers = slot.tally.read();
        if (!has_numbers(numbers)) continue;
        rows.push_back({slot.day, slot.identity.name(), slot.identity.generation, numbers});
    }
    return rows;
}

Status forget_counters(const std::string &root, const std::string &application) {
    const auto directory = open_root(root, Create::no, Log());
    if (!directory.ok()) {
        return directory.error() == Error::not_found ? Status() : Status(directory.error());
    }
    auto opened = CounterFile::open(directory.value(), Create::no);
    // Another file than one of these has no numbers.
    const bool is_none =
        !opened.ok() && (opened.error() == Error::not_found || opened.error() == Error::corrupt);
    if (is_none) return {};
    TRY(opened);
    CounterFile &counters = **opened;
    return counters.alone([&] { counters.forget(application, counters_today()); });
}

}  // namespace cairn
