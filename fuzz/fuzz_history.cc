// What a cache remembers of look-ups, in files that somebody else has written to: they are read as
// `cairn why` and `cairn stats` do it, and used in place. Whatever is in them, what is noted afterwards is
// there. An input says which files get right checks again, and lists patches: which file, where, what.
// SPDX-License-Identifier: MIT
#include <cairn/cairn.h>
#include <cairn/internal/front_end.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "history/counters.h"
#include "history/files.h"
#include "history/history.h"
#include "history/reader.h"
#include "os/environment.h"
#include "support/files.h"
#include "support/temp_directory.h"

namespace {

namespace fs = std::filesystem;
using cairn::CounterRow;
using cairn::Number;
using cairn::ProgramParts;
using cairn_test::TempDirectory;

constexpr const char *kOwn = "gl-app-0123456789abcdef";
constexpr const char *kOther = "gl-app-00000000000000aa";
constexpr std::uint64_t kOtherNumber = 0xaa;
constexpr std::uint64_t kLimit = 32u << 20;  // two levels of programs
constexpr std::uint64_t kSourcesMax = kLimit / 2048;
constexpr std::uint64_t kToday = 20'000;
constexpr int kEntries = 24, kEntriesMax = 8;
constexpr std::size_t kProgramsNoted = 300;  // some are in the second level

using Files = std::map<std::string, std::string>;  // names below the root, and contents

// What is damaged, in the order in which an input counts.
const std::string kHistory = std::string(kOwn) + "/history";
const std::string kOtherHistory = std::string(kOther) + "/history";
const std::string kSources = std::string(kOwn) + "/sources";
const std::string kGhosts = cairn_test::path_in_cache(kOwn, "ghosts");
const std::string kCounters = ".counters";
const std::array kDamaged = {kHistory, kOtherHistory, kSources, kGhosts, kCounters};

void require(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

ProgramParts program(std::uint64_t i) {
    const std::uint64_t mixed = (i + 1) * 0x9E3779B97F4A7C15u;
    return {mixed, i % 3, static_cast<std::uint32_t>(i % 5),
            static_cast<std::uint32_t>(mixed >> 7)};
}

cairn::Link link_of(std::uint64_t i) {
    cairn::Link link;
    link.outcome = cairn::Outcome::evicted;
    link.key.fill(static_cast<std::uint8_t>(i));
    link.cost_ns = 1'000'000 + i * 1000;
    return link;
}

std::unique_ptr<cairn::History> open_history(const std::string &root, const char *identifier,
                                             std::uint64_t driver) {
    auto opened = cairn::History::open({root, identifier, driver, kLimit});
    require(opened.ok(), "History::open");
    return std::move(*opened);
}

cairn_cache *open_cache(const std::string &root) {
    cairn_options options{};
    options.size = sizeof(options);
    options.root = root.c_str();
    options.identifier = kOwn;
    options.limit_entries = kEntriesMax;
    options.memory_bytes = CAIRN_NONE;
    cairn_cache *cache = nullptr;
    require(cairn_open(&options, &cache) == CAIRN_OK, "cairn_open");
    return cache;
}

std::string key_of(int number) {
    return "key " + std::to_string(number);
}

void put(cairn_cache *cache, int number) {
    const std::string key = key_of(number), value(100, 'v');
    require(
        cairn_put(cache, key.data(), key.size(), value.data(), value.size(), nullptr) == CAIRN_OK,
        "cairn_put");
}

std::uint32_t fate(cairn_cache *cache, int number) {
    const std::string key = key_of(number);
    std::uint32_t fate = UINT32_MAX;
    std::uint64_t when_s = 0;
    require(cairn_fate(cache, key.data(), key.size(), &fate, &when_s) == CAIRN_OK, "cairn_fate");
    require(fate <= CAIRN_FATE_LATE, "a fate that is none");
    require(when_s <= cairn::wall_clock_ns() / 1'000'000'000, "it was in the future");
    return fate;
}

std::array<bool, kEntries + 4> contained(cairn_cache *cache) {
    std::array<bool, kEntries + 4> found = {};
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::string key = key_of(static_cast<int>(i));
        found[i] = cairn_contains(cache, key.data(), key.size()) == CAIRN_OK;
    }
    return found;
}

// ---- the files

Files read_files(const std::string &root) {
    Files files;
    for (const auto &entry : fs::recursive_directory_iterator(root)) {
        if (!entry.is_regular_file()) continue;
        std::ifstream stream(entry.path(), std::ios::binary);
        files[fs::relative(entry.path(), root)] = {std::istreambuf_iterator<char>(stream), {}};
    }
    return files;
}

void write_files(const std::string &root, const Files &files) {
    for (const std::string &folder :
         {std::string(kOwn), std::string(kOther), cairn_test::store_files(kOwn)}) {
        fs::create_directory(fs::path(root) / folder);
        fs::permissions(fs::path(root) / folder, fs::perms::owner_all);
    }
    for (const auto &[name, content] : files) {
        std::ofstream(fs::path(root) / name, std::ios::binary) << content;
    }
}

void fill_history(const std::string &root, const char *identifier, std::uint64_t driver) {
    const auto history = open_history(root, identifier, driver);
    for (std::uint64_t i = 0; i < kProgramsNoted; ++i) history->note(program(i), i % 7 != 0);
    history->note_context(1, {1, 2, 3, 4, 5, 6});
    history->note_context(2, {1, 2, 3, 4, 5, 7});
    for (std::uint64_t i = 0; i < 70; ++i) history->note_link(link_of(i));
    history->keep_sources(link_of(1).key, "fragment:\nvoid main() {}\n");
    history->keep_sources(link_of(2).key, "vertex:\nvoid main() { gl_Position = vec4(0); }\n");
}

// The root whose counters this process has open. They are damaged in place, and never cut.
const std::string &counted_root() {
    static const TempDirectory root;
    return root.path();
}

void count_days(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t day = first; day <= last; ++day) {
        cairn::pretend_day(day);
        for (const char *application : {"app", "another"}) {
            cairn::DayTally(application, day % 2).add(Number::stored, day);
        }
    }
}

// All of them as they are after some use, made once.
const Files &intact_files() {
    static const Files files = [] {
        const TempDirectory root;
        write_files(root.path(), {});
        cairn_cache *cache = open_cache(root.path());
        for (int i = 0; i < kEntries; ++i) put(cache, i);
        cairn_close(cache);
        for (const char *identifier : {kOwn, kOther}) {
            std::ofstream(fs::path(root.path()) / identifier / "generation")
                << "application: app\n";
        }
        fill_history(root.path(), kOwn, 1);
        fill_history(root.path(), kOther, 2);
        require(cairn::open_counters(counted_root()), "open_counters");
        count_days(kToday - 20, kToday);
        Files made = read_files(root.path());
        made[kCounters] = read_files(counted_root()).at(kCounters);
        for (const std::string &name : kDamaged) require(made.contains(name), name.c_str());
        return made;
    }();
    return files;
}

// ---- damage

// Each patch: file, three bytes of offset, length and kind, then its bytes.
void damage(Files &files, const std::uint8_t *data, std::size_t size) {
    while (size >= 6) {
        std::string &bytes = files[kDamaged[data[0] % kDamaged.size()]];
        const std::size_t offset = data[1] | std::size_t{data[2]} << 8 | std::size_t{data[3]} << 16;
        const std::size_t length = std::min<std::size_t>(data[4], size - 6);
        const bool cut = data[5] == 255;
        data += 6;
        size -= 6;
        if (!bytes.empty()) {
            const std::size_t place = offset % bytes.size();
            if (cut) {
                bytes.resize(place);
            } else {
                bytes.replace(place, std::min(length, bytes.size() - place),
                              reinterpret_cast<const char *>(data),
                              std::min(length, bytes.size() - place));
            }
        }
        data += length;
        size -= length;
    }
}

// Changes a record in a file, where it has a whole one at this place.
template <typename Record, typename Change>
void change(std::string &bytes, std::size_t offset, const Change &change) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(Record)) return;
    Record record;
    std::memcpy(&record, bytes.data() + offset, sizeof record);
    change(record);
    std::memcpy(bytes.data() + offset, &record, sizeof record);
}

