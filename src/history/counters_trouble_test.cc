// SPDX-License-Identifier: MIT
// Counters whose processes are killed, and files that are damaged, cut or not to be had.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <vector>

#include "history/testing/counters_fixture.h"
#include "os/deadline.h"
#include "os/file.h"
#include "support/eventually.h"
#include "support/files.h"
#include "support/process.h"
#include "support/random.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using cairn_test::Child;
using cairn_test::describe_status;
using testing::kDay;
using testing::kHits;
using testing::Shared;

class CountersTroubleTest : public testing::CountersFixture {};

// Days pass so fast that rows are claimed, expire and are folded all the time.
TEST_F(CountersTroubleTest, KilledProcessesHaveCountedWhatTheyConfirmed) {
    Shared *shared = make_shared_memory();
    ASSERT_NE(shared, nullptr);
    shared->day = kDay;
    const auto work = [&](std::size_t number) {
        be_patient(1000);
        if (!open_counters(root_)) return 1;
        DayTally one("application " + std::to_string(number % 3), number);
        DayTally other("shared", 0);
        while (shared->is_over == 0) {
            pretend_day(shared->day);
            (shared->confirmed[number] % 2 == 0 ? one : other).add(kHits, 1);
            ++shared->confirmed[number];
        }
        return 0;
    };
    std::uint64_t killed = 0;
    cairn_test::Random random(11);
    {
        std::vector<Child> children(4);
        for (std::size_t round = 0; round < 60; ++round) {
            for (std::size_t i = 0; i < children.size(); ++i) {
                if (children[i].running()) continue;
                const std::size_t number = (round + i * 16) % shared->confirmed.size();
                children[i] = Child([&, number] { return work(number); });
            }
            for (int step = 0; step < 8; ++step) {
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
                ++shared->day;
            }
            children[random.below(children.size())].kill();
            ++killed;
        }
        shared->is_over = 1;
        for (Child &child : children) {
            if (child.running()) {
                EXPECT_EQ(describe_status(child.wait()), "");
            }
        }
    }
    std::uint64_t confirmed = 0;
    for (const auto &each : shared->confirmed) confirmed += each;
    const std::uint64_t counted = all_hits();
    EXPECT_GE(counted, confirmed);
    EXPECT_LE(counted, confirmed + killed);
    std::uint64_t earlier = 0;
    for (const DayRow &row : read_counters(root_)) {
        if (row.day == kEarlierDay) earlier += row.numbers[kHits];
    }
    EXPECT_GT(earlier, 0u) << "days were folded meanwhile";
    ::munmap(shared, sizeof(Shared));
}

TEST_F(CountersTroubleTest, OnOneDayKillsLoseNothingAtAll) {
    Shared *shared = make_shared_memory();
    ASSERT_NE(shared, nullptr);
    ASSERT_EQ(count("game", 1), "");
    std::uint64_t killed = 0;
    for (std::size_t round = 0; round < 40; ++round) {
        Child child([&] {
            pretend_day(kDay);
            if (!open_counters(root_)) return 1;
            DayTally game("game", 7);
            while (true) {
                game.add(kHits, 1);
                ++shared->confirmed[round];
            }
        });
        if (round % 4 != 0) {
            const auto &confirmed = shared->confirmed[round];
            ASSERT_TRUE(cairn_test::eventually([&] { return confirmed > 100; }));
        }
        child.kill();
        ++killed;
    }
    std::uint64_t confirmed = 1;
    for (const auto &each : shared->confirmed) confirmed += each;
    EXPECT_GE(all_hits(), confirmed);
    EXPECT_LE(all_hits(), confirmed + killed);
    ::munmap(shared, sizeof(Shared));
}

