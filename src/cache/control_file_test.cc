// SPDX-License-Identifier: MIT
#include "cache/control_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "os/environment.h"
#include "os/testing/failing_calls.h"
#include "os/testing/scratch.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

class ControlFileTest : public ::testing::Test {
  protected:
    static void keep(void *user, int, const char *line) {
        static_cast<ControlFileTest *>(user)->lines_.emplace_back(line);
    }

    ControlFile open(Create create = Create::yes) {
        return ControlFile(root_, create, Log(keep, this));
    }
    std::string content() const {
        std::ostringstream text;
        text << std::ifstream(path_, std::ios::binary).rdbuf();
        return text.str();
    }
    void write(const std::string &text) const {
        fs::create_directories(root_);
        ::chmod(root_.c_str(), 0700);
        std::ofstream(path_, std::ios::binary) << text;
    }
    // Waits until the file's name was looked at again, which is due in a tenth of a second.
    template <typename Condition>
    static bool becomes_true(Condition condition) {
        for (int i = 0; i < 2000; ++i) {
            if (condition()) return true;
            sleep_us(10'000);
        }
        return false;
    }

    testing::Scratch scratch_;
    std::string root_ = scratch_ / "root";
    std::string path_ = root_ + "/.control";
    std::vector<std::string> lines_;
};

TEST(ControlState, EveryStateIsReadAsItWasWritten) {
    for (std::uint32_t kinds = 0; kinds <= kAllKinds; ++kinds) {
        EXPECT_EQ(decode_state(encode_state(kinds)), kinds);
    }
    EXPECT_EQ(encode_state(0), 0u);
}

TEST(ControlState, AnyBitFlippedEnablesEverything) {
    for (std::uint32_t kinds = 0; kinds <= kAllKinds; ++kinds) {
        for (unsigned bit = 0; bit < 64; ++bit) {
            EXPECT_EQ(decode_state(encode_state(kinds) ^ std::uint64_t{1} << bit), 0u);
        }
    }
}

TEST(ControlState, TheDocumentsExampleIsWhatIsWritten) {
    std::ifstream document(CONTROL_DOCUMENT);
    std::string bytes;
    for (std::string line; std::getline(document, line);) {
        if (!line.starts_with("    ")) continue;
        std::istringstream octets(line);
        for (std::string octet; octets >> octet;) {
            bytes.push_back(static_cast<char>(std::stoi(octet, nullptr, 16)));
        }
    }
    ASSERT_EQ(bytes.size(), kControlFileSize);
    testing::Scratch scratch;
    ControlFile file(scratch.path(), Create::yes, Log());
    ASSERT_TRUE(file.set(0xA, 0).ok());
    ASSERT_TRUE(file.count_clears(0x8).ok());
    std::ostringstream written;
    written << std::ifstream(scratch / ".control", std::ios::binary).rdbuf();
    EXPECT_EQ(written.str(), bytes);
}

TEST_F(ControlFileTest, AllIsEnabledInANewOne) {
    const ControlFile file = open();
    EXPECT_EQ(file.disabled(), 0u);
    for (unsigned number = 0; number < kKindCount; ++number) {
        EXPECT_EQ(file.clears(Kind{1u << number}), 0u);
    }
    EXPECT_EQ(content(), std::string(64, '\0'));
    struct stat status = {};
    ASSERT_EQ(::stat(path_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777u, 0600u);
}

TEST_F(ControlFileTest, WhatOneHandleSetsAllOthersSeeAtOnce) {
    ControlFile one = open();
    const ControlFile other = open();
    const ControlFile reader = open(Create::no);
    EXPECT_EQ(one.set(0x5, 0).value(), 0u);
    EXPECT_EQ(other.disabled(), 0x5u);
    EXPECT_EQ(reader.disabled(), 0x5u);
    EXPECT_EQ(one.set(0xC, 0).value(), 0x4u) << "the one that was disabled already";
    EXPECT_EQ(other.disabled(), 0xDu);
    EXPECT_EQ(one.set(0, 0x3).value(), 0x2u) << "the one that was enabled already";
    EXPECT_EQ(other.disabled(), 0xCu);
    EXPECT_TRUE(one.count_clears(0x6).ok());
    EXPECT_EQ(other.clears(kind_cache_for_driver), 0u);
    EXPECT_EQ(other.clears(kind_conversions), 1u);
    EXPECT_EQ(reader.clears(kind_driver_managed), 1u);
    EXPECT_EQ(open().disabled(), 0xCu) << "it lasts";
}

TEST_F(ControlFileTest, AReaderCreatesNothingAndFindsItLater) {
    const ControlFile reader = open(Create::no);
    EXPECT_EQ(reader.disabled(), 0u);
    EXPECT_FALSE(fs::exists(root_));
    ControlFile writer = open();
    ASSERT_TRUE(writer.set(0x1, 0).ok());
    EXPECT_TRUE(becomes_true([&] { return reader.disabled() == 0x1; }));
}

TEST_F(ControlFileTest, DeletingItEnablesEverythingForAll) {
    ControlFile one = open();
    const ControlFile other = open();
    ASSERT_TRUE(one.set(0xF, 0).ok());
    const std::uint64_t before = other.clears(kind_application_managed);
    fs::remove(path_);
    EXPECT_TRUE(becomes_true([&] { return other.disabled() == 0; }));
    EXPECT_GT(other.clears(kind_application_managed), before) << "what is in memory must go";
    EXPECT_EQ(one.set(0x2, 0).value(), 0u);
    EXPECT_EQ(one.disabled(), 0x2u) << "seen by who did it without waiting";
    EXPECT_TRUE(becomes_true([&] { return other.disabled() == 0x2; }));
}

TEST_F(ControlFileTest, DeletingTheRootIsSurvived) {
    ControlFile one = open();
    ASSERT_TRUE(one.set(0x8, 0).ok());
    fs::remove_all(root_);
    ASSERT_TRUE(one.count_clears(0x1).ok());
    EXPECT_EQ(one.disabled(), 0u);
    ASSERT_TRUE(one.set(0x1, 0).ok());
    EXPECT_EQ(open().disabled(), 0x1u);
}

TEST_F(ControlFileTest, NumbersOfClearsOnlyGrow) {
    const ControlFile reader = open();
    std::uint64_t last = reader.clears(kind_cache_for_driver);
    for (int i = 0; i < 5; ++i) {
        ControlFile writer = open();
        ASSERT_TRUE(writer.count_clears(0x1).ok());
        EXPECT_TRUE(becomes_true([&] { return reader.clears(kind_cache_for_driver) > last; }));
        last = reader.clears(kind_cache_for_driver);
        fs::remove(path_);
    }
}

TEST_F(ControlFileTest, DamageEnablesEverythingAndTheNextChangeMendsIt) {
    write(std::string(64, '\xFF'));
    ControlFile file = open();
    EXPECT_EQ(file.disabled(), 0u);
    ASSERT_EQ(lines_.size(), 1u);
    EXPECT_NE(lines_[0].find("is damaged"), std::string::npos);
    (void)file.clears(kind_cache_for_driver);
    EXPECT_EQ(file.set(0x4, 0).value(), 0u);
    EXPECT_EQ(file.disabled(), 0x4u);
    const std::uint64_t before = file.clears(kind_driver_managed);
    ASSERT_TRUE(file.count_clears(0x4).ok());
    EXPECT_NE(file.clears(kind_driver_managed), before);
}

TEST_F(ControlFileTest, AShortFileIsGivenItsSize) {
    for (const std::size_t size : {0u, 1u, 8u, 63u}) {
        write(std::string(size, '\x5A'));
        ControlFile file = open();
        EXPECT_EQ(file.disabled(), 0u);
        EXPECT_TRUE(file.set(0x1, 0).ok());
        EXPECT_EQ(file.disabled(), 0x1u);
        EXPECT_EQ(content().size(), 64u);
    }
}

TEST_F(ControlFileTest, ALongFileIsUsedAsItIs) {
    write(std::string(100'000, '\0'));
    ControlFile file = open();
    EXPECT_TRUE(file.set(0x1, 0).ok());
    EXPECT_EQ(content().size(), 100'000u);
    EXPECT_EQ(open().disabled(), 0x1u);
}

TEST_F(ControlFileTest, WhatIsNoFileIsNotUsedAndSaidSo) {
    const auto plant = [&](auto make) {
        fs::remove_all(root_);
        write("");
        fs::remove(path_);
        make();
        lines_.clear();
        ControlFile file = open();
        EXPECT_EQ(file.disabled(), 0u);
        EXPECT_FALSE(file.set(0x1, 0).ok());
        EXPECT_EQ(file.disabled(), 0u);
        ASSERT_FALSE(lines_.empty());
        EXPECT_NE(lines_[0].find(".control"), std::string::npos);
    };
    plant([&] { fs::create_directory(path_); });
    plant([&] { ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0); });
    const std::string target = scratch_ / "target";
    plant([&] {
        std::ofstream(target) << std::string(64, '\0');
        fs::create_symlink(target, path_);
    });
    std::ostringstream text;
    text << std::ifstream(target, std::ios::binary).rdbuf();
    EXPECT_EQ(text.str(), std::string(64, '\0'));
}

TEST_F(ControlFileTest, ARootThatOthersMayWriteIsNotBelieved) {
    ControlFile file = open();
    ASSERT_TRUE(file.set(0xF, 0).ok());
    ::chmod(root_.c_str(), 0777);
    EXPECT_EQ(open().disabled(), 0u);
    EXPECT_EQ(open().set(0x1, 0).error(), Error::denied);
}

TEST_F(ControlFileTest, AReadOnlyFileIsObeyedAndNotChanged) {
    if (::geteuid() == 0) GTEST_SKIP() << "permissions do not hold for root; see the next test";
    ASSERT_TRUE(open().set(0x3, 0).ok());
    ::chmod(path_.c_str(), 0400);
    ControlFile file = open();
    EXPECT_EQ(file.disabled(), 0x3u);
    EXPECT_EQ(file.set(0, 0x3).error(), Error::denied);
    EXPECT_EQ(file.disabled(), 0x3u);
}

TEST_F(ControlFileTest, OnAReadOnlyFileSystemItIsObeyedAndNotChanged) {
    ASSERT_TRUE(open().set(0x3, 0).ok());
    testing::FailingCalls calls;
    testing::Fault fault;
    fault.error = EROFS;
    fault.extent = testing::Fault::Extent::once;
    fault.only = testing::Call::openat;
    fault.first = 2;  // after the root, the file for writing
    calls.arm(fault);
    ControlFile file = open();
    EXPECT_EQ(calls.failures(), 1u);
    EXPECT_EQ(file.disabled(), 0x3u);
    calls.arm(fault);
    EXPECT_EQ(file.set(0, 0x3).error(), Error::read_only);
    calls.disarm();
    EXPECT_EQ(file.disabled(), 0x3u);
}

// One call after the other fails; whatever happens is one of the states that were asked for, and
// the next process finds everything in order.
TEST_F(ControlFileTest, AnyFailingCallLeavesAWholeState) {
    for (const int error : {EIO, ENOSPC, ENOMEM, EACCES}) {
        for (std::uint64_t number = 1;; ++number) {
            ASSERT_LT(number, 200u);
            fs::remove_all(root_);
            bool failed = false;
            {
                testing::FailingCalls calls;
                testing::Fault fault;
                fault.error = error;
                fault.first = number;
                calls.arm(fault);
                ControlFile file = open();
                const bool done = file.set(0x6, 0).ok();
                const bool counted = file.count_clears(0x2).ok();
                failed = calls.failures() != 0;
                calls.disarm();
                const std::uint32_t disabled = open().disabled();
                EXPECT_TRUE(disabled == 0x6 || (disabled == 0 && !done)) << number;
                EXPECT_TRUE(failed || (done && counted));
            }
            ControlFile after = open();
            EXPECT_TRUE(after.set(0x9, 0x6).ok());
            EXPECT_EQ(after.disabled(), 0x9u);
            if (!failed) break;
        }
    }
}

TEST_F(ControlFileTest, ThreadsMayAskWhileItIsDeletedAndMadeAnew) {
    ControlFile file = open();
    std::atomic<bool> over = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            std::uint64_t last = 0;
            while (!over) {
                EXPECT_EQ(file.disabled() & ~0x9u, 0u);
                const std::uint64_t clears = file.clears(kind_cache_for_driver);
                EXPECT_GE(clears, last);
                last = clears;
            }
        });
    }
    for (int i = 0; i < 20; ++i) {
        ControlFile other(root_, Create::yes, Log());
        EXPECT_TRUE(other.set(0x9, 0).ok());
        EXPECT_TRUE(other.count_clears(0x1).ok());
        sleep_us(20'000);
        fs::remove(path_);
    }
    over = true;
    for (std::thread &thread : threads) thread.join();
}

TEST(Kinds, FollowFromIdentifiers) {
    EXPECT_EQ(kind_of_identifier("egl-0123456789abcdef"), kind_cache_for_driver);
    EXPECT_EQ(kind_of_identifier("conversions"), kind_conversions);
    EXPECT_EQ(kind_of_identifier("d3d12-x"), kind_application_managed);
    for (const char *other : {"", "egl", "conversions2", "d3d12", "my-engine", "D3D12-x"}) {
        EXPECT_EQ(kind_of_identifier(other), kind_none) << other;
    }
}

}  // namespace
}  // namespace cairn
