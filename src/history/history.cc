// SPDX-License-Identifier: MIT
#include "history/history.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "history/counters.h"
#include "history/files.h"
#include "os/byte_lock.h"
#include "os/environment.h"
#include "os/root.h"

namespace cairn {
namespace {

constexpr std::uint64_t kChangePatienceUs = 20'000;
constexpr std::uint64_t kRetryNs = 1'000'000'000;
// The parts of the limit that the two files may take are one over these; the smallest file may take
// more.
constexpr std::uint64_t kHistoryPart = 192;
constexpr std::uint64_t kSmallHistoryPart = 120;
constexpr std::uint64_t kSourcesPart = 2048;
constexpr std::uint64_t kLinksLargeLimit = 64u << 20;
constexpr std::uint64_t kLookNs = 1'000'000'000;
// A process that goes on to see its file cleared keeps so many descriptors.
constexpr unsigned kOpenedMax = 128;
constexpr std::size_t kSiblingsMax = 3;
constexpr const char *kGenerationFileName = "generation";  // docs/program_cache.md

using Word = std::atomic_ref<std::uint64_t>;

std::uint64_t wanted_magic(std::uint64_t limit_bytes) {
    return limit_bytes >= kLinksLargeLimit ? kHistoryMagicLarge : kHistoryMagicSmall;
}

// In the word `what` of a LinkRecord.
std::uint64_t cost_bits(std::uint64_t cost_ns) {
    return std::min<std::uint64_t>(cost_ns / 1000, UINT64_MAX >> 16) << 16;
}

std::uint64_t size_least(std::uint64_t limit_bytes) {
    return programs_offset(links_of(wanted_magic(limit_bytes)), 1);
}

}  // namespace

Result<std::unique_ptr<History>> History::open(const Options &options) {
    if (size_least(options.limit_bytes) > options.limit_bytes / kSmallHistoryPart) {
        return Error::too_large;
    }
    TRY_ASSIGN(const Directory root, open_root(options.root, Create::no, Log()));
    TRY_ASSIGN(Directory directory, root.open_directory(options.identifier));
    std::unique_ptr<History> history(new History(options, std::move(directory)));
    if (history->reopen() == nullptr) return Error::io;
    return history;
}

History::History(Options options, Directory directory)
    : options_(std::move(options)),
      directory_(std::move(directory)),
      sources_(directory_,
               std::min<std::uint64_t>(options_.limit_bytes / kSourcesPart, kSourcesSizeMax)) {}

History::~History() {
    delete view_.load();
}

std::uint64_t History::size_max() const {
    return std::max(options_.limit_bytes / kHistoryPart, size_least(options_.limit_bytes));
}

Result<std::unique_ptr<History::View>> History::open_file(Begin begin) const {
    for (unsigned attempt = 0; attempt < 3; ++attempt) {
        TRY_ASSIGN(File file, directory_.open_or_make_file(kHistoryFileName));
        TRY_ASSIGN(const FileInfo info, file.info());
        auto view = map(std::move(file), info, begin);
        if (view.ok() || (view.error() != Error::corrupt && view.error() != Error::busy)) {
            return view;
        }
        // Another process may have put a new one there already.
        const auto named = directory_.info(kHistoryFileName);
        const bool is_there =
            named.ok() && named->inode == info.inode && named->device == info.device;
        if (view.error() == Error::corrupt && is_there) remove_history(directory_);
    }
    return Error::corrupt;
}

// Zeroes are all that a new file needs, so several processes may make it at once. Its blocks are
// there before it is mapped, also where somebody has copied it without its zeroes: a full disk
// cannot raise SIGBUS later.
// corrupt: it is no such file, or is no longer in use. busy: another process has just made it.
Result<std::unique_ptr<History::View>> History::map(File file, const FileInfo &info,
                                                    Begin begin) const {
    auto view = std::make_unique<View>();
    view->file = std::move(file);
    view->info = info;
    HistoryHeader header = {};
    TRY_ASSIGN(const std::size_t got,
               view->file.read_at(0, std::as_writable_bytes(std::span(&header, 1))));
    const std::uint64_t magic =
        header.magic != 0 ? header.magic : wanted_magic(options_.limit_bytes);
    const bool is_known = magic == kHistoryMagicSmall || magic == kHistoryMagicLarge;
    if (!is_known || header.is_void != 0) return Error::corrupt;
    const bool is_new = got < sizeof header || header.magic == 0;
    const std::size_t size = programs_offset(links_of(magic), 1);
    // A larger one is of a time when the limit was, or something has been added to it.
    if (size > size_max() || view->info.size_bytes > size_max()) return Error::corrupt;
    const bool has_holes = view->info.disk_bytes < view->info.size_bytes;
    if (view->info.size_bytes < size || has_holes) {
        // One process at a time, see ProgramTable::grow().
        const auto alone = ByteLock::acquire(view->file, kHistoryChangeByte, kChangePatienceUs);
        if (!alone.ok()) return alone.error();
        TRY(view->file.extend(size));
    }
    TRY_ASSIGN(view->mapping, Mapping::file(view->file, Access::read_write, 0,
                                            programs_offset(links_of(magic), 0)));
    std::uint64_t before = 0;
    if (!Word(view->header().magic).compare_exchange_strong(before, magic) && before != magic) {
        return is_new ? Error::busy : Error::corrupt;
    }
    Word(view->header().driver).store(options_.driver);
    Word(view->header().driver_check).store(check_of_driver(options_.driver));
    view->links = links_of(magic);
    view->programs =
        std::make_unique<ProgramTable>(view->file, view->info, view->links, size_max());
    begin_run(*view, begin);
    return view;
}

// Takes a free record, or that of the oldest run that has ended.
void History::begin_run(View &view, Begin begin) {
    const auto alone = ByteLock::acquire(view.file, kHistoryChangeByte, kChangePatienceUs);
    if (!alone.ok()) return;
    std::array<std::pair<std::uint64_t, std::size_t>, kRunRecords> by_age;
    view.is_first_run = true;
    for (std::size_t i = 0; i < kRunRecords; ++i) {
        const RunRecord run = load_record(view.run_at(i));
        const bool is_used = run.start_ns != 0 && run.check == check_of(run);
        view.is_first_run &= !is_used || run.is_continued != 0;
        by_age[i] = {is_used ? run.start_ns : 0, i};
    }
    std::sort(by_age.begin(), by_age.end());
    for (const auto &[start_ns, i] : by_age) {
        const auto is_ours = view.file.try_lock(kFirstRunByte + i, LockKind::exclusive);
        if (!is_ours.ok() || !is_ours.value()) continue;
        RunRecord &run = view.run_at(i);
        Word(run.check).store(0);
        Word(run.is_continued).store(begin == Begin::continued_run ? 1 : 0);
        for (std::uint64_t &word : run.tally.words) Word(word).store(0, std::memory_order_relaxed);
        RunRecord named = {};
        named.start_ns = wall_clock_ns();
        named.process = process_number() & UINT32_MAX;
        Word(run.start_ns).store(named.start_ns);
        Word(run.process).store(named.process);
        set_checked(run.last_ms, kLastPlace, named.start_ns / 1'000'000);
        set_checked(run.making_us, kMakingPlace, 0);
        set_checked(run.queued_entries, kQueuedEntriesPlace, 0);
        set_checked(run.queued_bytes, kQueuedBytesPlace, 0);
        Word(run.check).store(check_of(named));
        view.run = &run;
        view.run_start_ns = named.start_ns;
        return;
    }
}

bool History::View::is_in_use() const {
    return !is_lost.load(std::memory_order_relaxed) &&
           Word(header().is_void).load(std::memory_order_relaxed) == 0;
}

// The file in use, or null. A cache that was cleared has another one.
History::View *History::view() {
    View *const view = view_.load(std::memory_order_acquire);
    return view != nullptr && view->is_in_use() ? view : reopen();
}

// The same. Looks now and then whether the file still has its name, and we its descriptor: it may
// have been deleted by other means than forget_history(), and the application may have closed all
// descriptors.
History::View *History::view_in_place() {
    View *const present = view();
    const std::uint64_t now_ns = coarse_monotonic_ns();
    if (present == nullptr || now_ns < look_ns_.load(std::memory_order_relaxed)) return present;
    look_ns_.store(now_ns + kLookNs, std::memory_order_relaxed);
    const auto info = present->file.info();
    if (info.ok() && info->links != 0 && info->inode == present->info.inode &&
        info->device == present->info.device) {
        return present;
    }
    present->is_lost.store(true, std::memory_order_relaxed);
    return reopen();
}

History::View *History::reopen() {
    if (!reopening_.try_lock()) return nullptr;
    const AdoptedLock lock(reopening_);
    View *const present = view_.load(std::memory_order_acquire);
    if (present != nullptr && present->is_in_use()) return present;
    const std::uint64_t now_ns = coarse_monotonic_ns();
    if (now_ns < retry_ns_ || opened_ == kOpenedMax) return nullptr;
    auto opened =
        guarded([&] { return open_file(present == nullptr ? Begin::run : Begin::continued_run); });
    if (!opened.ok()) {
        retry_ns_ = now_ns + kRetryNs;
        return nullptr;
    }
    ++opened_;
    View *const next = opened->release();
    next->before.reset(present);
    view_.store(next, std::memory_order_release);
    return next;
}

Seen History::find(const ProgramParts &program) {
    Seen seen;
    View *const own = view_in_place();
    if (own == nullptr) return seen;
    std::uint64_t other_context = 0;
    own->programs->visit(
        program.sources, [&](const ProgramRecord &record, const ProgramStateRead &state) {
            const auto settings = static_cast<std::uint32_t>(record.settings_and_key >> 32);
            const bool has_context = record.context == program.context;
            if (has_context && settings == program.settings) {
                seen = {Seen::How::same, state.is_stored, seconds_of_minutes(state.minutes), 0, 0};
                return false;
            }
            if (has_context) {
                seen.how = Seen::How::other_settings;
            } else if (seen.how == Seen::How::never) {
                seen.how = Seen::How::other_context;
            }
            if (!has_context && settings == program.settings) other_context = record.context;
            if (other_context == 0 && !has_context) other_context = record.context;
            return true;
        });
    if (seen.how == Seen::How::same) return seen;
    const Elsewhere elsewhere = find_in_siblings(*own, program);
    // What another driver made of exactly this says more than what this one made of something like it.
    if (elsewhere.exact != 0) {
        seen.how = Seen::How::other_driver;
        seen.generation = elsewhere.exact;
    } else if (seen.how == Seen::How::other_context) {
        seen.fields =
            differing_fields(own->find_context(program.context), own->find_context(other_context));
    } else if (seen.how == Seen::How::never && elsewhere.is_other_context) {
        seen.how = Seen::How::other_context;
        seen.fields = elsewhere.fields;
    } else if (seen.how == Seen::How::never && elsewhere.alike != 0) {
        seen.how = Seen::How::other_driver;
        seen.generation = elsewhere.alike;
    }
    return seen;
}

bool History::knows(std::uint64_t sources, std::uint32_t key) {
    View *const own = view();
    bool is_known = false;
    if (own == nullptr) return true;  // it could not be noted
    own->programs->visit(sources, [&](const ProgramRecord &record, const ProgramStateRead &state) {
        is_known = static_cast<std::uint32_t>(record.settings_and_key) == key && state.is_stored;
        return !is_known;
    });
    return is_known;
}

void History::note(const ProgramParts &program, bool is_stored) {
    if (View *const own = view()) {
        own->programs->put(program, is_stored, minutes_of(wall_clock_ns()));
    }
}

void History::note_context(std::uint64_t digest,
                           const std::array<std::uint32_t, kContextFields> &fields) {
    View *const own = view();
    if (own == nullptr) return;
    ContextRecord record = {digest, fields, {}, 0};
    record.check = check_of(record);
    // By its digest, so that two processes write the same to the same place.
    const auto first = static_cast<std::size_t>(digest % kContextRecords);
    constexpr std::size_t kPlaces = 8;
    for (std::size_t i = 0; i < kPlaces; ++i) {
        ContextRecord &place = own->context((first + i) % kContextRecords);
        const ContextRecord there = load_record(place);
        const bool is_used = there.check == check_of(there);
        if (is_used && there.digest == digest) return;
        if (!is_used) return store_record(place, record);
    }
    store_record(own->context(first), record);
}

// The generations of the application that were used last.
std::vector<SiblingPrograms> History::find_siblings() const {
    std::vector<SiblingPrograms> siblings;
    const std::size_t end_size = generation_end_size(options_.identifier);
    if (end_size == 0) return siblings;
    const std::string beginning =
        options_.identifier.substr(0, options_.identifier.size() - end_size);
    const auto root = open_root(options_.root, Create::no, Log());
    if (!root.ok()) return siblings;
    std::vector<std::pair<std::uint64_t, std::string>> found;  // by when they were used
    (void)root->list([&](const char *name) {
        const std::string_view text = name;
        if (!text.starts_with(beginning) || text == options_.identifier) return;
        if (generation_end_size(text) != end_size || text.size() != options_.identifier.size())
            return;
        auto used = root->info(std::string(text) + "/" + kGenerationFileName);
        // A cache of D3D12's has none.
        if (!used.ok()) used = root->info(std::string(text) + "/" + kHistoryFileName);
        if (used.ok()) found.emplace_back(used->modified_ns, text);
    });
    std::sort(found.rbegin(), found.rend());
    for (const auto &[used_ns, identifier] : found) {
        if (siblings.size() == kSiblingsMax) break;
        const auto directory = root->open_directory(identifier);
        if (!directory.ok()) continue;
        auto file = directory->open_file(kHistoryFileName, Access::read_only);
        if (file.ok()) siblings.emplace_back(std::move(*file), generation_number(identifier));
    }
    return siblings;
}

History::Elsewhere History::find_in_siblings(const View &own, const ProgramParts &program) {
    Siblings &siblings = siblings_.get();
    const MutexLock lock(siblings.mutex);
    if (!siblings.are_known) siblings.latest = find_siblings();
    siblings.are_known = true;
    Elsewhere elsewhere;
    for (SiblingPrograms &sibling : siblings.latest) {
        const auto driver = sibling.driver();
        if (!driver) continue;
        const bool is_of_this_driver = *driver == options_.driver;
        sibling.visit(program.sources, [&](const ProgramRecord &record, const ProgramStateRead &) {
            if (is_of_this_driver) {
                if (elsewhere.fields == 0) {
                    elsewhere.fields = differing_fields(own.find_context(program.context),
                                                        sibling.context(record.context));
                }
                elsewhere.is_other_context = true;
                return false;
            }
            const bool is_exact =
                record.context >> 32 == program.context >> 32 &&
                static_cast<std::uint32_t>(record.settings_and_key >> 32) == program.settings;
            if (is_exact) elsewhere.exact = sibling.generation();
            if (elsewhere.alike == 0) elsewhere.alike = sibling.generation();
            return !is_exact;
        });
        if (elsewhere.exact != 0) break;
    }
    return elsewhere;
}

void History::add(Number number, std::uint64_t amount) {
    View *const own = view();
    if (own == nullptr || own->run == nullptr) return;
    own->run->tally.add(number, amount);
}

void History::note_making(bool is_making) {
    const bool was_alone = is_making ? making_.fetch_add(1) == 0 : making_.fetch_sub(1) == 1;
    View *const own = view();
    if (own == nullptr || own->run == nullptr || !was_alone) return;
    set_checked(own->run->making_us, kMakingPlace, is_making ? monotonic_ns() / 1000 : 0);
}

void History::note_queue(std::uint64_t entries, std::uint64_t bytes) {
    const View *const own = view_.load(std::memory_order_acquire);
    if (own == nullptr || own->run == nullptr || !own->is_in_use()) return;
    set_checked(own->run->queued_bytes, kQueuedBytesPlace, bytes);
    set_checked(own->run->queued_entries, kQueuedEntriesPlace, entries);
}

std::uint64_t History::newest_link(const View &view) {
    std::uint64_t newest = 0;
    for (std::size_t i = 0; i < view.links; ++i) {
        const LinkRecord record = load_record(view.link_at(i));
        if (record.check == check_of(record)) newest = std::max(newest, record.number);
    }
    return newest;
}

// The number of another link. After damage it goes on from the last that is there.
std::uint64_t History::next_link(const View &view) {
    const Word last(view.header().last_link);
    std::uint64_t seen = last.load(std::memory_order_relaxed);
    std::uint64_t next = 0;
    do {
        std::uint64_t newest = checked_value(seen, kLastLinkPlace).value_or(0);
        if (newest == 0) newest = newest_link(view);
        next = std::min(newest, kCheckedMax - 1) + 1;
    } while (!last.compare_exchange_weak(seen, checked_word(next, kLastLinkPlace),
                                         std::memory_order_relaxed));
    return next;
}

std::uint64_t History::note_link(const Link &link) {
    View *const own = view_in_place();
    if (own == nullptr || own->run == nullptr) return 0;
    LinkRecord record = {};
    record.number = next_link(*own);
    record.run_start_ns = own->run_start_ns;
    record.time_ns = wall_clock_ns();
    record.what = static_cast<std::uint64_t>(link.outcome) |
                  static_cast<std::uint64_t>(link.detail) << 8 | cost_bits(link.cost_ns);
    record.key = std::bit_cast<std::array<std::uint64_t, 2>>(link.key);
    record.other = link.other;
    record.check = check_of(record);
    store_record(own->link_at(static_cast<std::size_t>(record.number % own->links)), record);
    set_checked(own->run->last_ms, kLastPlace, record.time_ns / 1'000'000);
    return record.number;
}

void History::note_cost(std::uint64_t number, const LinkKey &key, std::uint64_t cost_ns) {
    View *const own = view();
    if (own == nullptr) return;
    LinkRecord &place = own->link_at(static_cast<std::size_t>(number % own->links));
    LinkRecord record = load_record(place);
    if (number == 0 || record.number != number || record.check != check_of(record) ||
        record.run_start_ns != own->run_start_ns ||
        record.key != std::bit_cast<decltype(record.key)>(key)) {
        return;
    }
    record.what = (record.what & 0xffff) | cost_bits(cost_ns);
    record.check = check_of(record);
    store_record(place, record);
}

bool History::is_first_run() {
    const View *const own = view();
    return own != nullptr && own->is_first_run;
}

bool History::has_other_run() {
    const View *const own = view();
    if (own == nullptr) return false;
    for (std::size_t i = 0; i < kRunRecords; ++i) {
        // Our own lock is none against us.
        const auto is_locked = own->file.is_locked(kFirstRunByte + i, LockKind::exclusive);
        if (is_locked.ok() && is_locked.value()) return true;
    }
    return false;
}

bool History::has_failed_to_store() {
    const View *const own = view();
    if (own == nullptr) return false;
    for (std::size_t i = 0; i < kRunRecords; ++i) {
        if (own->run_at(i).tally.read()[Number::store_failed] != 0) return true;
    }
    return false;
}

void History::keep_sources(const LinkKey &key, std::string_view text) {
    sources_.keep(key, text);
}

}  // namespace cairn
