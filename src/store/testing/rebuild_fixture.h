// For tests of rebuilds: a cache whose index can be lost and rebuilt.
// SPDX-License-Identifier: MIT
//
// Thread safety: none.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "store/index_file.h"
#include "store/rebuild.h"
#include "store/testing/cache_files.h"

namespace cairn::testing {

class RebuildTest : public ::testing::Test {
  protected:
    // A new, empty index over the same segments.
    void lose_index() {
        files_.replace_index(nullptr);
        ASSERT_TRUE(create_index_file(files_.directory(), files_.identity(), Replace::yes).ok());
        files_.replace_index(files_.open_index());
        EXPECT_NE(files_.index().rebuild_reason(), RebuildReason::none);
    }
    Result<bool> rebuild(std::uint64_t deadline_ns = UINT64_MAX) {
        Rebuild rebuild(files_.directory(), files_.index(), files_.reader(), files_.account(),
                        nullptr);
        auto done = rebuild.step(deadline_ns);
        recovered_ = rebuild.recovered();
        return done;
    }
    static std::string key(int number) { return "key " + std::to_string(number); }
    static std::string value(int number) {
        return "value " + std::to_string(number) +
               std::string(static_cast<std::size_t>(number), 'v');
    }
    std::uint64_t tell_stamp(Location location) {
        return files_.reader().read_any(files_.identity().cache_id, location).header.stamp_ns;
    }

    CacheFiles files_;
    std::uint64_t recovered_ = 0;
};

}  // namespace cairn::testing
