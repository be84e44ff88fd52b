// Processes that control the caches of one root, and are killed at random instants while they do.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_control.h>
#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "support/files.h"
#include "support/process.h"
#include "support/random.h"
#include "support/shared.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

using Control = std::unique_ptr<cairn_control, decltype(&cairn_control_close)>;

Control open_control(const std::string &root) {
    cairn_control_options options = {};
    options.size = sizeof options;
    options.root = root.c_str();
    cairn_control *control = nullptr;
    if (cairn_control_open(&options, &control) != CAIRN_OK) std::abort();
    return {control, cairn_control_close};
}

cairn_cache *open_cache(const std::string &root, const char *identifier) {
    cairn_options options = {};
    options.size = sizeof options;
    options.root = root.c_str();
    options.identifier = identifier;
    cairn_cache *cache = nullptr;
    return cairn_open(&options, &cache) == CAIRN_OK ? cache : nullptr;
}

void pause_us(long microseconds) {
    const timespec time = {0, microseconds * 1000};
    nanosleep(&time, nullptr);
}

class ControlProcesses : public testing::Test {
  protected:
    ControlProcesses() {
        setenv("CAIRN_DEVELOPER_MODE", "1", 1);
        // Keeps the drivers' files of the user who runs the test out.
        setenv("XDG_CACHE_HOME", (directory_ / "home").c_str(), 1);
        setenv("HOME", (directory_ / "home").c_str(), 1);
        unsetenv("MESA_SHADER_CACHE_DIR");
        unsetenv("__GL_SHADER_DISK_CACHE_PATH");
    }

    TempDirectory directory_;
    std::string root_ = directory_ / "root";
};

struct Wishes {
    std::atomic<uint32_t> disabled;  // seen by the other process
    std::atomic<uint64_t> clears;
    std::atomic<int> phase;
};

// A process that runs all the time sees the parent's change with its next question.
TEST_F(ControlProcesses, SeeEachOthersChangesAtOnce) {
    const Shared<Wishes> shared;
    const Control control = open_control(root_);
    Child child([&] {
        const Control own = open_control(root_);
        for (int phase = 1;; ++phase) {
            while (shared->phase.load() != phase) pause_us(100);
            shared->disabled = cairn_control_disabled(own.get());
            shared->clears = cairn_control_clears(own.get(), CAIRN_KIND_APPLICATION_MANAGED);
            shared->phase = -phase;
        }
        return 0;
    });
    int phase = 0;
    for (uint32_t kinds = 1; kinds <= CAIRN_KIND_ALL; ++kinds) {
        cairn_control_apply(control.get(), CAIRN_KIND_ALL, CAIRN_CONTROL_ENABLE, nullptr);
        ASSERT_EQ(cairn_control_apply(control.get(), kinds,
                                      CAIRN_CONTROL_DISABLE | CAIRN_CONTROL_CLEAR, nullptr),
                  CAIRN_OK);
        shared->phase = ++phase;
        while (shared->phase.load() != -phase) pause_us(100);
        EXPECT_EQ(shared->disabled.load(), kinds);
        EXPECT_EQ(shared->clears.load(),
                  cairn_control_clears(control.get(), CAIRN_KIND_APPLICATION_MANAGED));
    }
}

TEST_F(ControlProcesses, WhatWasSetOutlivesWhoSetIt) {
    Child child([&] {
        const Control own = open_control(root_);
        cairn_control_apply(own.get(), 0xA, CAIRN_CONTROL_DISABLE, nullptr);
        raise(SIGKILL);
        return 0;
    });
    child.wait();
    EXPECT_EQ(cairn_control_disabled(open_control(root_).get()), 0xAu);
}

// Each process changes one kind of its own, again and again. No change of one may undo another's.
TEST_F(ControlProcesses, DoNotUndoEachOthersChanges) {
    constexpr int kRounds = 400;
    std::vector<Child> children;
    for (uint32_t number = 0; number < 4; ++number) {
        children.emplace_back([&, number] {
            const uint32_t kind = 1u << number;
            const Control own = open_control(root_);
            for (int i = 0; i < kRounds; ++i) {
                uint32_t unchanged = 0;
                const uint32_t flag = i % 2 == 0 ? CAIRN_CONTROL_DISABLE : CAIRN_CONTROL_ENABLE;
                if (cairn_control_apply(own.get(), kind, flag, &unchanged) != CAIRN_OK) return 1;
                if (unchanged != 0) return 2;
                const bool disabled = (cairn_control_disabled(own.get()) & kind) != 0;
                if (disabled != (flag == CAIRN_CONTROL_DISABLE)) return 3;
            }
            return 0;
        });
    }
    for (Child &child : children) EXPECT_EQ(describe_status(child.wait()), "");
    EXPECT_EQ(cairn_control_disabled(open_control(root_).get()), 0u);
}

