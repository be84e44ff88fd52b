// SPDX-License-Identifier: MIT
#include "history/history.h"

#include <algorithm>
#include <utility>

#include "history/counters.h"
#include "history/files.h"
#include "os/byte_lock.h"
#include "os/environment.h"
#include "os/root.h"

namespace cairn {
namespace {

constexpr std::uint64_t kChangePatienceUs = 20'000;
constexpr std::uint64_t kRetryNs = 1'000'000'000;
// The parts of the limit that the two files may take are one over these; a small file may take more.
constexpr std::uint64_t kHistoryPart = 192;
constexpr std::uint64_t kSmallHistoryPart = 120;
constexpr std::uint64_t kSourcesPart = 2048;
constexpr std::uint64_t kLinksLargeLimit = 64u << 20;
constexpr std::size_t kSiblingsMax = 3;
constexpr std::size_t kNumberDigits = 16;

using Word = std::atomic_ref<std::uint64_t>;

std::uint64_t wanted_magic(std::uint64_t limit_bytes) {
    return limit_bytes >= kLinksLargeLimit ? kHistoryMagicLarge : kHistoryMagicSmall;
}

}  // namespace

Result<std::unique_ptr<History>> History::open(const Options &options) {
    TRY_ASSIGN(const Directory root, open_root(options.root, Create::no, Log()));
    TRY_ASSIGN(Directory directory, root.open_directory(options.identifier));
    std::unique_ptr<History> history(new History(options, std::move(directory)));
    if (history->reopen() == nullptr) return Error::io;
    return history;
}

// Zeroes are all that a new file needs, so several processes may make it at once. Its blocks are
// there before it is mapped: a full disk cannot raise SIGBUS later.
Result<std::unique_ptr<History::View>> History::open_file(Begin begin) const {
    for (unsigned attempt = 0; attempt < 2; ++attempt) {
        TRY_ASSIGN(File file, directory_.open_or_make_file(kHistoryFileName));
        auto view = map(std::move(file), begin);
        if (view.error() != Error::corrupt) return view;
        TRY(directory_.remove_file(kHistoryFileName));
    }
    return Error::corrupt;
}

// corrupt: it is no such file, or is no longer in use.
Result<std::unique_ptr<History::View>> History::map(File file, Begin begin) const {
    auto view = std::make_unique<View>();
    view->file = std::move(file);
    TRY_ASSIGN(const FileInfo info, view->file.info());
    HistoryHeader header = {};
    if (info.size_bytes >= sizeof header) {
        TRY_ASSIGN(const std::size_t got,
                   view->file.read_at(0, std::as_writable_bytes(std::span(&header, 1))));
        if (got != sizeof header) return Error::corrupt;
    }
    std::uint64_t magic = header.magic != 0 ? header.magic : wanted_magic(options_.limit_bytes);
    const bool is_known = magic == kHistoryMagicSmall || magic == kHistoryMagicLarge;
    if (!is_known || header.is_void != 0) return Error::corrupt;
    const std::size_t size = programs_offset(links_of(magic), 1);
    if (size > options_.limit_bytes / kSmallHistoryPart) return Error::too_large;
    if (info.size_bytes < size) TRY(view->file.extend(size));
    TRY_ASSIGN(view->mapping, Mapping::file(view->file, Access::read_write, 0,
                                            programs_offset(links_of(magic), 0)));
    std::uint64_t before = 0;
    if (!Word(view->header().magic).compare_exchange_strong(before, magic) && before != magic) {
        return Error::corrupt;
    }
    Word(view->header().driver).store(options_.driver);
    view->links = links_of(magic);
    view->programs = std::make_unique<ProgramTable>(view->file, view->links,
                                                    options_.limit_bytes / kHistoryPart);
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
        RunRecord &run = view.run_at(i);
        const bool is_used = run.start_ns != 0 && run.check == check_of(run);
        view.is_first_run &= !is_used || Word(run.is_continued).load() != 0;
        by_age[i] = {is_used ? run.start_ns : 0, i};
    }
    std::sort(by_age.begin(), by_age.end());
    for (const auto &[start_ns, i] : by_age) {
        const auto is_ours = view.file.try_lock(kFirstRunByte + i, LockKind::exclusive);
        if (!is_ours.ok() || !is_ours.value()) continue;
        RunRecord &run = view.run_at(i);
        Word(run.check).store(0);
        Word(run.making_ns).store(0);
        Word(run.is_continued).store(begin == Begin::continued_run ? 1 : 0);
        for (std::uint64_t &word : run.tally.words) Word(word).store(0, std::memory_order_relaxed);
        const std::uint64_t now_ns = wall_clock_ns();
        Word(run.start_ns).store(now_ns);
        Word(run.last_ns).store(now_ns);
        Word(run.process).store(process_number() & UINT32_MAX);
        RunRecord named = {};
        named.start_ns = now_ns;
        named.process = process_number() & UINT32_MAX;
        Word(run.check).store(check_of(named));
        view.run = &run;
        return;
    }
}

// The file in use, or null. A cache that was cleared has another one.
History::View *History::view() {
    View *const view = view_.load(std::memory_order_acquire);
    const bool is_in_use =
        view != nullptr && Word(view->header().is_void).load(std::memory_order_relaxed) == 0;
    return is_in_use ? view : reopen();
}

