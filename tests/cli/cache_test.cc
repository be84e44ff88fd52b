// SPDX-License-Identifier: MIT
// `cairn stats`, `ls`, `rm`, `clear` and `compress` on real caches.
#include <cairn/cairn_program_cache.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "os/datagram.h"
#include "program.h"

namespace cairn::cli_test {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

using Cache = std::unique_ptr<cairn_cache, decltype(&cairn_close)>;

class CacheTest : public testing::Test {
  protected:
    // A cache with `entries` entries "key-<n>" of n bytes each.
    Cache make_cache(const std::string &identifier, int entries,
                     const char *about = nullptr) const {
        cairn_options options = {};
        options.size = sizeof(options);
        const std::string root = root_;
        options.root = root.c_str();
        options.identifier = identifier.c_str();
        options.version = 77;
        options.about = about;
        cairn_cache *cache = nullptr;
        EXPECT_EQ(cairn_open(&options, &cache), CAIRN_OK);
        for (int i = 1; i <= entries; ++i) {
            const std::string key = "key-" + std::to_string(i);
            const std::string value(static_cast<size_t>(i), 'v');
            cairn_put_options put = {};
            put.size = sizeof(put);
            put.cost_us = static_cast<uint32_t>(1000 * i);
            put.flags = i == 1 ? uint32_t{CAIRN_PUT_PINNED} : 0;
            EXPECT_EQ(cairn_put(cache, key.data(), key.size(), value.data(), value.size(), &put),
                      CAIRN_OK);
        }
        return {cache, cairn_close};
    }

    // Two generations of an application's program cache, with an entry each.
    void make_program_cache(const char *application) const {
        cairn_program_cache_options options = {};
        options.size = sizeof options;
        const std::string root = root_;
        options.root = root.c_str();
        options.application = application;
        for (const char *identity : {"driver 1", "driver 2"}) {
            options.identity = identity;
            cairn_cache *cache = nullptr;
            ASSERT_EQ(cairn_program_cache_open(&options, &cache), CAIRN_OK);
            EXPECT_EQ(cairn_put(cache, "key", 3, "v", 1, nullptr), CAIRN_OK);
            cairn_close(cache);
        }
    }

    Finished run(const std::vector<std::string> &arguments) const {
        return cairn(arguments, {{"CAIRN_DIR", root_}});
    }

    nlohmann::json stats() const {
        const Finished finished = run({"stats", "--json"});
        EXPECT_EQ(finished.exit_code, 0) << finished.standard_error;
        return nlohmann::json::parse(finished.standard_output);
    }

