// For tests of packs under caches, by the calls of the C interface.
// SPDX-License-Identifier: MIT
//
// Thread safety: that of cairn.h. One LayersTest at a time in a process, as it sets an environment variable.
#pragma once

#include <cairn/cairn_program_cache.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "pack/testing/packs.h"
#include "support/cache.h"
#include "support/files.h"
#include "support/temp_directory.h"

namespace cairn::testing {

inline constexpr const char *kAbsent = "(miss)";

// An open cache of cairn.h over layers.
class Layered {
  public:
    struct Given {
        std::string root;
        std::vector<std::string> paths = {};
        uint64_t version = 1;
        uint32_t flags = 0;
        cairn_test::LogLines *log = nullptr;
        uint64_t limit_bytes = 0;
    };

    explicit Layered(const Given &given) {
        std::vector<const char *> paths;
        for (const std::string &path : given.paths) paths.push_back(path.c_str());
        cairn_options options = {};
        options.size = sizeof options;
        options.root = given.root.c_str();
        options.identifier = "example";
        options.version = given.version;
        options.flags = given.flags;
        options.limit_bytes = given.limit_bytes;
        options.layers = paths.data();
        options.layer_count = paths.size();
        if (given.log != nullptr) {
            options.log = cairn_test::LogLines::receive;
            options.log_user = given.log;
        }
        result_ = cairn_open(&options, &cache_);
    }
    ~Layered() { cairn_close(cache_); }
    Layered(const Layered &) = delete;
    Layered &operator=(const Layered &) = delete;

    int result() const { return result_; }
    cairn_cache *handle() const { return cache_; }
    std::string get(const std::string &key) const {
        cairn_blob *blob = nullptr;
        if (cairn_get(cache_, key.data(), key.size(), &blob) != CAIRN_OK) return kAbsent;
        std::string value(static_cast<const char *>(cairn_blob_data(blob)), cairn_blob_size(blob));
        cairn_blob_free(blob);
        return value;
    }
    std::string get_into(const std::string &key) const {
        char buffer[64];
        size_t size = 0;
        if (cairn_get_into(cache_, key.data(), key.size(), buffer, sizeof buffer, &size) !=
            CAIRN_OK)
            return kAbsent;
        return {buffer, size};
    }
    int contains(const std::string &key) const {
        return cairn_contains(cache_, key.data(), key.size());
    }
    int put(const std::string &key, const std::string &value, uint32_t flags = 0) const {
        cairn_put_options options = {};
        options.size = sizeof options;
        options.flags = flags;
        return cairn_put(cache_, key.data(), key.size(), value.data(), value.size(), &options);
    }
    int remove(const std::string &key) const {
        return cairn_remove(cache_, key.data(), key.size());
    }
    cairn_stats stats() const {
        cairn_stats stats = {};
        stats.size = sizeof stats;
        EXPECT_EQ(cairn_stats_get(cache_, &stats), CAIRN_OK);
        return stats;
    }

  private:
    cairn_cache *cache_ = nullptr;
    int result_;
};

class LayersTest : public ::testing::Test {
  protected:
    LayersTest() {
        // No packs of this machine.
        ::setenv("CAIRN_PACKS", (directory_.path() + "/system").c_str(), 1);
        write_pack(pack_, {part_});
    }
    ~LayersTest() override { ::unsetenv("CAIRN_PACKS"); }

    Layered::Given given() const { return {.root = root_, .paths = {pack_}}; }
    // As if no process had used the pack yet.
    void forget_layers() const {
        for (const std::string &file : cairn_test::files_in(root_ + "/example")) {
            if (file.find("layer-") != std::string::npos) std::filesystem::remove(file);
        }
    }

    cairn_test::TempDirectory directory_;
    const std::string root_ = directory_.path() + "/root";
    const std::string pack_ = directory_.path() + "/a.pack";
    const PackedPart part_ = {"example", 1, "", {{"a", "of the pack"}, {"b", "also"}, {"c", ""}}};
};

}  // namespace cairn::testing
