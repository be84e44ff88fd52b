// Packs under program caches, by the calls of cairn_program_cache.h: their generations, starts that are
// loaded from packs, and what is hidden in them.
// SPDX-License-Identifier: MIT
#include <unistd.h>

#include "cache/generations.h"
#include "capi/testing/programs.h"
#include "pack/testing/packs.h"
#include "support/files.h"

namespace {

namespace fs = std::filesystem;
using cairn::testing::ProgramCacheTest;
using cairn::testing::Programs;
using cairn::testing::write_pack;

class ProgramLayersTest : public ProgramCacheTest {
  protected:
    ProgramLayersTest() {
        ::setenv("CAIRN_PACKS", (directory_.path() + "/system").c_str(), 1);
        const cairn::Generation generation = {"engine", "", "GL: driver 1"};
        fs::create_directories(folder_);
        write_pack(folder_ + "/a.pack", {{cairn::identifier_of(generation),
                                          0,
                                          cairn::describe(generation),
                                          {{"a", "of the pack"}, {"b", "also"}, {"c", "third"}},
                                          {"b", "a"}}});
    }
    ~ProgramLayersTest() override { ::unsetenv("CAIRN_PACKS"); }

    const std::string folder_ = directory_.path() + "/.packs/engine";
};

TEST_F(ProgramLayersTest, AProgramCacheHasThePacksOfItsGeneration) {
    const Programs programs(options());
    EXPECT_EQ(programs.get("a"), "of the pack");
    EXPECT_EQ(Programs(options("GL: driver 2")).get("a"), "(miss)");
    auto build = options();
    build.build = "7";
    EXPECT_EQ(Programs(build).get("a"), "(miss)");
    auto without = options();
    without.flags = CAIRN_OPEN_NO_LAYERS;
    EXPECT_EQ(Programs(without).get("a"), "(miss)");
}

TEST_F(ProgramLayersTest, AStartIsLoadedAheadFromAPackInTheOrderOfStarts) {
    const Programs programs(options());
    for (int i = 0; i < 60'000 && programs.stats().load_done == 0; ++i) ::usleep(1000);
    EXPECT_EQ(programs.stats().memory_entries, 2u);
    EXPECT_EQ(programs.get("a"), "of the pack");
    EXPECT_EQ(programs.stats().memory_hits, 1u);
}

TEST_F(ProgramLayersTest, AnEntryThatAProcessDiedWithIsHiddenAndThenKeptOut) {
    die_with("a");
    EXPECT_EQ(Programs(options()).get("a"), "(miss)");
    EXPECT_EQ(Programs(options()).get("b"), "also");
    EXPECT_EQ(Programs(options()).stats().crashes_dropped, 1u);
}

TEST_F(ProgramLayersTest, QueuedPutsAndRemovalsHideWhatIsBelow) {
    {
        const Programs programs(options());
        EXPECT_EQ(programs.put("a", "newer"), CAIRN_OK);
        EXPECT_EQ(programs.get("a"), "newer");
        EXPECT_EQ(programs.remove("b"), CAIRN_OK);
        EXPECT_EQ(programs.get("b"), "(miss)");
        EXPECT_EQ(programs.flush(), CAIRN_OK);
    }
    const Programs again(options());
    EXPECT_EQ(again.get("a"), "newer");
    EXPECT_EQ(again.get("b"), "(miss)");
}

// What tools see: they know a generation by its identifier alone.
TEST_F(ProgramLayersTest, ACacheThatIsOpenedByItsIdentifierHasTheSameLayers) {
    std::string identifier;
    {
        const Programs programs(options());
        identifier = cairn_program_cache_identifier(programs.handle());
    }
    cairn_options by_name = {};
    by_name.size = sizeof by_name;
    by_name.root = directory_.path().c_str();
    by_name.identifier = identifier.c_str();
    by_name.flags = CAIRN_OPEN_ANY_VERSION;
    cairn_cache *cache = nullptr;
    ASSERT_EQ(cairn_open(&by_name, &cache), CAIRN_OK);
    EXPECT_EQ(cairn_contains(cache, "a", 1), CAIRN_OK);
    EXPECT_EQ(cairn_remove(cache, "a", 1), CAIRN_OK);
    // Opened after that: what a start has loaded into memory may stay there.
    const Programs programs(options());
    EXPECT_EQ(programs.get("a"), "(miss)");
    EXPECT_EQ(programs.get("b"), "also");
    EXPECT_EQ(cairn_clear(cache), CAIRN_OK);
    EXPECT_EQ(programs.get("b"), "(miss)");
    cairn_close(cache);
}

TEST_F(ProgramLayersTest, AStartIsNotRecordedWhereTheCallerSaysSo) {
    auto hidden = options();
    hidden.flags = CAIRN_PROGRAM_CACHE_NO_RECORD;
    {
        const Programs programs(hidden);
        EXPECT_EQ(programs.get("a"), "of the pack");
        EXPECT_EQ(programs.stats().start_keys, 0u);
    }
    const std::string own =
        directory_.path() + "/" + cairn::identifier_of({"engine", "", "GL: driver 1"});
    EXPECT_FALSE(fs::exists(own + "/order"));
    {
        const Programs programs(options());
        EXPECT_EQ(programs.get("a"), "of the pack");
    }
    EXPECT_TRUE(fs::exists(own + "/order"));
    EXPECT_EQ(cairn_clear(Programs(hidden).handle()), CAIRN_OK);
    EXPECT_FALSE(fs::exists(own + "/order")) << "a clear removes what starts recorded";
}

}  // namespace
