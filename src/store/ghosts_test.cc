// SPDX-License-Identifier: MIT
#include "store/ghosts.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "os/environment.h"
#include "os/testing/failing_calls.h"
#include "store/index_file.h"
#include "store/space.h"
#include "store/store.h"
#include "store/testing/cache_files.h"
#include "support/files.h"
#include "support/process.h"
#include "support/random.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using cairn_test::Child;
using testing::Call;
using testing::FailingCalls;
using testing::Fault;
using Kind = Ghost::Kind;

std::uint64_t now_s() {
    return wall_clock_ns() / 1'000'000'000;
}

class GhostsTest : public ::testing::Test {
  protected:
    Index &index() { return files_.index(); }
    void note(Ghosts &ghosts, std::uint64_t hash, Kind kind = Kind::evicted) {
        ghosts.note(index(), files_.account(), hash, kind);
    }
    std::optional<Kind> kind(Ghosts &ghosts, std::uint64_t hash) {
        const auto ghost = ghosts.find(index(), hash);
        return ghost ? std::optional(ghost->kind) : std::nullopt;
    }
    std::string path() const { return files_.scratch() / kGhostFileName; }
    // Another hash for each number, all of one set.
    static std::uint64_t of_one_set(std::uint64_t number) {
        constexpr std::uint64_t kSets = 4095;  // of a limit of 64 MiB
        return (number * 0x9E37'79B9'7F4A'7C15 >> 12) * kSets + 5;
    }
    // Changes the ghost of a hash in the file.
    void change_word(std::uint64_t hash,
                     const std::function<std::uint64_t(std::uint64_t)> &change) {
        auto bytes = cairn_test::read_file(path());
        for (std::size_t at = Ghosts::kHeaderSize; at < bytes.size(); at += 8) {
            const MutableBytes word(reinterpret_cast<std::byte *>(bytes.data()) + at, 8);
            const auto value = get_le<std::uint64_t>(word, 0);
            if (value >> 30 != hash >> 30) continue;
            put_le(word, 0, change(value));
            files_.overwrite(kGhostFileName, at, word);
        }
    }
    bool exists() const { return fs::exists(fs::symlink_status(path())); }
    bool has_litter() const {
        for (const auto &each : fs::directory_iterator(files_.scratch().path())) {
            if (each.path().extension() == ".tmp") return true;
        }
        return false;
    }

    testing::CacheFiles files_;
    Ghosts ghosts_{files_.directory()};
};

TEST_F(GhostsTest, WhatIsNotedIsFoundAndNothingElse) {
    const std::uint64_t before_s = now_s();
    note(ghosts_, 0x1234'5678'9abc'def0);
    note(ghosts_, 0xfedc'ba98'7654'3210, Kind::damaged);
    note(ghosts_, 0);
    const auto ghost = ghosts_.find(index(), 0x1234'5678'9abc'def0);
    ASSERT_TRUE(ghost);
    EXPECT_EQ(ghost->kind, Kind::evicted);
    EXPECT_GT(ghost->when_s + 60, before_s);
    EXPECT_LE(ghost->when_s, now_s());
    EXPECT_EQ(kind(ghosts_, 0xfedc'ba98'7654'3210), Kind::damaged);
    EXPECT_EQ(kind(ghosts_, 0), Kind::evicted);
    EXPECT_EQ(kind(ghosts_, 0x1234'5678'9abc'def1), std::nullopt) << "another set";
    EXPECT_EQ(kind(ghosts_, 0x0234'5678'9abc'def0), std::nullopt) << "another fingerprint";
}

TEST_F(GhostsTest, TheFileIsMadeForTheFirstOneOnly) {
    EXPECT_EQ(kind(ghosts_, 1), std::nullopt);
    ghosts_.forget(index(), 1);
    ghosts_.forget_all(index());
    EXPECT_FALSE(exists());
    note(ghosts_, 1);
    const auto info = files_.directory().info(kGhostFileName);
    ASSERT_TRUE(info.ok());
    EXPECT_EQ(info->size_bytes, 8u * 32768) << "of a limit of 64 MiB";
    EXPECT_GE(info->disk_bytes, info->size_bytes);
    EXPECT_FALSE(has_litter());
}

TEST_F(GhostsTest, TheFileIsASmallPartOfTheLimit) {
    EXPECT_EQ(Ghosts::word_count(0), 504u);
    EXPECT_EQ(Ghosts::word_count(1 << 20), 504u);
    EXPECT_EQ(Ghosts::word_count(100 << 20), 32768u - 8);
    EXPECT_EQ(Ghosts::word_count(UINT64_MAX), 524'288u - 8);
    for (std::uint64_t limit = 4 << 20; limit < std::uint64_t{1} << 40; limit += limit / 7) {
        const std::uint64_t file = Ghosts::kHeaderSize + 8 * Ghosts::word_count(limit);
        EXPECT_LE(align_up(file, kPage), limit / 256) << limit;
    }
}

TEST_F(GhostsTest, TheLastOneOfAHashCounts) {
    note(ghosts_, of_one_set(1), Kind::evicted);
    note(ghosts_, of_one_set(1), Kind::damaged);
    EXPECT_EQ(kind(ghosts_, of_one_set(1)), Kind::damaged);
    for (std::uint64_t i = 2; i <= Ghosts::kWordsPerSet; ++i) note(ghosts_, of_one_set(i));
    for (std::uint64_t i = 1; i <= Ghosts::kWordsPerSet; ++i) {
        EXPECT_TRUE(kind(ghosts_, of_one_set(i))) << "it took one word: " << i;
    }
}

TEST_F(GhostsTest, InAFullSetTheOldestGoes) {
    for (std::uint64_t i = 1; i <= Ghosts::kWordsPerSet; ++i) note(ghosts_, of_one_set(i));
    change_word(of_one_set(3), [](std::uint64_t word) { return word - 1; });  // a minute older
    note(ghosts_, of_one_set(20));
    EXPECT_FALSE(kind(ghosts_, of_one_set(3)));
    for (const std::uint64_t i : {1u, 2u, 4u, 8u, 20u})
        EXPECT_TRUE(kind(ghosts_, of_one_set(i))) << i;
}

// As of a cache that evicts much.
TEST_F(GhostsTest, OfOneMinuteTheLatestStay) {
    constexpr std::uint64_t kLast = 5 * Ghosts::kWordsPerSet;
    for (std::uint64_t i = 1; i <= kLast; ++i) note(ghosts_, of_one_set(i));
    for (std::uint64_t i = kLast - Ghosts::kWordsPerSet + 1; i <= kLast; ++i) {
        EXPECT_TRUE(kind(ghosts_, of_one_set(i))) << i;
    }
}

TEST_F(GhostsTest, OneOfTheFutureIsReplacedFirstAndHasNoTime) {
    for (std::uint64_t i = 1; i <= Ghosts::kWordsPerSet; ++i) note(ghosts_, of_one_set(i));
    change_word(of_one_set(2), [](std::uint64_t word) { return word | 0xFF'FFFF; });
    const auto ghost = ghosts_.find(index(), of_one_set(2));
    ASSERT_TRUE(ghost);
    EXPECT_EQ(ghost->when_s, 0u);
    note(ghosts_, of_one_set(20));
    EXPECT_FALSE(kind(ghosts_, of_one_set(2)));
    for (const std::uint64_t i : {1u, 3u, 4u, 8u, 20u})
        EXPECT_TRUE(kind(ghosts_, of_one_set(i))) << i;
}

TEST_F(GhostsTest, OneOrAllAreForgottenByAllWhoHaveItOpen) {
    Ghosts other(files_.directory());
    const auto others_index = files_.open_index();
    EXPECT_FALSE(other.find(*others_index, 1));
    note(ghosts_, 1);
    note(ghosts_, 2);
    EXPECT_TRUE(other.find(*others_index, 1)) << "it noticed that there is a file now";
    other.forget(*others_index, 1);
    EXPECT_FALSE(kind(ghosts_, 1));
    EXPECT_TRUE(kind(ghosts_, 2));
    other.forget_all(*others_index);
    EXPECT_FALSE(kind(ghosts_, 2));
    note(ghosts_, 3);
    EXPECT_TRUE(other.find(*others_index, 3));
}

TEST_F(GhostsTest, WhoOnlyReadsFindsThemAndChangesNothing) {
    note(ghosts_, 1);
    const auto before = cairn_test::read_file(path());
    Ghosts reader(files_.directory());
    const auto index = files_.open_index(Access::read_only);
    EXPECT_TRUE(reader.find(*index, 1));
    reader.forget(*index, 1);
    reader.forget_all(*index);
    reader.note(*index, files_.account(), 2, Kind::evicted);
    EXPECT_EQ(cairn_test::read_file(path()), before);
}

TEST_F(GhostsTest, AFileOfAnotherCacheIsVoid) {
    note(ghosts_, 1);
    testing::CacheFiles other;
    fs::copy_file(path(), other.scratch() / kGhostFileName);
    Ghosts ghosts(other.directory());
    EXPECT_FALSE(ghosts.find(other.index(), 1));
    ghosts.note(other.index(), other.account(), 2, Kind::evicted);
    EXPECT_FALSE(ghosts.find(other.index(), 1));
    EXPECT_TRUE(ghosts.find(other.index(), 2));
}

TEST_F(GhostsTest, AFileThatIsNotUnderstoodIsMadeAnew) {
    note(ghosts_, 1);
    const auto whole = cairn_test::read_file(path());
    std::vector<cairn_test::ByteVector> contents;
    contents.emplace_back();
    contents.emplace_back(std::size_t{17});
    contents.emplace_back(whole.begin(), whole.end() - 1);
    contents.emplace_back(whole.begin(), whole.end() - 8);
    contents.emplace_back(whole.begin(), whole.begin() + 64);
    contents.emplace_back(std::size_t{20'000}, std::uint8_t{'x'});
    contents.push_back(whole);
    contents.back().resize(64 + (std::size_t{8} << 18));
    contents.push_back(whole);
    contents.back()[3] ^= 1;
    for (std::size_t i = 0; i < contents.size(); ++i) {
        SCOPED_TRACE(i);
        fs::remove(path());
        cairn_test::write_file(path(), contents[i]);
        Ghosts ghosts(files_.directory());
        EXPECT_FALSE(kind(ghosts, 1));
        EXPECT_EQ(cairn_test::read_file(path()), contents[i]) << "a look-up changes nothing";
        note(ghosts, 2);
        EXPECT_FALSE(kind(ghosts, 1));
        EXPECT_TRUE(kind(ghosts, 2));
        EXPECT_FALSE(has_litter());
    }
}

TEST_F(GhostsTest, SomethingThatIsNoFileIsReplacedAndItsTargetUntouched) {
    const std::string target = files_.scratch() / "target";
    cairn_test::write_file(target, cairn_test::as_bytes("somebody else's"));
    const std::vector<std::function<void()>> kinds = {
        [&] { fs::create_symlink(target, path()); },
        [&] { fs::create_symlink(target + "-", path()); },
        [&] { fs::create_directory(path()); },
        [&] { fs::create_directory(path()), cairn_test::write_file(path() + "/file", {}); },
        [&] { ASSERT_EQ(mkfifo(path().c_str(), 0600), 0); },
    };
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        SCOPED_TRACE(i);
        fs::remove_all(path());
        kinds[i]();
        Ghosts ghosts(files_.directory());
        EXPECT_FALSE(kind(ghosts, 1));
        note(ghosts, 1);
        EXPECT_TRUE(kind(ghosts, 1));
        EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path())));
    }
    EXPECT_EQ(cairn_test::as_string(cairn_test::read_file(target)), "somebody else's");
    EXPECT_FALSE(fs::exists(target + "-"));
}

TEST_F(GhostsTest, AFileThatWasDeletedByHandIsMadeAnewBeforeLong) {
    note(ghosts_, 1);
    fs::remove(path());
    for (std::uint64_t i = 2; i < 70; ++i) note(ghosts_, i);
    EXPECT_TRUE(exists());
    Ghosts other(files_.directory());
    EXPECT_TRUE(kind(other, 69));
    ghosts_.reopen();
    EXPECT_FALSE(kind(ghosts_, 1));
}

// The application closes descriptors that it does not know, and opens a file of its own.
TEST_F(GhostsTest, AFileThatHasGotOurDescriptorIsLeftAlone) {
    note(ghosts_, 1);
    int ours = -1;
    for (const auto &each : fs::directory_iterator("/proc/self/fd")) {
        std::error_code error;
        const fs::path target = fs::read_symlink(each.path(), error);
        if (!error && target.filename() == kGhostFileName) ours = std::stoi(each.path().filename());
    }
    ASSERT_GE(ours, 0);
    const std::string foreign = files_.scratch() / "foreign";
    const std::vector<std::uint8_t> content(100'000, 0x55);
    cairn_test::write_file(foreign, content);
    const int opened = open(foreign.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(dup2(opened, ours), ours);
    ::close(opened);
    for (std::uint64_t i = 2; i < 50; ++i) note(ghosts_, i);
    ghosts_.forget(index(), 3);
    EXPECT_EQ(kind(ghosts_, 4), Kind::evicted) << "in the file itself";
    EXPECT_EQ(cairn_test::read_file(foreign), content);
}

TEST_F(GhostsTest, RandomBytesSayHardlyEverAnything) {
    note(ghosts_, 1);
    cairn_test::Random random(4711);
    std::uint64_t claims = 0;
    for (int round = 0; round < 20; ++round) {
        auto bytes = cairn_test::read_file(path());
        for (std::size_t i = Ghosts::kHeaderSize; i < bytes.size(); ++i) {
            bytes[i] = static_cast<std::uint8_t>(random.below(256));
        }
        files_.overwrite(kGhostFileName, 0, std::as_bytes(std::span(bytes)));
        for (int i = 0; i < 50'000; ++i) {
            if (ghosts_.find(index(), random.next())) ++claims;
        }
        // All of it can be used again.
        for (std::uint64_t i = 0; i < 20; ++i) {
            note(ghosts_, of_one_set(i));
            EXPECT_TRUE(kind(ghosts_, of_one_set(i)));
        }
    }
    EXPECT_EQ(claims, 0u) << "of a million; one in a hundred thousand millions is to be expected";
}

// Any one call fails, and then all of a kind: nothing is remembered, or all is.
TEST_F(GhostsTest, WithoutTheFileNothingIsRememberedAndNothingFails) {
    FailingCalls calls;
    for (const int error : {ENOSPC, EACCES, EROFS, EIO, ENOMEM, EDQUOT}) {
        for (std::uint64_t first = 1;; ++first) {
            fs::remove(path());
            Ghosts ghosts(files_.directory());
            Fault fault;
            fault.error = error;
            fault.first = first;
            calls.arm(fault);
            note(ghosts, 1);
            const std::uint64_t failures = calls.failures();
            calls.disarm();
            const auto found = kind(ghosts, 1);
            EXPECT_TRUE(!found || *found == Kind::evicted);
            EXPECT_FALSE(has_litter() && calls.failed_call() != Call::unlinkat)
                << call_name(*calls.failed_call());
            if (failures == 0) {
                EXPECT_TRUE(found);
                break;
            }
            for (const auto &each : fs::directory_iterator(files_.scratch().path())) {
                if (each.path().extension() == ".tmp") fs::remove(each.path());
            }
        }
    }
}

TEST_F(GhostsTest, AFullDiskIsTriedAgainLater) {
    FailingCalls calls;
    Fault fault;
    fault.error = ENOSPC;
    fault.only = Call::fallocate;
    fault.extent = Fault::Extent::from_then_on;
    calls.arm(fault);
    note(ghosts_, 1);
    EXPECT_FALSE(exists());
    EXPECT_FALSE(has_litter());
    calls.disarm();
    sleep_us(200'000);
    note(ghosts_, 1);
    EXPECT_TRUE(kind(ghosts_, 1)) << "there is space again";
}

TEST_F(GhostsTest, AFileMayBeCutWhileItIsInUse) {
    note(ghosts_, 1);
    for (const std::uint64_t size : {10'000u, 70u, 64u, 3u, 0u}) {
        fs::resize_file(path(), size);
        EXPECT_FALSE(kind(ghosts_, 0x1234'5678'9abc'ffff));
        ghosts_.forget(index(), 2);
        for (std::uint64_t i = 0; i < 200; ++i) note(ghosts_, of_one_set(1) + i);
        EXPECT_TRUE(kind(ghosts_, of_one_set(1) + 199));
        ghosts_.forget_all(index());
    }
    Ghosts other(files_.directory());
    note(other, 3);
    EXPECT_TRUE(kind(other, 3));
}

TEST_F(GhostsTest, ItNeedsSpaceBelowTheLimit) {
    testing::CacheFiles files(1 << 20);
    const auto used = [&] { return measure_disk_use(files.directory())->bytes; };
    cairn_test::write_file(files.scratch() / segment_file_name(99),
                           std::vector<std::uint8_t>((1 << 20) - used()));
    EXPECT_EQ(used(), 1u << 20);
    Ghosts ghosts(files.directory());
    ghosts.note(files.index(), files.account(), 1, Kind::evicted);
    EXPECT_FALSE(ghosts.find(files.index(), 1));
    EXPECT_EQ(used(), 1u << 20);
    fs::remove(files.scratch() / segment_file_name(99));
    sleep_us(200'000);
    ghosts.note(files.index(), files.account(), 1, Kind::evicted);
    EXPECT_TRUE(ghosts.find(files.index(), 1));
}

TEST_F(GhostsTest, ManyProcessesNoteAtOnce) {
    constexpr std::uint64_t kEach = 20, kProcesses = 8;
    std::vector<Child> children;
    for (std::uint64_t p = 0; p < kProcesses; ++p) {
        children.emplace_back([&, p] {
            const auto index = files_.open_index();
            const auto writer = files_.open_writer();
            Ghosts ghosts(files_.directory());
            for (std::uint64_t i = 0; i < kEach; ++i) {
                // Until it is there: the others may hold the lock of the disk space for long.
                const std::uint64_t hash = (p * kEach + i + 1) * 0x9E37'79B9'7F4A'7C15;
                do {
                    ghosts.note(*index, files_.account(), hash, Kind::evicted);
                } while (!ghosts.find(*index, hash));
            }
            return 0;
        });
    }
    for (Child &child : children) EXPECT_EQ(cairn_test::describe_status(child.wait()), "");
    std::uint64_t found = 0;
    for (std::uint64_t i = 1; i <= kEach * kProcesses; ++i) {
        if (kind(ghosts_, i * 0x9E37'79B9'7F4A'7C15)) ++found;
    }
    EXPECT_EQ(found, kEach * kProcesses) << "one file for all";
}

}  // namespace
}  // namespace cairn
