// What the tests of histories have in common.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised. Failure: a test's.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "history/files.h"
#include "history/history.h"
#include "history/reader.h"
#include "support/files.h"
#include "support/random.h"
#include "support/temp_directory.h"

namespace cairn::testing {

inline constexpr std::uint64_t kMiB = 1u << 20;
inline constexpr unsigned kLookUs = 1'100'000;  // files are looked at once a second
inline constexpr const char *kOwn = "gl-app-0123456789abcdef";

inline ProgramParts program(std::uint64_t i) {
    using cairn_test::mix;
    return {mix(i), mix(i, 1), static_cast<std::uint32_t>(mix(i, 2)),
            static_cast<std::uint32_t>(mix(i, 3))};
}

constexpr std::uint64_t context_of(std::uint32_t request, std::uint32_t answers) {
    return std::uint64_t{request} << 32 | answers;
}

class HistoryFixture : public ::testing::Test {
  protected:
    HistoryFixture() {
        std::filesystem::create_directory(root_);
        std::filesystem::permissions(root_, std::filesystem::perms::owner_all);
        make_cache(kOwn, 1);
    }
    // A cache's directory, used so long after others.
    void make_cache(const std::string &identifier, int used_s) const {
        const std::filesystem::path cache = std::filesystem::path(root_) / identifier;
        std::filesystem::create_directory(cache);
        std::ofstream(cache / "generation") << "application: app\n";
        const auto start = std::filesystem::last_write_time(cache / "generation");
        std::filesystem::last_write_time(cache / "generation",
                                         start + std::chrono::seconds(used_s));
    }
    std::unique_ptr<History> open(std::uint64_t limit_bytes = 256 * kMiB,
                                  const std::string &identifier = kOwn,
                                  std::uint64_t driver = 1) const {
        auto opened = History::open({root_, identifier, driver, limit_bytes});
        return opened.ok() ? std::move(*opened) : nullptr;
    }
    HistoryRead read(const std::string &identifier = kOwn) const {
        auto directory = Directory::open(root_ + "/" + identifier);
        auto history = read_history(*directory);
        return history.ok() ? std::move(*history) : HistoryRead();
    }
    void forget() const { forget_history(Directory::open(root_ + "/" + kOwn).value()); }
    // Those that are whole, in a file with many links.
    std::vector<ProgramRecord> programs() const {
        std::vector<ProgramRecord> found;
        const auto bytes = cairn_test::read_file(file_);
        for (std::size_t at = programs_offset(kLinksLarge, 0);
             at + sizeof(ProgramRecord) <= bytes.size(); at += sizeof(ProgramRecord)) {
            ProgramRecord record = {};
            std::memcpy(&record, bytes.data() + at, sizeof record);
            if (read_program_state(record).is_whole) found.push_back(record);
        }
        return found;
    }
    std::uint64_t size() const { return cairn_test::file_size(file_); }

    cairn_test::TempDirectory directory_;
    const std::string root_ = directory_ / "root";
    const std::string file_ = root_ + "/" + kOwn + "/history";
};

}  // namespace cairn::testing
