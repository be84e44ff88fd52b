// What the tests of the counters have in common.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised. Failure: a test's.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "history/counters.h"
#include "history/counters_format.h"
#include "support/files.h"
#include "support/process.h"
#include "support/temp_directory.h"

namespace cairn::testing {

inline constexpr Number kHits = count_of(Outcome::hit_disk);
inline constexpr std::uint64_t kDay = 20'000;
inline constexpr std::uint64_t kRows = kCounterSlotsMax - 1;

// Memory that children share with the test.
struct Shared {
    std::atomic<std::uint64_t> day;
    std::atomic<std::uint64_t> is_over;
    std::array<std::atomic<std::uint64_t>, 64> confirmed;
};

class CountersFixture : public ::testing::Test {
  protected:
    CountersFixture() {
        std::filesystem::create_directory(root_);
        std::filesystem::permissions(root_, std::filesystem::perms::owner_all);
    }
    // In a process of its own, which has the file; its result is true where all is well.
    static std::string in_process(const std::string &root, const std::function<bool()> &body) {
        cairn_test::Child child([&] {
            pretend_day(kDay);
            return open_counters(root) && body() ? 0 : 1;
        });
        return cairn_test::describe_status(child.wait());
    }
    std::string in_process(const std::function<bool()> &body) const {
        return in_process(root_, body);
    }
    std::string count(const std::string &application, std::uint64_t amount,
                      std::uint64_t day = kDay, std::uint64_t generation = 7) const {
        return in_process([&] {
            pretend_day(day);
            DayTally(application, generation).add(kHits, amount);
            return true;
        });
    }
    // How many hits there are, by application and day.
    std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> hits() const {
        std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> sums;
        for (const DayRow &row : read_counters(root_)) {
            sums[{row.application, row.day}] += row.numbers[kHits];
        }
        return sums;
    }
    std::uint64_t all_hits() const {
        std::uint64_t sum = 0;
        for (const DayRow &row : read_counters(root_)) sum += row.numbers[kHits];
        return sum;
    }
    // Rows in place of those of the file, from its first slot on.
    void write_rows(const std::vector<CounterRow> &rows) const {
        const auto *bytes = reinterpret_cast<const std::uint8_t *>(rows.data());
        cairn_test::overwrite(file_, kCounterSlotBytes, {bytes, rows.size() * sizeof(CounterRow)});
    }
    static CounterRow row_of(const std::string &application, std::uint64_t day,
                             std::uint64_t hits) {
        CounterRow row = {};
        row.day = day;
        row.identity = CounterIdentity(application, 0);
        row.tally.add(kHits, hits);
        row.check = row.right_check();
        return row;
    }
    // As long as it can be, with these rows and no others.
    void write_full_file(const std::vector<CounterRow> &rows) const {
        ASSERT_EQ(in_process([] { return true; }), "");
        cairn_test::cut(file_, kCounterSlotBytes);
        write_rows(rows);
        cairn_test::cut(file_, kCounterSlotsMax * kCounterSlotBytes);
    }
    static Shared *make_shared_memory() {
        void *memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        return memory == MAP_FAILED ? nullptr : new (memory) Shared();
    }

    cairn_test::TempDirectory directory_;
    const std::string root_ = directory_ / "root";
    const std::string file_ = root_ + "/.counters";
};

}  // namespace cairn::testing