    Folder folder_;
    std::string root_ = folder_ / "root";
};

TEST_F(CacheTest, ARootThatIsMissingHoldsNothing) {
    EXPECT_EQ(stats()["total"]["caches"], 0);
    EXPECT_THAT(run({"stats"}).standard_output, HasSubstr("No caches in " + root_));
    EXPECT_EQ(run({"ls"}).exit_code, 0);
    EXPECT_EQ(run({"ls"}).standard_output, "");
    EXPECT_EQ(run({"clear", "--all"}).exit_code, 0);
    EXPECT_THAT(run({"clear", "--all"}).standard_output, HasSubstr("Nothing to clear"));
    EXPECT_FALSE(fs::exists(root_)) << "looking must not create anything";
}

TEST_F(CacheTest, StatsCountsEveryCache) {
    make_cache("beta", 20, "second cache\nmore text");
    make_cache("alpha", 3);
    const auto json = stats();
    EXPECT_EQ(json["root"], root_);
    ASSERT_EQ(json["caches"].size(), 2u);
    EXPECT_EQ(json["caches"][0]["identifier"], "alpha");
    EXPECT_EQ(json["caches"][0]["entries"], 3);
    EXPECT_EQ(json["caches"][1]["identifier"], "beta");
    EXPECT_EQ(json["caches"][1]["entries"], 20);
    EXPECT_EQ(json["caches"][1]["about"], "second cache");
    EXPECT_EQ(json["caches"][1]["version"], 77);
    EXPECT_EQ(json["caches"][1]["application"], nullptr);
    EXPECT_EQ(json["caches"][1]["limit_bytes"], CAIRN_LIMIT_BYTES_DEFAULT);
    EXPECT_EQ(json["total"]["entries"], 23);
    EXPECT_EQ(json["total"]["disk_bytes"], json["caches"][0]["disk_bytes"].get<uint64_t>() +
                                               json["caches"][1]["disk_bytes"].get<uint64_t>());
    EXPECT_GT(json["caches"][0]["disk_bytes"], 0);
    EXPECT_THAT(run({"stats"}).standard_output, HasSubstr("2 caches in " + root_ + ": 23 entries"));
}

TEST_F(CacheTest, WhatIsNoCacheIsLeftAlone) {
    make_cache("alpha", 1);
    fs::create_directory(root_ + "/other");
    folder_.write("root/file", "text");
    fs::create_directory_symlink(root_ + "/alpha", root_ + "/link");
    EXPECT_EQ(stats()["total"]["caches"], 1);
    EXPECT_EQ(run({"clear", "--all"}).exit_code, 0);
    EXPECT_TRUE(fs::exists(root_ + "/file"));
    EXPECT_TRUE(fs::exists(root_ + "/other"));
}

TEST_F(CacheTest, ADirectoryWhoseNameNoCacheCanHaveIsNone) {
    make_cache("alpha", 1);
    for (const char *name : {"al pha", ".hidden", "alpha~", "\x1b[31m"}) {
        fs::copy(root_ + "/alpha", root_ + "/" + name, fs::copy_options::recursive);
    }
    EXPECT_EQ(stats()["total"]["caches"], 1);
    EXPECT_EQ(run({"ls"}).exit_code, 0);
    EXPECT_EQ(run({"clear", "--all"}).exit_code, 0);
}

TEST_F(CacheTest, WhoRebuildsALostIndexIsSaid) {
    const std::string index = root_ + "/alpha/format-2/cache.idx";
    for (const char *damage : {"empty", "cut", "missing"}) {
        make_cache("alpha", 3);
        damage == std::string("missing") ? static_cast<void>(fs::remove(index))
                                         : fs::resize_file(index, *damage == 'c' ? 100 : 0);
        for (const std::vector<std::string> &command :
             std::vector<std::vector<std::string>>{{"ls"}, {"ls", "alpha"}, {"stats"}}) {
            const Finished finished = run(command);
            EXPECT_EQ(finished.exit_code, 1) << damage;
            EXPECT_THAT(finished.standard_output + finished.standard_error,
                        HasSubstr("the next application that uses the cache rebuilds it"))
                << damage;
        }
    }
    make_cache("alpha", 0);
    EXPECT_EQ(run({"ls"}).exit_code, 0);
}

TEST_F(CacheTest, LsListsCachesAndEntries) {
    make_cache("alpha", 3, "a cache");
    EXPECT_THAT(
        run({"ls"}).standard_output,
        MatchesRegex("CACHE  APPLICATION    ENTRIES        SIZE  USED                 ABOUT\n"
                     "alpha  -                    3  +[0-9.]+ [KM]?i?B  20[-0-9: ]+  a cache\n"));
    const Finished entries = run({"ls", "alpha"});
    EXPECT_EQ(entries.exit_code, 0);
    EXPECT_THAT(entries.standard_output,
                testing::StartsWith("KEY                       SIZE       COST  STORED\n"));
    // "key-2" in hexadecimal, 2 bytes, 2 ms.
    EXPECT_THAT(entries.standard_output,
                HasSubstr("6b65792d32                 2 B     2.0 ms  20"));
    EXPECT_THAT(entries.standard_output, MatchesRegex("(.|\n)*6b65792d31  [^\n]* pinned\n(.|\n)*"));
    EXPECT_EQ(std::count(entries.standard_output.begin(), entries.standard_output.end(), '\n'), 4);
    EXPECT_THAT(run({"ls", "alpha", "--no-header"}).standard_output,
                testing::StartsWith("6b65792d3"));
    EXPECT_THAT(run({"ls", "--no-header"}).standard_output, testing::StartsWith("alpha"));
}

TEST_F(CacheTest, LsSorts) {
    make_cache("alpha", 3);
    make_cache("beta", 9);
    make_cache("gamma", 5);
    // The order of what stands first in each line.
    const auto order = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"ls", "--no-header"});
        const std::string output = run(arguments).standard_output;
        std::string first;
        for (size_t line = 0; line < output.size(); line = output.find('\n', line) + 1) {
            first += output.substr(line, output.find(' ', line) - line) + " ";
        }
        return first;
    };
    EXPECT_EQ(order({}), "alpha beta gamma ");
    EXPECT_EQ(order({"--reverse"}), "gamma beta alpha ");
    EXPECT_EQ(order({"--sort", "entries"}), "beta gamma alpha ");
    EXPECT_EQ(order({"--sort", "entries", "-r"}), "alpha gamma beta ");
    EXPECT_EQ(order({"--sort", "application"}), "alpha beta gamma ");
    const auto now = fs::file_time_type::clock::now();
    for (const char *cache : {"alpha", "beta", "gamma"}) {
        const std::chrono::hours age(cache == std::string("beta") ? 1 : 2);
        for (const auto &file : fs::recursive_directory_iterator(root_ + "/" + cache)) {
            fs::last_write_time(file, now - age);
        }
    }
    EXPECT_EQ(order({"--sort", "used"}), "beta alpha gamma ");
    EXPECT_EQ(order({"alpha", "--sort", "key"}), "6b65792d31 6b65792d32 6b65792d33 ");
    EXPECT_EQ(order({"alpha", "--sort", "size"}), "6b65792d33 6b65792d32 6b65792d31 ");
    EXPECT_EQ(order({"alpha", "--sort", "cost", "-r"}), "6b65792d31 6b65792d32 6b65792d33 ");
    for (const std::vector<std::string> &wrong : std::vector<std::vector<std::string>>{
             {"ls", "--sort", "cost"}, {"ls", "alpha", "--sort", "used"}}) {
        const Finished finished = run(wrong);
        EXPECT_EQ(finished.exit_code, 2);
        EXPECT_THAT(finished.standard_error, HasSubstr("cannot be sorted by"));
    }
}

