// SPDX-License-Identifier: MIT
#include "cache/crash_memory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/files.h"
#include "support/process.h"
#include "support/random.h"
#include "support/temp_directory.h"

namespace cairn {
namespace {

using cairn_test::Child;

struct Dropped {
    std::string key;
    bool is_last;
    bool operator==(const Dropped &) const = default;
};

class CrashMemoryTest : public testing::Test {
  protected:
    std::unique_ptr<CrashMemory> open() {
        const auto directory = Directory::open(directory_.path());
        auto opened = CrashMemory::open(directory.value());
        EXPECT_TRUE(opened.ok());
        return opened.ok() ? std::move(opened.value()) : nullptr;
    }
    std::vector<Dropped> settle(CrashMemory &memory) {
        std::vector<Dropped> dropped;
        memory.settle([&](Bytes key, bool is_last) {
            dropped.push_back({{reinterpret_cast<const char *>(key.data()), key.size()}, is_last});
        });
        return dropped;
    }
    // A process that uses `keys` and is killed.
    void die_with(const std::vector<std::string> &keys) {
        Child child([&] {
            const auto memory = open();
            settle(*memory);
            const std::uint32_t done = memory->begin_use(as_bytes("done before"));
            memory->end_use(done);
            for (const std::string &key : keys) {
                if (memory->begin_use(as_bytes(key)) == CrashMemory::kNoTicket) return 1;
            }
            raise(SIGKILL);
            return 2;
        });
        EXPECT_EQ(cairn_test::describe_status(child.wait()), "signal 9 (Killed)");
    }
    CrashCounts counts_on_disk() {
        return CrashMemory::read_counts(Directory::open(directory_.path()).value());
    }

    cairn_test::TempDirectory directory_;
    const std::string file_ = directory_ / "crashes";
};

TEST_F(CrashMemoryTest, ExactlyWhatAProcessDiedWithIsDropped) {
    EXPECT_EQ(counts_on_disk().dropped, 0u);
    die_with({"a", "b"});
    const auto memory = open();
    EXPECT_EQ(settle(*memory), (std::vector<Dropped>{{"a", false}, {"b", false}}));
    EXPECT_EQ(settle(*memory), std::vector<Dropped>());
    EXPECT_EQ(memory->counts().dropped, 2u);
    EXPECT_EQ(counts_on_disk().dropped, 2u);
    EXPECT_FALSE(memory->is_kept_out(as_bytes("a")));
    EXPECT_TRUE(memory->was_dropped(as_bytes("a")));
    EXPECT_FALSE(memory->was_dropped(as_bytes("c")));
    EXPECT_FALSE(memory->was_dropped(as_bytes("done before")));
}

TEST_F(CrashMemoryTest, TheSecondTimeItIsKeptOut) {
    die_with({"a"});
    die_with({"a", "b"});
    const auto memory = open();
    EXPECT_EQ(settle(*memory), (std::vector<Dropped>{{"a", true}, {"b", false}}));
    EXPECT_TRUE(memory->is_kept_out(as_bytes("a")));
    EXPECT_FALSE(memory->is_kept_out(as_bytes("b")));
    EXPECT_EQ(memory->counts().dropped, 3u);
    EXPECT_EQ(counts_on_disk().kept_out, 1u);
}

TEST_F(CrashMemoryTest, WhatALivingProcessUsesStays) {
    const auto user = open();
    const std::uint32_t ticket = user->begin_use(as_bytes("a"));
    ASSERT_NE(ticket, CrashMemory::kNoTicket);
    EXPECT_EQ(settle(*open()), std::vector<Dropped>());
    user->end_use(ticket);
    EXPECT_EQ(settle(*open()), std::vector<Dropped>());
}

TEST_F(CrashMemoryTest, AProcessThatExitsInsideTheCallCounts) {
    Child child([&] {
        open()->begin_use(as_bytes("a"));
        return 0;
    });
    EXPECT_EQ(cairn_test::describe_status(child.wait()), "");
    EXPECT_EQ(settle(*open()), (std::vector<Dropped>{{"a", false}}));
}

TEST_F(CrashMemoryTest, KilledWhileItDropsTheNextOneDropsAndNothingCountsTwice) {
    die_with({"a"});
    Child child([&] {
        open()->settle([](Bytes, bool) { raise(SIGKILL); });
        return 0;
    });
    EXPECT_EQ(cairn_test::describe_status(child.wait()), "signal 9 (Killed)");
    const auto memory = open();
    EXPECT_EQ(settle(*memory), (std::vector<Dropped>{{"a", false}}));
    EXPECT_EQ(memory->counts().dropped, 1u);
}

TEST_F(CrashMemoryTest, WhatDoesNotFitIsNotRemembered) {
    const auto memory = open();
    EXPECT_EQ(memory->begin_use(as_bytes(std::string(65, 'k'))), CrashMemory::kNoTicket);
    EXPECT_EQ(memory->begin_use({}), CrashMemory::kNoTicket);
    for (std::uint32_t i = 0; i < CrashMemory::kSlots; ++i) {
        EXPECT_NE(memory->begin_use(as_bytes(std::to_string(i))), CrashMemory::kNoTicket);
    }
    EXPECT_EQ(memory->begin_use(as_bytes("one more")), CrashMemory::kNoTicket);
    memory->end_use(CrashMemory::kNoTicket);
    memory->end_use(17);
    EXPECT_EQ(memory->begin_use(as_bytes("one more")), 17u);
}

TEST_F(CrashMemoryTest, ManyEntriesThatWereDroppedKeepOutThoseOfTwice) {
    die_with({"bad"});
    die_with({"bad"});
    for (int round = 0; round < 4; ++round) {
        std::vector<std::string> keys;
        for (int i = 0; i < 60; ++i) keys.push_back(std::to_string(round * 100 + i));
        die_with(keys);
    }
    const auto memory = open();
    EXPECT_EQ(settle(*memory).size(), 60u);
    EXPECT_TRUE(memory->is_kept_out(as_bytes("bad")));
    EXPECT_EQ(memory->counts().dropped, 242u);
}

TEST_F(CrashMemoryTest, AFileOfSomethingElseIsReplaced) {
    cairn_test::write_file(file_, cairn_test::as_bytes(std::string(20'000, 'x')));
    EXPECT_EQ(counts_on_disk().dropped, 0u);
    const auto memory = open();
    EXPECT_EQ(settle(*memory), std::vector<Dropped>());
    EXPECT_NE(memory->begin_use(as_bytes("a")), CrashMemory::kNoTicket);
}

TEST_F(CrashMemoryTest, DamageDropsAtMostTooMuch) {
    die_with({"a"});
    const auto whole = cairn_test::read_file(file_);
    cairn_test::Random random(4711);
    for (int round = 0; round < 200; ++round) {
        auto bytes = whole;
        for (std::size_t i = 0; i < 400; ++i) {
            bytes[8 + random.below(bytes.size() - 8)] =
                static_cast<std::uint8_t>(random.below(256));
        }
        cairn_test::write_file(file_, bytes);
        const auto memory = open();
        EXPECT_LE(settle(*memory).size(), CrashMemory::kSlots);
        (void)memory->is_kept_out(as_bytes("a"));
        // Free again, but for what another, living process may have there.
        std::uint32_t taken = 0;
        while (memory->begin_use(as_bytes("b")) != CrashMemory::kNoTicket) ++taken;
        EXPECT_EQ(taken, CrashMemory::kSlots);
    }
    cairn_test::write_file(file_, {});
    EXPECT_EQ(settle(*open()), std::vector<Dropped>());
}

}  // namespace
}  // namespace cairn
