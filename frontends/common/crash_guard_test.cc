// SPDX-License-Identifier: MIT
#include "common/crash_guard.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "os/deadline.h"
#include "support/files.h"
#include "support/process.h"
#include "support/random.h"
#include "support/temp_directory.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using cairn_test::Child;

constexpr const char *kName = "game";
// Where things are in the file: docs/formats/guard.md.
constexpr std::uint64_t kLastNs = 32;
constexpr std::uint64_t kFirstSlot = 128;
constexpr std::uint64_t kBootOfFirst = kFirstSlot + 8;

[[noreturn]] void die() {
    ::kill(::getpid(), SIGKILL);
    abort();
}

class CrashGuardTest : public testing::Test {
  protected:
    CrashGuardTest() {
        fs::create_directory(root_);
        fs::permissions(root_, fs::perms::owner_all);
    }
    // In a process of its own, which is watched.
    void in_process(const std::function<int()> &body, const std::string &name = kName) const {
        Child child([&] {
            (void)join_crash_guard(root_, name);
            return body();
        });
        child.wait();
    }
    void crash() const {
        in_process([]() -> int {
            const InsideFrontEnd inside;
            die();
        });
    }
    // What the next process finds.
    CrashRecord next() const {
        in_process([] { return 0; });
        const auto record = read_crash_record(root_, kName);
        return record.ok() ? record.value() : CrashRecord{UINT64_MAX, UINT64_MAX};
    }
    std::uint64_t word_at(std::uint64_t offset) const {
        std::uint64_t word = 0;
        const auto bytes = cairn_test::read_file(file_);
        if (bytes.size() >= offset + sizeof word) {
            memcpy(&word, bytes.data() + offset, sizeof word);
        }
        return word;
    }
    void set_word(std::uint64_t offset, std::uint64_t word) const {
        const auto *bytes = reinterpret_cast<const std::uint8_t *>(&word);
        cairn_test::overwrite(file_, offset, {bytes, sizeof word});
    }

    cairn_test::TempDirectory directory_;
    const std::string root_ = directory_ / "root";
    const std::string file_ = root_ + "/.guard-game";
};

TEST_F(CrashGuardTest, ADeathInsideIsNoticedByTheNextProcess) {
    crash();
    EXPECT_EQ(next().crashes, 1u);
    EXPECT_EQ(next().crashes, 1u) << "once";
    EXPECT_EQ(next().off_since_ns, 0u);
    EXPECT_EQ(guarded_applications(root_), std::vector<std::string>{kName});
}

TEST_F(CrashGuardTest, EverySignalOfACrashIsNoticed) {
    std::uint64_t expected = 0;
    for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
        in_process([&] {
            const InsideFrontEnd inside;
            ::signal(number, SIG_DFL);
            ::raise(number);
            return 0;
        });
        ASSERT_TRUE(forgive_crashes(root_, kName).ok());
        EXPECT_EQ(next().crashes, ++expected) << number;
        ASSERT_TRUE(forgive_crashes(root_, kName).ok());
    }
}

TEST_F(CrashGuardTest, ADeathOutsideIsNone) {
    in_process([]() -> int {
        { const InsideFrontEnd inside; }
        die();
    });
    in_process([]() -> int {
        {
            const InsideFrontEnd outer;
            const InsideFrontEnd inner;
        }
        die();
    });
    EXPECT_EQ(next().crashes, 0u);
}

TEST_F(CrashGuardTest, TheOuterCallIsStillInsideWhenTheInnerOneIsDone) {
    in_process([]() -> int {
        const InsideFrontEnd outer;
        { const InsideFrontEnd inner; }
        die();
    });
    EXPECT_EQ(next().crashes, 1u);
}

TEST_F(CrashGuardTest, TwoWithinAMinuteSwitchItOffUntilItIsForgiven) {
    crash();
    crash();
    const CrashRecord off = next();
    EXPECT_EQ(off.crashes, 2u);
    EXPECT_NE(off.off_since_ns, 0u);
    crash();
    const CrashRecord still = next();
    EXPECT_EQ(still.crashes, 2u) << "nobody is watched who is not served";
    EXPECT_EQ(still.off_since_ns, off.off_since_ns);

    ASSERT_TRUE(forgive_crashes(root_, kName).ok());
    EXPECT_EQ(next().off_since_ns, 0u);
    crash();
    EXPECT_EQ(next().off_since_ns, 0u) << "the earlier ones are forgotten";
    crash();
    EXPECT_NE(next().off_since_ns, 0u);
}

