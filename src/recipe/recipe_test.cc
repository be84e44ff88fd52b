// SPDX-License-Identifier: MIT
#include "recipe/recipe.h"

#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <random>
#include <sstream>

#include "base/hash.h"
#include "recipe/player.h"

namespace cairn::recipe {
namespace {

Program a_program() {
    Program program;
    program.context = {1, 3, 2, 0, 4, "others"};
    program.stages = {{0x8B31, hash_of(as_bytes("vertex"))}, {0x8B30, hash_of(as_bytes("pixel"))}};
    program.settings = {{1, std::string("\0\1name", 6)}};
    return program;
}

DrawState a_state() {
    DrawState state;
    state.mode = 4;
    state.index_type = 0x1403;
    state.framebuffer.is_window = 1;
    state.framebuffer.surface = {8, 8, 8, 0, 24, 8, 4};
    state.framebuffer.draw_buffers = {0x405};
    state.framebuffer.colors = {{0x8058, 0x0DE1, 0, 1, {0x1908, 0x1401}}};
    state.values = {{0x0B71, 1}, {0x0B74, -1}};
    state.color_buffers = {{1, 2, 3, 4, 5, 6, 7, 15}};
    state.bindings = {{"colour[0]", 0x8B5E, {0, 3}}};
    state.units = {{3, {0x0DE1, 0x8058, 0, 4, 3, 1, 2, {0x80E1, 0x8367}, {{0x2800, 0x2600}}}}};
    state.images = {{1, 0x8058, 0x88B9, 0, {}}};
    state.attributes = {{0, 1, 3, 0x1406, 0, 20, 0, 0, 12}};
    return state;
}

Work a_work() {
    return {a_program(), {{"void main() {}"}, {"one", "two"}}, {a_state(), {}}};
}

TEST(RecipeTest, WhatIsEncodedIsDecoded) {
    EXPECT_EQ(decode_program(as_bytes(encode(a_program()))), a_program());
    EXPECT_EQ(decode_state(as_bytes(encode(a_state()))), a_state());
    EXPECT_EQ(decode_context(as_bytes(encode(a_program().context))), a_program().context);
    const Source source = {"one\n", "", "two"};
    EXPECT_EQ(decode_source(as_bytes(encode(source))), source);
    const auto application = decode_application(as_bytes(encode(Application{"/bin/x", "x"})));
    ASSERT_TRUE(application);
    EXPECT_EQ(application->executable, "/bin/x");
    EXPECT_EQ(application->invocation, "x");
    EXPECT_EQ(decode_work(as_bytes(encode(a_work()))), a_work());
    const Ready ready = {1, "gl-x-1", "none"};
    EXPECT_EQ(decode_ready(as_bytes(encode(ready))), ready);
    const Done done = {2, 3, 4, "no"};
    EXPECT_EQ(decode_done(as_bytes(encode(done))), done);
}

TEST(RecipeTest, NothingIsDecodedOfAnyBeginningNorWithMoreBehindIt) {
    const std::string whole = encode(a_work());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(decode_work(as_bytes(whole).first(size))) << size;
    }
    EXPECT_FALSE(decode_work(as_bytes(whole + "x")));
}

// Every number and size is damaged: what is decoded nevertheless is what encoding gives again.
TEST(RecipeTest, DamagedBytesAreNothingOrAnotherRecipe) {
    const std::string whole = encode(a_work());
    std::mt19937 random(14);
    for (int i = 0; i < 20000; ++i) {
        std::string damaged = whole;
        for (int n = 0; n < 1 + i % 3; ++n) {
            damaged[random() % damaged.size()] = static_cast<char>(i % 2 == 0 ? random() : 255);
        }
        const auto decoded = decode_work(as_bytes(damaged));
        if (decoded) {
            EXPECT_EQ(encode(*decoded), damaged);
        }
    }
}

TEST(RecipeTest, HugeCountsTakeNoMemory) {
    std::string bytes = encode(Source{"x"});
    put_le(MutableBytes(reinterpret_cast<std::byte *>(bytes.data()), bytes.size()), 0, ~0u);
    EXPECT_FALSE(decode_source(as_bytes(bytes)));
    EXPECT_FALSE(decode_source(as_bytes(std::string(8, '\xff'))));
}

TEST(RecipeTest, KeysTellTheirKind) {
    const Key hash = hash_of(as_bytes("x"));
    EXPECT_EQ(kind_of(key_of_source(hash)), Kind::source);
    EXPECT_EQ(kind_of(key_of_program(hash)), Kind::program);
    EXPECT_EQ(kind_of(key_of_state(hash, as_bytes("y"))), Kind::state);
    EXPECT_EQ(kind_of(key_of_seen(hash, hash)), Kind::seen);
    EXPECT_EQ(kind_of(key_of_application()), Kind::application);
    EXPECT_EQ(hash_in(key_of_state(hash, as_bytes("y"))), hash);
    EXPECT_NE(key_of_state(hash, as_bytes("y")), key_of_state(hash, as_bytes("z")));
    EXPECT_FALSE(kind_of(""));
    EXPECT_FALSE(kind_of("p"));
    EXPECT_FALSE(kind_of("q" + key_of_source(hash).substr(1)));
    EXPECT_FALSE(kind_of(key_of_source(hash) + "x"));
}

TEST(RecipeTest, AProgramIsSeenOnceByEachDriver) {
    const Key program = hash_of(as_bytes("p")), other = hash_of(as_bytes("q"));
    const Key driver = hash_of(as_bytes("driver 1"));
    const std::string key = key_of_seen(program, driver);
    EXPECT_EQ(key, key_of_seen(program, driver));
    EXPECT_EQ(hash_in(key), program);
    EXPECT_NE(key, key_of_seen(other, driver));
    EXPECT_EQ(driver_in(key), driver_in(key_of_seen(other, driver)));
    EXPECT_NE(driver_in(key), driver_in(key_of_seen(program, other)));
    EXPECT_NE(key, key_of_seen(program, hash_of(as_bytes("driver 2"))));
}

TEST(RecipeTest, WhatIsOfThisMachineOrUnknownIsNotForPacks) {
    const Key hash = hash_of(as_bytes("x"));
    EXPECT_TRUE(is_for_packs(key_of_program(hash)));
    EXPECT_TRUE(is_for_packs(key_of_source(hash)));
    EXPECT_TRUE(is_for_packs(key_of_state(hash, as_bytes("y"))));
    EXPECT_TRUE(is_for_packs(key_of_seen(hash, hash)));
    EXPECT_FALSE(is_for_packs(key_of_application()));
    EXPECT_FALSE(is_for_packs("q" + key_of_source(hash).substr(1)));
    EXPECT_FALSE(is_for_packs(""));
}

// The entries of the page's example, in its order: keys and values by turns.
std::vector<std::string> example_of_page() {
    std::ifstream page(RECIPE_DOCUMENT);
    std::vector<std::string> parts;
    std::string line;
    bool is_inside = false;
    while (std::getline(page, line)) {
        if (line.starts_with("#")) is_inside = line == "## Example";
        if (!is_inside || !line.starts_with("    ")) continue;
        std::istringstream words(line);
        std::string word;
        while (words >> word) {
            if (word == "key" || word == "value") {
                parts.emplace_back();
            } else if (!parts.empty()) {
                parts.back().push_back(static_cast<char>(std::stoi(word, nullptr, 16)));
            }
        }
    }
    return parts;
}

struct Example {
    Source source = {"void main() {}"};
    Key source_hash = std::bit_cast<Key>(blake2bp(as_bytes(source.front())));
    Program program;
    DrawState state;
    std::string driver = "Mesa llvmpipe";