History::View *History::reopen() {
    const MutexLock lock(mutex_);
    View *const present = view_.load(std::memory_order_acquire);
    if (present != nullptr && Word(present->header().is_void).load() == 0) return present;
    const std::uint64_t now_ns = coarse_monotonic_ns();
    if (now_ns < retry_ns_) return nullptr;
    retry_ns_ = now_ns + kRetryNs;
    auto opened = open_file(present == nullptr ? Begin::run : Begin::continued_run);
    if (!opened.ok()) return nullptr;
    views_.push_back(std::move(opened.value()));
    view_.store(views_.back().get(), std::memory_order_release);
    return views_.back().get();
}

Seen History::find(const ProgramParts &program) {
    Seen seen;
    View *const own = view();
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
        const auto context_of = [own](std::uint64_t digest) {
            return find_context(digest,
                                [own](std::size_t i) { return load_record(own->context(i)); });
        };
        seen.fields = differing_fields(context_of(program.context), context_of(other_context));
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
    const std::size_t first = static_cast<std::size_t>(digest % kContextRecords);
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
void History::find_siblings() {
    siblings_known_ = true;
    if (generation_number(options_.identifier) == 0) return;
    const std::string beginning =
        options_.identifier.substr(0, options_.identifier.size() - kNumberDigits);
    const auto root = open_root(options_.root, Create::no, Log());
    if (!root.ok()) return;
    struct Sibling {
        std::uint64_t used_ns;
        std::uint64_t generation;
        File file;
    };
    std::vector<Sibling> found;
    (void)root->list([&](const char *name) {
        const std::string_view text = name;
        if (!text.starts_with(beginning) || text == options_.identifier) return;
        if (text.size() != options_.identifier.size() || generation_number(text) == 0) return;
        const auto directory = root->open_directory(name);
        if (!directory.ok()) return;
        auto file = directory->open_file(kHistoryFileName, Access::read_only);
        const auto used = directory->info("generation");
        if (!file.ok() || !used.ok()) return;
        found.push_back({used->modified_ns, generation_number(text), std::move(file.value())});
    });
    std::sort(found.begin(), found.end(),
              [](const Sibling &a, const Sibling &b) { return a.used_ns > b.used_ns; });
    for (Sibling &sibling : found) {
        if (siblings_.size() == kSiblingsMax) break;
        siblings_.emplace_back(std::move(sibling.file), sibling.generation);
    }
}

History::Elsewhere History::find_in_siblings(const View &own, const ProgramParts &program) {
    const MutexLock lock(mutex_);
    if (!siblings_known_) find_siblings();
    Elsewhere elsewhere;
    for (const SiblingPrograms &sibling : siblings_) {
        const bool is_of_this_driver = sibling.driver() == options_.driver;
        sibling.visit(program.sources, [&](const ProgramRecord &record, const ProgramStateRead &) {
            if (is_of_this_driver) {
                elsewhere.is_other_context = true;
                elsewhere.fields = differing_fields(
                    find_context(program.context,
                                 [&](std::size_t i) { return load_record(own.context(i)); }),
                    sibling.context(record.context));
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
    View *const own = view();
    if (own == nullptr || own->run == nullptr) return;
    Word(own->run->making_ns).store(is_making ? monotonic_ns() : 0, std::memory_order_relaxed);
}

void History::note_link(const Link &link) {
    View *const own = view();
    if (own == nullptr || own->run == nullptr) return;
    const std::uint64_t number =
        Word(own->header().last_link).fetch_add(1, std::memory_order_relaxed) + 1;
    const std::uint64_t cost_us = std::min<std::uint64_t>(link.cost_ns / 1000, UINT64_MAX >> 16);
    LinkRecord record = {};
    record.number = number;
    record.run_start_ns = own->run->start_ns;
    record.time_ns = wall_clock_ns();
    record.what = static_cast<std::uint64_t>(link.outcome) |
                  static_cast<std::uint64_t>(link.detail) << 8 | cost_us << 16;
    record.key = std::bit_cast<std::array<std::uint64_t, 2>>(link.key);
    record.other = link.other;
    record.check = check_of(record);
    store_record(own->link_at(static_cast<std::size_t>(number % own->links)), record);
    Word(own->run->last_ns).store(record.time_ns, std::memory_order_relaxed);
}

bool History::is_first_run() {
    const View *const own = view();
    return own != nullptr && own->is_first_run;
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
    const auto file = directory_.open_or_make_file(kSourcesFileName);
    if (!file.ok()) return;
    const auto info = file->info();
    SourcesHead head = {kSourcesMagic, static_cast<std::uint32_t>(text.size()), key, 0};
    if (!info.ok() ||
        info->size_bytes + sizeof head + text.size() > options_.limit_bytes / kSourcesPart) {
        return;
    }
    head.check = check_of_sources(head, text);
    std::string record(reinterpret_cast<const char *>(&head), sizeof head);
    record.append(text);
    append_to_file(options_.root + "/" + options_.identifier + "/" + kSourcesFileName, record);
}

}  // namespace cairn
