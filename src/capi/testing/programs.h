// Program caches by the calls of the C interface, for tests.
// SPDX-License-Identifier: MIT
#pragma once

#include <cairn/cairn_program_cache.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/cache.h"
#include "support/process.h"
#include "support/temp_directory.h"

namespace cairn::testing {

inline constexpr uint32_t kPatienceMs = 60'000;

// An open program cache; its methods are the calls, on texts.
class Programs {
  public:
    explicit Programs(cairn_program_cache_options options) {
        options.size = sizeof options;
        result_ = cairn_program_cache_open(&options, &cache_);
    }
    ~Programs() { cairn_close(cache_); }
    Programs(const Programs &) = delete;
    Programs &operator=(const Programs &) = delete;

    cairn_cache *handle() const { return cache_; }
    int result() const { return result_; }
    int put(const std::string &key, const std::string &value, uint32_t flags = 0) const {
        cairn_put_options options = {};
        options.size = sizeof options;
        options.flags = flags;
        return cairn_put(cache_, key.data(), key.size(), value.data(), value.size(), &options);
    }
    std::string get(const std::string &key) const {
        cairn_blob *blob = nullptr;
        if (cairn_get(cache_, key.data(), key.size(), &blob) != CAIRN_OK) return "(miss)";
        std::string value(static_cast<const char *>(cairn_blob_data(blob)), cairn_blob_size(blob));
        cairn_blob_free(blob);
        return value;
    }
    int contains(const std::string &key) const {
        return cairn_contains(cache_, key.data(), key.size());
    }
    int remove(const std::string &key) const {
        return cairn_remove(cache_, key.data(), key.size());
    }
    int flush() const { return cairn_flush(cache_, kPatienceMs); }
    uint32_t begin_use(const std::string &key) const {
        uint32_t ticket = 0;
        EXPECT_EQ(cairn_use_begin(cache_, key.data(), key.size(), &ticket), CAIRN_OK);
        return ticket;
    }
    cairn_program_cache_stats stats() const {
        cairn_program_cache_stats stats = {};
        stats.size = sizeof stats;
        EXPECT_EQ(cairn_program_cache_stats_get(cache_, &stats), CAIRN_OK);
        return stats;
    }

  private:
    cairn_cache *cache_ = nullptr;
    int result_;
};

class ProgramCacheTest : public ::testing::Test {
  protected:
    cairn_program_cache_options options(const char *identity = "GL: driver 1") const {
        cairn_program_cache_options options = {};
        options.root = directory_.path().c_str();
        options.application = "engine";
        options.identity = identity;
        return options;
    }
    // A process that takes `key` from the cache, gives it to a driver, and dies of it.
    void die_with(const std::string &key) const {
        cairn_test::Child child([&] {
            const Programs programs(options());
            if (programs.get(key) == "(miss)") return 1;
            programs.begin_use(key);
            signal(SIGSEGV, SIG_DFL);  // a sanitizer has a handler
            raise(SIGSEGV);
            return 2;
        });
        EXPECT_EQ(cairn_test::describe_status(child.wait()), "signal 11 (Segmentation fault)");
    }
    std::vector<std::string> generations() const {
        std::vector<std::string> names;
        for (const auto &entry : std::filesystem::directory_iterator(directory_.path())) {
            if (entry.is_directory()) names.push_back(entry.path().filename().string());
        }
        return names;
    }
    // That of a program which knows nothing of generations.
    cairn_test::Cache open_tool() const {
        return cairn_test::Cache({.root = directory_.path(),
                                  .identifier = generations().front(),
                                  .flags = CAIRN_OPEN_ANY_VERSION | CAIRN_OPEN_EXISTING});
    }

    cairn_test::TempDirectory directory_;
};

}  // namespace cairn::testing
