// A root of program caches that were last used at times of a test's choice.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cache/generations.h"
#include "cache/program_cache.h"
#include "os/environment.h"
#include "support/files.h"
#include "support/temp_directory.h"

namespace cairn {

inline constexpr std::uint64_t kDayNs = 24 * 3600'000'000'000u;
inline constexpr std::uint64_t kPlenty = std::uint64_t{1} << 40;

class GenerationsTest : public testing::Test {
  protected:
    std::unique_ptr<ProgramCache> open(const std::string &application, const std::string &identity,
                                       std::optional<std::uint64_t> application_bytes = {}) {
        ProgramCache::Options options;
        options.application_bytes = application_bytes;
        options.store.root = directory_.path();
        options.store.limit_bytes = 64u << 20;
        options.generation = {application, "", identity};
        auto opened = ProgramCache::open(options);
        EXPECT_TRUE(opened.ok()) << error_name(opened.error());
        return opened.ok() ? std::move(opened.value()) : nullptr;
    }
    // One of so many bytes and more, last used so many days ago.
    std::string make(const std::string &application, const std::string &identity, unsigned days,
                     std::size_t bytes = 100) {
        const auto cache = open(application, identity);
        const std::string value(bytes, 'v');
        EXPECT_TRUE(cache->put(as_bytes("key"), as_bytes(value), {}).ok());
        age(cache->place()->identifier, days);
        return cache->place()->identifier;
    }
    void age(const std::string &identifier, unsigned days) const {
        const auto then = static_cast<time_t>((wall_clock_ns() - days * kDayNs) / 1'000'000'000);
        const timespec times[] = {{then, 0}, {then, 0}};
        const std::string file = directory_ / identifier + "/generation";
        EXPECT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
    }
    Directory root() const { return std::move(Directory::open(directory_.path()).value()); }
    void remove_superseded(std::uint64_t total_bytes = kPlenty) const {
        cairn::remove_superseded(directory_.path(), {30 * kDayNs, total_bytes}, false, Log());
    }
    bool exists(const std::string &identifier) const {
        return std::filesystem::exists(directory_ / identifier);
    }

    cairn_test::TempDirectory directory_;
};

}  // namespace cairn
