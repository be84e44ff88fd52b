// SPDX-License-Identifier: MIT
#include "store/segment_format.h"

#include <gtest/gtest.h>

#include "store/slot.h"

namespace cairn {
namespace {

CacheIdentity sample() {
    CacheIdentity identity;
    identity.cache_id = 0x1122334455667788;
    identity.version = 42;
    for (std::size_t i = 0; i < identity.hash_seed.size(); ++i) {
        identity.hash_seed[i] = static_cast<std::byte>(i * 7);
    }
    identity.name_hash = cache_name_hash("some cache");
    return identity;
}

TEST(SegmentFormat, AHeaderComesBackAsItWasWritten) {
    const auto bytes = encode_segment_header(sample(), 17);
    EXPECT_EQ(decode_segment_header(bytes, 17), sample());
}

TEST(SegmentFormat, AHeaderOfAnotherSegmentIsRefused) {
    const auto bytes = encode_segment_header(sample(), 17);
    EXPECT_FALSE(decode_segment_header(bytes, 18));
}

TEST(SegmentFormat, EveryFlippedBitIsFound) {
    const auto good = encode_segment_header(sample(), 17);
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        auto bad = good;
        bad[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
        EXPECT_FALSE(decode_segment_header(bad, 17)) << "bit " << bit;
    }
}

TEST(SegmentFormat, AShortHeaderIsNone) {
    const auto bytes = encode_segment_header(sample(), 17);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(decode_segment_header(Bytes(bytes).first(size), 17));
    }
}

TEST(SegmentFormat, NamesAndNumbersAreOneToOne) {
    EXPECT_EQ(segment_file_name(42), "0000002a.val");
    for (const std::uint32_t number : {0u, 1u, 42u, 0xABCDu, kSegmentIdMax}) {
        EXPECT_EQ(segment_from_file_name(segment_file_name(number)), number);
    }
}

TEST(SegmentFormat, OtherNamesAreNoSegments) {
    for (const char *name : {"", ".val", "cache.idx", "0000002A.val", "2a.val", "0000002a.va",
                             "0000002a.valx", "x000002a.val", "-000002a.val", "0x00002a.val",
                             "ffffffff.val", "00000 2a.val", "discarded-0000002a.val.tmp"}) {
        EXPECT_FALSE(segment_from_file_name(name)) << name;
    }
    EXPECT_FALSE(segment_from_file_name(segment_file_name(kSegmentIdMax + 1)));
}

TEST(SegmentFormat, TheTraceOfARecordTellsTheIdentityToThoseWhoKnowVersionAndName) {
    CacheIdentity identity = sample();
    identity.hash_seed = hash_seed_of(identity.cache_id);
    const std::uint64_t trace = trace_of(identity);
    EXPECT_EQ(identity_of_trace(trace, identity.version, identity.name_hash), identity);
    const auto other = identity_of_trace(trace, identity.version + 1, identity.name_hash);
    EXPECT_NE(other.cache_id, identity.cache_id);
    identity.format = kOldestFormat;
    EXPECT_EQ(trace_of(identity), 0u) << "records of format 1 end as they always did";
}

TEST(SegmentFormat, CachesOfOtherNamesHaveOtherHashes) {
    EXPECT_NE(cache_name_hash("a"), cache_name_hash("b"));
    EXPECT_EQ(cache_name_hash("a"), cache_name_hash("a"));
}

}  // namespace
}  // namespace cairn
