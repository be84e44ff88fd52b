// What clearing a cache does to the packs under it, by the calls of the C interface.
// SPDX-License-Identifier: MIT
#include <sys/stat.h>

#include <utility>

#include "capi/testing/layers.h"
#include "os/system_calls.h"
#include "store/space.h"

namespace {

using cairn::testing::kAbsent;
using cairn::testing::Layered;
using cairn::testing::LayersTest;

TEST_F(LayersTest, AClearHidesWhatWasNotLookedForYet) {
    const Layered cache(given());
    EXPECT_EQ(cairn_clear(cache.handle()), CAIRN_OK);
    EXPECT_EQ(cache.get("a"), kAbsent);
    EXPECT_EQ(Layered(given()).get("a"), kAbsent);
}

// One that opened the cache before, and looks for packs when those that are known have been hidden.
TEST_F(LayersTest, AClearHidesWhatIsLookedForMeanwhile) {
    const Layered cleared({.root = root_});
    static const Layered *other;
    const Layered looking(given());
    other = &looking;
    cairn::SystemCalls calls = *cairn::system_calls;
    calls.lock = [](int fd, int command, struct flock *range) {
        if (range->l_start == cairn::kEvictionByte) {
            if (const Layered *now = std::exchange(other, nullptr)) {
                EXPECT_EQ(now->get("a"), "of the pack");
            }
        }
        return cairn::kKernel.lock(fd, command, range);
    };
    const cairn::SystemCalls *const before = std::exchange(cairn::system_calls, &calls);
    EXPECT_EQ(cairn_clear(cleared.handle()), CAIRN_OK);
    cairn::system_calls = before;
    EXPECT_EQ(other, nullptr) << "it was not called";
    for (const char *key : {"a", "b"}) {
        EXPECT_EQ(looking.get(key), kAbsent);
        EXPECT_EQ(Layered(given()).get(key), kAbsent);
    }
}

// As at the first start after the system has gone down.
TEST_F(LayersTest, AnIndexThatIsMadeAnewHidesNothing) {
    EXPECT_EQ(Layered(given()).put("own", "value"), CAIRN_OK);
    const Layered cache(given());
    cairn_test::Cache other({.root = root_, .identifier = "example"});
    EXPECT_TRUE(other.make_index_anew());
    EXPECT_EQ(cache.get("own"), "value");
    EXPECT_EQ(cache.get("a"), "of the pack");
    EXPECT_EQ(Layered(given()).get("a"), "of the pack");
}

TEST_F(LayersTest, AClearHidesAllOfALayerAlsoWhereItIsNotOpen) {
    const Layered other(given());
    Layered::Given without = given();
    without.paths = {};
    EXPECT_EQ(cairn_clear(Layered(without).handle()), CAIRN_OK);
    EXPECT_EQ(other.get("a"), kAbsent);
    EXPECT_EQ(other.get("b"), kAbsent);
    EXPECT_EQ(Layered(given()).get("a"), kAbsent);
    EXPECT_EQ(other.put("a", "newer"), CAIRN_OK);
    EXPECT_EQ(Layered(given()).get("a"), "newer");
}

TEST_F(LayersTest, ATimeRangeHidesALayerThatWasAddedInIt) {
    const auto clear = [&](uint64_t begin_ms, uint64_t end_ms) {
        uint64_t removed = 0;
        const Layered cache(given());
        EXPECT_EQ(cairn_clear_range(cache.handle(), begin_ms, end_ms, &removed), CAIRN_OK);
        return removed;
    };
    struct stat info = {};
    ASSERT_EQ(::stat(pack_.c_str(), &info), 0);
    const auto added_ms = static_cast<uint64_t>(info.st_mtim.tv_sec) * 1000 +
                          static_cast<uint64_t>(info.st_mtim.tv_nsec) / 1'000'000;
    EXPECT_EQ(clear(0, added_ms), 0u);
    EXPECT_EQ(clear(added_ms + 1, UINT64_MAX), 0u);
    EXPECT_EQ(Layered(given()).get("a"), "of the pack");
    EXPECT_EQ(Layered(given()).remove("b"), CAIRN_OK);
    EXPECT_EQ(clear(added_ms, added_ms + 1), 2u);
    EXPECT_EQ(Layered(given()).get("a"), kAbsent);
}

TEST_F(LayersTest, RemovingTheCacheForgetsWhatWasHidden) {
    EXPECT_EQ(Layered(given()).remove("a"), CAIRN_OK);
    std::filesystem::remove_all(root_ + "/example");
    EXPECT_EQ(Layered(given()).get("a"), "of the pack");
}

}  // namespace
