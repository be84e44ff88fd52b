// Caches of an application on two drivers, and the commands that pack them.
// SPDX-License-Identifier: MIT
// Thread safety: externally synchronised. Failure: a failed test.
#pragma once

#include <cairn/cairn_program_cache.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.h"

namespace cairn::cli_test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class PackTest : public ::testing::Test {
  protected:
    // Two drivers of the application `game`, and a cache of cairn.h.
    PackTest() {
        for (const char *driver : {"driver 1", "driver 2"}) {
            for (int i = 0; i < 40; ++i) {
                put_program(driver, "key " + std::to_string(i), value(i) + driver);
            }
        }
        cairn_options options = {};
        options.size = sizeof options;
        options.root = root_.c_str();
        options.identifier = "plain";
        options.version = 7;
        cairn_cache *cache = nullptr;
        EXPECT_EQ(cairn_open(&options, &cache), CAIRN_OK);
        const cairn_put_options put = {sizeof put, CAIRN_PUT_PINNED, 123};
        EXPECT_EQ(cairn_put(cache, "a", 1, "of plain", 8, &put), CAIRN_OK);
        cairn_close(cache);
    }

    static std::string value(int i) {
        return std::string(static_cast<std::size_t>(i) * 50, static_cast<char>('a' + i % 26));
    }
    cairn_cache *open_program(const std::string &root, const char *driver) const {
        cairn_program_cache_options options = {};
        options.size = sizeof options;
        options.root = root.c_str();
        options.application = "gl-game";
        options.identity = driver;
        options.version = 2;
        cairn_cache *cache = nullptr;
        EXPECT_EQ(cairn_program_cache_open(&options, &cache), CAIRN_OK);
        return cache;
    }
    void put_program(const char *driver, const std::string &key, const std::string &value) const {
        cairn_cache *cache = open_program(root_, driver);
        const cairn_put_options options = {sizeof options, 0,
                                           static_cast<std::uint32_t>(value.size() % 7 * 100)};
        EXPECT_EQ(cairn_put(cache, key.data(), key.size(), value.data(), value.size(), &options),
                  CAIRN_OK);
        cairn_close(cache);
    }
    std::string get_program(const std::string &root, const char *driver,
                            const std::string &key) const {
        cairn_cache *cache = open_program(root, driver);
        cairn_blob *blob = nullptr;
        std::string found = "(miss)";
        if (cairn_get(cache, key.data(), key.size(), &blob) == CAIRN_OK) {
            found.assign(static_cast<const char *>(cairn_blob_data(blob)), cairn_blob_size(blob));
            cairn_blob_free(blob);
        }
        cairn_close(cache);
        return found;
    }

    Finished run(std::vector<std::string> arguments, const std::string &root) const {
        arguments.insert(arguments.end(), {"--dir", root});
        return run_bare(std::move(arguments));
    }
    Finished run_bare(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "pack");
        return cairn(arguments, environment_);
    }
    // As a front end for GL does that uses the application's own directory.
    void note_driver(const std::string &driver) const {
        std::string text = read_file(generation_of("driver 1"));
        text.replace(text.find("driver 1"), 8, driver);
        std::ofstream(root_ + "/.driver/gl-game/driver", std::ios::binary) << text;
    }
    std::string generation_of(const char *driver) const {
        cairn_cache *cache = open_program(root_, driver);
        const std::string identifier = cairn_program_cache_identifier(cache);
        cairn_close(cache);
        return root_ + "/" + identifier + "/generation";
    }
    // A pack of everything, with more options.
    void create(std::vector<std::string> options = {}) const {
        options.insert(options.begin(), {"create", pack_, "--all"});
        const Finished done = run(options, root_);
        ASSERT_EQ(done.exit_code, 0) << done.standard_error;
    }
    Json inspect() const {
        const Finished done = run_bare({"inspect", "--json", pack_});
        EXPECT_EQ(done.exit_code, 0) << done.standard_error;
        return Json::parse(done.standard_output);
    }

    const Folder folder_;
    const std::string root_ = folder_ / "root";
    const std::string other_ = folder_ / "other";
    const std::string pack_ = folder_ / "a.pack";
    const Environment environment_ = {{"XDG_CONFIG_HOME", folder_ / "config"},
                                      {"HOME", folder_ / "home"},
                                      {"CAIRN_PACKS", folder_ / "system"}};
};

}  // namespace cairn::cli_test
