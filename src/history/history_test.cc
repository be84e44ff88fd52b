// SPDX-License-Identifier: MIT
#include "history/history.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "history/files.h"
#include "history/reader.h"
#include "os/testing/failing_calls.h"
#include "support/files.h"
#include "support/process.h"
#include "support/random.h"
#include "support/shared.h"
#include "support/temp_directory.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using cairn_test::Child;
using cairn_test::mix;
using How = Seen::How;

constexpr std::uint64_t kMiB = 1u << 20;
constexpr unsigned kLookUs = 1'100'000;  // files are looked at once a second
constexpr const char *kOwn = "gl-app-0123456789abcdef";

ProgramParts program(std::uint64_t i) {
    return {mix(i), mix(i, 1), static_cast<std::uint32_t>(mix(i, 2)),
            static_cast<std::uint32_t>(mix(i, 3))};
}

constexpr std::uint64_t context_of(std::uint32_t request, std::uint32_t answers) {
    return std::uint64_t{request} << 32 | answers;
}

class HistoryTest : public ::testing::Test {
  protected:
    HistoryTest() {
        fs::create_directory(root_);
        fs::permissions(root_, fs::perms::owner_all);
        make_cache(kOwn, 1);
    }
    // A cache's directory, used so long after others.
    void make_cache(const std::string &identifier, int used_s) const {
        const fs::path cache = fs::path(root_) / identifier;
        fs::create_directory(cache);
        std::ofstream(cache / "generation") << "application: app\n";
        const auto start = fs::last_write_time(cache / "generation");
        fs::last_write_time(cache / "generation", start + std::chrono::seconds(used_s));
    }
    std::unique_ptr<History> open(std::uint64_t limit_bytes = 256 * kMiB,
                                  const std::string &identifier = kOwn,
                                  std::uint64_t driver = 1) const {
        auto opened = History::open({root_, identifier, driver, limit_bytes});
        return opened.ok() ? std::move(*opened) : nullptr;
    }
    HistoryRead read(const std::string &identifier = kOwn) const {
        auto directory = Directory::open(root_ + "/" + identifier);
        auto history = read_history(*directory);
        return history.ok() ? std::move(*history) : HistoryRead();
    }
    void forget() const { forget_history(Directory::open(root_ + "/" + kOwn).value()); }
    // Those that are whole, in a file with many links.
    std::vector<ProgramRecord> programs() const {
        std::vector<ProgramRecord> found;
        const auto bytes = cairn_test::read_file(file_);
        for (std::size_t at = programs_offset(kLinksLarge, 0);
             at + sizeof(ProgramRecord) <= bytes.size(); at += sizeof(ProgramRecord)) {
            ProgramRecord record = {};
            std::memcpy(&record, bytes.data() + at, sizeof record);
            if (read_program_state(record).is_whole) found.push_back(record);
        }
        return found;
    }
    std::uint64_t size() const { return cairn_test::file_size(file_); }

    cairn_test::TempDirectory directory_;
    const std::string root_ = directory_ / "root";
    const std::string file_ = root_ + "/" + kOwn + "/history";
};