TEST_F(CacheTest, LsPrintsJson) {
    make_cache("alpha", 3, "a cache");
    make_program_cache("gl-game");
    const auto caches =
        nlohmann::json::parse(run({"ls", "--json", "--sort", "entries"}).standard_output);
    EXPECT_EQ(caches["root"], root_);
    ASSERT_EQ(caches["caches"].size(), 3u) << "two generations";
    EXPECT_EQ(caches["caches"][0]["identifier"], "alpha");
    EXPECT_EQ(caches["caches"][0]["application"], nullptr);
    EXPECT_EQ(caches["caches"][0]["entries"], 3);
    EXPECT_EQ(caches["caches"][0]["about"], "a cache");
    EXPECT_GT(caches["caches"][0]["disk_bytes"], 0);
    EXPECT_GT(caches["caches"][0]["used_at_ms"], 1'700'000'000'000u);
    EXPECT_EQ(caches["caches"][0]["version"], 77);
    EXPECT_EQ(caches["caches"][1]["application"], "game");
    EXPECT_THAT(std::string(caches["caches"][1]["about"]), MatchesRegex("driver [12]"));
    const auto entries =
        nlohmann::json::parse(run({"ls", "alpha", "--json", "--sort", "key"}).standard_output);
    EXPECT_EQ(entries["cache"], "alpha");
    ASSERT_EQ(entries["entries"].size(), 3u);
    EXPECT_EQ(entries["entries"][1]["key"], "6b65792d32");
    EXPECT_EQ(entries["entries"][1]["value_bytes"], 2);
    EXPECT_EQ(entries["entries"][1]["cost_us"], 2000);
    EXPECT_EQ(entries["entries"][1]["pinned"], false);
    EXPECT_EQ(entries["entries"][0]["pinned"], true);
    EXPECT_GT(entries["entries"][0]["stored_at_ms"], 1'700'000'000'000u);
    EXPECT_EQ(nlohmann::json::parse(
                  run({"ls", "--json", "--dir", folder_ / "none"}).standard_output)["caches"],
              nlohmann::json::array());
    fs::resize_file(root_ + "/alpha/format-2/cache.idx", 0);
    const Finished damaged = run({"ls", "--json"});
    EXPECT_EQ(damaged.exit_code, 1);
    EXPECT_THAT(nlohmann::json::parse(damaged.standard_output)["caches"][0]["problem"],
                HasSubstr("rebuilds it"));
}

