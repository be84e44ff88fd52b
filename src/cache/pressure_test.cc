// SPDX-License-Identifier: MIT
#include "cache/pressure.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "os/environment.h"
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
