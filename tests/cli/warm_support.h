// `cairn warm` on a root of its own, with a player that does what a program's source says
// (warm_player.cc).
// SPDX-License-Identifier: MIT
// Thread safety: one thread. Failure: a failed test.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "program.h"
#include "recipes.h"

namespace cairn::cli_test {

class WarmTest : public ::testing::Test {
  protected:
    using Json = nlohmann::json;
    using Words = std::vector<std::string>;

    WarmTest() { make_cache(); }

    // The cache of the driver's programs, which a player's front end opens.
    void make_cache() {
        cairn_program_cache_options options = {};
        options.size = sizeof options;
        options.root = root_.c_str();
        options.application = "gl-game";
        options.identity = "driver 1";
        options.version = 2;
        cairn_cache *cache = nullptr;
        EXPECT_EQ(cairn_program_cache_open(&options, &cache), CAIRN_OK);
        environment_["WARM_TEST_CACHE"] = cairn_program_cache_identifier(cache);
        cairn_close(cache);
    }

    // Programs of the game, with these texts as sources.
    void record(const Words &texts, const std::string &root) const {
        cairn_cache *cache = open_recipes(root);
        for (const std::string &text : texts) put_state(cache, put_recipe(cache, {{text}}), 4);
        cairn_close(cache);
    }
    void record(const Words &texts) const { record(texts, root_); }
    static Words many(const std::string &text, int count) {
        Words all;
        for (int i = 0; i < count; ++i) all.push_back(text + " " + std::to_string(i));
        return all;
    }

    Words command(Words options) const {
        options.insert(options.begin(), "warm");
        options.insert(options.end(), {"--dir", root_});
        return options;
    }
    Finished run(Words options = {}) const {
        options.emplace_back("game");
        return cairn(command(std::move(options)), environment_);
    }
    // The last line, which tells what has become of all.
    Json result(Words options = {}, int exit_code = 0) const {
        options.emplace_back("--json-progress");
        const Finished done = run(std::move(options));
        EXPECT_EQ(done.exit_code, exit_code) << done.standard_error;
        Json last;
        std::istringstream lines(done.standard_output);
        for (std::string line; std::getline(lines, line);) last = Json::parse(line);
        EXPECT_EQ(last["finished"], true);
        return last;
    }
    // What the players were given, how often each.
    std::map<std::string, int> given() const {
        std::map<std::string, int> counts;
        std::istringstream lines(read_file(log_));
        for (std::string line; std::getline(lines, line);) ++counts[line];
        return counts;
    }
    int given_in_all() const {
        int sum = 0;
        for (const auto &[text, count] : given()) sum += count;
        return sum;
    }
    void wait_until_given(int count) const {
        for (int i = 0; i < 5000 && given_in_all() < count; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        ASSERT_GE(given_in_all(), count);
    }
    // Players of this test: the folder of it is in their environment.
    bool has_players() const {
        for (const auto &process : std::filesystem::directory_iterator("/proc")) {
            std::error_code error;
            const std::filesystem::path program =
                std::filesystem::read_symlink(process.path() / "exe", error);
            if (error || program != std::filesystem::canonical(CLI_WARM_PLAYER)) continue;
            if (read_file(process.path() / "environ").find(log_) != std::string::npos) return true;
        }
        return false;
    }
    bool players_end_soon() const {
        for (int i = 0; i < 500; ++i) {
            if (!has_players()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return false;
    }

    const Folder folder_;
    const std::string root_ = folder_ / "root";
    const std::string log_ = folder_ / "log";
    Environment environment_ = {
        {"XDG_CONFIG_HOME", folder_ / "config"}, {"HOME", folder_ / "home"},
        {"CAIRN_PACKS", folder_ / "system"},     {"CAIRN_WARM_PLAYER", CLI_WARM_PLAYER},
        {"CAIRN_WARM_TIMEOUT_MS", "5000"},       {"WARM_TEST_LOG", log_}};
};

}  // namespace cairn::cli_test