TEST_F(CountersTroubleTest, AFoldThatAKilledProcessLeftIsFinishedOnce) {
    ASSERT_EQ(count("game", 1), "");
    write_rows(
        {row_of("game", kEarlierDay, 100), row_of("game", kDay - 90, 10), row_of("game", kDay, 1)});
    CounterHeader header = {};
    header.magic = kCountersMagic;
    header.fold.from = 2;
    header.fold.to = 1;
    header.fold.application = CounterIdentity("game", 0).application;
    header.fold.tally = row_of("game", kEarlierDay, 110).tally;
    header.fold.check = header.fold.right_check();
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(&header);
    // Before the rows were touched; with the target half written; and before the header was cleared.
    for (const int stage : {0, 1, 2}) {
        write_rows({row_of("game", kEarlierDay, 100), row_of("game", kDay - 90, 10),
                    row_of("game", kDay, 1)});
        CounterRow target = row_of("game", kEarlierDay, 110);
        if (stage == 1) target.check = 0;
        if (stage == 1) write_rows({target});
        if (stage == 2) write_rows({target, CounterRow{}});
        cairn_test::overwrite(file_, 0, {bytes, sizeof header});
        EXPECT_EQ(all_hits(), 111u) << "a reader knows of it: " << stage;
        // Another application needs a row.
        ASSERT_EQ(count("other", 1000), "");
        EXPECT_EQ(all_hits(), 1111u) << stage;
        EXPECT_EQ(hits().at({"game", kEarlierDay}), 110u) << stage;
        ASSERT_TRUE(forget_counters(root_, "").ok());
    }
}

TEST_F(CountersTroubleTest, ADescriptorThatBecameAnotherFilesIsLeftAlone) {
    const std::string precious = directory_ / "precious";
    cairn_test::write_file(precious, std::vector<std::uint8_t>(10, 7));
    ASSERT_EQ(in_process([&] {
                  DayTally("game", 0).add(kHits, 1);
                  for (int fd = 3; fd < 64; ++fd) ::close(fd);
                  for (int i = 0; i < 16; ++i) (void)::open(precious.c_str(), O_RDWR);
                  DayTally other("other", 0);
                  other.add(kHits, 1);
                  return true;
              }),
              "");
    EXPECT_EQ(all_hits(), 1u);
    EXPECT_EQ(cairn_test::file_size(precious), 10u);
}

TEST_F(CountersTroubleTest, DamageIsCountedAsNothing) {
    std::vector<CounterRow> rows;
    for (std::uint64_t i = 0; i < 200; ++i) {
        rows.push_back(row_of("game " + std::to_string(i % 5), kDay - i / 5, 1));
    }
    ASSERT_EQ(in_process([] { return true; }), "");
    cairn_test::Random random(3);
    for (int round = 0; round < 60; ++round) {
        ASSERT_TRUE(forget_counters(root_, "").ok());
        write_rows(rows);
        const std::uint64_t size = cairn_test::file_size(file_);
        const std::uint64_t damages = random.below(20);
        for (std::uint64_t i = 0; i < damages; ++i) {
            std::vector<std::uint8_t> bytes(1 + random.below(16));
            random.fill(bytes);
            cairn_test::overwrite(file_, random.below(size - bytes.size()), bytes);
        }
        // A piece of damage spoils two rows at most.
        const std::uint64_t left = all_hits();
        EXPECT_GE(left, 200 - 2 * damages);
        EXPECT_LE(left, 200u);
        ASSERT_EQ(count("new", 1000), "");
        EXPECT_GE(hits().at({"new", kDay}), 1000u);
        EXPECT_GE(all_hits(), 1000 + 200 - 2 * damages) << "rows that are whole stay";
    }
}

