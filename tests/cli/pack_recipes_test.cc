// SPDX-License-Identifier: MIT
// Recipes in packs, on real caches.
#include <gmock/gmock.h>

#include <set>

#include "base/bytes.h"
#include "pack/testing/packs.h"
#include "pack_fixture.h"
#include "recipe/recipe.h"
#include "recipes.h"

namespace cairn::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PackRecipesTest : public PackTest {
  protected:
    // `driver 1` records the programs 0 to 9 of the game.
    PackRecipesTest() { record(root_, "driver 1", 0, 10); }

    // What a front end stores of the programs [begin, end): each has a source of its own and two
    // states; all share a second source.
    static void record(const std::string &root, const std::string &driver, int begin, int end) {
        cairn_cache *cache = open_recipes(root);
        put(cache, recipe::key_of_application(),
            recipe::encode(recipe::Application{"/of/this/machine", "game"}));
        put(cache, "unknown", "to this version");
        for (int i = begin; i < end; ++i) {
            const recipe::Key hash = put_recipe(cache, {{source(i)}, {"void main() {}"}});
            for (const std::uint32_t mode : {1u, 4u}) put_state(cache, hash, mode);
            put(cache, recipe::key_of_seen(hash, recipe::hash_of(as_bytes(driver))), driver);
        }
        cairn_close(cache);
    }
    static std::string source(int i) {
        return "uniform float u" + std::to_string(i) + ";" + value(i);
    }
    static std::string key_of_source(int i) {
        return recipe::key_of_source(recipe::hash_of(recipe::Source{source(i)}));
    }

    // The part of recipes; null: there is none.
    static Json recipes_in(const Json &json) {
        for (const Json &part : json["parts"]) {
            if (part.contains("recipes")) return part;
        }
        return nullptr;
    }
    std::string inspected() const { return run_bare({"inspect", pack_}).standard_output; }

    static constexpr std::uint64_t kEntries = 10 * 5 + 1;  // that packs may have
};

TEST_F(PackRecipesTest, OnlyWhereThatIsAskedForRecipesArePacked) {
    create();
    EXPECT_EQ(inspect()["parts"].size(), 3u);
    EXPECT_EQ(recipes_in(inspect()), nullptr);
    create({"--recipes"});
    EXPECT_EQ(inspect()["parts"].size(), 4u);
    EXPECT_EQ(recipes_in(inspect())["entries"], kEntries);
    create({"--only-recipes"});
    EXPECT_EQ(inspect()["parts"].size(), 1u);
    EXPECT_EQ(recipes_in(inspect())["entries"], kEntries);
}

TEST_F(PackRecipesTest, WhatIsOfThisMachineOrUnknownIsNeverPacked) {
    for (const char *option : {"--recipes", "--only-recipes"}) {
        create({option, "--no-compress"});
        EXPECT_EQ(recipes_in(inspect())["entries"], kEntries);
        EXPECT_THAT(read_file(pack_), Not(HasSubstr("/of/this/machine")));
        EXPECT_THAT(read_file(pack_), Not(HasSubstr("to this version")));
        EXPECT_THAT(read_file(pack_), HasSubstr("void main() {}"));
    }
    // Another tool may have made such a pack.
    Json part = recipes_in(inspect());
    testing::PackedPart forged;
    forged.identifier = part["identifier"];
    forged.version = recipe::kVersion;
    forged.generation =
        std::string("Cairn generation\napplication: gl-game\nbuild: \n\n") + recipe::kIdentity;
    forged.entries = {{recipe::key_of_application(), "/of/another/machine"},
                      {key_of_source(77), "a source"}};
    const std::string other = folder_ / "forged.pack", merged = folder_ / "merged.pack";
    testing::write_pack(other, {forged});
    ASSERT_EQ(run_bare({"merge", "--no-compress", merged, pack_, other}).exit_code, 0);
    EXPECT_THAT(read_file(merged), Not(HasSubstr("/of/another/machine")));
    EXPECT_THAT(read_file(merged), HasSubstr("a source"));
    const Json json = Json::parse(run_bare({"inspect", "--json", merged}).standard_output);
    ASSERT_EQ(json["parts"].size(), 1u);
    EXPECT_EQ(recipes_in(json)["entries"], kEntries + 1);
}

