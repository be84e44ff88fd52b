// SPDX-License-Identifier: MIT
// Histories that are cleared, deleted, damaged, cut short by kills or have no room.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "history/testing/history_fixture.h"
#include "os/deadline.h"
#include "os/testing/failing_calls.h"
#include "support/process.h"
#include "support/shared.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using cairn_test::Child;
using cairn_test::mix;
using testing::kLookUs;
using testing::kMiB;
using testing::kOwn;
using testing::program;
using How = Seen::How;

class HistoryTroubleTest : public testing::HistoryFixture {};

TEST_F(HistoryTroubleTest, WhenTheCacheIsClearedAllIsForgottenAndANewFileIsUsed) {
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

TEST_F(HistoryTroubleTest, AFileThatWasDeletedByOtherMeansIsMissed) {
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

TEST_F(HistoryTroubleTest, ItOutlivesAnApplicationThatClosesAllDescriptors) {
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

TEST_F(HistoryTroubleTest, ProcessesNoteAtOnceAndNothingIsLost) {
    constexpr std::uint64_t kEach = 4000;
    constexpr std::uint64_t kProcesses = 3;
    std::vector<Child> children;
    for (std::uint64_t p = 0; p < kProcesses; ++p) {
        children.emplace_back([this, p] {
            be_patient(1000);
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
TEST_F(HistoryTroubleTest, NoRecordOfAKilledProcessIsWrong) {
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
TEST_F(HistoryTroubleTest, DamageMakesRecordsVanishAndNeverWrong) {
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

TEST_F(HistoryTroubleTest, ForgedNumbersHarmNothing) {
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

TEST_F(HistoryTroubleTest, SomethingElseInTheFilesPlaceIsReplaced) {
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

TEST_F(HistoryTroubleTest, AFileWithHolesGetsItsBlocks) {
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

TEST_F(HistoryTroubleTest, EachSystemCallMayFail) {
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

TEST_F(HistoryTroubleTest, WhereNoFileCanBeMadeNothingIsRemembered) {
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

TEST_F(HistoryTroubleTest, AProcessThatMayWriteNoLargeFilesIsNotKilled) {
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

TEST_F(HistoryTroubleTest, ADirectoryThatCannotBeWrittenIsLeftAlone) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
    fs::permissions(root_ + "/" + kOwn, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(open(), nullptr);
    fs::permissions(root_ + "/" + kOwn, fs::perms::owner_all);
    EXPECT_NE(open(), nullptr);
    EXPECT_EQ(open(256 * kMiB, "gl-other-0000000000000001"), nullptr);
}

}  // namespace
}  // namespace cairn