TEST_F(CacheTest, RmRemovesCachesWithTheirDirectories) {
    const Cache open_elsewhere = make_cache("alpha", 3);
    make_cache("beta", 5);
    make_cache("gamma", 7);
    fs::create_directories(root_ + "/beta/folder/in it");
    const Finished finished = run({"rm", "alpha", "beta", "alpha"});
    EXPECT_EQ(finished.exit_code, 0) << finished.standard_error;
    EXPECT_THAT(finished.standard_output,
                MatchesRegex(
                    "Removed alpha, gave back [0-9.]+ [KM]?i?B\nRemoved beta, gave back [^\n]*\n"));
    EXPECT_FALSE(fs::exists(root_ + "/alpha"));
    EXPECT_EQ(stats()["total"]["caches"], 1);
    EXPECT_EQ(std::distance(fs::directory_iterator(root_), fs::directory_iterator()), 2)
        << "gamma and CACHEDIR.TAG";
    // A process that has it open goes on, and finds nothing.
    EXPECT_EQ(cairn_contains(open_elsewhere.get(), "key-1", 5), CAIRN_MISS);
    (void)cairn_put(open_elsewhere.get(), "key-1", 5, "v", 1, nullptr);
    const bool is_back = fs::exists(root_ + "/alpha");
    EXPECT_EQ(run({"rm", "alpha"}).exit_code, is_back ? 0 : 1);
    make_cache("alpha", 2);
    EXPECT_EQ(stats()["caches"][0]["entries"], 2);
}

TEST_F(CacheTest, RmRemovesWhatCannotBeOpened) {
    make_cache("alpha", 3);
    fs::resize_file(root_ + "/alpha/format-2/cache.idx", 100);
    fs::remove(root_ + "/alpha/format-2/cache.lock");
    std::ofstream(root_ + "/alpha/format-2/cache.lock") << "no lock";
    EXPECT_EQ(run({"rm", "alpha"}).exit_code, 0);
    EXPECT_FALSE(fs::exists(root_ + "/alpha"));
}

TEST_F(CacheTest, RmTouchesNothingElse) {
    make_cache("alpha", 1);
    folder_.write("root/mine/file", "text");
    folder_.write("outside", "text");
    fs::create_directory_symlink(root_ + "/alpha", root_ + "/link");
    fs::create_symlink(folder_ / "outside", root_ + "/alpha/link");
    for (const char *name :
         {"mine", "link", "..", ".", "", "alpha/", "mine/file", "../outside", ".control"}) {
        EXPECT_EQ(run({"rm", name}).exit_code, 1) << name;
    }
    EXPECT_EQ(run({"rm"}).exit_code, 2);
    EXPECT_EQ(run({"rm", "--application", ""}).exit_code, 2);
    EXPECT_EQ(run({"rm", "alpha", "--all"}).exit_code, 2);
    EXPECT_EQ(stats()["total"]["entries"], 1);
    const Finished mixed = run({"rm", "gamma", "alpha"});
    EXPECT_EQ(mixed.exit_code, 1);
    EXPECT_THAT(mixed.standard_error, HasSubstr("there is no cache `gamma`"));
    EXPECT_FALSE(fs::exists(root_ + "/alpha"));
    EXPECT_TRUE(fs::exists(root_ + "/mine/file"));
    EXPECT_TRUE(fs::exists(folder_ / "outside"));
}