// The first ones make the file, at the same time.
TEST_F(ControlProcesses, MayAllMakeTheFileAtOnce) {
    for (int round = 0; round < 10; ++round) {
        const std::string root = root_ + std::to_string(round);
        const Shared<Wishes> shared;
        std::vector<Child> children;
        for (uint32_t number = 0; number < 8; ++number) {
            children.emplace_back([&, number] {
                while (shared->phase.load() == 0) {
                }
                const Control own = open_control(root);
                return cairn_control_apply(own.get(), 1u << number % 4, CAIRN_CONTROL_DISABLE,
                                           nullptr) == CAIRN_OK
                           ? 0
                           : 1;
            });
        }
        shared->phase = 1;
        for (Child &child : children) EXPECT_EQ(describe_status(child.wait()), "");
        EXPECT_EQ(cairn_control_disabled(open_control(root).get()), 0xFu);
        EXPECT_EQ(file_size(root + "/.control"), 64u);
    }
}

// Killed anywhere, at the making of the file, a change or a clear: the next one finds a state that
// was asked for, can change it, and clears what there is; and nothing is left lying about.
TEST_F(ControlProcesses, KilledAtAnyPointLeaveNothingToMend) {
    constexpr int kKills = 60;
    Random random(20);
    for (int round = 0; round < kKills; ++round) {
        const std::string root = root_ + std::to_string(round % 6);
        cairn_cache *cache = open_cache(root, "d3d12-a");
        ASSERT_NE(cache, nullptr);
        ASSERT_EQ(cairn_put(cache, "key", 3, "value", 5, nullptr), CAIRN_OK);
        Child child([&] {
            const Control own = open_control(root);
            for (;;) {
                cairn_control_apply(own.get(), 0xA, CAIRN_CONTROL_DISABLE | CAIRN_CONTROL_CLEAR,
                                    nullptr);
                cairn_control_apply(own.get(), 0xA, CAIRN_CONTROL_ENABLE | CAIRN_CONTROL_CLEAR,
                                    nullptr);
            }
            return 0;
        });
        pause_us(static_cast<long>(random.below(20'000)));
        child.kill();
        const Control control = open_control(root);
        const uint32_t disabled = cairn_control_disabled(control.get());
        EXPECT_TRUE(disabled == 0 || disabled == 0xA) << disabled;
        EXPECT_EQ(cairn_control_apply(control.get(), 0xF,
                                      CAIRN_CONTROL_ENABLE | CAIRN_CONTROL_CLEAR, nullptr),
                  CAIRN_OK);
        EXPECT_EQ(cairn_control_disabled(control.get()), 0u);
        EXPECT_EQ(cairn_contains(cache, "key", 3), CAIRN_MISS);
        EXPECT_EQ(cairn_put(cache, "key", 3, "value", 5, nullptr), CAIRN_OK);
        EXPECT_EQ(cairn_contains(cache, "key", 3), CAIRN_OK);
        cairn_close(cache);
        EXPECT_EQ(files_in(root).size(), 2u) << "CACHEDIR.TAG and .control";
    }
}

// Somebody deletes the file again and again while others change and ask.
TEST_F(ControlProcesses, SurviveThatTheFileIsDeletedMeanwhile) {
    const Shared<Wishes> shared;
    std::vector<Child> children;
    for (int number = 0; number < 3; ++number) {
        children.emplace_back([&] {
            const Control own = open_control(root_);
            uint64_t last = 0;
            while (shared->phase.load() == 0) {
                const int result =
                    cairn_control_apply(own.get(), 0x8, CAIRN_CONTROL_DISABLE, nullptr);
                if (result != CAIRN_OK && result != CAIRN_ERROR_BUSY) return 1;
                if ((cairn_control_disabled(own.get()) & ~0x8u) != 0) return 2;
                const uint64_t clears = cairn_control_clears(own.get(), 0x8);
                if (clears < last) return 3;
                last = clears;
            }
            return 0;
        });
    }
    for (int i = 0; i < 200; ++i) {
        unlink((root_ + "/.control").c_str());
        pause_us(1000);
    }
    shared->phase = 1;
    for (Child &child : children) EXPECT_EQ(describe_status(child.wait()), "");
}

// A child that is forked from a process that asks all the time can ask and change, too.
TEST_F(ControlProcesses, MayBeForkedWithAControlOpen) {
    const Control control = open_control(root_);
    Child child([&] {
        return cairn_control_apply(control.get(), 0x2, CAIRN_CONTROL_DISABLE, nullptr) ==
                           CAIRN_OK &&
                       cairn_control_disabled(control.get()) == 0x2
                   ? 0
                   : 1;
    });
    EXPECT_EQ(describe_status(child.wait()), "");
    EXPECT_EQ(cairn_control_disabled(control.get()), 0x2u);
}

}  // namespace
}  // namespace cairn_test