TEST_F(HistoryTest, AProgramIsFoundByWhatItHasInCommonWithOthers) {
    const auto history = open();
    const std::uint64_t context = context_of(7, 8);
    EXPECT_EQ(history->find({1, context, 3, 4}).how, How::never);
    history->note({1, context, 3, 4}, true);
    const Seen same = history->find({1, context, 3, 4});
    EXPECT_EQ(same.how, How::same);
    EXPECT_TRUE(same.was_stored);
    EXPECT_GT(same.when_s, 1'600'000'000u);
    EXPECT_EQ(history->find({1, context, 33, 44}).how, How::other_settings);
    EXPECT_EQ(history->find({1, context_of(7, 9), 3, 5}).how, How::other_context);
    EXPECT_EQ(history->find({1, context_of(7, 9), 33, 5}).how, How::other_context);
    EXPECT_EQ(history->find({2, context, 3, 4}).how, How::never);

    history->note({1, context_of(7, 9), 3, 5}, false);
    const Seen second = history->find({1, context_of(7, 9), 3, 5});
    EXPECT_EQ(second.how, How::same);
    EXPECT_FALSE(second.was_stored);
    // Other settings in this context say more than these in another one.
    EXPECT_EQ(history->find({1, context_of(7, 9), 4, 5}).how, How::other_settings);
}

TEST_F(HistoryTest, AProgramIsKnownByItsKeyOnceItWasStored) {
    const auto history = open();
    EXPECT_FALSE(history->knows(1, 4));
    history->note({1, 2, 3, 4}, false);
    EXPECT_FALSE(history->knows(1, 4));
    history->note({1, 2, 3, 4}, true);
    EXPECT_TRUE(history->knows(1, 4));
    EXPECT_FALSE(history->knows(1, 5));
    EXPECT_FALSE(history->knows(2, 4));
    EXPECT_TRUE(open()->knows(1, 4));
}

TEST_F(HistoryTest, TheFieldsOfAnotherContextThatDifferAreNamed) {
    const auto history = open();
    const std::uint64_t here = context_of(7, 1);
    const std::uint64_t there = context_of(7, 2);
    history->note({1, there, 3, 4}, true);
    EXPECT_EQ(history->find({1, here, 3, 4}).fields, 0u);
    history->note_context(here, {1, 2, 3, 4, 5, 6});
    EXPECT_EQ(history->find({1, here, 3, 4}).fields, 0u);
    history->note_context(there, {1, 2, 3, 44, 5, 66});
    const Seen seen = history->find({1, here, 3, 4});
    EXPECT_EQ(seen.how, How::other_context);
    EXPECT_EQ(seen.fields, 1u << static_cast<unsigned>(ContextField::extensions) |
                               1u << static_cast<unsigned>(ContextField::profile));
    EXPECT_STREQ(context_field_name(ContextField::extensions), "GL_EXTENSIONS");
    // Of several contexts, one with the same settings.
    history->note({1, context_of(7, 3), 9, 5}, true);
    history->note_context(context_of(7, 3), {9, 9, 9, 9, 9, 9});
    EXPECT_EQ(history->find({1, here, 3, 4}).fields, seen.fields);
}

TEST_F(HistoryTest, MoreContextsThanThereIsRoomForReplaceOthers) {
    const auto history = open();
    for (std::uint32_t i = 1; i <= 500; ++i) {
        history->note_context(mix(i), {i, 0, 0, 0, 0, 0});
        history->note_context(mix(i + 1000), {i, 1, 0, 0, 0, 0});
        history->note({i, mix(i + 1000), 0, 0}, true);
        const Seen seen = history->find({i, mix(i), 0, 1});
        EXPECT_EQ(seen.how, How::other_context);
        EXPECT_TRUE(seen.fields == 0b10 || seen.fields == 0) << seen.fields;
    }
}

TEST_F(HistoryTest, AnotherGenerationOfAnotherDriverIsNamed) {
    make_cache("gl-app-00000000000000aa", 10);
    const std::uint64_t context = context_of(7, 8);
    {
        const auto other = open(256 * kMiB, "gl-app-00000000000000aa", 2);
        other->note({1, context, 3, 4}, true);
        other->note({2, context, 3, 4}, true);
    }
    const auto history = open();
    const Seen exact = history->find({1, context_of(7, 99), 3, 44});
    EXPECT_EQ(exact.how, How::other_driver);
    EXPECT_EQ(exact.generation, 0xaau);
    // With other settings, where there is nothing closer.
    EXPECT_EQ(history->find({1, context, 4, 4}).how, How::other_driver);
    EXPECT_EQ(history->find({5, context, 3, 4}).how, How::never);
    // Exactly this from another driver says more than other settings with this one.
    history->note({1, context, 5, 5}, true);
    EXPECT_EQ(history->find({1, context, 3, 4}).how, How::other_driver);
    // And less than other settings elsewhere.
    EXPECT_EQ(history->find({1, context, 6, 4}).how, How::other_settings);
    history->note({1, context, 3, 4}, true);
    EXPECT_EQ(history->find({1, context, 3, 4}).how, How::same);
}

TEST_F(HistoryTest, AnotherGenerationOfThisDriverIsAnotherContext) {
    make_cache("gl-app-00000000000000aa", 10);
    {
        const auto other = open(256 * kMiB, "gl-app-00000000000000aa", 1);
        other->note({1, context_of(7, 8), 3, 4}, true);
        other->note_context(context_of(7, 8), {1, 2, 3, 4, 5, 6});
    }
    const auto history = open();
    history->note_context(context_of(7, 9), {1, 22, 3, 4, 5, 6});
    const Seen seen = history->find({1, context_of(7, 9), 3, 4});
    EXPECT_EQ(seen.how, How::other_context);
    EXPECT_EQ(seen.fields, 1u << static_cast<unsigned>(ContextField::version));
    EXPECT_EQ(history->find({2, context_of(7, 9), 3, 4}).how, How::never);
}

TEST_F(HistoryTest, TheThreeGenerationsThatWereUsedLastAreLookedAt) {
    // Others that look alike count for nothing: of another application, or no generation.
    for (const char *name : {"gl-app-00000000000000zz", "gl-app-0000000000000001x",
                             "gl-apple-0000000000000001", "gl-app2-0000000000000001"}) {
        make_cache(name, 1000);
        open(256 * kMiB, name, 2)->note({100, 2, 3, 4}, true);
    }
    for (int i = 1; i <= 5; ++i) {
        const std::string name = "gl-app-000000000000000" + std::to_string(i);
        make_cache(name, 100 * i);
        open(256 * kMiB, name, 2)->note({static_cast<std::uint64_t>(i), 2, 3, 4}, true);
    }
    make_cache("gl-app-0000000000000009", 2000);  // without a history
    const auto history = open();
    EXPECT_EQ(history->find({1, 2, 3, 4}).how, How::never);
    EXPECT_EQ(history->find({2, 2, 3, 4}).how, How::never);
    for (std::uint64_t i = 3; i <= 5; ++i) EXPECT_EQ(history->find({i, 2, 3, 4}).generation, i);
    EXPECT_EQ(history->find({100, 2, 3, 4}).how, How::never);
    // One that was cleared meanwhile is not remembered.
    forget_history(*Directory::open(root_ + "/gl-app-0000000000000004"));
    ::usleep(kLookUs);
    EXPECT_EQ(history->find({4, 2, 3, 4}).how, How::never);
}

TEST_F(HistoryTest, DamagedGenerationsOfOthersAreLeftOut) {
    const std::string name = "gl-app-0000000000000001";
    make_cache(name, 100);
    open(256 * kMiB, name, 2)->note({1, 2, 3, 4}, true);
    const std::string file = root_ + "/" + name + "/history";
    const auto whole = cairn_test::read_file(file);
    cairn_test::Random random(3);
    for (int round = 0; round < 300; ++round) {
        auto bytes = whole;
        // Some in the header, and all of it, and anywhere.
        const std::size_t end = round % 2 == 0 ? sizeof(HistoryHeader) : bytes.size();
        for (std::uint64_t i = random.below(64) + 1; i > 0; --i) {
            bytes[random.below(end)] ^= static_cast<std::uint8_t>(1 + random.below(255));
        }
        if (round % 5 == 0) bytes.resize(random.below(bytes.size()));
        cairn_test::write_file(file, bytes);
        const auto history = open();
        const Seen seen = history->find({1, 2, 3, 4});
        EXPECT_TRUE(seen.how == How::never ||
                    (seen.how == How::other_driver && seen.generation == 1));
    }
}

TEST_F(HistoryTest, TheTableGrowsAndAllProgramsAreFoundAgain) {
    constexpr std::uint64_t kLimit = 1024 * kMiB;
    constexpr std::uint64_t kPrograms = 30'000;
    const auto history = open(kLimit);
    const auto reader = open(kLimit);
    std::set<std::uint64_t> sizes;
    for (std::uint64_t i = 0; i < kPrograms; ++i) {
        history->note(program(i), true);
        if (i % 100 == 0) sizes.insert(size());
        if (i % 1000 == 0) {
            EXPECT_EQ(reader->find(program(i)).how, How::same);
        }
    }
    EXPECT_EQ(sizes.size(), kLevelsMax);
    EXPECT_EQ(size(), programs_offset(kLinksLarge, kLevelsMax));
    EXPECT_LE(size(), kLimit / 128);
    const auto again = open(kLimit);
    std::size_t lost = 0;
    for (std::uint64_t i = 0; i < kPrograms; ++i) {
        if (again->find(program(i)).how != How::same) ++lost;
    }
    EXPECT_EQ(lost, 0u);
    EXPECT_EQ(again->find(program(kPrograms)).how, How::never);
}

TEST_F(HistoryTest, ItNeverTakesMoreThanItsPart) {
    for (const std::uint64_t limit : {3 * kMiB, 20 * kMiB, 64 * kMiB, 256 * kMiB}) {
        forget();
        const auto history = open(limit);
        ASSERT_NE(history, nullptr);
        for (std::uint64_t i = 0; i < 10'000; ++i) {
            history->note(program(i), true);
            history->keep_sources({static_cast<std::uint8_t>(i)}, std::string(1000, 's'));
        }
        EXPECT_LE(size(), limit / 120);
        EXPECT_LE(cairn_test::file_size(root_ + "/" + kOwn + "/sources"), limit / 2048);
        // The latest are there, but for those that share a bucket with more that are as new.
        std::size_t found = 0;
        for (std::uint64_t i = 9'900; i < 10'000; ++i) {
            if (history->find(program(i)).how == How::same) ++found;
        }
        EXPECT_GT(found, 60u) << limit;
    }
}

TEST_F(HistoryTest, ALimitThatIsTooSmallMakesNothing) {
    EXPECT_EQ(open(120 * 24576 - 1), nullptr);
    EXPECT_EQ(open(0), nullptr);
    EXPECT_FALSE(fs::exists(file_));
    EXPECT_NE(open(3 * kMiB), nullptr);
    EXPECT_EQ(size(), 3 * kMiB / 128);
}

TEST_F(HistoryTest, ALowerLimitReplacesALargerFile) {
    {
        const auto history = open(256 * kMiB);
        for (std::uint64_t i = 0; i < 3000; ++i) history->note(program(i), true);
    }
    const auto user = open(256 * kMiB);
    const auto history = open(3 * kMiB);
    ASSERT_NE(history, nullptr);
    EXPECT_EQ(size(), 3 * kMiB / 128);
    EXPECT_EQ(history->find(program(1)).how, How::never);
    user->note(program(2), true);  // who has the larger one open comes along
    EXPECT_EQ(history->find(program(2)).how, How::same);
}

TEST_F(HistoryTest, AHigherLimitKeepsWhatIsKnownAndMoreLinks) {
    constexpr std::uint64_t kPrograms = 1000, kLinks = 300;
    const auto user = open(63 * kMiB);
    user->note_context(context_of(7, 8), {1, 2, 3, 4, 5, 6});
    user->add(Number::stored, 5);
    for (std::uint64_t i = 0; i < kPrograms; ++i) user->note(program(i), true);
    for (std::uint64_t i = 0; i < kLinks; ++i)
        user->note_link({Outcome::unknown, Detail::none, {}, 0, i});
    EXPECT_EQ(read().links_max, kLinksSmall);
    const auto known = [&](History &history) {
        std::set<std::uint64_t> found;
        for (std::uint64_t i = 0; i < kPrograms; ++i) {
            if (history.find(program(i)).how == How::same) found.insert(i);
        }
        return found;
    };
    const auto before = known(*user);
    EXPECT_GT(before.size(), kPrograms / 2);

    const auto history = open(64 * kMiB);
    EXPECT_FALSE(history->is_first_run());
    EXPECT_EQ(known(*history), before);
    history->note({1, context_of(7, 9), 3, 4}, true);
    history->note_context(context_of(7, 9), {1, 22, 3, 4, 5, 6});
    EXPECT_EQ(history->find({1, context_of(7, 8), 3, 4}).fields,
              1u << static_cast<unsigned>(ContextField::version));
    // Who has the smaller one open comes along.
    user->note_link({Outcome::unknown, Detail::none, {}, 0, kLinks});
    history->note_link({Outcome::unknown, Detail::none, {}, 0, kLinks + 1});
    const HistoryRead found = read();
    EXPECT_EQ(found.links_max, kLinksLarge);
    EXPECT_EQ(found.links.size(), kLinksSmall + 2);
    for (std::size_t i = 0; i < found.links.size(); ++i) {
        EXPECT_EQ(found.links[i].link.other, kLinks - kLinksSmall + i);
    }
    ASSERT_EQ(found.runs.size(), 3u) << "the user has another one, as after a clear";
    EXPECT_EQ(found.runs[0].numbers[Number::stored], 5u);
    EXPECT_LE(size(), 64 * kMiB / 192);
}

// Each of these would replace the file of the other for ever.
TEST_F(HistoryTest, ProcessesWithALowerAndAHigherLimitAgree) {
    const auto low = open(3 * kMiB);
    const auto high = open(64 * kMiB);
    for (std::uint64_t i = 0; i < 20; ++i) {
        low->note(program(2 * i), true);
        high->note(program(2 * i + 1), true);
    }
    for (std::uint64_t i = 2; i < 40; ++i) {
        EXPECT_EQ(low->find(program(i)).how, How::same) << i;
        EXPECT_EQ(high->find(program(i)).how, How::same) << i;
    }
}

TEST_F(HistoryTest, ProcessesEnlargeItAtOnce) {
    for (std::uint64_t round = 0; round < 20; ++round) {
        {
            const auto small = open(63 * kMiB);
            small->note(program(round), true);
        }
        std::vector<Child> children;
        for (std::uint64_t p = 0; p < 4; ++p) {
            children.emplace_back([&, p] {
                const auto history = open(64 * kMiB);
                if (history == nullptr) return 1;
                history->note(program(1000 + p), true);
                return history->find(program(round)).how == How::same ? 0 : 2;
            });
        }
        for (Child &child : children) {
            EXPECT_EQ(cairn_test::describe_status(child.wait()), "");
        }
        EXPECT_EQ(read().links_max, kLinksLarge);
        EXPECT_EQ(open(64 * kMiB)->find(program(round)).how, How::same);
        forget();
    }
}

TEST_F(HistoryTest, WhereItCannotBeEnlargedTheSmallerOneIsUsed) {
    testing::FailingCalls calls;
    for (const int error : {ENOSPC, EACCES, EIO}) {
        for (std::uint64_t first = 1;; ++first) {
            forget();
            open(63 * kMiB)->note(program(1), true);
            testing::Fault fault;
            fault.error = error;
            fault.first = first;
            calls.arm(fault);
            (void)open(64 * kMiB);
            const bool is_through = calls.failures() == 0;
            calls.disarm();
            const auto history = open(64 * kMiB);
            ASSERT_NE(history, nullptr);
            EXPECT_EQ(history->find(program(1)).how, How::same) << first;
            EXPECT_EQ(read().links_max, kLinksLarge) << first;
            if (is_through) break;
        }
    }
}

TEST_F(HistoryTest, ManyProgramsOfTheSameSourcesReplaceEachOther) {
    const auto history = open();
    for (std::uint32_t i = 0; i < 5000; ++i) history->note({1, 2, i, i}, true);
    EXPECT_EQ(size(), programs_offset(kLinksLarge, 1));
    EXPECT_EQ(history->find({1, 2, 4999, 4999}).how, How::same);
    EXPECT_EQ(history->find({1, 2, 7000, 7000}).how, How::other_settings);
    for (std::uint64_t i = 0; i < 100; ++i) history->note(program(i), true);
    for (std::uint32_t i = 0; i < 5000; ++i) history->note({1, 2, i, i}, true);
    EXPECT_LE(size(), programs_offset(kLinksLarge, 2));
}

TEST_F(HistoryTest, TheOldestProgramOfAFullBucketGoes) {
    const auto history = open(3 * kMiB);
    // Written as if a minute later each time.
    for (std::uint32_t i = 0; i < kBucketRecords; ++i) history->note({1, 2, i, i}, true);
    auto bytes = cairn_test::read_file(file_);
    std::uint32_t oldest = 0;
    for (std::size_t at = programs_offset(kLinksSmall, 0), n = 0; at < bytes.size();
         at += sizeof(ProgramRecord)) {
        ProgramRecord record = {};
        std::memcpy(&record, bytes.data() + at, sizeof record);
        const auto state = read_program_state(record);
        if (!state.is_whole) continue;
        if (n == 5) oldest = static_cast<std::uint32_t>(record.settings_and_key);
        record.state = program_state(record, n == 5 ? 100 : 1000, true);
        cairn_test::overwrite(file_, at, {reinterpret_cast<const std::uint8_t *>(&record), 32});
        ++n;
    }
    history->note({1, 2, 100, 100}, true);
    for (std::uint32_t i = 0; i < kBucketRecords; ++i) {
        EXPECT_EQ(history->knows(1, i), i != oldest) << i;
    }
    EXPECT_TRUE(history->knows(1, 100));
}

TEST_F(HistoryTest, RunsCountForThemselves) {
    auto first = open();
    EXPECT_TRUE(first->is_first_run());
    first->add(count_of(Outcome::hit_disk), 2);
    first->add(Number::saved_ns, 300);
    const auto second = open();
    EXPECT_FALSE(second->is_first_run());
    second->add(count_of(Outcome::never_seen), 1);
    second->add(Number::stored, 0);
    auto runs = read().runs;
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].numbers.hits(), 2u);
    EXPECT_EQ(runs[0].numbers[Number::saved_ns], 300u);
    EXPECT_EQ(runs[0].process, static_cast<std::uint64_t>(::getpid()));
    EXPECT_EQ(runs[1].numbers.lookups(), 1u);
    EXPECT_EQ(runs[1].numbers.hits(), 0u);
    EXPECT_TRUE(runs[0].is_alive && runs[1].is_alive);
    EXPECT_LT(runs[0].start_ns, runs[1].start_ns);
    EXPECT_GT(runs[0].last_ns, 1'600'000'000'000'000'000u);
    first.reset();
    runs = read().runs;
    EXPECT_FALSE(runs[0].is_alive);
    EXPECT_TRUE(runs[1].is_alive);
}

