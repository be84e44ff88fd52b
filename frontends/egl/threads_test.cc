// SPDX-License-Identifier: MIT
// Links and the calls of EGL_ANGLE_program_cache_control from many threads at once, under
// ThreadSanitizer: with a driver that is a few tables of each thread's own.
#include <cairn/eglext_cairn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "display_cache.h"
#include "gl/cached.h"
#include "gl/caches.h"
#include "gl/testing/driver.h"
#include "gl/testing/front_end.h"

namespace cairn::egl {
namespace {

class ThreadsTest : public ::testing::Test {
  protected:
    static constexpr int kLinkers = 12;
    static constexpr int kCallers = 20;
    static constexpr int kRounds = 150;

    ThreadsTest() {
        gl::testing::start_front_end();
        setenv("CAIRN_DIR", folder_.c_str(), 1);
        gl::testing::fill(driver_.gl);
    }
    // The cache stays open, as it does in applications.
    ~ThreadsTest() override {
        gl::flush_caches();
        std::filesystem::remove_all(folder_);
    }

    // One of a few programs, again and again; every result is what the sources say.
    void link_often(int who) {
        int object = 0;
        const gl::ContextHandle handle = {this, &object};
        gl::testing::make_context(driver_, handle, &cache_);
        disk_ = gl::current_context()->disk;
        for (int round = 0; round < kRounds; ++round) {
            const std::string source = "source " + std::to_string((who + round) % 5) +
                                       std::string(static_cast<size_t>(round % 50), '.');
            wrong_ += gl::testing::link_anew(source) != source;
        }
        gl::testing::end_context(driver_, handle);
    }

    // Takes an entry, and puts it back whole, damaged, or under another key.
    void give_back(int round) {
        gl::ProgramKey key = {};
        std::string binary(4096, '\0');
        EGLint key_size = 20;
        auto size = static_cast<EGLint>(binary.size());
        const EGLint error = cache_.query(round % 4, key.data(), &key_size, binary.data(), &size);
        if (error != EGL_SUCCESS) {
            wrong_ += error != EGL_BAD_PARAMETER && error != EGL_BAD_ACCESS;
            return;
        }
        const auto bytes = static_cast<size_t>(size);
        binary[static_cast<size_t>(round * 7) % bytes] ^= static_cast<char>(round % 3);
        key[19] ^= static_cast<uint8_t>(round % 4 == 3);
        cache_.populate(key.data(), 20, binary.data(), size - round % 2);
    }

    void call_often(int who) {
        for (int round = 0; round < kRounds; ++round) {
            give_back(round + who);
            EGLint value = 0;
            const int turn = (who + round) % 16;
            const EGLint mode =
                turn == 0 ? EGL_PROGRAM_CACHE_RESIZE_ANGLE : EGL_PROGRAM_CACHE_TRIM_ANGLE;
            cache_.resize(turn == 1 ? 0 : 3000, mode, value);
            wrong_ += value < 0;
            cache_.attribute(EGL_PROGRAM_CACHE_SIZE_ANGLE, value);
            wrong_ += value < 0;
            if (turn == 2) {
                cache_.clear();
            }
        }
    }

    const std::string folder_ =
        (std::filesystem::temp_directory_path() / ("cairn-threads-" + std::to_string(getpid())))
            .string();
    gl::Driver driver_;
    DisplayCache cache_;
    std::atomic<cairn_cache *> disk_ = nullptr;
    std::atomic<int> wrong_ = 0;
};

TEST_F(ThreadsTest, LinksAndCallsOfManyThreads) {
    const RunReport before = gl::testing::read_report();
    std::vector<std::thread> threads;
    for (int who = 0; who < kLinkers; ++who) {
        threads.emplace_back([this, who] { link_often(who); });
    }
    for (int who = 0; who < kCallers; ++who) {
        threads.emplace_back([this, who] { call_often(who); });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong_, 0);
    const RunReport after = gl::testing::read_report();
    EXPECT_EQ(after.link_calls - before.link_calls, uint64_t{kLinkers} * kRounds);
    EXPECT_GT(after.hits, before.hits);
    EXPECT_NE(disk_, nullptr) << "not on disk, too";
}

// BAD_PARAMETER where it was not there before, BAD_ACCESS where it went while it was asked for.
TEST(DisplayCacheThreadsTest, AnEntryMayVanishBetweenItsCountAndItsQuery) {
    DisplayCache cache;
    std::atomic<bool> done = false;
    std::thread other([&] {
        const gl::ProgramKey key = {1};
        while (!done) {
            cache.put(gl::new_entry(gl::bytes_of(key), "binary", 0).get());
            cache.remove(key);
        }
    });
    std::map<EGLint, int> seen;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (seen[EGL_BAD_ACCESS] == 0 && std::chrono::steady_clock::now() < end) {
        gl::ProgramKey key = {};
        char binary[6];
        EGLint key_size = 20;
        EGLint size = sizeof binary;
        ++seen[cache.query(0, key.data(), &key_size, binary, &size)];
    }
    done = true;
    other.join();
    EXPECT_GT(seen[EGL_BAD_ACCESS], 0);
    seen.erase(EGL_BAD_ACCESS);
    seen.erase(EGL_BAD_PARAMETER);
    seen.erase(EGL_SUCCESS);
    EXPECT_TRUE(seen.empty());
}

}  // namespace
}  // namespace cairn::egl
