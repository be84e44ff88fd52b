// The calls of cairn_gl.h, on a driver that the test makes up. tests/egl has them on a real one.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_gl.h>
#include <cairn/cairn_program_cache.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "cache/testing/gl_driver.h"
#include "support/process.h"
#include "support/temp_directory.h"

using cairn::testing::driver;
using cairn::testing::get_proc_address;

namespace {

cairn_gl_function find_nothing(const char *) {
    return nullptr;
}

class GlTest : public testing::Test {
  protected:
    GlTest() {
        driver = {};
        options_.size = sizeof options_;
        options_.application = "engine";
        options_.get_proc_address = get_proc_address;
        options_.root = directory_.path().c_str();
    }
    ~GlTest() override { close(); }

    void open() { ASSERT_EQ(cairn_gl_open(&options_, &gl_), CAIRN_OK); }
    void close() {
        cairn_gl_close(gl_);
        gl_ = nullptr;
    }
    // A program made of `source`, as an engine makes it; whether it was loaded.
    bool make(unsigned program, const std::string &source) {
        const cairn_gl_input input = {source.data(), source.size()};
        cairn_gl_link link;
        load_result_ = cairn_gl_program_load(gl_, program, &input, 1, &link);
        if (load_result_ == CAIRN_OK) return true;
        auto &own = driver.programs[program];
        own.linked = true;
        own.made_of = "binary of " + source;
        store_result_ = cairn_gl_program_store(gl_, program, &link);
        return false;
    }
    cairn_gl_stats stats() const {
        cairn_gl_stats stats = {};
        stats.size = sizeof stats;
        EXPECT_EQ(cairn_gl_stats_get(gl_, &stats), CAIRN_OK);
        return stats;
    }

    cairn_test::TempDirectory directory_;
    cairn_gl_options options_ = {};
    cairn_gl *gl_ = nullptr;
    int load_result_ = 0, store_result_ = 0;
};

TEST_F(GlTest, TheNextProcessLoadsWhatThisOneHasLinked) {
    open();
    EXPECT_FALSE(make(1, "a"));
    EXPECT_EQ(store_result_, CAIRN_OK);
    EXPECT_FALSE(make(2, "b"));
    close();
    open();
    EXPECT_TRUE(make(3, "a"));
    EXPECT_TRUE(make(4, "b"));
    EXPECT_TRUE(driver.programs[3].linked);
    EXPECT_EQ(driver.programs[4].made_of, "binary of b");
    EXPECT_EQ(stats().loaded, 2u);
    EXPECT_EQ(stats().missed, 0u);
    EXPECT_TRUE(driver.errors.empty());
}

TEST_F(GlTest, TheDriverRefusesAnEntryOrGivesNone) {
    open();
    make(1, "a");
    driver.formats = {1};  // an update of it, under the same name
    close();
    open();
    EXPECT_FALSE(make(2, "a"));
    EXPECT_EQ(load_result_, CAIRN_MISS);
    EXPECT_EQ(stats().refused, 1u);
    const cairn_gl_input input = {"b", 1};
    cairn_gl_link link;
    EXPECT_EQ(cairn_gl_program_load(gl_, 3, &input, 1, &link), CAIRN_MISS);
    EXPECT_EQ(cairn_gl_program_store(gl_, 3, &link), CAIRN_MISS);  // not linked
}

TEST_F(GlTest, AnotherDriverFindsNothingAndTheOldOneStillItsOwn) {
    open();
    make(1, "a");
    close();
    driver.version = "4.6 (Core Profile) made up 2.0";
    open();
    EXPECT_FALSE(make(2, "a"));
    close();
    driver.version = "4.6 (Core Profile) made up 1.0";
    open();
    EXPECT_TRUE(make(3, "a"));
}

TEST_F(GlTest, WithoutFormatsEverythingMissesAndNothingBreaks) {
    driver.formats.clear();
    open();
    EXPECT_FALSE(make(1, "a"));
    EXPECT_EQ(store_result_, CAIRN_ERROR_UNSUPPORTED);
    EXPECT_FALSE(make(2, "a"));
    EXPECT_TRUE(driver.errors.empty());
}

TEST_F(GlTest, AnEntryThatADriverDiedWithTwiceIsKeptOut) {
    open();
    make(1, "deadly");
    make(2, "harmless");
    close();
    for (int death = 0; death < 2; ++death) {
        const auto status = cairn_test::run_in_child(60, [&] {
            open();
            if (!make(1, "deadly")) {
                // It was dropped for the last crash, and is stored anew.
                close();
                open();
            }
            driver.dies = true;
            make(2, "deadly");
            return 0;
        });
        EXPECT_EQ(status, "signal 11 (Segmentation fault)");
    }
    open();
    EXPECT_FALSE(make(1, "deadly"));
    EXPECT_EQ(store_result_, CAIRN_KEPT_OUT);
    EXPECT_TRUE(make(2, "harmless"));
    EXPECT_EQ(stats().store_failed, 1u);
}

TEST_F(GlTest, WithoutACacheAnEngineGoesOnWithTheSameCode) {
    EXPECT_FALSE(make(1, "a"));
    EXPECT_EQ(load_result_, CAIRN_MISS);
    EXPECT_EQ(store_result_, CAIRN_ERROR_UNSUPPORTED);
    EXPECT_EQ(cairn_gl_cache(nullptr), nullptr);
}

TEST_F(GlTest, SaysWhatIsWrongWithItsArguments) {
    cairn_gl_input input = {"a", 1};
    cairn_gl_link link;
    EXPECT_EQ(cairn_gl_open(nullptr, &gl_), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_gl_open(&options_, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
    options_.application = "../up";
    EXPECT_EQ(cairn_gl_open(&options_, &gl_), CAIRN_ERROR_INVALID_ARGUMENT);
    options_.application = "engine";
    options_.get_proc_address = find_nothing;
    EXPECT_EQ(cairn_gl_open(&options_, &gl_), CAIRN_ERROR_UNSUPPORTED);
    EXPECT_EQ(gl_, nullptr);
    options_.get_proc_address = get_proc_address;
    open();
    EXPECT_EQ(cairn_gl_program_load(gl_, 1, nullptr, 1, &link), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_gl_program_load(gl_, 1, &input, 0, &link), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_gl_program_load(gl_, 1, &input, 1, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_gl_program_store(gl_, 1, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
    input.data = nullptr;
    EXPECT_EQ(cairn_gl_program_load(gl_, 1, &input, 1, &link), CAIRN_ERROR_INVALID_ARGUMENT);
    input.size = 0;
    EXPECT_EQ(cairn_gl_program_load(gl_, 1, &input, 1, &link), CAIRN_MISS);
}

TEST_F(GlTest, WhatWasNotLookedForIsNotStored) {
    open();
    cairn_gl_link link;
    std::memset(&link, 0x5a, sizeof link);
    ASSERT_EQ(cairn_gl_program_load(gl_, 1, nullptr, 0, &link), CAIRN_ERROR_INVALID_ARGUMENT);
    driver.programs[1].linked = true;
    EXPECT_EQ(cairn_gl_program_store(gl_, 1, &link), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(stats().stored, 0u);
}

}  // namespace