TEST_F(HistoryTest, AKilledProcessHasEndedAndItsNumbersStay) {
    Child child([&] {
        const auto history = open();
        history->add(Number::starts, 7);
        history->note_making(true);
        ::raise(SIGKILL);
        return 0;
    });
    const auto pid = static_cast<std::uint64_t>(child.pid());
    EXPECT_EQ(cairn_test::describe_status(child.wait()), "signal 9 (Killed)");
    const auto runs = read().runs;
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].process, pid);
    EXPECT_FALSE(runs[0].is_alive);
    EXPECT_EQ(runs[0].numbers[Number::starts], 7u);
    EXPECT_NE(runs[0].making_ns, 0u);
    EXPECT_FALSE(open()->is_first_run());
}

TEST_F(HistoryTest, TheOldestRunThatHasEndedIsReplaced) {
    std::vector<std::unique_ptr<History>> alive;
    for (std::uint64_t i = 1; i <= kRunRecords; ++i) {
        alive.push_back(open());
        alive.back()->add(Number::starts, i);
    }
    // No room: nothing is counted, and all else goes on.
    const auto one_more = open();
    one_more->add(Number::starts, 100);
    one_more->note_link({});
    one_more->note_making(true);
    one_more->note(program(1), true);
    EXPECT_EQ(one_more->find(program(1)).how, How::same);
    EXPECT_EQ(read().runs.size(), kRunRecords);
    EXPECT_EQ(read().links.size(), 0u);
    alive[3].reset();
    alive[7].reset();
    const auto next = open();
    next->add(Number::starts, 200);
    std::set<std::uint64_t> starts;
    for (const RunRead &run : read().runs) starts.insert(run.numbers[Number::starts]);
    EXPECT_EQ(starts.size(), kRunRecords);
    EXPECT_FALSE(starts.contains(4));
    EXPECT_TRUE(starts.contains(8));
    EXPECT_TRUE(starts.contains(200));
}