TEST_F(CacheTest, RmRemovesSingleEntries) {
    const Cache cache = make_cache("alpha", 12);
    const std::string long_key(20, 'k');
    ASSERT_EQ(cairn_put(cache.get(), long_key.data(), long_key.size(), "v", 1, nullptr), CAIRN_OK);
    EXPECT_THAT(run({"rm", "alpha/6b65792d32"}).standard_output,
                HasSubstr("Removed 6b65792d32 of alpha"));
    EXPECT_EQ(cairn_contains(cache.get(), "key-2", 5), CAIRN_MISS);
    EXPECT_EQ(run({"rm", "alpha/6b65792d31"}).exit_code, 0) << "key-1, though key-10 begins so";
    EXPECT_EQ(cairn_contains(cache.get(), "key-1", 5), CAIRN_MISS);
    EXPECT_EQ(cairn_contains(cache.get(), "key-10", 6), CAIRN_OK);
    EXPECT_EQ(run({"rm", "alpha/6B6B6B6B6B6B6B6B.."}).exit_code, 0) << "as ls prints it";
    EXPECT_EQ(cairn_contains(cache.get(), long_key.data(), long_key.size()), CAIRN_MISS);
    const std::vector<std::pair<const char *, const char *>> wrong = {
        {"alpha/6b65792d", "10 keys of `alpha` begin with 6b65792d"},
        {"alpha/6b65792d32", "has no entry 6b65792d32"},
        {"alpha/key-3", "is no key"},
        {"alpha/", "is no key"},
        {"alpha/..", "is no key"},
        {"gamma/00", "there is no cache `gamma`"}};
    for (const auto &[name, said] : wrong) {
        const Finished finished = run({"rm", name});
        EXPECT_EQ(finished.exit_code, 1) << name;
        EXPECT_THAT(finished.standard_error, HasSubstr(said)) << name;
    }
    EXPECT_EQ(stats()["total"]["entries"], 10);
}

TEST_F(CacheTest, AtATerminalEverythingIsAskedFor) {
    const Environment environment = {{"CAIRN_DIR", root_}};
    for (const char *command : {"clear", "rm"}) {
        make_cache("alpha", 3);
        for (const char *answer : {"n\n", "\n", "perhaps\n", "\x04"}) {
            TerminalProgram program(cairn_command({command, "--all"}), environment);
            ASSERT_TRUE(program.wait_for("all of 1 cache in " + root_ + "? [y/N] "))
                << program.shown();
            program.type(answer);
            EXPECT_EQ(program.wait(), 1);
            EXPECT_THAT(program.shown(), HasSubstr("nothing was changed"));
            EXPECT_EQ(stats()["total"]["entries"], 3);
        }
        TerminalProgram program(cairn_command({command, "--all"}), environment);
        ASSERT_TRUE(program.wait_for("[y/N] "));
        program.type("y\n");
        EXPECT_EQ(program.wait(), 0) << program.shown();
        EXPECT_EQ(stats()["total"]["entries"], 0);
    }
    make_cache("alpha", 3);
    for (const std::vector<std::string> &arguments :
         std::vector<std::vector<std::string>>{{"clear", "alpha"},
                                               {"clear", "--all", "--yes"},
                                               {"compress", "--all"},
                                               {"rm", "-y", "--all"},
                                               {"rm", "--all"}}) {
        TerminalProgram program(cairn_command(arguments), environment);
        EXPECT_EQ(program.wait(), 0) << program.shown();
        EXPECT_THAT(program.shown(), Not(HasSubstr("[y/N]"))) << "nobody need be asked";
    }
}

TEST_F(CacheTest, LsShowsWholeKeysWhenAsked) {
    const Cache cache = make_cache("alpha", 0);
    const std::string key(40, 'k');
    ASSERT_EQ(cairn_put(cache.get(), key.data(), key.size(), "v", 1, nullptr), CAIRN_OK);
    std::string hexadecimal;
    for (size_t i = 0; i < key.size(); ++i) {
        hexadecimal += "6b";
    }
    EXPECT_THAT(run({"ls", "alpha"}).standard_output, HasSubstr(hexadecimal.substr(0, 16) + ".."));
    EXPECT_THAT(run({"ls", "--full-keys", "alpha"}).standard_output, HasSubstr(hexadecimal + " "));
}

