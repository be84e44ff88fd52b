// The calls of cairn_gl.h, on a driver that the test makes up. tests/egl has them on a real one.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_gl.h>
#include <cairn/cairn_program_cache.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "support/process.h"
#include "support/temp_directory.h"

namespace {

constexpr unsigned kFormat = 0x8001;
constexpr unsigned kInvalidEnum = 0x0500, kInvalidOperation = 0x0502;
constexpr uint32_t kPatienceMs = 60'000;

struct Program {
    bool linked = false;
    bool retrievable = false;
    std::string made_of;
};

// The driver: its programs, and how it behaves.
struct Driver {
    std::string version = "4.6 (Core Profile) made up 1.0";
    std::vector<std::string> extensions;
    std::vector<int32_t> formats = {kFormat};
    bool refuses_with_error = false;
    bool dies = false;
    std::map<unsigned, Program> programs;
    std::vector<unsigned> errors;
    int binaries_given = 0;
};
Driver driver;

const unsigned char *get_string(unsigned name) {
    const char *text = name == 0x1F02 ? driver.version.c_str() : "made up";
    return reinterpret_cast<const unsigned char *>(text);
}

const unsigned char *get_stringi(unsigned, unsigned index) {
    return reinterpret_cast<const unsigned char *>(driver.extensions.at(index).c_str());
}

void get_integerv(unsigned name, int32_t *values) {
    switch (name) {
        case 0x821D:
            *values = static_cast<int32_t>(driver.extensions.size());
            break;
        case 0x87FE:
            *values = static_cast<int32_t>(driver.formats.size());
            break;
        case 0x87FF:
            std::copy(driver.formats.begin(), driver.formats.end(), values);
            break;
        case 0x821E:
        case 0x9126:
            *values = 1;
            break;
        default:
            driver.errors.push_back(kInvalidEnum);
    }
}

unsigned get_error() {
    if (driver.errors.empty()) return 0;
    const unsigned error = driver.errors.back();
    driver.errors.pop_back();
    return error;
}

void get_programiv(unsigned program, unsigned name, int32_t *value) {
    const Program &own = driver.programs[program];
    if (name == 0x8B82) *value = own.linked ? 1 : 0;
    if (name == 0x8741) *value = own.retrievable ? static_cast<int32_t>(own.made_of.size()) : 0;
}

void program_parameteri(unsigned program, unsigned name, int32_t value) {
    if (name == 0x8257) driver.programs[program].retrievable = value != 0;
}

void program_binary(unsigned program, unsigned format, const void *binary, int32_t size) {
    ++driver.binaries_given;
    if (driver.dies) {
        signal(SIGSEGV, SIG_DFL);  // a sanitizer has a handler
        raise(SIGSEGV);
    }
    const std::string given(static_cast<const char *>(binary), static_cast<size_t>(size));
    Program &own = driver.programs[program];
    own.linked = format == kFormat && given.starts_with("binary of ");
    own.made_of = given;
    if (!own.linked && driver.refuses_with_error) driver.errors.push_back(kInvalidOperation);
}

void get_program_binary(unsigned program, int32_t capacity, int32_t *size, unsigned *format,
                        void *binary) {
    const std::string &text = driver.programs[program].made_of;
    ASSERT_LE(text.size(), static_cast<size_t>(capacity));
    std::memcpy(binary, text.data(), text.size());
    *size = static_cast<int32_t>(text.size());
    *format = kFormat;
}

// Finds functions whether the driver's version has them or not, as GLVND does.
cairn_gl_function get_proc_address(const char *name) {
    const std::map<std::string, cairn_gl_function> functions = {
        {"glGetString", reinterpret_cast<cairn_gl_function>(get_string)},
        {"glGetStringi", reinterpret_cast<cairn_gl_function>(get_stringi)},
        {"glGetIntegerv", reinterpret_cast<cairn_gl_function>(get_integerv)},
        {"glGetError", reinterpret_cast<cairn_gl_function>(get_error)},
        {"glGetProgramiv", reinterpret_cast<cairn_gl_function>(get_programiv)},
        {"glProgramParameteri", reinterpret_cast<cairn_gl_function>(program_parameteri)},
        {"glProgramBinary", reinterpret_cast<cairn_gl_function>(program_binary)},
        {"glGetProgramBinary", reinterpret_cast<cairn_gl_function>(get_program_binary)},
        {"glProgramBinaryOES", reinterpret_cast<cairn_gl_function>(program_binary)},
        {"glGetProgramBinaryOES", reinterpret_cast<cairn_gl_function>(get_program_binary)},
    };
    const auto found = functions.find(name);
    return found == functions.end() ? nullptr : found->second;
}

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
        Program &own = driver.programs[program];
        own.linked = source != "not GLSL";
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
    // Replaces what is stored of `source`.
    void spoil(const std::string &entry) {
        struct Spoiled {
            cairn_cache *cache;
            const std::string *entry;
        } spoiled = {cairn_gl_cache(gl_), &entry};
        ASSERT_EQ(cairn_flush(spoiled.cache, kPatienceMs), CAIRN_OK);
        std::string key;
        cairn_enumerate(
            spoiled.cache,
            [](void *user, const cairn_entry *found) {
                static_cast<std::string *>(user)->assign(static_cast<const char *>(found->key),
                                                         found->key_size);
                return 1;
            },
            &key);
        ASSERT_EQ(
            cairn_put(spoiled.cache, key.data(), key.size(), entry.data(), entry.size(), nullptr),
            CAIRN_OK);
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

TEST_F(GlTest, EachInputAndItsPlaceIsPartOfTheKey) {
    open();
    const std::string a = "a", b = "b", ab = "ab", none;
    const auto loads = [&](std::vector<const std::string *> texts) {
        std::vector<cairn_gl_input> inputs;
        for (const std::string *text : texts) inputs.push_back({text->data(), text->size()});
        cairn_gl_link link;
        const int result = cairn_gl_program_load(gl_, 1, inputs.data(), inputs.size(), &link);
        driver.programs[1].linked = true;
        driver.programs[1].made_of = "binary of " + *texts[0];
        if (result != CAIRN_OK) {
            EXPECT_EQ(cairn_gl_program_store(gl_, 1, &link), CAIRN_OK);
        }
        return result == CAIRN_OK;
    };
    EXPECT_FALSE(loads({&a, &b}));
    EXPECT_FALSE(loads({&b, &a}));
    EXPECT_FALSE(loads({&ab}));
    EXPECT_FALSE(loads({&ab, &none}));
    EXPECT_TRUE(loads({&a, &b}));
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

TEST_F(GlTest, ARefusedBinaryIsRemovedAndReplaced) {
    open();
    make(1, "a");
    for (const bool with_error : {false, true}) {
        driver.refuses_with_error = with_error;
        spoil(std::string("\x01\x80\0\0", 4) + "of another driver");
        EXPECT_FALSE(make(2, "a"));
        EXPECT_EQ(load_result_, CAIRN_MISS);
        EXPECT_EQ(store_result_, CAIRN_OK);
        EXPECT_TRUE(driver.errors.empty());
        EXPECT_TRUE(make(3, "a"));
    }
    EXPECT_EQ(stats().refused, 2u);
    EXPECT_EQ(stats().loaded, 2u);
}

TEST_F(GlTest, ADriverIsNeverGivenAFormatThatItDoesNotName) {
    open();
    make(1, "a");
    for (const std::string &entry :
         {std::string("\x02\x80\0\0", 4) + "binary of a", std::string("\x01\x80\0\0", 4),
          std::string("\x01"), std::string()}) {
        spoil(entry);
        EXPECT_FALSE(make(2, "a"));
    }
    EXPECT_EQ(driver.binaries_given, 0);
    EXPECT_EQ(stats().refused, 4u);
}

TEST_F(GlTest, AnErrorOfTheApplicationsIsStillThere) {
    open();
    make(1, "a");
    driver.errors = {kInvalidEnum};
    EXPECT_TRUE(make(2, "a"));
    EXPECT_FALSE(make(3, "b"));
    EXPECT_EQ(driver.errors, std::vector<unsigned>{kInvalidEnum});
}

TEST_F(GlTest, AProgramThatDidNotLinkIsNotStored) {
    open();
    EXPECT_FALSE(make(1, "not GLSL"));
    EXPECT_EQ(store_result_, CAIRN_MISS);
    EXPECT_FALSE(make(2, "not GLSL"));
    EXPECT_EQ(stats().stored, 0u);
    EXPECT_EQ(stats().store_failed, 0u);
}

TEST_F(GlTest, WithoutFormatsEverythingMissesAndNothingBreaks) {
    driver.formats.clear();
    open();
    EXPECT_FALSE(make(1, "a"));
    EXPECT_EQ(store_result_, CAIRN_ERROR_UNSUPPORTED);
    EXPECT_FALSE(make(2, "a"));
    EXPECT_TRUE(driver.errors.empty());
}

TEST_F(GlTest, AnOldContextHasBinariesByItsExtensionOnly) {
    struct Case {
        const char *version;
        const char *extension;
        bool expected;
    };
    for (const Case &one :
         {Case{"3.3 made up", "GL_ARB_get_program_binary", true},
          Case{"3.3 made up", "GL_ARB_get_program_binary_2", false},
          Case{"OpenGL ES 3.0 made up", "", true}, Case{"4.1 made up", "", true}}) {
        close();
        driver = {};
        driver.version = one.version;
        driver.extensions = {"GL_first", one.extension};
        open();
        make(1, one.version);
        EXPECT_EQ(store_result_ == CAIRN_OK, one.expected) << one.version;
        EXPECT_TRUE(driver.errors.empty()) << one.version;
    }
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