TEST_F(HistoryTest, TheDriverMakesAProgramUntilItsLastThreadIsThrough) {
    const auto history = open();
    EXPECT_EQ(read().runs[0].making_ns, 0u);
    history->note_making(true);
    const std::uint64_t since_ns = read().runs[0].making_ns;
    EXPECT_NE(since_ns, 0u);
    history->note_making(true);
    history->note_making(false);
    EXPECT_EQ(read().runs[0].making_ns, since_ns);
    history->note_making(false);
    EXPECT_EQ(read().runs[0].making_ns, 0u);
}

TEST_F(HistoryTest, WhenTheCacheIsClearedAllIsForgottenAndANewFileIsUsed) {
    const auto one = open();
    const auto two = open();
    one->note(program(1), true);
    one->note_link({});
    one->keep_sources({1}, "text");
    forget();
    EXPECT_FALSE(fs::exists(file_));
    EXPECT_FALSE(fs::exists(root_ + "/" + kOwn + "/sources"));
    EXPECT_EQ(two->find(program(1)).how, How::never);
    EXPECT_TRUE(two->is_first_run());
    EXPECT_EQ(one->find(program(1)).how, How::never);
    one->note(program(2), true);
    one->note_link({.outcome = Outcome::evicted});
    EXPECT_EQ(two->find(program(2)).how, How::same);
    ASSERT_EQ(read().links.size(), 1u);
    EXPECT_EQ(read().links[0].link.outcome, Outcome::evicted);
    EXPECT_EQ(read().links[0].run_start_ns, read().runs.back().start_ns);
    forget();
    forget();
    two->note(program(3), true);
    EXPECT_EQ(one->find(program(3)).how, How::same);
}