TEST_F(CacheTest, ClearEmptiesOneCacheAndSaysSo) {
    const Cache open_elsewhere = make_cache("alpha", 3);
    make_cache("beta", 5);
    const Finished finished = run({"clear", "alpha"});
    EXPECT_EQ(finished.exit_code, 0) << finished.standard_error;
    EXPECT_THAT(finished.standard_output,
                HasSubstr("Cleared alpha: removed 3 entries, gave back "));
    EXPECT_EQ(stats()["caches"][0]["entries"], 0);
    EXPECT_EQ(stats()["caches"][1]["entries"], 5);
    EXPECT_EQ(cairn_contains(open_elsewhere.get(), "key-1", 5), CAIRN_MISS);
    EXPECT_EQ(cairn_put(open_elsewhere.get(), "key-9", 5, "v", 1, nullptr), CAIRN_OK);
    EXPECT_EQ(stats()["caches"][0]["entries"], 1);
}

TEST_F(CacheTest, ClearAllEmptiesEveryCache) {
    make_cache("alpha", 3);
    make_cache("beta", 5);
    const Finished finished = run({"clear", "--all"});
    EXPECT_EQ(finished.exit_code, 0) << finished.standard_error;
    EXPECT_THAT(finished.standard_output, HasSubstr("Cleared alpha: removed 3 entries"));
    EXPECT_THAT(finished.standard_output, HasSubstr("Cleared beta: removed 5 entries"));
    EXPECT_EQ(stats()["total"]["entries"], 0);
}

TEST_F(CacheTest, ClearTakesATimeRange) {
    make_cache("alpha", 3);
    const std::string tomorrow = "@" + std::to_string(time(nullptr) + 86400);
    const std::string yesterday = "@" + std::to_string(time(nullptr) - 86400);
    for (const auto &range : std::vector<std::vector<std::string>>{
             {"--until", yesterday},
             {"--since", tomorrow},
             {"--since", "2001-02-03", "--until", "2001-02-03T04:05:06"}}) {
        std::vector<std::string> arguments = {"clear", "--all"};
        arguments.insert(arguments.end(), range.begin(), range.end());
        EXPECT_THAT(run(arguments).standard_output, HasSubstr("Cleared alpha: removed 0 entries"));
    }
    EXPECT_EQ(stats()["caches"][0]["entries"], 3);
    const Finished finished = run({"clear", "alpha", "--since", yesterday, "--until", tomorrow});
    EXPECT_EQ(finished.exit_code, 0) << finished.standard_error;
    EXPECT_THAT(finished.standard_output, HasSubstr("Cleared alpha: removed 3 entries"));
    EXPECT_EQ(stats()["caches"][0]["entries"], 0);
    for (const char *time : {"", "yesterday", "2001-02-30", "@", "@-1", "2001-02-03 04:05"}) {
        EXPECT_EQ(run({"clear", "--all", "--since", time}).exit_code, 2) << time;
    }
    EXPECT_EQ(run({"clear", "--all", "--since", tomorrow, "--until", yesterday}).exit_code, 2);
}

// The broker keeps the programs of all drivers in one cache.
TEST_F(CacheTest, ACacheBehindABrokerIsOfItsApplication) {
    make_cache("gl-game", 3);
    make_cache("gl-game-0123456789abcdef", 2);  // of what application it is, is lost
    make_cache("gl-", 1);
    const auto json = nlohmann::json::parse(run({"ls", "--json"}).standard_output);
    std::map<std::string, nlohmann::json> applications;
    for (const auto &each : json["caches"]) applications[each["identifier"]] = each["application"];
    EXPECT_EQ(applications["gl-game"], "game");
    EXPECT_EQ(applications["gl-game-0123456789abcdef"], nullptr);
    EXPECT_EQ(applications["gl-"], nullptr);
    EXPECT_THAT(run({"clear", "--application", "game"}).standard_output,
                HasSubstr("Cleared gl-game: removed 3 entries"));
    EXPECT_THAT(run({"ls"}).standard_output, HasSubstr("gl-game-0123456789abcdef"));
}

