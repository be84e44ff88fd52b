// SPDX-License-Identifier: MIT
// What is recorded of an application: how its programs are made, and the states they are drawn in.
// gl_transcripts_test shows that the application cannot tell.
#include <cairn/cairn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "recipe/parameters.h"
#include "recipe/recipe.h"
#include "runner.h"
#include "support/files.h"

namespace gl_test {
namespace {

namespace fs = std::filesystem;
namespace recipe = cairn::recipe;

const Environment kRecording = {{"CAIRN_RECORD", "1"}};

struct Recipes {
    std::vector<recipe::Program> programs;
    std::map<recipe::Key, recipe::Source> sources;
    std::vector<recipe::DrawState> states;
    std::map<recipe::Key, unsigned> states_of;  // by program
    std::size_t unreadable = 0;
};

// The cache of recipes below a root; "": there is none.
std::string recipes_below(const std::string &root) {
    std::error_code error;
    for (const auto &folder : fs::directory_iterator(root, error)) {
        std::ifstream text(folder.path() / "generation");
        const std::string all((std::istreambuf_iterator<char>(text)), {});
        if (all.ends_with(recipe::kIdentity)) return folder.path().filename();
    }
    return "";
}

void take(Recipes &recipes, const std::string &key, cairn::Bytes value) {
    const auto kind = recipe::kind_of(key);
    if (kind == recipe::Kind::program) {
        const auto program = recipe::decode_program(value);
        if (program && recipe::hash_of(value) == recipe::hash_in(key)) {
            recipes.programs.push_back(*program);
            return;
        }
    } else if (kind == recipe::Kind::source) {
        if (const auto source = recipe::decode_source(value)) {
            recipes.sources[recipe::hash_in(key)] = *source;
            return;
        }
    } else if (kind == recipe::Kind::state) {
        if (const auto state = recipe::decode_state(value)) {
            recipes.states.push_back(*state);
            ++recipes.states_of[recipe::hash_in(key)];
            return;
        }
    } else if (kind) {
        return;
    }
    ++recipes.unreadable;
}

Recipes read_recipes(const std::string &root) {
    Recipes recipes;
    const std::string identifier = recipes_below(root);
    if (identifier.empty()) return recipes;
    cairn_options options = {};
    options.size = sizeof options;
    options.root = root.c_str();
    options.identifier = identifier.c_str();
    options.version = recipe::kVersion;
    options.flags = CAIRN_OPEN_EXISTING | CAIRN_OPEN_READ_ONLY;
    cairn_cache *cache = nullptr;
    EXPECT_EQ(cairn_open(&options, &cache), CAIRN_OK);
    std::vector<std::string> keys;
    const auto note = [](void *all, const cairn_entry *entry) {
        static_cast<std::vector<std::string> *>(all)->emplace_back(
            static_cast<const char *>(entry->key), entry->key_size);
        return 0;
    };
    EXPECT_EQ(cairn_enumerate(cache, note, &keys), CAIRN_OK);
    for (const std::string &key : keys) {
        cairn_blob *blob = nullptr;
        EXPECT_EQ(cairn_get(cache, key.data(), key.size(), &blob), CAIRN_OK);
        take(recipes, key,
             {static_cast<const std::byte *>(cairn_blob_data(blob)), cairn_blob_size(blob)});
        cairn_blob_free(blob);
    }
    cairn_close(cache);
    return recipes;
}

int value_of(const recipe::DrawState &state, GLenum name) {
    for (const auto &[known, value] : state.values) {
        if (known == name) return value;
    }
    return std::ranges::find(recipe::kParameters, name, &recipe::Parameter::name)->initial;
}

int cairn(const std::string &arguments) {
    return std::system((std::string(CAIRN_PROGRAM) + " " + arguments + " >/dev/null 2>&1").c_str());
}

class RecordTest : public testing::TestWithParam<WindowSystem> {
  protected:
    void SetUp() override { SKIP_WITHOUT(GetParam()); }
    Recipes recorded() const { return read_recipes(stage_.cache_root()); }
    // Of one start of a scenario with so many states. On a busy machine it may have no time left to
    // look at some; then another one begins from nothing.
    Recipes recorded_of(const std::string &scenario, std::size_t states,
                        const Environment &environment = kRecording) {
        const auto named = environment.find("CAIRN_DIR");
        const std::string root = named == environment.end() ? stage_.cache_root() : named->second;
        Recipes recipes;
        for (int start = 0; start < 10 && recipes.states.size() < states; ++start) {
            fs::remove_all(root);
            const Played run = stage_.cached(scenario, environment);
            EXPECT_EQ(run.status, "") << run.complaints;
            recipes = read_recipes(root);
        }
        return recipes;
    }

