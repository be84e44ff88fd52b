// SPDX-License-Identifier: MIT
// The example of a game that ships its pack, as its README says it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "program.h"

namespace cairn::cli_test {
namespace {

namespace fs = std::filesystem;

class PackedGameTest : public testing::Test {
  protected:
    PackedGameTest() {
        fs::create_directory(folder_ / "built");
        fs::copy(PACKED_GAME, folder_ / "built");
    }

    // Of a user who has never started anything.
    Environment new_home() {
        const std::string home = folder_ / ("home" + std::to_string(++homes_));
        fs::create_directory(home);
        return {{"HOME", home},
                {"XDG_CONFIG_HOME", home + "/.config"},
                {"CAIRN", CAIRN_PROGRAM},
                {"CAIRN_EGL_MANIFEST", PACKED_GAME_MANIFEST},
                {"LIBGL_ALWAYS_SOFTWARE", "1"}};
    }
    struct Start {
        std::string pictures;
        nlohmann::json report;
    };
    // Of the game in this folder, in a new home.
    Start start(const std::string &folder) {
        const std::string json = folder_ / "report.json";
        const Finished done =
            cairn({"run", "--quiet", "--json", json, "--", folder_ / (folder + "/packed_game")},
                  new_home());
        EXPECT_EQ(done.exit_code, 0) << done.standard_error;
        return {done.standard_output, nlohmann::json::parse(read_file(json))["report"]};
    }

    const Folder folder_;
    int homes_ = 0;
};

TEST_F(PackedGameTest, ItsFirstStartInANewHomeLinksNothing) {
    const Start cold = start("built");
    const std::uint64_t programs = cold.report["link_calls"];
    EXPECT_EQ(programs, 8u);
    EXPECT_EQ(cold.report["driver_links"], programs) << "it is no cold start";

    Program make_pack({MAKE_PACK, folder_ / "built/packed_game"}, new_home());
    ASSERT_EQ(make_pack.wait(), 0) << make_pack.standard_error();
    // What its users unpack.
    fs::rename(folder_ / "built", folder_ / "shipped");
    EXPECT_TRUE(fs::exists(folder_ / "shipped/cairn-packs/game.pack"));

    const Start first = start("shipped");
    EXPECT_EQ(first.report["link_calls"], programs);
    EXPECT_EQ(first.report["hits"], programs);
    EXPECT_EQ(first.report["driver_links"], 0);
    EXPECT_EQ(first.report["driver_compiles"], 0);
    EXPECT_EQ(first.report["rejected"], 0);
    EXPECT_EQ(first.pictures, cold.pictures);
    EXPECT_NE(first.pictures, "");
}

TEST_F(PackedGameTest, ThePackCanBeMadeAgain) {
    for (int i = 0; i < 2; ++i) {
        Program make_pack({MAKE_PACK, folder_ / "built/packed_game"}, new_home());
        ASSERT_EQ(make_pack.wait(), 0) << make_pack.standard_error();
        EXPECT_EQ(start("built").report["driver_links"], 0) << i;
    }
}

}  // namespace
}  // namespace cairn::cli_test