TEST_F(CrashGuardTest, ManyOfBinariesFromTheCacheSwitchItOff) {
    const auto crash_of_binary = [this] {
        in_process([]() -> int {
            const InsideFrontEnd inside;
            const DriverHasBinary noted;
            die();
        });
    };
    for (int round = 0; round < 5; ++round) crash_of_binary();
    EXPECT_EQ(next().crashes, 5u);
    EXPECT_EQ(next().off_since_ns, 0u);
    crash_of_binary();
    EXPECT_NE(next().off_since_ns, 0u);
}

// As an empty battery, or a system without memory, ends them.
TEST_F(CrashGuardTest, ProcessesThatEndTogetherAreOneCrash) {
    std::vector<Child> children;
    std::array<int, 2> ready = {};
    ASSERT_EQ(::pipe(ready.data()), 0);
    for (int i = 0; i < 3; ++i) {
        children.emplace_back([&]() -> int {
            be_patient(1000);
            (void)join_crash_guard(root_, kName);
            const InsideFrontEnd inside;
            if (::write(ready[1], "r", 1) != 1) return 1;
            while (true) ::pause();
        });
    }
    for (int i = 0; i < 3; ++i) {
        char byte = 0;
        ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    }
    for (Child &child : children) child.kill();
    EXPECT_EQ(next().crashes, 3u);
    EXPECT_EQ(next().off_since_ns, 0u);
    crash();
    EXPECT_NE(next().off_since_ns, 0u) << "the next start crashed again";
}

// It would be called without the front end, too.
TEST_F(CrashGuardTest, ADeathInsideTheDriverIsNone) {
    in_process([]() -> int {
        const InsideFrontEnd inside;
        const InsideDriver driver;
        die();
    });
    EXPECT_EQ(next().crashes, 0u);
    in_process([]() -> int {
        const InsideFrontEnd inside;
        { const InsideDriver driver; }
        die();
    });
    EXPECT_EQ(next().crashes, 1u);
}

TEST_F(CrashGuardTest, AfterTheDriverHadABinaryTheThreadIsStillInside) {
    for (int round = 0; round < 2; ++round) {
        in_process([]() -> int {
            const InsideFrontEnd inside;
            { const DriverHasBinary noted; }
            die();
        });
    }
    EXPECT_NE(next().off_since_ns, 0u);
}

TEST_F(CrashGuardTest, TwoFurtherApartAreJustCounted) {
    constexpr std::uint64_t kMinuteNs = 60'000'000'000;
    crash();
    ASSERT_EQ(next().crashes, 1u);
    ASSERT_GT(word_at(kLastNs), kMinuteNs) << "this machine runs for more than a minute";
    set_word(kLastNs, word_at(kLastNs) - kMinuteNs - 1);
    crash();
    EXPECT_EQ(next().crashes, 2u);
    EXPECT_EQ(next().off_since_ns, 0u);
}

TEST_F(CrashGuardTest, AnotherApplicationIsNotSwitchedOff) {
    crash();
    crash();
    EXPECT_NE(next().off_since_ns, 0u);
    in_process([] { return 0; }, "other");
    EXPECT_EQ(read_crash_record(root_, "other").value().off_since_ns, 0u);
}

TEST_F(CrashGuardTest, WhatWasRunningWhenTheMachineStoppedDidNotCrash) {
    crash();
    set_word(kBootOfFirst, word_at(kBootOfFirst) + 1);
    EXPECT_EQ(next().crashes, 0u);
}

TEST_F(CrashGuardTest, AnExitWhileAnotherThreadIsInsideIsNone) {
    in_process([]() -> int {
        std::atomic<bool> is_inside = false;
        std::thread([&] {
            const InsideFrontEnd inside;
            is_inside = true;
            ::pause();
        }).detach();
        while (!is_inside) std::this_thread::yield();
        ::exit(0);
    });
    EXPECT_EQ(next().crashes, 0u);
}

TEST_F(CrashGuardTest, ThreadsThatShareAPlaceAreStillWatched) {
    in_process([]() -> int {
        std::atomic<int> inside_count = 0;
        for (int i = 0; i < 40; ++i) {
            std::thread([&] {
                const InsideFrontEnd inside;
                ++inside_count;
                ::pause();
            }).detach();
        }
        while (inside_count < 40) std::this_thread::yield();
        die();
    });
    EXPECT_EQ(next().crashes, 1u) << "and one process dies once";
}