    Stage stage_{GetParam()};
};

TEST_P(RecordTest, NothingIsRecordedUnlessItIsAskedFor) {
    const Played run = stage_.cached("states");
    EXPECT_EQ(run.status, "") << run.complaints;
    EXPECT_EQ(recipes_below(stage_.cache_root()), "");
}

TEST_P(RecordTest, EachStateIsThereOnceWhateverTheObjects) {
    const Recipes recipes = recorded_of("states", 8);
    EXPECT_EQ(recipes.unreadable, 0u);
    ASSERT_EQ(recipes.programs.size(), 1u);
    const recipe::Program &program = recipes.programs.front();
    EXPECT_EQ(program.context.is_es, 1u);
    EXPECT_EQ(program.context.major, 3u);
    ASSERT_EQ(program.stages.size(), 2u);
    EXPECT_EQ(program.stages[0].type, static_cast<unsigned>(GL_VERTEX_SHADER));
    for (const recipe::Stage &stage : program.stages) {
        ASSERT_TRUE(recipes.sources.contains(stage.source));
        EXPECT_THAT(recipes.sources.at(stage.source),
                    testing::ElementsAre(testing::HasSubstr("void main()")));
    }
    const auto count = [&](auto is) { return std::ranges::count_if(recipes.states, is); };
    using State = recipe::DrawState;
    // Plain, another filter, no power of two, blended, with depth, depth without its test, from
    // memory, culled.
    EXPECT_EQ(recipes.states.size(), 8u);
    EXPECT_EQ(count([](const State &state) { return state.framebuffer.is_window != 0; }), 0);
    for (const State &state : recipes.states) {
        ASSERT_EQ(state.framebuffer.colors.size(), 1u);
        EXPECT_EQ(state.framebuffer.colors[0].format, static_cast<unsigned>(GL_RGBA8));
        ASSERT_EQ(state.units.size(), 1u);
        EXPECT_EQ(state.units[0].texture.format, static_cast<unsigned>(GL_RGBA8));
        EXPECT_EQ(state.units[0].texture.upload.type, static_cast<unsigned>(GL_UNSIGNED_BYTE));
        ASSERT_EQ(state.bindings.size(), 1u);
        EXPECT_EQ(state.bindings[0].uniform, "picture");
        ASSERT_EQ(state.attributes.size(), 1u);
        EXPECT_EQ(state.attributes[0].size, 2u);
        EXPECT_EQ(state.attributes[0].type, static_cast<unsigned>(GL_FLOAT));
    }
    EXPECT_EQ(count([](const State &state) { return state.color_buffers[0].blends != 0; }), 1);
    EXPECT_EQ(count([](const State &state) { return state.units[0].texture.width == 3; }), 1);
    EXPECT_EQ(count([](const State &state) { return value_of(state, GL_DEPTH_TEST) != 0; }), 1);
    EXPECT_EQ(count([](const State &state) { return value_of(state, GL_CULL_FACE) != 0; }), 1);
    EXPECT_EQ(count([](const State &state) {
                  return state.index_type == static_cast<unsigned>(GL_UNSIGNED_BYTE) &&
                         state.attributes[0].source == 2;
              }),
              2);
    EXPECT_EQ(count([](const State &state) {
                  return state.framebuffer.depth.format ==
                         static_cast<unsigned>(GL_DEPTH_COMPONENT16);
              }),
              4);
}

TEST_P(RecordTest, UnitsAreFoundAmongThousandsOfUniforms) {
    const Recipes recipes = recorded_of("many_uniforms", 1);
    ASSERT_EQ(recipes.states.size(), 1u);
    ASSERT_EQ(recipes.states[0].bindings.size(), 1u);
    EXPECT_EQ(recipes.states[0].bindings[0].uniform, "picture");
}

TEST_P(RecordTest, AnObjectThatHasADeletedOnesNameIsAnother) {
    const Recipes recipes = recorded_of("array_names_again", 2);
    ASSERT_EQ(recipes.states.size(), 2u);
    EXPECT_NE(recipes.states[0].attributes, recipes.states[1].attributes);
}

TEST_P(RecordTest, ConstantsAndExtensionsOfTexturesAreAskedFor) {
    std::vector<recipe::DrawState> states = recorded_of("constants_and_decoding", 2).states;
    ASSERT_EQ(states.size(), 2u);
    std::ranges::sort(states, {}, [](const auto &state) { return state.attributes[0].size; });
    const recipe::Values set = {{GL_TEXTURE_MAX_ANISOTROPY, 4},
                                {GL_TEXTURE_SRGB_DECODE_EXT, GL_SKIP_DECODE_EXT}};
    for (const bool is_set : {false, true}) {
        const recipe::DrawState &state = states[is_set ? 1 : 0];
        EXPECT_EQ(state.attributes[0].source, 0u);
        EXPECT_EQ(state.attributes[0].size, is_set ? 4u : 1u);
        const recipe::Values &values = state.units[0].texture.parameters;
        EXPECT_EQ(std::ranges::includes(values, set), is_set);
    }
}

TEST_P(RecordTest, DrawsOfListsAreNotLookedAtAndThoseAfterThemAre) {
    for (const auto &[name, driver] : drivers(stage_)) {
        SCOPED_TRACE(name);
        Environment recording = kRecording;
        recording.insert(driver.begin(), driver.end());
        recording["CAIRN_DIR"] = stage_.directory() / name;
        std::set<std::pair<std::uint32_t, int>> states;
        for (const recipe::DrawState &state : recorded_of("display_lists", 3, recording).states) {
            states.emplace(state.color_buffers[0].blends, value_of(state, GL_CULL_FACE));
            ASSERT_EQ(state.units.size(), 1u);
            EXPECT_EQ(state.units[0].number, 1u);
        }
        EXPECT_THAT(states, testing::UnorderedElementsAre(std::pair(0u, 0), std::pair(1u, 0),
                                                          std::pair(0u, 1)));
    }
}

TEST_P(RecordTest, ObjectsThatAreChangedByTheirNamesAre) {
    const Recipes recipes = recorded_of("named_objects", 8);
    ASSERT_EQ(recipes.programs.size(), 2u);
    std::set<std::uint32_t> strides, targets;
    for (const recipe::DrawState &state : recipes.states) {
        strides.insert(state.attributes[0].source == 0 ? 0 : state.attributes[0].stride);
        targets.insert(state.framebuffer.colors[0].target);
    }
    EXPECT_EQ(recipes.states.size(), 8u);
    EXPECT_THAT(strides, testing::IsSupersetOf({0u, 16u, 32u}));
    EXPECT_THAT(targets, testing::Contains(GL_TEXTURE_CUBE_MAP));
}

TEST_P(RecordTest, StatesThatComeBackByOtherCallsAreNoticed) {
    const Recipes recipes = recorded_of("overrides", 26);
    EXPECT_EQ(recipes.programs.size(), 13u);
    for (const auto &[program, states] : recipes.states_of) {
        const auto &stages = std::ranges::find(recipes.programs, program, [](const auto &each) {
                                 return recipe::hash_of(cairn::as_bytes(recipe::encode(each)));
                             })->stages;
        EXPECT_EQ(states, 2u) << recipes.sources.at(stages.back().source).front();
    }
    EXPECT_EQ(recipes.states_of.size(), 13u);
}

TEST_P(RecordTest, BinariesOfTheApplicationAreNotTakenForWhatWasLinked) {
    EXPECT_EQ(recorded_of("binary_after_link", 1).states.size(), 1u);
}

TEST_P(RecordTest, TheSameStartAddsNothing) {
    const Recipes first = recorded_of("states", 8);
    // Its links come from the cache now.
    const Played warm = stage_.cached("states", kRecording);
    EXPECT_EQ(warm.report.driver_links, 0u);
    const Recipes second = recorded();
    EXPECT_EQ(second.states.size(), first.states.size());
    EXPECT_EQ(second.programs.size(), first.programs.size());
    EXPECT_EQ(second.sources.size(), first.sources.size());
}

TEST_P(RecordTest, ProgramsOfAllKindsAreThere) {
    for (const char *scenario : {"separable", "shader_programs", "compute", "attribute_bindings",
                                 "transform_feedback", "core_outputs", "tessellation"}) {
        const Played run = stage_.cached(scenario, kRecording);
        EXPECT_EQ(run.status, "") << run.complaints;
    }
    const Recipes recipes = recorded();
    EXPECT_EQ(recipes.unreadable, 0u);
    const auto has = [&](auto is) { return std::ranges::any_of(recipes.programs, is); };
    using Program = recipe::Program;
    EXPECT_TRUE(has([](const Program &program) { return program.is_separable != 0; }));
    EXPECT_TRUE(has([](const Program &program) { return program.context.is_es == 0; }));
    for (const unsigned kind : {1u, 2u, 3u, 4u}) {
        EXPECT_TRUE(has([kind](const Program &program) {
            return std::ranges::any_of(program.settings, [kind](const recipe::Setting &setting) {
                return setting.kind == kind;
            });
        })) << kind;
    }
    for (const Program &program : recipes.programs) {
        for (const recipe::Stage &stage : program.stages) {
            EXPECT_TRUE(recipes.sources.contains(stage.source));
        }
    }
    EXPECT_TRUE(std::ranges::any_of(recipes.states, [](const recipe::DrawState &state) {
        return state.mode == recipe::DrawState::kDispatch;
    }));
    EXPECT_TRUE(std::ranges::any_of(recipes.states, [](const recipe::DrawState &state) {
        return state.mode == static_cast<unsigned>(GL_PATCHES);
    }));
}

TEST_P(RecordTest, AKilledProcessHasRecordedWhatItHasDrawn) {
    const Played run = stage_.cached("states", kRecording, "kill");
    EXPECT_NE(run.status, "");
    EXPECT_EQ(recorded().unreadable, 0u);
    EXPECT_EQ(recorded().programs.size(), 1u);
}

TEST_P(RecordTest, AClearForgetsIt) {
    (void)stage_.cached("states", kRecording);
    ASSERT_FALSE(recorded().states.empty());
    ASSERT_EQ(cairn("clear --all --yes --dir " + stage_.cache_root()), 0);
    EXPECT_TRUE(recorded().states.empty());
    EXPECT_TRUE(recorded().sources.empty());
}

TEST_P(RecordTest, WhatTheUserWantsNotToBeKnownIsNotRecorded) {
    const std::string home = stage_.directory() / "configuration";
    fs::create_directories(home + "/cairn");
    const auto configure = [&](const char *text) {
        std::ofstream(home + "/cairn/config") << text;
        fs::permissions(home + "/cairn/config", fs::perms(0600));
    };
    stage_.extra = {{"XDG_CONFIG_HOME", home}};
    configure("record = 0\n");
    (void)stage_.cached("states", kRecording);
    EXPECT_EQ(recipes_below(stage_.cache_root()), "");
    (void)stage_.cached("states", {{"CAIRN_RECORD", "1"}, {"CAIRN_EGL_PERSIST", "0"}});
    EXPECT_EQ(recipes_below(stage_.cache_root()), "");
    // And the other way round.
    configure("recipes = 1\n");
    EXPECT_EQ(recorded_of("states", 8, {}).states.size(), 8u);
}

INSTANTIATE_TEST_SUITE_P(Both, RecordTest, testing::ValuesIn(kWindowSystems),
                         [](const auto &tested) { return name_of(tested.param); });

}  // namespace
}  // namespace gl_test
