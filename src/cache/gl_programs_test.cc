// SPDX-License-Identifier: MIT
#include "cache/gl_programs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cache/memory_cache.h"
#include "cache/testing/gl_driver.h"

namespace cairn {
namespace {

using testing::driver;

class GlProgramsTest : public ::testing::Test {
  protected:
    GlProgramsTest() { driver = {}; }

    void open() { programs_ = std::move(*GlPrograms::find(testing::get_proc_address)); }
    bool load(unsigned program, const std::vector<std::string> &sources, GlPrograms::Link &link) {
        ProgramKey key = GlPrograms::new_key();
        for (const std::string &source : sources) key.add(1, as_bytes(source));
        auto loaded = programs_->load(cache_, program, key, link);
        EXPECT_TRUE(loaded.ok());
        return *loaded;
    }
    // A program made of these inputs, as an engine makes it; whether it was loaded.
    bool make(unsigned program, const std::vector<std::string> &sources) {
        GlPrograms::Link link = {};
        if (load(program, sources, link)) return true;
        testing::Program &own = driver.programs[program];
        own.linked = sources[0] != "not GLSL";
        own.made_of = "binary of " + sources[0];
        auto stored = programs_->store(cache_, program, link);
        is_stored_ = stored.ok() && *stored == PutOutcome::stored;
        return false;
    }
    bool make(unsigned program, const char *source) {
        return make(program, std::vector<std::string>{source});
    }
    // Replaces the entry that was used last.
    void spoil(const std::string &entry) {
        const BlobRef newest = cache_.nth(0).value();
        ASSERT_TRUE(cache_.put(newest->key(), as_bytes(entry), {}).ok());
    }

    MemoryCache cache_{{.limit_bytes = 1 << 20}};
    std::unique_ptr<GlPrograms> programs_;
    bool is_stored_ = false;
};

TEST_F(GlProgramsTest, EachInputAndItsPlaceIsPartOfTheKey) {
    open();
    EXPECT_FALSE(make(1, {"a", "b"}));
    EXPECT_FALSE(make(1, {"b", "a"}));
    EXPECT_FALSE(make(1, "ab"));
    EXPECT_FALSE(make(1, {"ab", ""}));
    EXPECT_TRUE(make(1, {"a", "b"}));
}

TEST_F(GlProgramsTest, ARefusedBinaryIsRemovedAndReplaced) {
    open();
    make(1, "a");
    for (const bool with_error : {false, true}) {
        driver.refuses_with_error = with_error;
        spoil(std::string("\x01\x80\0\0", 4) + "of another driver");
        GlPrograms::Link link = {};
        EXPECT_FALSE(load(2, {"a"}, link));
        EXPECT_FALSE(cache_.contains(link.key).value());
        EXPECT_FALSE(make(2, "a"));
        EXPECT_TRUE(is_stored_);
        EXPECT_TRUE(driver.errors.empty());
        EXPECT_TRUE(make(3, "a"));
    }
    EXPECT_EQ(programs_->counts().refused, 2u);
    EXPECT_EQ(programs_->counts().loaded, 2u);
}

TEST_F(GlProgramsTest, ADriverIsNeverGivenAFormatThatItDoesNotName) {
    open();
    make(1, "a");
    for (const std::string &entry :
         {std::string("\x02\x80\0\0", 4) + "binary of a", std::string("\x01\x80\0\0", 4),
          std::string("\x01"), std::string()}) {
        spoil(entry);
        EXPECT_FALSE(make(2, "a"));
    }
    EXPECT_EQ(driver.binaries_given, 0);
    EXPECT_EQ(programs_->counts().refused, 4u);
}

TEST_F(GlProgramsTest, AnErrorOfTheApplicationsIsStillThere) {
    open();
    make(1, "a");
    driver.errors = {testing::kInvalidEnum};
    EXPECT_TRUE(make(2, "a"));
    EXPECT_FALSE(make(3, "b"));
    EXPECT_EQ(driver.errors, std::vector<unsigned>{testing::kInvalidEnum});
}

TEST_F(GlProgramsTest, AProgramThatDidNotLinkIsNotStored) {
    open();
    EXPECT_FALSE(make(1, "not GLSL"));
    EXPECT_FALSE(is_stored_);
    EXPECT_FALSE(make(2, "not GLSL"));
    EXPECT_EQ(programs_->counts().stored, 0u);
    EXPECT_EQ(programs_->counts().store_failed, 0u);
}

TEST_F(GlProgramsTest, AnOldContextHasBinariesByItsExtensionOnly) {
    struct Case {
        const char *version;
        const char *extension;
        bool expected;
        bool needs_hint = true;
    };
    for (const Case &one :
         {Case{"3.3 made up", "GL_ARB_get_program_binary", true},
          Case{"3.3 made up", "GL_ARB_get_program_binary_2", false},
          Case{"OpenGL ES 2.0 made up", "GL_OES_get_program_binary", true, false},
          Case{"OpenGL ES 2.0 made up", "XGL_OES_get_program_binary", false, false},
          Case{"OpenGL ES 3.0 made up", "", true}, Case{"4.1 made up", "", true}}) {
        driver = {};
        driver.version = one.version;
        driver.extensions = {"GL_first", one.extension};
        driver.needs_hint = one.needs_hint;
        open();
        make(1, one.version);
        EXPECT_EQ(is_stored_, one.expected) << one.version;
        EXPECT_TRUE(driver.errors.empty()) << one.version;
    }
}

}  // namespace
}  // namespace cairn