const auto kCheckRecord = [](auto &record) { record.check = cairn::check_of(record); };

void seal_history(std::string &bytes) {
    using namespace cairn;
    std::size_t links = kLinksSmall;
    change<HistoryHeader>(bytes, 0, [&](HistoryHeader &header) {
        header.driver_check = check_of_driver(header.driver);
        header.is_void = 0;
        if (header.magic != kHistoryMagicLarge) header.magic = kHistoryMagicSmall;
        links = links_of(header.magic);
    });
    for (std::size_t i = 1; i <= kContextRecords; ++i) {
        change<ContextRecord>(bytes, i * sizeof(ContextRecord), kCheckRecord);
    }
    for (std::size_t i = 0; i < kRunRecords; ++i) {
        change<RunRecord>(bytes, kRunsOffset + i * sizeof(RunRecord), kCheckRecord);
    }
    for (std::size_t i = 0; i < links; ++i) {
        change<LinkRecord>(bytes, kLinksOffset + i * sizeof(LinkRecord), kCheckRecord);
    }
    for (std::size_t at = programs_offset(links, 0); at < bytes.size();
         at += sizeof(ProgramRecord)) {
        change<ProgramRecord>(bytes, at, [](ProgramRecord &record) {
            const bool is_new =
                (record.sources | record.context | record.settings_and_key | record.state) == 0;
            const auto minutes = static_cast<std::uint32_t>(record.state >> 40);
            if (!is_new)
                record.state = program_state(record, minutes, (record.state >> 39 & 1) != 0);
        });
    }
}