TEST_F(PackRecipesTest, NoLimitLeavesAnyOfThemOut) {
    create({"--recipes", "--max-bytes", "1"});
    EXPECT_EQ(inspect()["parts"].size(), 1u);
    EXPECT_EQ(recipes_in(inspect())["entries"], kEntries);
    create({"--recipes", "--max-bytes", "1G"});
    EXPECT_EQ(inspect()["parts"].size(), 4u);
    // They count: what fits beside them is less.
    const auto others = [&](const std::vector<std::string> &options) {
        create(options);
        std::uint64_t entries = 0;
        const Json json = inspect();
        for (const Json &part : json["parts"]) {
            if (!part.contains("recipes")) entries += part["entries"].get<std::uint64_t>();
        }
        return entries;
    };
    const std::uint64_t alone = others({"--max-bytes", "20K"});
    const std::uint64_t beside = others({"--recipes", "--max-bytes", "20K"});
    EXPECT_GT(beside, 0u);
    EXPECT_LT(beside, alone);
    const std::string merged = folder_ / "merged.pack";
    ASSERT_EQ(run_bare({"merge", "--max-bytes", "1", merged, pack_}).exit_code, 0);
    EXPECT_EQ(Json::parse(run_bare({"inspect", "--json", merged}).standard_output)["parts"].size(),
              1u);
}

TEST_F(PackRecipesTest, StartsDoNotApplyToThem) {
    for (const char *key : {"key 3", "key 4"}) {
        EXPECT_NE(get_program(root_, "driver 1", key), "(miss)");
    }
    create({"--recipes", "--starts", "1"});
    const Json part = recipes_in(inspect());
    EXPECT_EQ(part["entries"], kEntries);
    EXPECT_EQ(part["start_entries"], 0);
    EXPECT_EQ(run({"create", pack_, "--all", "--only-recipes", "--starts", "1"}, root_).exit_code,
              2);
    EXPECT_EQ(run({"create", pack_, "--all", "--only-recipes", "--recipes"}, root_).exit_code, 2);
}

TEST_F(PackRecipesTest, ACommandThatWouldPackNoneSaysWhatToDo) {
    cairn_cache *cache = open_recipes(root_);
    const std::string identifier = cairn_program_cache_identifier(cache);
    cairn_close(cache);
    Finished done = run({"create", pack_, identifier}, root_);
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.standard_error, HasSubstr("add --recipes"));
    for (const char *option : {"--recipes", "--only-recipes"}) {
        done = run({"create", pack_, "plain", option}, root_);
        EXPECT_EQ(done.exit_code, 1);
        EXPECT_THAT(done.standard_error, HasSubstr("cairn run --record"));
    }
    EXPECT_FALSE(fs::exists(pack_));
    EXPECT_EQ(run({"create", pack_, identifier, "--recipes"}, root_).exit_code, 0);
}

TEST_F(PackRecipesTest, WhatIsInstalledLiesUnderTheRecipesOfTheApplication) {
    create({"--only-recipes"});
    EXPECT_EQ(run_bare({"verify", pack_}).exit_code, 0);
    const Finished installed = run({"install", "--unsigned", pack_}, other_);
    ASSERT_EQ(installed.exit_code, 0) << installed.standard_error;
    EXPECT_TRUE(fs::exists(other_ + "/.packs/gl-game/a.pack"));
    cairn_cache *cache = open_recipes(other_, 0);
    for (int i = 0; i < 10; ++i) {
        const std::string key = key_of_source(i);
        EXPECT_EQ(cairn_contains(cache, key.data(), key.size()), CAIRN_OK) << i;
    }
    const std::string absent = key_of_source(10);
    EXPECT_EQ(cairn_contains(cache, absent.data(), absent.size()), CAIRN_MISS);
    cairn_close(cache);
    EXPECT_EQ(get_program(other_, "driver 1", "key 1"), "(miss)");
    EXPECT_EQ(run({"remove", "game"}, other_).exit_code, 0);
}

// Each machine has recorded, on its own driver, some programs that the other has not.
class RecipesOfTwoMachinesTest : public PackRecipesTest {
  protected:
    RecipesOfTwoMachinesTest() {
        const std::string second_root = folder_ / "second";
        record(second_root, "driver 2", 6, 20);
        EXPECT_EQ(run({"create", first_, "--all", "--recipes"}, root_).exit_code, 0);
        EXPECT_EQ(run({"create", second_, "--all", "--only-recipes"}, second_root).exit_code, 0);
        const Finished merged = run_bare({"merge", pack_, first_, second_});
        EXPECT_EQ(merged.exit_code, 0) << merged.standard_error;
    }