TEST_F(CacheTest, AnApplicationIsCalledAsPeopleCallIt) {
    make_cache("engine-0123456789abcdef", 2);
    for (const char *command : {"clear", "rm"}) {
        for (const char *name : {"game", "gl-game"}) {
            for (const char *application : {"gl-game", "gl-editor"})
                make_program_cache(application);
            EXPECT_THAT(run({"ls"}).standard_output, HasSubstr("  game  "));
            const Finished finished = run({command, "--application", name});
            EXPECT_EQ(finished.exit_code, 0) << finished.standard_error;
            const auto after = stats();
            EXPECT_EQ(after["total"]["entries"], 4) << command << " " << name;
            EXPECT_EQ(after["total"]["caches"], command == std::string("rm") ? 3 : 5);
        }
    }
    make_program_cache("engine");
    EXPECT_EQ(run({"clear", "--application", "engine"}).exit_code, 0);
    EXPECT_EQ(stats()["total"]["entries"], 4) << "no cache that only has such a name";
    const Finished nothing = run({"clear", "--application", "enginee"});
    EXPECT_EQ(nothing.exit_code, 0);
    EXPECT_THAT(nothing.standard_output,
                HasSubstr("Nothing to clear: no caches of `enginee` in " + root_ +
                          " (did you mean `engine`?); there are caches of editor, engine\n"));
    EXPECT_EQ(run({"clear", "--application", "engine", "--all"}).exit_code, 2);
    EXPECT_EQ(run({"clear", "--application", "engine", "alpha"}).exit_code, 2);
}

// Clearing nothing makes nothing.
TEST_F(CacheTest, ClearOfAnApplicationMakesNoDirectory) {
    EXPECT_EQ(run({"clear", "--application", "engine"}).exit_code, 0);
    EXPECT_FALSE(std::filesystem::exists(root_));
}

