// SPDX-License-Identifier: MIT
#include "cache/pressure.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "os/environment.h"
#include "os/testing/failing_calls.h"
#include "os/testing/scratch.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

class PressureTest : public ::testing::Test {
  protected:
    PressureTest() : trigger_(eventfd(0, EFD_NONBLOCK)), events_(eventfd(0, EFD_NONBLOCK)) {
        options_.root = scratch_.path();
        options_.trigger_stand_in = trigger_.get();
        options_.events_stand_in = events_.get();
    }
    void write(const std::string &file, const std::string &text) const {
        const fs::path path = scratch_ / file;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    std::string read(const std::string &file) const {
        std::ifstream stream(scratch_ / file);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    void make_group() const {
        write("proc/self/cgroup", "1:name=systemd:/\n0::/app.slice/game\n");
        write("sys/fs/cgroup/app.slice/game/memory.pressure", "");
        write("sys/fs/cgroup/app.slice/game/memory.events", "high 0\nmax 0\n");
        write("sys/fs/cgroup/app.slice/game/memory.high", "800\n");
        write("sys/fs/cgroup/app.slice/game/memory.max", "1600\n");
    }
    Pressure after(const UniqueFd &happened, PressureWatch &watch) const {
        const auto event = Event::make();
        eventfd_write(happened.get(), 1);
        event->wait_until(monotonic_ns(), watch.sources());
        return watch.look();
    }

    testing::Scratch scratch_;
    const UniqueFd trigger_, events_;
    PressureOptions options_;
    PressureWatch watch_;
};

TEST_F(PressureTest, TheSystemsPressureIsAskedForWhereThereIsNoGroup) {
    write("proc/pressure/memory", "");
    watch_.open(options_);
    ASSERT_EQ(watch_.sources().size(), 1u);
    EXPECT_EQ(read("proc/pressure/memory"), std::string("some 200000 2000000") + '\0');
    const auto when = [&](const char *stalls) {
        write("proc/pressure/memory", stalls);
        return after(trigger_, watch_);
    };
    EXPECT_EQ(when("some avg10=40.00 avg60=1\nfull avg10=4.99 avg60=50.00\n"), Pressure::moderate);
    EXPECT_EQ(when("some avg10=40.00 avg60=1\nfull avg10=5.00 avg60=0.00\n"), Pressure::critical);
    EXPECT_EQ(when("some avg10=40.00\nfull avg10=100.00\n"), Pressure::critical);
    EXPECT_EQ(when(""), Pressure::moderate) << "the trigger has fired, whatever the file says";
}

TEST_F(PressureTest, TheGroupsPressureIsAskedForBeforeTheSystems) {
    make_group();
    write("proc/pressure/memory", "");
    watch_.open(options_);
    EXPECT_EQ(watch_.sources().size(), 2u);
    EXPECT_EQ(read("proc/pressure/memory"), "");
    EXPECT_NE(read("sys/fs/cgroup/app.slice/game/memory.pressure"), "");
}

TEST_F(PressureTest, AGroupAtItsLimitIsPressure) {
    make_group();
    watch_.open(options_);
    const auto at = [&](const char *used) {
        write("sys/fs/cgroup/app.slice/game/memory.current", used);
        return after(events_, watch_);
    };
    EXPECT_EQ(at("100\n"), Pressure::none) << "it was, and is no more";
    EXPECT_EQ(at("790\n"), Pressure::moderate);
    EXPECT_EQ(at("1590\n"), Pressure::critical);
    write("sys/fs/cgroup/app.slice/game/memory.max", "max\n");
    EXPECT_EQ(at("1590\n"), Pressure::moderate);
    EXPECT_EQ(at("nonsense"), Pressure::none);
}

// They fill every group that reads and writes files, and are given up when memory is needed.
TEST_F(PressureTest, FilesInTheSystemsMemoryAreNoPressure) {
    make_group();
    watch_.open(options_);
    write("sys/fs/cgroup/app.slice/game/memory.current", "1590\n");
    const auto with = [&](const char *parts) {
        write("sys/fs/cgroup/app.slice/game/memory.stat", parts);
        return after(events_, watch_);
    };
    EXPECT_EQ(with("anon 100\nfile 1480\ninactive_file 700\nactive_file 780\n"), Pressure::none);
    EXPECT_EQ(with("anon 790\nfile 800\ninactive_file 500\nactive_file 300\n"), Pressure::moderate);
    EXPECT_EQ(with("anon 1590\nfile 0\ninactive_file 0\nactive_file 0\n"), Pressure::critical);
    EXPECT_EQ(with("anon 0\ninactive_file 18446744073709551615\n"), Pressure::none);
}

// Of a removed group the kernel says at each look that it has changed: the thread would never
// sleep.
TEST_F(PressureTest, AGroupThatIsGoneIsNotWaitedFor) {
    make_group();
    watch_.open(options_);
    testing::FailingCalls calls;
    testing::Fault fault;
    fault.error = ENODEV;
    fault.extent = testing::Fault::Extent::from_then_on;
    fault.only = testing::Call::pread;
    calls.arm(fault);
    EXPECT_EQ(after(events_, watch_), Pressure::none);
    ASSERT_EQ(watch_.sources().size(), 2u);
    EXPECT_TRUE(watch_.sources()[1].ended);
    EXPECT_FALSE(watch_.sources()[0].ended);
}

// In a cgroup namespace the kernel names a group outside so. Nothing is written to what lies there.
TEST_F(PressureTest, AGroupOutsideWhatCanBeSeenIsNone) {
    for (const char *group : {"/../..", "/../../../outside", "/.."}) {
        write("proc/self/cgroup", std::string("0::") + group + "\n");
        const std::string stalls = std::string("sys/fs/cgroup") + group + "/memory.pressure";
        fs::create_directories(scratch_ / "sys/fs/cgroup");
        write(stalls, "");
        watch_ = PressureWatch();
        watch_.open(options_);
        EXPECT_TRUE(watch_.sources().empty()) << group;
        EXPECT_EQ(read(stalls), "") << group;
    }
}

TEST_F(PressureTest, NothingIsWatchedWhereThereIsNothingOrItIsSwitchedOff) {
    watch_.open(options_);
    EXPECT_TRUE(watch_.sources().empty());
    write("proc/self/cgroup", "0::/gone\n");
    watch_.open(options_);
    EXPECT_TRUE(watch_.sources().empty());
    write("proc/pressure/memory", "");
    options_.watch = false;
    watch_.open(options_);
    EXPECT_TRUE(watch_.sources().empty());
}

// Where this system has the files: a trigger that is taken does not fire at once, nor for ever.
TEST(Pressure, OfThisSystemIsWaitedForWithoutLookingAbout) {
    PressureWatch watch;
    watch.open(PressureOptions());
    const auto event = Event::make();
    std::uint64_t rounds = 0;
    const std::uint64_t end = monotonic_ns() + 50'000'000;
    for (; monotonic_ns() < end; ++rounds) {
        event->wait_until(end, watch.sources());
        (void)watch.look();
    }
    EXPECT_LT(rounds, 10u);
}

}  // namespace
}  // namespace cairn
