// SPDX-License-Identifier: MIT
#include <cairn/cairn_control.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "os/testing/failing_calls.h"
#include "os/testing/scratch.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

using Control = std::unique_ptr<cairn_control, decltype(&cairn_control_close)>;

class ControlTest : public ::testing::Test {
  protected:
    void SetUp() override {
        ::setenv("CAIRN_DEVELOPER_MODE", "1", 1);
        ::setenv("XDG_CACHE_HOME", (scratch_ / "home").c_str(), 1);
        ::setenv("XDG_CONFIG_HOME", (scratch_ / "configuration").c_str(), 1);
        ::setenv("HOME", (scratch_ / "home").c_str(), 1);
    }
    void TearDown() override {
        for (const char *name : {"CAIRN_DEVELOPER_MODE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
                                 "MESA_SHADER_CACHE_DIR"}) {
            ::unsetenv(name);
        }
    }

    static void keep(void *user, int, const char *line) {
        static_cast<ControlTest *>(user)->lines_.emplace_back(line);
    }
    cairn_control_options options() {
        cairn_control_options options = {};
        options.size = sizeof options;
        options.root = root_.c_str();
        options.log = keep;
        options.log_user = this;
        return options;
    }
    Control open(uint32_t flags = 0) {
        cairn_control_options asked = options();
        asked.flags = flags;
        cairn_control *control = nullptr;
        EXPECT_EQ(cairn_control_open(&asked, &control), CAIRN_OK);
        return {control, cairn_control_close};
    }

    cairn_cache *open_cache(const std::string &identifier, uint64_t limit_bytes = 0) const {
        cairn_options options = {};
        options.size = sizeof options;
        options.root = root_.c_str();
        options.identifier = identifier.c_str();
        options.version = 7;
        options.limit_bytes = limit_bytes;
        cairn_cache *cache = nullptr;
        EXPECT_EQ(cairn_open(&options, &cache), CAIRN_OK);
        return cache;
    }
    void fill(const std::string &identifier) const {
        cairn_cache *cache = open_cache(identifier);
        EXPECT_EQ(cairn_put(cache, "key", 3, "value", 5, nullptr), CAIRN_OK);
        cairn_close(cache);
    }
    bool is_empty(const std::string &identifier) const {
        cairn_cache *cache = open_cache(identifier);
        const bool missing = cairn_contains(cache, "key", 3) == CAIRN_MISS;
        cairn_close(cache);
        return missing;
    }

    testing::Scratch scratch_;
    std::string root_ = scratch_ / "root";
    std::vector<std::string> lines_;
};