    Example() {
        program.context = {1, 3, 0, 0, 0, ""};
        program.stages = {{0x8B31, source_hash}};
        program.settings = {{1, std::string("\2\0\0\0\0\0\0\0p\0", 10)}};
        state.mode = 4;
        state.framebuffer.is_window = 1;
        state.framebuffer.surface = {8, 8, 8, 0, 24, 8, 0};
        state.framebuffer.draw_buffers = {0x405};
        state.values = {{0x0B71, 1}};
        state.color_buffers = {{}};
        state.attributes = {{2, 1, 3, 0x1406, 0, 12, 0, 0, 0}};
    }
    std::vector<std::string> entries() const {
        const Key hash = hash_of(as_bytes(encode(program)));
        return {key_of_source(source_hash),
                encode(source),
                key_of_program(hash),
                encode(program),
                key_of_state(hash, as_bytes(encode(state))),
                encode(state),
                key_of_seen(hash, hash_of(as_bytes(driver))),
                driver};
    }
};

TEST(RecipePage, ItsExampleIsWhatIsEncoded) {
    const std::vector<std::string> page = example_of_page(), encoded = Example().entries();
    ASSERT_EQ(page.size(), encoded.size());
    for (std::size_t i = 0; i < page.size(); ++i) {
        EXPECT_EQ(hexadecimal(as_bytes(page[i])), hexadecimal(as_bytes(encoded[i]))) << i;
    }
}

TEST(RecipePage, ItsExampleDecodes) {
    const std::vector<std::string> page = example_of_page();
    const Example example;
    ASSERT_EQ(page.size(), 8u);
    EXPECT_EQ(kind_of(page[0]), Kind::source);
    EXPECT_EQ(decode_source(as_bytes(page[1])), example.source);
    EXPECT_EQ(kind_of(page[2]), Kind::program);
    EXPECT_EQ(decode_program(as_bytes(page[3])), example.program);
    EXPECT_EQ(kind_of(page[4]), Kind::state);
    EXPECT_EQ(decode_state(as_bytes(page[5])), example.state);
    EXPECT_EQ(kind_of(page[6]), Kind::seen);
    EXPECT_EQ(hash_in(page[6]), hash_in(page[2]));
}

TEST(RecipePage, ItHasTheIdentityOfTheCache) {
    std::ifstream page(RECIPE_DOCUMENT);
    std::ostringstream all;
    all << page.rdbuf();
    std::string identity;
    std::istringstream lines(kIdentity);
    for (std::string line; std::getline(lines, line);) identity += "    " + line + "\n";
    EXPECT_NE(all.str().find("\n" + identity), std::string::npos) << identity;
    EXPECT_NE(all.str().find("# Recipes, version " + std::to_string(kVersion) + "\n"),
              std::string::npos);
}

TEST(RecipeTest, NotesAreNoRecipes) {
    const Key hash = hash_of(as_bytes("x"));
    EXPECT_TRUE(is_note(key_of_note(hash)));
    EXPECT_FALSE(kind_of(key_of_note(hash)));
    EXPECT_FALSE(is_note(key_of_program(hash)));
    EXPECT_FALSE(is_note(key_of_note(hash) + "x"));
}

TEST(RecipeTest, SizesHaveThreeClasses) {
    EXPECT_EQ(size_class(0), 1u);
    EXPECT_EQ(size_class(1), 1u);
    EXPECT_EQ(size_class(2), 4u);
    EXPECT_EQ(size_class(1024), 4u);
    EXPECT_EQ(size_class(1023), 3u);
}

TEST(RecipeTest, TheDivisionOfASourceCounts) {
    const Key whole = hash_of(Source{"void main() {}"});
    EXPECT_NE(whole, hash_of(Source{"void ", "main() {}"}));
    EXPECT_NE(hash_of(Source{"void ", "main() {}"}), hash_of(Source{"void m", "ain() {}"}));
    EXPECT_NE(hash_of(Source{"", "a"}), hash_of(Source{"a", ""}));
    EXPECT_NE(hash_of(Source{std::string(5000, 'x')}), hash_of(Source{std::string(5001, 'x')}));
}

}  // namespace
}  // namespace cairn::recipe