TEST_F(CrashGuardTest, AProcessThatRunsIsNotTakenForADeadOne) {
    std::array<int, 2> ready = {};
    ASSERT_EQ(::pipe(ready.data()), 0);
    Child child([&] {
        (void)join_crash_guard(root_, kName);
        const InsideFrontEnd inside;
        (void)!::write(ready[1], "1", 1);
        ::pause();
        return 0;
    });
    char is_there = 0;
    ASSERT_EQ(::read(ready[0], &is_there, 1), 1);
    EXPECT_EQ(next().crashes, 0u);
    child.kill();
    EXPECT_EQ(next().crashes, 1u);
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_F(CrashGuardTest, ProcessesThatStartAtOnceCountACrashOnce) {
    for (std::uint64_t round = 1; round <= 5; ++round) {
        crash();
        std::vector<Child> children;
        for (int i = 0; i < 40; ++i) {
            children.emplace_back([&] {
                (void)join_crash_guard(root_, kName);
                const InsideFrontEnd inside;
                return 0;
            });
        }
        for (Child &child : children) child.wait();
        EXPECT_EQ(next().crashes, round);
        ASSERT_TRUE(forgive_crashes(root_, kName).ok());
    }
}

TEST_F(CrashGuardTest, AChildOfForkLeavesItsParentsPlaceAlone) {
    in_process([]() -> int {
        const InsideFrontEnd inside;
        Child child([]() -> int {
            { const InsideFrontEnd nested; }
            ::exit(0);
        });
        child.wait();
        die();
    });
    EXPECT_EQ(next().crashes, 1u);
}

TEST_F(CrashGuardTest, TheFirstProcessOfAllIsWatched) {
    fs::remove_all(root_);
    crash();
    EXPECT_EQ(next().crashes, 1u);
    EXPECT_TRUE(fs::exists(root_ + "/CACHEDIR.TAG"));
}

TEST_F(CrashGuardTest, WhereNoCacheCanBeNobodyIsWatched) {
    fs::create_directory_symlink(root_, directory_ / "link");
    cairn_test::write_file(directory_ / "file", {});
    fs::permissions(root_, fs::perms::all);
    for (const char *root : {"file/root", "link", "root"}) {
        Child child([&] {
            const CrashRecord record = join_crash_guard(directory_ / root, kName);
            const InsideFrontEnd inside;
            return record.crashes == 0 && record.off_since_ns == 0 ? 0 : 1;
        });
        EXPECT_EQ(cairn_test::describe_status(child.wait()), "") << root;
    }
    EXPECT_TRUE(guarded_applications(root_).empty()) << "nothing was made there";
}

TEST_F(CrashGuardTest, AFullDiskEndsNothing) {
    in_process([]() -> int { return 0; });
    fs::remove(file_);
    Child child([&] {
        const rlimit none = {0, 0};
        ::setrlimit(RLIMIT_FSIZE, &none);
        const CrashRecord record = join_crash_guard(root_, kName);
        const InsideFrontEnd inside;
        return record.crashes == 0 && record.off_since_ns == 0 ? 0 : 1;
    });
    EXPECT_EQ(cairn_test::describe_status(child.wait()), "");
    EXPECT_EQ(next().crashes, 0u) << "and the next process does without what is left";
}

TEST_F(CrashGuardTest, WhateverStandsInItsPlaceIsReplacedOrPassedOver) {
    const auto still_works = [&] {
        crash();
        const CrashRecord record = next();
        (void)forgive_crashes(root_, kName);
        return record.crashes == 1;
    };
    const auto clear = [&] { fs::remove_all(file_); };
    fs::create_directory(file_);
    EXPECT_TRUE(still_works());
    clear();
    cairn_test::write_file(directory_ / "precious", std::vector<std::uint8_t>(5000, 7));
    fs::create_symlink(directory_ / "precious", file_);
    EXPECT_TRUE(still_works());
    EXPECT_EQ(cairn_test::read_file(directory_ / "precious"), std::vector<std::uint8_t>(5000, 7));
    clear();
    ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
    EXPECT_TRUE(still_works());
    clear();
    cairn_test::write_file(file_, std::vector<std::uint8_t>(4096, 0xff));
    EXPECT_TRUE(still_works());
}

TEST_F(CrashGuardTest, AnyBytesInTheFileAreReadWithoutHarm) {
    cairn_test::Random random(7);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::uint8_t> bytes(random.below(2) == 0 ? 4096 : random.below(9000));
        for (std::uint8_t &byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
        if (bytes.size() >= 8) memcpy(bytes.data(), "CNGUARD1", 8);
        cairn_test::write_file(file_, bytes);
        EXPECT_EQ(cairn_test::run_in_child(20,
                                           [&] {
                                               (void)join_crash_guard(root_, kName);
                                               const InsideFrontEnd inside;
                                               return 0;
                                           }),
                  "");
        ASSERT_TRUE(forgive_crashes(root_, kName).ok());
        EXPECT_EQ(read_crash_record(root_, kName).value().off_since_ns, 0u);
    }
}

}  // namespace
}  // namespace cairn