void seal_sources(std::string &bytes) {
    for (std::size_t at = 0; at + sizeof(cairn::SourcesHead) <= bytes.size();) {
        std::size_t next = at + sizeof(cairn::SourcesHead);
        change<cairn::SourcesHead>(bytes, at, [&](cairn::SourcesHead &head) {
            if (head.size > bytes.size() - next) return;
            head.check = check_of_sources(head, std::string_view(bytes).substr(next, head.size));
            next += head.size;
        });
        at = next;
    }
}

void seal_counters(std::string &bytes) {
    change<cairn::CounterHeader>(bytes, 0, [](cairn::CounterHeader &header) {
        header.fold.check = header.fold.right_check();
    });
    for (std::size_t at = sizeof(CounterRow); at < bytes.size(); at += sizeof(CounterRow)) {
        change<CounterRow>(bytes, at, [](CounterRow &row) { row.check = row.right_check(); });
    }
}

// ---- use

void use_history(const std::string &root) {
    const auto directory = cairn::Directory::open(root + "/" + kOwn);
    (void)cairn::read_history(directory.value());
    (void)cairn::read_sources(directory.value());
    const auto history = open_history(root, kOwn, 1);
    (void)history->is_first_run();
    (void)history->has_failed_to_store();
    (void)history->has_other_run();
    for (std::uint64_t i = 0; i < kProgramsNoted + 100; i += 3) {
        (void)history->knows(program(i).sources, program(i).key);
        ProgramParts wanted = program(i);
        if (i % 2 == 0) wanted.context += std::uint64_t{1} << 32;
        const cairn::Seen seen = history->find(wanted);
        require(seen.generation == 0 || seen.generation == kOtherNumber, "of no generation");
        require(seen.fields < 1u << cairn::kContextFields, "a field that is none");
    }
    for (std::uint64_t i = 1000; i < 1020; ++i) {
        history->note(program(i), true);
        const cairn::Seen seen = history->find(program(i));
        require(seen.how == cairn::Seen::How::same && seen.was_stored, "what was just noted");
        require(history->knows(program(i).sources, program(i).key), "what was just noted is known");
    }
    history->note_context(3, {});
    history->note_making(true);
    history->add(Number::stored, 5);
    history->note_link(link_of(200));
    const auto read = cairn::read_history(directory.value());
    require(read.ok(), "a history that is in use");
    require(std::ranges::any_of(read->links,
                                [](const cairn::LinkRead &each) {
                                    return each.link.key == link_of(200).key &&
                                           each.link.cost_ns == link_of(200).cost_ns;
                                }),
            "the link that was just noted");
    require(std::ranges::any_of(read->runs,
                                [](const cairn::RunRead &run) {
                                    return run.numbers[Number::stored] == 5 && run.making_ns != 0;
                                }),
            "the run that goes on");
}