TEST_F(CountersTroubleTest, AnyBytesInTheFileAreReadWithoutHarm) {
    cairn_test::Random random(7);
    for (int round = 0; round < 60; ++round) {
        std::vector<std::uint8_t> bytes(random.below(3) == 0 ? random.below(600)
                                                             : random.below(100'000));
        random.fill(bytes);
        if (bytes.size() >= 8 && random.one_in(2)) memcpy(bytes.data(), "CNCOUNT1", 8);
        cairn_test::write_file(file_, bytes);
        EXPECT_TRUE(read_counters(root_).empty());
        EXPECT_TRUE(forget_counters(root_, "").ok());
        ASSERT_EQ(count("game", 5), "");
        EXPECT_EQ(all_hits(), 5u);
    }
}

TEST_F(CountersTroubleTest, AFileThatWasCutKeepsTheRowsThatAreLeft) {
    std::vector<CounterRow> rows;
    for (std::uint64_t i = 0; i < 150; ++i) rows.push_back(row_of("game", kDay - i % 80, 1));
    ASSERT_EQ(in_process([] { return true; }), "");
    write_rows(rows);
    for (const std::uint64_t size : {76800u, 65536u, 40000u, 32768u, 1100u, 512u, 7u, 0u}) {
        cairn_test::cut(file_, size);
        const std::uint64_t left = std::max<std::uint64_t>(size / 512, 1) - 1;
        EXPECT_EQ(all_hits(), std::min<std::uint64_t>(left, 150)) << size;
        ASSERT_EQ(count("new", 1000), "");
        EXPECT_GE(all_hits(), 1000u) << size;
        ASSERT_TRUE(forget_counters(root_, "new").ok());
    }
}

TEST_F(CountersTroubleTest, WhateverStandsInItsPlaceIsReplacedOrPassedOver) {
    const auto still_works = [&] {
        const bool is_well = count("game", 5) == "" && all_hits() == 5;
        fs::remove_all(file_);
        return is_well;
    };
    fs::create_directory(file_);
    EXPECT_TRUE(read_counters(root_).empty());
    EXPECT_TRUE(forget_counters(root_, "").ok());
    EXPECT_TRUE(still_works());
    const std::vector<std::uint8_t> precious(5000, 7);
    cairn_test::write_file(directory_ / "precious", precious);
    fs::create_symlink(directory_ / "precious", file_);
    EXPECT_TRUE(read_counters(root_).empty());
    EXPECT_TRUE(still_works());
    EXPECT_EQ(cairn_test::read_file(directory_ / "precious"), precious);
    ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
    EXPECT_TRUE(still_works());
    fs::remove_all(root_);
    EXPECT_TRUE(still_works()) << "the root is made";
}

TEST_F(CountersTroubleTest, WhereNoCacheCanBeNothingIsCounted) {
    fs::create_directory_symlink(root_, directory_ / "link");
    cairn_test::write_file(directory_ / "file", {});
    fs::permissions(root_, fs::perms::all);
    for (const char *root : {"file/root", "link", "root"}) {
        Child child([&] {
            if (open_counters(directory_ / root)) return 1;
            DayTally("game", 0).add(kHits, 1);
            return 0;
        });
        EXPECT_EQ(describe_status(child.wait()), "") << root;
    }
    EXPECT_FALSE(fs::exists(file_));
}

TEST_F(CountersTroubleTest, AFullDiskEndsNothing) {
    const auto with_limit = [&](std::uint64_t bytes, const std::function<int()> &body) {
        Child child([&] {
            const rlimit limit = {bytes, bytes};
            ::setrlimit(RLIMIT_FSIZE, &limit);
            pretend_day(kDay);
            return body();
        });
        return describe_status(child.wait());
    };
    EXPECT_EQ(with_limit(0,
                         [&] {
                             const bool is_open = open_counters(root_);
                             DayTally("game", 0).add(kHits, 1);
                             return is_open ? 1 : 0;
                         }),
              "");
    EXPECT_EQ(all_hits(), 0u);
    EXPECT_EQ(with_limit(kCounterChunkBytes,
                         [&] {
                             if (!open_counters(root_)) return 1;
                             for (std::uint64_t i = 0; i < 70; ++i) {
                                 DayTally("game", i + 1).add(kHits, 1);
                             }
                             return 0;
                         }),
              "");
    EXPECT_EQ(all_hits(), 63u) << "as many as there are rows in what could be had";
    ASSERT_EQ(count("other", 1), "");
    EXPECT_EQ(all_hits(), 64u);
}

TEST_F(CountersTroubleTest, AProcessThatHoldsTheLockStopsNobody) {
    ASSERT_EQ(count("game", 1), "");
    std::array<int, 2> ready = {};
    ASSERT_EQ(::pipe(ready.data()), 0);
    Child holder([&]() -> int {
        const auto directory = Directory::open(root_);
        const auto file = directory->open_file(kCountersName, Access::read_write);
        const bool is_ours = file->try_lock(kCountersLockByte, LockKind::exclusive).ok();
        if (!is_ours || ::write(ready[1], "r", 1) != 1) return 1;
        while (true) ::pause();
    });
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(in_process([] {
                  DayTally("game", 7).add(kHits, 10);
                  DayTally other("other", 0);
                  for (int i = 0; i < 100'000; ++i) other.add(kHits, 1);
                  return true;
              }),
              "");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    EXPECT_EQ(hits().at({"game", kDay}), 11u) << "a row that is there needs no lock";
    EXPECT_EQ(forget_counters(root_, "").error(), Error::busy);
    holder.kill();
    ASSERT_EQ(count("other", 1), "");
    EXPECT_GE(hits().at({"other", kDay}), 1u);
    ::close(ready[0]);
    ::close(ready[1]);
}

}  // namespace
}  // namespace cairn
