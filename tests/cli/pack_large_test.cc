// SPDX-License-Identifier: MIT
// The memory that `cairn pack` takes for a hundred thousand entries.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "os/testing/scratch.h"
#include "program.h"
#include "support/cache.h"
#include "support/random.h"
#include "watched_program.h"

namespace cairn::cli_test {
namespace {

namespace fs = std::filesystem;
using cairn::testing::Scratch;

constexpr unsigned kMany = 100'000, kFew = 1000;
constexpr std::size_t kValueSize = 2000;

struct Peaks {
    std::uint64_t create, verify, inspect, install;  // KiB
};

// Of the commands with a pack of so many entries, whose keys have 64 bytes, as those of programs do.
Peaks peaks_with(unsigned entries, const std::vector<std::string> &options) {
    const Scratch folder;
    const Environment environment = {{"XDG_CONFIG_HOME", folder / "config"},
                                     {"HOME", folder / "home"}};
    const std::string root = folder / "root", other = folder / "other", pack = folder / "a.pack";
    {
        cairn_test::Cache cache({.root = root, .identifier = "large"});
        cairn_test::Random random(entries);
        cairn_test::ByteVector key(64), value(kValueSize);
        for (unsigned i = 0; i < entries; ++i) {
            random.fill(key);
            // A tenth of it can be compressed.
            random.fill(std::span(value).first(kValueSize - kValueSize / 10));
            EXPECT_EQ(cache.put(key, value), CAIRN_OK);
        }
    }
    Peaks peaks = {};
    std::vector<std::string> create = {"pack", "create", "-q", "--dir", root, "--all", pack};
    create.insert(create.end(), options.begin(), options.end());
    peaks.create = peak_memory_kib(create, environment);
    EXPECT_GT(fs::file_size(pack), entries * kValueSize * 8 / 10);
    fs::remove_all(root);
    peaks.verify = peak_memory_kib({"pack", "verify", "-q", pack}, environment);
    peaks.inspect = peak_memory_kib({"pack", "inspect", "--json", pack}, environment);
    peaks.install =
        peak_memory_kib({"pack", "install", "-q", "--unsigned", "--dir", other, pack}, environment);
    EXPECT_TRUE(fs::exists(other + "/.packs/large/a.pack"));
    return peaks;
}

class LargePackTest : public ::testing::TestWithParam<bool> {};

TEST_P(LargePackTest, MemoryDoesNotGrowWithWhatIsInIt) {
    if (!can_watch()) GTEST_SKIP() << "other processes cannot be watched here";
    const std::vector<std::string> options = {GetParam() ? "--about=Compressed" : "--no-compress"};
    const Peaks few = peaks_with(kFew, options);
    const Peaks many = peaks_with(kMany, options);
    const auto growth = [&](std::uint64_t Peaks::*peak) {
        return static_cast<std::int64_t>(many.*peak) - static_cast<std::int64_t>(few.*peak);
    };
    // For each entry `create` has the key and where it lies, and the others its slot in the index.
    EXPECT_LT(growth(&Peaks::create), 40 * 1024);
    EXPECT_LT(growth(&Peaks::verify), 8 * 1024);
    EXPECT_LT(growth(&Peaks::inspect), 8 * 1024);
    EXPECT_LT(growth(&Peaks::install), 8 * 1024);
}

INSTANTIATE_TEST_SUITE_P(Each, LargePackTest, ::testing::Bool(),
                         [](const auto &each) { return each.param ? "Compressed" : "AsItIs"; });

}  // namespace
}  // namespace cairn::cli_test