TEST_F(ControlTest, OpeningChecksItsArguments) {
    cairn_control *control = nullptr;
    cairn_control_options asked = options();
    EXPECT_EQ(cairn_control_open(nullptr, &control), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_control_open(&asked, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
    asked.size = 8;
    EXPECT_EQ(cairn_control_open(&asked, &control), CAIRN_ERROR_INVALID_ARGUMENT);
    asked = options();
    asked.flags = 2;
    EXPECT_EQ(cairn_control_open(&asked, &control), CAIRN_ERROR_INVALID_ARGUMENT);
    asked = options();
    asked.root = "relative";
    EXPECT_EQ(cairn_control_open(&asked, &control), CAIRN_ERROR_INVALID_ARGUMENT);
    asked.root = "";
    EXPECT_EQ(cairn_control_open(&asked, &control), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(control, nullptr);
}

TEST_F(ControlTest, NullIsAControlInWhichAllIsEnabled) {
    EXPECT_EQ(cairn_control_disabled(nullptr), 0u);
    EXPECT_EQ(cairn_control_clears(nullptr, 1), 0u);
    EXPECT_EQ(cairn_control_developer_mode(nullptr), 0);
    EXPECT_EQ(cairn_control_driver_cache_present(nullptr), 0);
    EXPECT_EQ(cairn_control_apply(nullptr, 1, 1, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
    cairn_control_tell_drivers(nullptr);
    cairn_control_close(nullptr);
}

TEST_F(ControlTest, EveryCombinationOfFlagsDoesWhatItSays) {
    const Control control = open();
    for (uint32_t kinds = 0; kinds <= 0x1F; ++kinds) {
        for (uint32_t flags = 0; flags <= 0xF; ++flags) {
            for (const uint32_t before : {0u, 0x5u, 0xFu}) {
                cairn_control_apply(control.get(), 0xF, CAIRN_CONTROL_ENABLE, nullptr);
                if (before != 0) {
                    cairn_control_apply(control.get(), before, CAIRN_CONTROL_DISABLE, nullptr);
                }
                const uint64_t clears = cairn_control_clears(control.get(), 1);
                uint32_t unchanged = 0xABCD;
                const int result = cairn_control_apply(control.get(), kinds, flags, &unchanged);
                const bool valid =
                    kinds != 0 && kinds <= 0xF && flags != 0 && flags <= 7 && (flags & 3) != 3;
                SCOPED_TRACE(std::to_string(kinds) + " " + std::to_string(flags));
                const uint32_t now = cairn_control_disabled(control.get());
                if (!valid) {
                    EXPECT_EQ(result, CAIRN_ERROR_INVALID_ARGUMENT);
                    EXPECT_EQ(now, before);
                    EXPECT_EQ(unchanged, 0xABCDu);
                    continue;
                }
                EXPECT_EQ(result, CAIRN_OK);
                const bool cleared = (flags & CAIRN_CONTROL_CLEAR) != 0 && (kinds & 1) != 0;
                EXPECT_EQ(cairn_control_clears(control.get(), 1), clears + (cleared ? 1 : 0));
                if ((flags & CAIRN_CONTROL_DISABLE) != 0) {
                    EXPECT_EQ(now, before | kinds);
                    EXPECT_EQ(unchanged, before & kinds);
                } else if ((flags & CAIRN_CONTROL_ENABLE) != 0) {
                    EXPECT_EQ(now, before & ~kinds);
                    EXPECT_EQ(unchanged, ~before & kinds);
                } else {
                    EXPECT_EQ(now, before);
                    EXPECT_EQ(unchanged, 0u);
                }
            }
        }
    }
}

TEST_F(ControlTest, WithoutDeveloperModeNothingChangesAndTheLogSaysHowTo) {
    ::unsetenv("CAIRN_DEVELOPER_MODE");
    fill("d3d12-a");
    const Control control = open();
    EXPECT_EQ(cairn_control_developer_mode(control.get()), 0);
    uint32_t unchanged = 0xABCD;
    for (const uint32_t flags : {1u, 2u, 4u, 5u}) {
        lines_.clear();
        EXPECT_EQ(cairn_control_apply(control.get(), 0xF, flags, &unchanged), CAIRN_ERROR_DENIED);
        ASSERT_EQ(lines_.size(), 1u);
        EXPECT_NE(lines_[0].find("CAIRN_DEVELOPER_MODE=1"), std::string::npos);
        EXPECT_NE(lines_[0].find(scratch_ / "configuration/cairn/config"), std::string::npos);
    }
    EXPECT_EQ(unchanged, 0xABCDu);
    EXPECT_EQ(cairn_control_disabled(control.get()), 0u);
    EXPECT_FALSE(is_empty("d3d12-a"));
    EXPECT_EQ(cairn_control_apply(control.get(), 0xF, 3, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
}

TEST_F(ControlTest, WhoIsNotInDeveloperModeObeysAllTheSame) {
    const Control developer = open();
    ::unsetenv("CAIRN_DEVELOPER_MODE");
    const Control other = open();
    EXPECT_EQ(cairn_control_apply(developer.get(), 0x3, CAIRN_CONTROL_DISABLE, nullptr), CAIRN_OK);
    EXPECT_EQ(cairn_control_disabled(other.get()), 0x3u);
}

TEST_F(ControlTest, AReadOnlyControlMakesNothingAndChangesNothing) {
    const Control control = open(CAIRN_CONTROL_OPEN_READ_ONLY);
    EXPECT_FALSE(fs::exists(root_));
    EXPECT_EQ(cairn_control_apply(control.get(), 1, 1, nullptr), CAIRN_ERROR_READ_ONLY);
    EXPECT_FALSE(fs::exists(root_));
}

TEST_F(ControlTest, ClearingEmptiesTheCachesOfItsKindOnly) {
    const std::vector<std::string> names = {"gl-1", "gl-2", "conversions", "d3d12-1", "mine"};
    const Control control = open();
    for (const uint32_t kind : {1u, 2u, 8u}) {
        for (const auto &name : names) fill(name);
        EXPECT_EQ(cairn_control_apply(control.get(), kind, CAIRN_CONTROL_CLEAR, nullptr), CAIRN_OK);
        for (const auto &name : names) {
            EXPECT_EQ(is_empty(name), cairn_kind_of_identifier(name.c_str()) == kind) << name;
        }
    }
    fill("gl-1");
    EXPECT_EQ(cairn_control_apply(control.get(), 4, CAIRN_CONTROL_CLEAR, nullptr), CAIRN_OK);
    EXPECT_FALSE(is_empty("gl-1"));
}

TEST_F(ControlTest, ClearingReachesACacheThatIsOpenAndKeepsItsLimit) {
    cairn_cache *cache = open_cache("d3d12-a", 3 << 20);
    EXPECT_EQ(cairn_put(cache, "key", 3, "value", 5, nullptr), CAIRN_OK);
    cairn_blob *blob = nullptr;
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(cairn_get(cache, "key", 3, &blob), CAIRN_OK);
        cairn_blob_free(blob);
    }
    const Control control = open();
    EXPECT_EQ(cairn_control_apply(control.get(), 8, CAIRN_CONTROL_CLEAR, nullptr), CAIRN_OK);
    EXPECT_EQ(cairn_get(cache, "key", 3, &blob), CAIRN_MISS);
    EXPECT_EQ(cairn_put(cache, "key", 3, "value", 5, nullptr), CAIRN_OK);
    cairn_close(cache);
    cairn_options options = {};
    options.size = sizeof options;
    options.root = root_.c_str();
    options.identifier = "d3d12-a";
    options.flags = CAIRN_OPEN_READ_ONLY | CAIRN_OPEN_ANY_VERSION;
    ASSERT_EQ(cairn_open(&options, &cache), CAIRN_OK);
    cairn_stats stats = {};
    stats.size = sizeof stats;
    ASSERT_EQ(cairn_stats_get(cache, &stats), CAIRN_OK);
    EXPECT_EQ(stats.limit_bytes, uint64_t{3} << 20);
    EXPECT_EQ(stats.version, 7u);
    cairn_close(cache);
}

TEST_F(ControlTest, ClearingLeavesAloneWhatIsNoCacheAndWhatIsElsewhere) {
    fill("d3d12-a");
    fs::create_directories(root_ + "/d3d12-folder");
    std::ofstream(root_ + "/d3d12-folder/cache.val") << "text";
    std::ofstream(root_ + "/d3d12-file") << "text";
    const std::string elsewhere = scratch_ / "elsewhere";
    fs::create_directories(elsewhere);
    fs::permissions(elsewhere, fs::perms::owner_all);
    fs::copy(root_ + "/d3d12-a", elsewhere + "/d3d12-a", fs::copy_options::recursive);
    fs::create_directory_symlink(elsewhere + "/d3d12-a", root_ + "/d3d12-link");
    const auto size_before = fs::file_size(elsewhere + "/d3d12-a/format-2/cache.idx");
    const Control control = open();
    EXPECT_EQ(cairn_control_apply(control.get(), 8, CAIRN_CONTROL_CLEAR, nullptr), CAIRN_OK);
    EXPECT_TRUE(is_empty("d3d12-a"));
    EXPECT_TRUE(fs::exists(root_ + "/d3d12-folder/cache.val"));
    EXPECT_TRUE(fs::exists(root_ + "/d3d12-file"));
    EXPECT_EQ(fs::file_size(elsewhere + "/d3d12-a/format-2/cache.idx"), size_before);
    root_ = elsewhere;
    EXPECT_FALSE(is_empty("d3d12-a"));
}

// Of other versions of Cairn, which lie beside one another.
TEST_F(ControlTest, ClearingRemovesTheFilesOfEveryFormat) {
    fill("d3d12-a");
    for (const char *folder : {"/d3d12-a", "/d3d12-a/format-7", "/d3d12-b/format-7"}) {
        fs::create_directories(root_ + folder);
        fs::permissions(root_ + folder, fs::perms::owner_all);
        for (const char *name : {"/cache.idx", "/cache.lock", "/00000000.val"}) {
            std::ofstream(root_ + folder + name) << "of another version";
        }
    }
    std::ofstream(root_ + "/d3d12-a/about") << "stays";
    fs::create_directories(root_ + "/d3d12-folder/format-3");  // nobody's
    std::ofstream(root_ + "/d3d12-folder/format-3/file") << "stays";
    const Control control = open();
    EXPECT_EQ(cairn_control_apply(control.get(), 8, CAIRN_CONTROL_CLEAR, nullptr), CAIRN_OK);
    for (const char *cache : {"/d3d12-a", "/d3d12-b"}) {
        for (const char *name : {"/cache.idx", "/00000000.val", "/cache.lock", "/format-7"}) {
            EXPECT_FALSE(fs::exists(root_ + cache + name)) << cache << name;
        }
    }
    EXPECT_TRUE(fs::exists(root_ + "/d3d12-a/about"));
    EXPECT_TRUE(fs::exists(root_ + "/d3d12-folder/format-3/file"));
    EXPECT_TRUE(is_empty("d3d12-a"));
    EXPECT_TRUE(is_empty("d3d12-b"));
}

// One call after the other fails: what can be done is done, an error is told, and the next attempt
// finds everything in order.
TEST_F(ControlTest, AnyFailingCallIsAnErrorOrDoesNotMatter) {
    const std::string own = scratch_ / "home/mesa_shader_cache/index";
    bool failed = true;
    for (uint64_t number = 1; failed; ++number) {
        ASSERT_LT(number, 1000u);
        fill("d3d12-a");
        fs::create_directories(scratch_ / "home/mesa_shader_cache");
        std::ofstream(own) << "index";
        {
            const Control control = open();
            testing::FailingCalls calls;
            testing::Fault fault;
            fault.error = EIO;
            fault.first = number;
            calls.arm(fault);
            const int result = cairn_control_apply(control.get(), 0xC, 0x5, nullptr);
            calls.disarm();
            failed = calls.failures() != 0;
            EXPECT_TRUE(failed || result == CAIRN_OK);
            const uint32_t disabled = cairn_control_disabled(control.get());
            EXPECT_TRUE(disabled == 0xC || (disabled == 0 && result != CAIRN_OK)) << number;
            if (result == CAIRN_OK) {
                EXPECT_TRUE(is_empty("d3d12-a")) << number;
            }
        }
        const Control control = open();
        EXPECT_EQ(cairn_control_apply(control.get(), 0xF, 0x6, nullptr), CAIRN_OK);
        EXPECT_TRUE(is_empty("d3d12-a"));
        EXPECT_FALSE(fs::exists(own));
        EXPECT_EQ(cairn_control_disabled(control.get()), 0u);
    }
}

TEST_F(ControlTest, ACacheThatLostItsIndexIsEmptiedToo) {
    fill("d3d12-a");
    fs::remove(root_ + "/d3d12-a/format-2/cache.idx");
    const Control control = open();
    EXPECT_EQ(cairn_control_apply(control.get(), 8, CAIRN_CONTROL_CLEAR, nullptr), CAIRN_OK);
    EXPECT_TRUE(is_empty("d3d12-a"));
}

TEST_F(ControlTest, ClearingDriverManagedDeletesMesasFiles) {
    const std::string folder = scratch_ / "home/mesa_shader_cache/ab";
    const std::string own = folder + "/0123456789abcdef0123456789abcdef012345";
    fs::create_directories(folder);
    std::ofstream(own) << "entry";
    std::ofstream(scratch_ / "home/mesa_shader_cache/mine.txt") << "text";
    const Control control = open();
    EXPECT_EQ(cairn_control_apply(control.get(), 0xB, CAIRN_CONTROL_CLEAR, nullptr), CAIRN_OK);
    EXPECT_TRUE(fs::exists(own)) << "another kind";
    EXPECT_EQ(cairn_control_apply(control.get(), 4, CAIRN_CONTROL_CLEAR, nullptr), CAIRN_OK);
    EXPECT_FALSE(fs::exists(own));
    EXPECT_TRUE(fs::exists(scratch_ / "home/mesa_shader_cache/mine.txt"));
}

// A driver that notes what it is told.
struct Told {
    std::vector<uint32_t> flags;
    int answer = CAIRN_OK;

    static int control(void *driver, uint32_t flag) {
        auto *told = static_cast<Told *>(driver);
        told->flags.push_back(flag);
        return told->answer;
    }
    cairn_driver_cache as_driver() {
        cairn_driver_cache driver = {};
        driver.size = sizeof driver;
        driver.driver_managed_shader_cache_present = 1;
        driver.implicit_shader_cache_control = control;
        driver.driver = this;
        return driver;
    }
    std::vector<uint32_t> take() { return std::exchange(flags, {}); }
};
using Flags = std::vector<uint32_t>;

TEST_F(ControlTest, ARegisteredDriverIsToldWhatIsAskedOfIt) {
    const Control control = open();
    Told told;
    const cairn_driver_cache driver = told.as_driver();
    uint32_t registration = 0;
    EXPECT_EQ(cairn_control_driver_cache_present(control.get()), 0);
    ASSERT_EQ(cairn_control_register_driver(control.get(), &driver, &registration), CAIRN_OK);
    EXPECT_EQ(cairn_control_driver_cache_present(control.get()), 1);
    EXPECT_EQ(told.take(), Flags{}) << "all is enabled";
    const auto apply = [&](uint32_t kinds, uint32_t flags) {
        EXPECT_EQ(cairn_control_apply(control.get(), kinds, flags, nullptr), CAIRN_OK);
        return told.take();
    };
    EXPECT_EQ(apply(0xB, 1), Flags{}) << "other kinds";
    EXPECT_EQ(apply(0x4, 1), Flags{1});
    EXPECT_EQ(apply(0x4, 4), Flags{4});
    EXPECT_EQ(apply(0x4, 5), (Flags{1, 4}));
    EXPECT_EQ(apply(0x4, 6), (Flags{4, 2}));
    EXPECT_EQ(apply(0x4, 2), Flags{2});
    told.answer = CAIRN_ERROR_IO;
    lines_.clear();
    EXPECT_EQ(apply(0x4, 4), Flags{4}) << "a hint: what it answers is no error";
    ASSERT_FALSE(lines_.empty());
    EXPECT_NE(lines_.back().find("does not clear"), std::string::npos);
    EXPECT_EQ(cairn_control_unregister_driver(control.get(), registration), CAIRN_OK);
    EXPECT_EQ(cairn_control_unregister_driver(control.get(), registration), CAIRN_MISS);
    EXPECT_EQ(cairn_control_driver_cache_present(control.get()), 0);
    EXPECT_EQ(apply(0x4, 1), Flags{});
}

TEST_F(ControlTest, ADriverFollowsWhatOthersHaveDone) {
    const Control here = open();
    const Control elsewhere = open();
    Told told;
    const cairn_driver_cache driver = told.as_driver();
    uint32_t registration = 0;
    EXPECT_EQ(cairn_control_apply(elsewhere.get(), 4, 5, nullptr), CAIRN_OK);
    ASSERT_EQ(cairn_control_register_driver(here.get(), &driver, &registration), CAIRN_OK);
    EXPECT_EQ(told.take(), Flags{1}) << "disabled already; what was cleared before is no news";
    cairn_control_tell_drivers(here.get());
    EXPECT_EQ(told.take(), Flags{});
    EXPECT_EQ(cairn_control_apply(elsewhere.get(), 4, 6, nullptr), CAIRN_OK);
    EXPECT_EQ(told.take(), Flags{});
    cairn_control_tell_drivers(here.get());
    EXPECT_EQ(told.take(), (Flags{4, 2}));
}

TEST_F(ControlTest, RegisteringChecksItsArguments) {
    const Control control = open();
    Told told;
    cairn_driver_cache driver = told.as_driver();
    uint32_t registration = 0;
    const auto add = [&] {
        return cairn_control_register_driver(control.get(), &driver, &registration);
    };
    EXPECT_EQ(cairn_control_register_driver(nullptr, &driver, &registration),
              CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_control_register_driver(control.get(), nullptr, &registration),
              CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_control_register_driver(control.get(), &driver, nullptr),
              CAIRN_ERROR_INVALID_ARGUMENT);
    driver.size = 8;
    EXPECT_EQ(add(), CAIRN_ERROR_INVALID_ARGUMENT);
    driver = told.as_driver();
    driver.implicit_shader_cache_control = nullptr;
    EXPECT_EQ(add(), CAIRN_ERROR_INVALID_ARGUMENT);
    driver.driver_managed_shader_cache_present = 0;
    for (unsigned i = 0; i < CAIRN_CONTROL_DRIVERS_MAX; ++i) EXPECT_EQ(add(), CAIRN_OK);
    EXPECT_EQ(add(), CAIRN_ERROR_FULL);
    EXPECT_EQ(cairn_control_driver_cache_present(control.get()), 0) << "none has a cache";
    EXPECT_EQ(cairn_control_apply(control.get(), 4, 1, nullptr), CAIRN_OK);
}

TEST_F(ControlTest, ARootThatCannotBeUsedIsNeverInTheWay) {
    std::ofstream(root_) << "a file";
    const Control control = open();
    EXPECT_FALSE(lines_.empty());
    EXPECT_EQ(cairn_control_disabled(control.get()), 0u);
    EXPECT_EQ(cairn_control_clears(control.get(), 8), 0u);
    EXPECT_LT(cairn_control_apply(control.get(), 8, 1, nullptr), 0);
}

}  // namespace
}  // namespace cairn