void use_sources(const std::string &root) {
    const auto directory = cairn::Directory::open(root + "/" + kOwn);
    const std::string path = root + "/" + kSources, text = "fragment:\nanother\n";
    const std::uint64_t size = fs::file_size(path) + sizeof(cairn::SourcesHead) + text.size();
    open_history(root, kOwn, 1)->keep_sources(link_of(9).key, text);
    const auto found = cairn::read_sources(directory.value());
    require(size > kSourcesMax || found.contains(link_of(9).key),
            "the sources that were just kept");
}

void use_ghosts(const std::string &root) {
    cairn_cache *cache = open_cache(root);
    for (int i = 0; i < kEntries; ++i) (void)fate(cache, i);
    for (int i = kEntries; i < kEntries + 4; ++i) {
        const auto before = contained(cache);
        put(cache, i);
        const auto after = contained(cache);
        for (std::size_t one = 0; one < before.size(); ++one) {
            if (!before[one] || after[one]) continue;
            require(fate(cache, static_cast<int>(one)) == CAIRN_FATE_EVICTED,
                    "what was just evicted");
        }
    }
    cairn_close(cache);
}

// Of the application's rows of a day; nullopt: a number may not be larger, or a row may be about to go.
std::optional<std::uint64_t> counted(std::uint64_t day) {
    std::uint64_t sum = 0;
    for (const cairn::DayRow &row : cairn::read_counters(counted_root())) {
        if (row.day != day || row.application != "app" || row.generation != 1) continue;
        const std::uint64_t stored = row.numbers[Number::stored];
        if (stored > cairn::kCheckedMax - 10) return std::nullopt;
        sum += stored;
    }
    return sum;
}

// In place, as this process has the file mapped.
void use_counters(const std::string &content, std::uint64_t day, bool has_fold) {
    const std::string path = counted_root() + "/" + kCounters;
    {
        std::string bytes = content;
        bytes.resize(fs::file_size(path));
        std::fstream(path, std::ios::binary | std::ios::in | std::ios::out) << bytes;
    }
    cairn::pretend_day(day);
    cairn::DayTally tally("app", 1);
    const auto before = counted(day);
    tally.add(Number::stored, 3);
    tally.add(Number::stored, 4);
    const auto after = counted(day);
    // A fold that is half done may be of any row.
    require(has_fold || !before || !after || *after == *before + 7, "what was just counted");
    (void)cairn::forget_counters(counted_root(), "app");
    require(has_fold || counted(day) == 0, "what was just forgotten");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Files files = intact_files();
    const unsigned sealed = size > 0 ? data[0] : 0;
    const std::uint64_t day = kToday + (size > 1 ? data[1] : 0);
    if (size > 2) damage(files, data + 2, size - 2);
    if ((sealed & 1) != 0) seal_history(files[kHistory]);
    if ((sealed & 2) != 0) seal_history(files[kOtherHistory]);
    if ((sealed & 4) != 0) seal_sources(files[kSources]);
    if ((sealed & 8) != 0) seal_counters(files[kCounters]);

    const TempDirectory root;
    write_files(root.path(), files);
    use_sources(root.path());
    use_history(root.path());
    use_ghosts(root.path());
    (void)cairn::read_counters(root.path());
    (void)cairn::forget_counters(root.path(), "app");
    use_counters(files[kCounters], day, (sealed & 8) != 0);
    return 0;
}