TEST_F(HistoryTest, AFileThatWasDeletedByOtherMeansIsMissed) {
    const auto history = open();
    history->note(program(1), true);
    fs::remove(file_);
    ::usleep(kLookUs);
    EXPECT_EQ(history->find(program(1)).how, How::never);
    history->note(program(2), true);
    EXPECT_EQ(open()->find(program(2)).how, How::same);
    // With its directory: nothing is remembered, and nothing breaks.
    fs::remove_all(root_ + "/" + kOwn);
    ::usleep(kLookUs);
    EXPECT_EQ(history->find(program(2)).how, How::never);
    history->note(program(3), true);
    history->note_link({});
    history->add(Number::starts, 1);
    history->keep_sources({1}, "text");
    EXPECT_TRUE(history->knows(1, 2));
    EXPECT_FALSE(history->is_first_run());
}

TEST_F(HistoryTest, ItOutlivesAnApplicationThatClosesAllDescriptors) {
    const auto other = open();
    EXPECT_EQ(cairn_test::run_in_child(60,
                                       [&] {
                                           const auto history = open();
                                           for (int fd = 3; fd < 1000; ++fd) ::close(fd);
                                           // Files of its own get the numbers.
                                           const std::string path = directory_ / "theirs";
                                           cairn_test::write_file(path, {});
                                           for (int i = 0; i < 50; ++i) {
                                               if (::open(path.c_str(), O_RDWR) < 0) return 1;
                                           }
                                           for (std::uint64_t i = 0; i < 5000; ++i) {
                                               history->note(program(i), true);
                                               (void)history->find(program(i));
                                           }
                                           history->note_link({});
                                           const bool is_untouched =
                                               cairn_test::file_size(path) == 0;
                                           return is_untouched ? 0 : 2;
                                       }),
              "");
    EXPECT_NE(open(), nullptr);
}