    const std::string first_ = folder_ / "first.pack", second_ = folder_ / "second.pack";
};

TEST_F(RecipesOfTwoMachinesTest, MergedTheyAreTheRecipesOfBoth) {
    EXPECT_EQ(run_bare({"verify", pack_}).exit_code, 0);
    const Json part = recipes_in(inspect());
    EXPECT_EQ(part["recipes"]["programs"], 20);
    EXPECT_EQ(part["recipes"]["states"], 40);
    EXPECT_EQ(part["recipes"]["sources"], 21);
    EXPECT_EQ(part["entries"], 20 + 40 + 21 + 24);
    const Finished compared = run_bare({"diff", "--json", first_, second_});
    EXPECT_EQ(compared.exit_code, 1);
    const Json difference = Json::parse(compared.standard_output);
    for (const Json &each : difference["parts"]) {
        if (each["identifier"] != part["identifier"]) continue;
        EXPECT_EQ(each["in"], "both");
        EXPECT_EQ(each["changed"], 0) << "the same program has the same bytes everywhere";
        EXPECT_EQ(each["same"], 4 * 4 + 1);
        EXPECT_EQ(each["only_a"], 6 * 5 + 4);
        EXPECT_EQ(each["only_b"], 10 * 5 + 4);
    }
    ASSERT_EQ(run({"install", "--unsigned", pack_}, other_).exit_code, 0);
    cairn_cache *cache = open_recipes(other_, 0);
    for (int i = 0; i < 20; ++i) {
        const std::string key = key_of_source(i);
        EXPECT_EQ(cairn_contains(cache, key.data(), key.size()), CAIRN_OK) << i;
    }
    cairn_close(cache);
}

TEST_F(RecipesOfTwoMachinesTest, InspectSaysForHowManyDriversThereAreProgramsAndWhoRecorded) {
    const Json json = inspect();
    EXPECT_EQ(json["applications"],
              Json::parse(R"([{"application": "gl-game", "drivers": 2, "recipes": true}])"));
    const Json recipes = recipes_in(json)["recipes"];
    EXPECT_EQ(recipes["programs_by_all_drivers"], 4);
    EXPECT_EQ(recipes["programs_by_one_driver"], 16);
    EXPECT_EQ(recipes["drivers"], Json::parse(R"([{"name": "driver 2", "programs": 14},
                                                  {"name": "driver 1", "programs": 10}])"));
    const std::string text = inspected();
    EXPECT_THAT(text,
                HasSubstr("  game: compiled programs for 2 drivers, and recipes for any other\n"));
    EXPECT_THAT(text, HasSubstr("    recipes: 20 programs, 40 states, 21 sources\n"
                                "    recorded with 2 drivers: 20 % of the programs by all of "
                                "them, 80 % by one only\n"
                                "      70 % by driver 2\n"
                                "      50 % by driver 1\n"));
    fs::copy_file(second_, pack_, fs::copy_options::overwrite_existing);
    EXPECT_THAT(inspected(), HasSubstr("  game: recipes for any driver\n"));
    EXPECT_THAT(inspected(), HasSubstr("    recorded with 1 driver\n      100 % by driver 2\n"));
}

TEST_F(PackRecipesTest, AMachineHasNotesOfEachDriverThatItHadAndOfNoProgramThatIsGone) {
    record(root_, "driver 2", 0, 5);
    cairn_cache *cache = open_recipes(root_);
    const recipe::Key gone = recipe::hash_of(as_bytes("gone"));
    put(cache, recipe::key_of_seen(gone, recipe::hash_of(as_bytes("driver 3"))), "driver 3");
    cairn_close(cache);
    create({"--only-recipes"});
    const Json recipes = recipes_in(inspect())["recipes"];
    EXPECT_EQ(recipes["programs"], 10);
    EXPECT_EQ(recipes["programs_by_all_drivers"], 5);
    EXPECT_EQ(recipes["programs_by_one_driver"], 5);
    EXPECT_EQ(recipes["drivers"].size(), 2u);
}

TEST_F(PackRecipesTest, TheListOfCachesSaysThatTheyAreRecipes) {
    const auto output = [&](const std::vector<std::string> &command) {
        return cairn(command, environment_).standard_output;
    };
    for (const char *command : {"ls", "stats"}) {
        EXPECT_THAT(output({command, "--dir", root_}),
                    HasSubstr("Recipes of programs, for any driver"))
            << command;
    }
}

}  // namespace
}  // namespace cairn::cli_test