TEST_F(CacheTest, CompressMakesACacheSmallerAndSaysSo) {
    std::string value;
    while (value.size() < 60'000) value += "mov r" + std::to_string(value.size()) + ", c0\n";
    value.resize(60'000);
    {
        const Cache cache = make_cache("alpha", 3);
        for (const char *key : {"a", "b", "c"}) {
            ASSERT_EQ(cairn_put(cache.get(), key, 1, value.data(), value.size(), nullptr),
                      CAIRN_OK);
        }
    }
    const Finished finished = run({"compress", "alpha"});
    EXPECT_EQ(finished.exit_code, 0) << finished.standard_error;
    EXPECT_THAT(finished.standard_output, HasSubstr("Compressed alpha: 175.8 KiB of values take "));
    const Finished again = run({"compress", "--all"});
    EXPECT_THAT(again.standard_output, HasSubstr("gave back 0 B"));
    EXPECT_EQ(stats()["caches"][0]["entries"], 6);
    EXPECT_LT(stats()["caches"][0]["disk_bytes"], 100'000);
}

TEST_F(CacheTest, ACommandThatChangesACacheKeepsItsLimit) {
    const std::string value(3 << 20, 'v');
    const uint64_t limit = uint64_t{4} << 30;
    {
        cairn_options options = {};
        options.size = sizeof(options);
        options.root = root_.c_str();
        options.identifier = "alpha";
        options.limit_bytes = limit;
        cairn_cache *cache = nullptr;
        ASSERT_EQ(cairn_open(&options, &cache), CAIRN_OK);
        ASSERT_EQ(cairn_put(cache, "k", 1, value.data(), value.size(), nullptr), CAIRN_OK);
        cairn_close(cache);
    }
    EXPECT_EQ(run({"compress", "alpha"}).exit_code, 0);
    EXPECT_EQ(stats()["caches"][0]["limit_bytes"], limit);
    EXPECT_EQ(run({"clear", "alpha"}).exit_code, 0);
    EXPECT_EQ(stats()["caches"][0]["limit_bytes"], limit);
}

TEST_F(CacheTest, ACacheThatIsNotThereIsNamed) {
    make_cache("alpha", 1);
    for (const char *command : {"ls", "clear", "compress"}) {
        for (const char *identifier : {"gamma", "../alpha", "a/b", ".hidden"}) {
            const Finished finished = run({command, identifier});
            EXPECT_EQ(finished.exit_code, 1) << command << identifier;
            EXPECT_THAT(finished.standard_error,
                        HasSubstr(std::string("there is no cache `") + identifier + "`"));
        }
    }
    EXPECT_FALSE(fs::exists(root_ + "/gamma"));
    EXPECT_EQ(stats()["total"]["entries"], 1);
}

TEST_F(CacheTest, AnUnsafeRootIsRefusedInOneLine) {
    make_cache("alpha", 1);
    fs::create_directory_symlink(root_, folder_ / "link");
    fs::create_directory(folder_ / "open");
    fs::permissions(folder_ / "open", fs::perms::all);
    for (const char *name : {"link", "open"}) {
        for (const std::vector<std::string> &arguments : std::vector<std::vector<std::string>>{
                 {"stats"}, {"ls"}, {"ls", "alpha"}, {"clear", "--all"}}) {
            std::vector<std::string> command = arguments;
            command.insert(command.end(), {"--dir", folder_ / name});
            const Finished finished = run(command);
            EXPECT_EQ(finished.exit_code, 1) << name;
            EXPECT_THAT(finished.standard_error, MatchesRegex("cairn: [^\n]+\n")) << name;
            EXPECT_EQ(finished.standard_output, "") << name;
        }
    }
    EXPECT_EQ(stats()["total"]["entries"], 1);
}

TEST_F(CacheTest, TextOfOthersCannotSteerTheTerminal) {
    make_cache("alpha", 1,
               "red \x1b[31m alert \xc2\x9b"
               "31m \x9b \u202e gr\u00fcn");
    for (const char *command : {"stats", "ls"}) {
        const std::string output = run({command}).standard_output;
        EXPECT_THAT(output, Not(HasSubstr("\x1b")));
        EXPECT_THAT(output, HasSubstr("red ?[31m alert ?31m ? ? gr\u00fcn"));
    }
    EXPECT_EQ(stats()["caches"][0]["about"],
              "red \x1b[31m alert \u009b31m \ufffd \u202e gr\u00fcn");
    EXPECT_THAT(run({"stats", "--json"}).standard_output, HasSubstr("\\u009b31m"));
    for (const std::vector<std::string> &arguments : std::vector<std::vector<std::string>>{
             {"ls", "\x9b\n"},
             {"\x9b\n"},
             {"stats", "-\x9b\n"},
             {"pack", "inspect", "\x9b\n"},
             {"run", "-q", "\x9b\n"},
             {"pack", "create", "/\x9b\n/x", "alpha"},
             {"help", "\x9b\n"},
         }) {
        const Finished finished = run(arguments);
        EXPECT_NE(finished.exit_code, 0);
        EXPECT_THAT(finished.standard_error, MatchesRegex("cairn: [^\n\x9b]*\\?\\?[^\n\x9b]*\n"));
    }
}

// It opens caches as applications do, but none of them starts.
TEST_F(CacheTest, CommandsTellTheUsersAgentNothing) {
    make_cache("alpha", 3);
    const Folder runtime;
    fs::create_directory(runtime / "cairn");
    const auto agent = DatagramSocket::bind(runtime / "cairn/agent.sock");
    ASSERT_TRUE(agent.ok());
    const Environment environment = {{"CAIRN_DIR", root_},
                                     {"XDG_RUNTIME_DIR", runtime.path().string()}};
    EXPECT_EQ(cairn({"compress", "alpha"}, environment).exit_code, 0);
    EXPECT_EQ(cairn({"clear", "alpha"}, environment).exit_code, 0);
    std::array<std::byte, 64> buffer;
    EXPECT_EQ(agent->receive(buffer).error(), Error::busy);
}

}  // namespace
}  // namespace cairn::cli_test