TEST_F(HistoryTest, ProcessesNoteAtOnceAndNothingIsLost) {
    constexpr std::uint64_t kEach = 4000;
    constexpr std::uint64_t kProcesses = 3;
    std::vector<Child> children;
    for (std::uint64_t p = 0; p < kProcesses; ++p) {
        children.emplace_back([this, p] {
            const auto history = open(1024 * kMiB);
            for (std::uint64_t i = 0; i < kEach; ++i) {
                history->note(program(p * kEach + i), true);
                history->add(Number::stored, 2);
                history->note_link({.cost_ns = 1000 * (p + 1)});
            }
            return 0;
        });
    }
    for (Child &child : children) EXPECT_EQ(child.wait(), 0);
    const auto history = open(1024 * kMiB);
    std::size_t lost = 0;
    for (std::uint64_t i = 0; i < kProcesses * kEach; ++i) {
        if (history->find(program(i)).how != How::same) ++lost;
    }
    // Two that write to the same free place at once: seldom.
    EXPECT_LE(lost, 10u);
    const HistoryRead read = this->read();
    ASSERT_EQ(read.runs.size(), kProcesses + 1);
    for (std::size_t p = 0; p < kProcesses; ++p) {
        EXPECT_EQ(read.runs[p].numbers[Number::stored], 2 * kEach);
    }
    EXPECT_EQ(read.links.size(), kLinksLarge);
    EXPECT_EQ(read.links.back().number, kProcesses * kEach);
}

