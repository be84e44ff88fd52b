// SPDX-License-Identifier: MIT
#include "warm/unattended.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

class UnattendedTest : public testing::Test {
  protected:
    UnattendedTest() {
        std::string name = (fs::temp_directory_path() / "cairn-unattended-XXXXXX").string();
        folder_ = mkdtemp(name.data());
    }
    ~UnattendedTest() override { fs::remove_all(folder_); }

    void write(const std::string &name, const std::string &text) const {
        fs::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name) << text << "\n";
    }
    void supply(const std::string &name, const std::string &value) const {
        write("sys/class/power_supply/" + name, value);
    }
    void battery(const std::string &name, const std::string &status) const {
        supply(name + "/type", "Battery");
        supply(name + "/status", status);
    }
    std::string reason() const { return reason_to_rest(folder_ / "sys", folder_ / "proc"); }

    fs::path folder_;
};

constexpr const char *kOnBattery = "the machine runs on battery";
constexpr const char *kShort = "memory is short";

TEST_F(UnattendedTest, ASystemThatTellsNothingIsNoReason) {
    EXPECT_EQ(reason(), "");
    write("proc/meminfo", "MemTotal: much");
    write("proc/pressure/memory", "some avg10=");
    supply("BAT0/type", "");
    EXPECT_EQ(reason(), "");
}

TEST_F(UnattendedTest, ABatteryThatGivesIsAReasonAndOneThatIsChargedIsNot) {
    battery("BAT0", "Charging");
    EXPECT_EQ(reason(), "");
    battery("BAT0", "Discharging");
    EXPECT_EQ(reason(), kOnBattery);
}

TEST_F(UnattendedTest, WithAnotherSupplyTheBatteryDoesNotCount) {
    battery("BAT0", "Discharging");
    supply("AC/type", "Mains");
    supply("AC/online", "0");
    EXPECT_EQ(reason(), kOnBattery);
    supply("AC/online", "1");
    EXPECT_EQ(reason(), "");
}

TEST_F(UnattendedTest, ABatteryOfAMouseDoesNotCount) {
    battery("hidpp_battery_0", "Discharging");
    supply("hidpp_battery_0/scope", "Device");
    EXPECT_EQ(reason(), "");
}

TEST_F(UnattendedTest, PressureOnMemoryIsAReason) {
    write("proc/pressure/memory",
          "some avg10=9.50 avg60=50.00 avg300=50.00 total=1\n"
          "full avg10=50.00 avg60=0.00 avg300=0.00 total=1");
    EXPECT_EQ(reason(), "");
    write("proc/pressure/memory", "some avg10=50.00 avg60=0.00 avg300=0.00 total=1");
    EXPECT_EQ(reason(), kShort);
}

TEST_F(UnattendedTest, LittleMemoryIsAReason) {
    const std::string total = "MemTotal:       16000000 kB\nMemFree:  1 kB\nMemAvailable:   ";
    write("proc/meminfo", total + "1600000 kB");
    EXPECT_EQ(reason(), "");
    write("proc/meminfo", total + "1599999 kB");
    EXPECT_EQ(reason(), kShort);
}

}  // namespace
}  // namespace cairn::cli
