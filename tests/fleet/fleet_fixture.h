// Machines that share a remote: each has a home, a configuration and a root of its own.
// SPDX-License-Identifier: MIT
// Thread safety: externally synchronised. Failure: a failed test.
#pragma once

#include <cairn/cairn_program_cache.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/program.h"

namespace cairn::fleet_test {

namespace fs = std::filesystem;
using cli_test::Environment;
using cli_test::Finished;
using cli_test::Folder;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

class Machine {
  public:
    Machine() {
        fs::create_directories(home());
        fs::create_directories(folder_ / "runtime");
    }

    std::string home() const { return folder_ / "home"; }
    std::string root() const { return folder_ / "root"; }
    std::string configuration() const { return folder_ / "config/cairn"; }
    std::string runtime() const { return folder_ / "runtime"; }
    Environment environment() const {
        Environment all = {{"HOME", home()},
                           {"XDG_CONFIG_HOME", folder_ / "config"},
                           {"XDG_RUNTIME_DIR", runtime()},
                           {"CAIRN_DIR", root()},
                           {"CAIRN_PACKS", folder_ / "system"},
                           {"CAIRN_WARM_PLAYER", "/bin/false"}};
        for (const auto &[name, value] : more_) all[name] = value;
        return all;
    }
    void set(const std::string &name, const std::string &value) { more_[name] = value; }

    Finished cairn(const Words &words) const { return cli_test::cairn(words, environment()); }
    // Must succeed. Returns what it prints.
    std::string done(const Words &words) const {
        const Finished finished = cairn(words);
        EXPECT_EQ(finished.exit_code, 0) << finished.standard_error << finished.standard_output;
        return finished.standard_output;
    }

    void make_key(const std::string &name) const { done({"key", "create", name, "--quiet"}); }
    // The line by which others trust it.
    std::string key(const std::string &name) const {
        std::string line = done({"key", "export", name});
        while (!line.empty() && line.back() == '\n') line.pop_back();
        return line;
    }
    void trust(const std::string &key) const { done({"key", "trust", key}); }

    // A program cache of the application `gl-game`, or one of cairn.h.
    cairn_cache *open_programs(const std::string &driver) const {
        cairn_program_cache_options options = {};
        options.size = sizeof options;
        const std::string root = this->root();
        options.root = root.c_str();
        options.application = "gl-game";
        options.identity = driver.c_str();
        options.version = 2;
        cairn_cache *cache = nullptr;
        EXPECT_EQ(cairn_program_cache_open(&options, &cache), CAIRN_OK);
        return cache;
    }
    cairn_cache *open_plain(const std::string &identifier) const {
        cairn_options options = {};
        options.size = sizeof options;
        const std::string root = this->root();
        options.root = root.c_str();
        options.identifier = identifier.c_str();
        options.version = 7;
        cairn_cache *cache = nullptr;
        EXPECT_EQ(cairn_open(&options, &cache), CAIRN_OK);
        return cache;
    }
    // These close the cache.
    static void put(cairn_cache *cache, const std::string &key, const std::string &value) {
        const cairn_put_options options = {sizeof options, 0, 1000};
        EXPECT_EQ(cairn_put(cache, key.data(), key.size(), value.data(), value.size(), &options),
                  CAIRN_OK);
        cairn_close(cache);
    }
    static std::string get(cairn_cache *cache, const std::string &key) {
        cairn_blob *blob = nullptr;
        std::string found = "(miss)";
        if (cairn_get(cache, key.data(), key.size(), &blob) == CAIRN_OK) {
            found.assign(static_cast<const char *>(cairn_blob_data(blob)), cairn_blob_size(blob));
            cairn_blob_free(blob);
        }
        cairn_close(cache);
        return found;
    }
    // A start in which the application meets this driver.
    void start(const std::string &driver) const { cairn_close(open_programs(driver)); }
    void put_programs(const std::string &driver, int from, int to) const {
        for (int i = from; i < to; ++i) {
            put(open_programs(driver), key_of(i), value_of(driver, i));
        }
    }
    int programs_found(const std::string &driver, int from, int to) const {
        int found = 0;
        for (int i = from; i < to; ++i) {
            const std::string value = get(open_programs(driver), key_of(i));
            if (value == "(miss)") continue;
            EXPECT_EQ(value, value_of(driver, i));
            ++found;
        }
        return found;
    }
    static std::string key_of(int i) { return "key " + std::to_string(i); }
    static std::string value_of(const std::string &driver, int i) {
        return driver + " " +
               std::string(static_cast<std::size_t>(i % 50) * 40 + 10,
                           static_cast<char>('a' + i % 26)) +
               std::to_string(i);
    }

  private:
    const Folder folder_;
    Environment more_;
};

// One machine that publishes with the key `ci`, and one that trusts it.
class FleetTest : public ::testing::Test {
  protected:
    FleetTest() {
        fs::create_directories(storage_);
        first_.make_key("ci");
        second_.trust(first_.key("ci"));
    }

    Words push_words(const std::string &name = "game") const {
        return {"push", "--remote", url_, "--sign", "ci", name};
    }
    Words pull_words(const std::string &name = "game") const {
        return {"pull", "--remote", url_, name};
    }
    std::string push(const Machine &machine, const std::string &name = "game") const {
        return machine.done(push_words(name));
    }
    std::string pull(const Machine &machine, const std::string &name = "game") const {
        return machine.done(pull_words(name));
    }
    // The objects of a kind, by their paths.
    std::vector<fs::path> objects(const std::string &kind) const {
        std::vector<fs::path> found;
        std::error_code error;
        for (const auto &each : fs::recursive_directory_iterator(storage_, error)) {
            if (each.is_regular_file() && each.path().parent_path().filename() == kind) {
                found.push_back(each.path());
            }
        }
        std::sort(found.begin(), found.end());
        return found;
    }
    Json status(const Machine &machine) const {
        return Json::parse(
            machine.done({"remote", "status", "--json", "--remote", url_}))["remotes"][0];
    }

    const Folder folder_;
    const std::string storage_ = folder_ / "storage";
    std::string url_ = "file://" + storage_;
    Machine first_, second_;
};

}  // namespace cairn::fleet_test