// What a record has is told by one part of it, so that one of two halves is noticed.
TEST_F(HistoryTest, NoRecordOfAKilledProcessIsWrong) {
    const cairn_test::Shared<std::atomic<std::uint64_t>> written;
    constexpr std::uint64_t kSources = 300;
    for (int round = 0; round < 60; ++round) {
        Child child([&] {
            const auto history = open();
            history->add(Number::starts, 1);
            for (std::uint64_t i = written->load();; ++i) {
                // Few sources, so that records are written over all the time.
                const std::uint64_t sources = mix(i % kSources);
                history->note({sources, mix(sources, i % 7), static_cast<std::uint32_t>(i % 11),
                               static_cast<std::uint32_t>(mix(i % 7, i % 11))},
                              true);
                history->note_context(mix(i % 100), {static_cast<std::uint32_t>(i % 100), 1});
                history->note_link({.key = {static_cast<std::uint8_t>(i)},
                                    .cost_ns = (i & 0xff) * 1000,
                                    .other = i & 0xff});
                history->keep_sources({static_cast<std::uint8_t>(i)},
                                      std::string(i % 50, static_cast<char>(i)));
                written->store(i + 1);
            }
            return 0;
        });
        ::usleep(static_cast<unsigned>(mix(static_cast<std::uint64_t>(round)) % 20'000));
        child.kill();
        const auto history = open();
        ASSERT_NE(history, nullptr);
        for (const LinkRead &each : read().links) {
            ASSERT_EQ(each.link.other, each.link.key[0]);
            ASSERT_EQ(each.link.other * 1000, each.link.cost_ns);
        }
        for (const auto &[key, text] : read_sources(*Directory::open(root_ + "/" + kOwn))) {
            for (const char each : text) ASSERT_EQ(static_cast<std::uint8_t>(each), key[0]);
        }
        for (const ProgramRecord &each : programs()) {
            std::uint64_t c = 0;
            while (c < 7 && each.context != mix(each.sources, c)) ++c;
            ASSERT_LT(c, 7u);
            const std::uint64_t settings = each.settings_and_key >> 32;
            ASSERT_LT(settings, 11u);
            ASSERT_EQ(each.settings_and_key & UINT32_MAX, mix(c, settings) & UINT32_MAX);
        }
    }
    EXPECT_FALSE(programs().empty());
    EXPECT_GT(written->load(), 0u);
}

// Every record that is found in a damaged file was written.
TEST_F(HistoryTest, DamageMakesRecordsVanishAndNeverWrong) {
    constexpr std::uint64_t kPrograms = 150;
    {
        const auto history = open(3 * kMiB);
        for (std::uint64_t i = 0; i < kPrograms; ++i) {
            history->note(program(i), true);
            history->note_context(program(i).context, {static_cast<std::uint32_t>(i)});
            history->note_link({.key = {static_cast<std::uint8_t>(i)}, .other = i});
        }
        history->add(Number::starts, 5);
    }
    const auto whole = cairn_test::read_file(file_);
    cairn_test::Random random(1);
    for (int round = 0; round < 500; ++round) {
        auto bytes = whole;
        const bool is_at_random = round % 3 != 0;
        const std::size_t begin =
            is_at_random ? 0 : static_cast<std::size_t>(round) * 24 % bytes.size();
        const std::size_t range = is_at_random ? bytes.size() : 64;
        for (std::uint64_t i = random.below(400) + 1; i > 0; --i) {
            const std::size_t at = (begin + random.below(range)) % bytes.size();
            bytes[at] = static_cast<std::uint8_t>(random.next());
        }
        if (round % 7 == 0) bytes.resize(random.below(bytes.size()));
        if (round % 11 == 0) bytes.resize(bytes.size() + random.below(20'000), 0x5a);
        cairn_test::write_file(file_, bytes);
        for (const RunRead &run : read().runs) {
            const std::uint64_t starts = run.numbers[Number::starts];
            EXPECT_TRUE(starts == 0 || starts == 5) << starts;
            EXPECT_EQ(run.making_ns, 0u);
            EXPECT_FALSE(run.is_alive);
        }
        for (const LinkRead &each : read().links) {
            EXPECT_EQ(each.number, each.link.other + 1);
            EXPECT_EQ(each.link.key[0], each.link.other);
        }
        const auto history = open(3 * kMiB);
        ASSERT_NE(history, nullptr);
        EXPECT_LE(size(), 3 * kMiB / 128);
        for (std::uint64_t i = 0; i < kPrograms; ++i) {
            const How how = history->find(program(i)).how;
            EXPECT_TRUE(how == How::same || how == How::never);
            EXPECT_EQ(history->find({mix(i), 1, 2, 3}).fields, 0u);
        }
        history->note(program(1), true);
        EXPECT_EQ(history->find(program(1)).how, How::same);
        history->note_link({.outcome = Outcome::late});
        ASSERT_FALSE(read().links.empty());
        EXPECT_EQ(read().links.back().link.outcome, Outcome::late);
    }
}

TEST_F(HistoryTest, ForgedNumbersHarmNothing) {
    const auto history = open();
    for (const std::uint64_t last : {UINT64_MAX, kCheckedMax, std::uint64_t{1}}) {
        cairn_test::overwrite(file_, offsetof(HistoryHeader, last_link),
                              {reinterpret_cast<const std::uint8_t *>(&last), 8});
        history->note_link({Outcome::unknown, Detail::none, {}, 0, 3});
        EXPECT_EQ(read().links.back().link.other, 3u);
    }
    LinkRecord link = {};
    link.number = UINT64_MAX;
    link.what = UINT64_MAX;
    link.check = check_of(link);
    cairn_test::overwrite(file_, kLinksOffset,
                          {reinterpret_cast<const std::uint8_t *>(&link), sizeof link});
    const std::uint64_t none = 0;
    cairn_test::overwrite(file_, offsetof(HistoryHeader, last_link),
                          {reinterpret_cast<const std::uint8_t *>(&none), 8});
    for (int i = 0; i < 3; ++i) history->note_link({Outcome::unknown, Detail::none, {}, 0, 4});
    EXPECT_FALSE(read().links.empty());
}

TEST_F(HistoryTest, SomethingElseInTheFilesPlaceIsReplaced) {
    const std::string elsewhere = directory_ / "elsewhere";
    const auto check = [&](const char *what) {
        SCOPED_TRACE(what);
        (void)read();
        {
            const auto history = open();
            ASSERT_NE(history, nullptr);
            history->note(program(1), true);
            history->keep_sources({1}, "text");
        }
        EXPECT_EQ(open()->find(program(1)).how, How::same);
        EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(file_)));
        forget();
        EXPECT_FALSE(fs::exists(file_));
    };
    check("nothing");
    cairn_test::write_file(file_, {});
    check("an empty file");
    for (const std::size_t size : {1u, 8u, 63u, 64u, 5000u, 100'000u, 5'000'000u}) {
        cairn_test::write_file(file_, cairn_test::ByteVector(size, 'x'));
        check("another file");
        cairn_test::write_file(file_, cairn_test::ByteVector(size, 0));
        check("zeroes");
    }
    fs::create_directory(file_);
    check("a directory");
    fs::create_directory(file_);
    cairn_test::write_file(file_ + "/inside", {});
    check("a directory that is not empty");
    cairn_test::write_file(elsewhere, cairn_test::ByteVector(50, 'x'));
    fs::create_symlink(elsewhere, file_);
    fs::create_symlink(elsewhere, root_ + "/" + kOwn + "/sources");
    check("a link");
    EXPECT_EQ(cairn_test::read_file(elsewhere), cairn_test::ByteVector(50, 'x'));
    fs::create_symlink("nowhere", file_);
    check("a link to nothing");
    ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
    ASSERT_EQ(::mkfifo((root_ + "/" + kOwn + "/sources").c_str(), 0600), 0);
    check("a pipe");
}

TEST_F(HistoryTest, AFileWithHolesGetsItsBlocks) {
    open()->note(program(1), true);
    const auto bytes = cairn_test::read_file(file_);
    // As a copy that leaves zeroes out.
    fs::remove(file_);
    cairn_test::write_file(file_, {bytes.data(), 4096});
    cairn_test::cut(file_, 4096 + 60'000);
    fs::resize_file(file_, bytes.size());
    struct stat status = {};
    ASSERT_EQ(::stat(file_.c_str(), &status), 0);
    if (static_cast<std::uint64_t>(status.st_blocks) * 512 >= bytes.size()) {
        GTEST_SKIP() << "no holes here";
    }
    const auto history = open();
    history->note(program(1), true);
    ASSERT_EQ(::stat(file_.c_str(), &status), 0);
    EXPECT_GE(static_cast<std::uint64_t>(status.st_blocks) * 512, bytes.size());
}

TEST_F(HistoryTest, EachSystemCallMayFail) {
    testing::FailingCalls calls;
    for (const int error : {EIO, ENOSPC}) {
        for (std::uint64_t first = 1;; ++first) {
            forget();
            testing::Fault fault;
            fault.error = error;
            fault.first = first;
            calls.arm(fault);
            {
                const auto history = open();
                if (history != nullptr) {
                    for (std::uint64_t i = 0; i < 400; ++i) history->note(program(i), true);
                    (void)history->find(program(1));
                    (void)history->knows(1, 2);
                    history->note_link({});
                    history->keep_sources({1}, "text");
                }
            }
            const bool is_through = calls.failures() == 0;
            calls.disarm();
            const auto history = open();
            ASSERT_NE(history, nullptr);
            history->note(program(1), true);
            EXPECT_EQ(history->find(program(1)).how, How::same);
            if (is_through) break;
        }
    }
}

TEST_F(HistoryTest, WhereNoFileCanBeMadeNothingIsRemembered) {
    testing::FailingCalls calls;
    testing::Fault no_blocks;
    no_blocks.error = ENOSPC;
    no_blocks.extent = testing::Fault::Extent::from_then_on;
    no_blocks.only = testing::Call::fallocate;
    calls.arm(no_blocks);
    EXPECT_EQ(open(), nullptr);
    testing::Fault read_only = no_blocks;
    read_only.error = EROFS;
    read_only.only = testing::Call::openat;
    read_only.first = 3;
    calls.arm(read_only);
    EXPECT_EQ(open(), nullptr);
    calls.disarm();
    const auto history = open();
    ASSERT_NE(history, nullptr);
    // A table that cannot grow replaces the oldest.
    calls.arm(no_blocks);
    for (std::uint64_t i = 0; i < 3000; ++i) history->note(program(i), true);
    EXPECT_EQ(history->find(program(2999)).how, How::same);
    EXPECT_EQ(size(), programs_offset(kLinksLarge, 1));
    EXPECT_LE(calls.calls(), 3u);
}

TEST_F(HistoryTest, AProcessThatMayWriteNoLargeFilesIsNotKilled) {
    EXPECT_EQ(cairn_test::run_in_child(60,
                                       [&] {
                                           rlimit limit = {};
                                           ::getrlimit(RLIMIT_FSIZE, &limit);
                                           limit.rlim_cur = 1000;
                                           ::setrlimit(RLIMIT_FSIZE, &limit);
                                           if (open() != nullptr) return 1;
                                           limit.rlim_cur = 100'000;
                                           ::setrlimit(RLIMIT_FSIZE, &limit);
                                           const auto history = open();
                                           if (history == nullptr) return 2;
                                           for (std::uint64_t i = 0; i < 1000; ++i) {
                                               history->note(program(i), true);
                                               history->keep_sources({1}, std::string(3000, 'x'));
                                           }
                                           forget();
                                           return 0;
                                       }),
              "");
}

TEST_F(HistoryTest, ADirectoryThatCannotBeWrittenIsLeftAlone) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
    fs::permissions(root_ + "/" + kOwn, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(open(), nullptr);
    fs::permissions(root_ + "/" + kOwn, fs::perms::owner_all);
    EXPECT_NE(open(), nullptr);
    EXPECT_EQ(open(256 * kMiB, "gl-other-0000000000000001"), nullptr);
}

TEST_F(HistoryTest, AForkedChildGoesOn) {
    if (const char *why = cairn_test::why_no_fork_beside_threads()) GTEST_SKIP() << why;
    make_cache("gl-app-00000000000000aa", 10);
    open(256 * kMiB, "gl-app-00000000000000aa", 2)->note({1, 2, 3, 4}, true);
    const auto history = open();
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 2; ++t) {
        threads.emplace_back([&, t] {
            for (std::uint64_t i = 0; !stop.load(); ++i) {
                history->note(program(100'000 * t + i % 50'000), true);
                (void)history->find(program(i + 1'000'000));
                if (t == 1 && i % 100 == 0) forget();
            }
        });
    }
    for (int round = 0; round < 30; ++round) {
        EXPECT_EQ(cairn_test::run_in_child(
                      30,
                      [&] {
                          history->add(Number::starts, 1);
                          history->note(program(1), true);
                          (void)history->find(program(1));
                          const Seen seen = history->find({1, 2, 3, 4});
                          history->note_link({});
                          history->keep_sources({1}, "text");
                          return seen.how == How::other_driver || seen.how == How::never ? 0 : 1;
                      }),
                  "");
    }
    stop.store(true);
    for (std::thread &thread : threads) thread.join();
}

TEST_F(HistoryTest, AForkedChildCountsForItsParentsRun) {
    const auto history = open();
    history->add(Number::starts, 1);
    EXPECT_EQ(cairn_test::run_in_child(30,
                                       [&] {
                                           history->add(Number::starts, 1);
                                           history->note(program(1), true);
                                           return 0;
                                       }),
              "");
    ASSERT_EQ(read().runs.size(), 1u);
    EXPECT_TRUE(read().runs[0].is_alive);
    EXPECT_EQ(read().runs[0].numbers[Number::starts], 2u);
    EXPECT_EQ(history->find(program(1)).how, How::same);
}

}  // namespace
}  // namespace cairn
