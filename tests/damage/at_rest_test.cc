// Files of a cache are damaged while nobody uses it: nothing wrong is ever returned, and what was
// not hit is still there.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <functional>

#include "damage/damage_kinds.h"
#include "store/index_format.h"
#include "support/files.h"
#include "support/long_form.h"
#include "support/process.h"
#include "support/stamped_value.h"

namespace cairn_test {
namespace {

constexpr unsigned kWatchdogSeconds = 60;

const SampleCache &sample() {
    static const SampleCache cache(240, 3, 1);
    return cache;
}
const SampleCache &small_sample() {
    static const SampleCache cache(24, 2, 2);
    return cache;
}
const SampleCache &foreign() {
    static const SampleCache cache(60, 3, 3, "foreign");
    return cache;
}

std::string check(const SampleCache &cache, const std::string &root,
                  const std::vector<Range> &damaged, std::uint64_t seed) {
    return run_in_child(kWatchdogSeconds,
                        [&] { return check_damaged_cache(cache, root, damaged, seed); });
}

class AtRest : public testing::TestWithParam<DamageKind> {};

// One to twenty damages of a kind: often of the index, at times of the small files.
Damaged damage_some(const DamageKind &kind, const DamageScene &scene, Random &random) {
    Damaged all;
    const std::uint64_t count = random.one_in(2) ? 1 : 1 + random.below(20);
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto paths = files_in(scene.directory);
        const std::string path = paths.empty() || random.one_in(3)
                                     ? path_in_cache(scene.directory, "cache.idx")
                                     : paths[random.below(paths.size())];
        const std::string name = path.substr(path.rfind('/') + 1);
        const auto file = file_kind_of(name);
        if (!file || !can_have(kind, *file, Use::at_rest)) continue;
        const Damaged one = damage_file(kind, scene, name, random);
        all.ranges.insert(all.ranges.end(), one.ranges.begin(), one.ranges.end());
        all.what += one.what;
    }
    return all;
}

TEST_P(AtRest, DamageCostsOnlyWhatItHits) {
    constexpr std::uint64_t kRounds = kIsSlow ? 1 : 4;
    for (std::uint64_t seed = 0; seed < kRounds && !HasFailure(); ++seed) {
        const TempDirectory root;
        const TempDirectory other;
        sample().copy_to(root.path());
        foreign().copy_to(other.path());
        Random random(mix(seed, std::hash<std::string_view>()(GetParam().name)));
        const DamageScene scene = {root / "test", other / "test"};
        const Damaged damaged = damage_some(GetParam(), scene, random);
        EXPECT_EQ(check(sample(), root.path(), damaged.ranges, seed), "")
            << "seed " << seed << ": " << damaged.what;
    }
}

// Those of permissions are in damage_cases_test, as another user than root.
std::vector<DamageKind> kinds_for_root() {
    std::vector<DamageKind> kinds;
    for (const DamageKind &kind : damage_kinds()) {
        if (!kind.is_permission) kinds.push_back(kind);
    }
    return kinds;
}

std::string test_name(const testing::TestParamInfo<DamageKind> &kind) {
    std::string name = kind.param.name;
    for (char &letter : name) {
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
    }
    return name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, AtRest, testing::ValuesIn(kinds_for_root()), test_name);

// ---- one place after the other

enum class IndexFile { kept, lost };

// Flips every `step`th bit of a range for itself, in a copy of the small sample. Steps are odd, so
// that each bit of a byte has its turn.
void flip_bits(const Range &range, std::uint64_t step, IndexFile index,
               const std::vector<Range> &damaged) {
    const TempDirectory root;
    if (kIsSlow) step = step * 24 + 1;  // still each bit in turn
    for (std::uint64_t bit = range.begin * 8; bit < range.end * 8; bit += step) {
        remove_tree(root / "test");
        small_sample().copy_to(root.path());
        flip_bit(root / ("test/" + range.file), bit);
        if (index == IndexFile::lost) unlink((store_files(root / "test") + "/cache.idx").c_str());
        ASSERT_EQ(check(small_sample(), root.path(), damaged, bit), "")
            << "bit " << bit << " of " << range.file
            << (index == IndexFile::lost ? ", index lost" : "");
    }
}

TEST(AtRestAnyBit, OfTheIndexHeaderIsRepaired) {
    flip_bits({"cache.idx", 0, 64}, 3, IndexFile::kept, {});
}

TEST(AtRestAnyBit, OfTheIndexCountersIsHarmless) {
    for (const std::uint64_t counter : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 16u, 17u}) {
        if (testing::Test::HasFatalFailure()) break;
        const std::uint64_t begin = 4096 + counter * 64;
        flip_bits({"cache.idx", begin, begin + 8}, 3, IndexFile::kept, {});
    }
}

TEST(AtRestAnyBit, OfASegmentHeaderIsHarmless) {
    const std::string file = small_sample().entries()[0].record.file;
    flip_bits({file, 0, 64}, 3, IndexFile::kept, {});
}

TEST(AtRestAnyBit, OfARecordHeaderCostsOneEntry) {
    const Range record = small_sample().entries()[0].record;
    const Range header = {record.file, record.begin, record.begin + 64};
    flip_bits(header, 3, IndexFile::kept, {record});
    flip_bits(header, 3, IndexFile::lost, {record});
}

TEST(AtRestAnyBit, OfARemovedRecordDoesNotBringItBack) {
    const Range record = small_sample().removed()[0].record;
    flip_bits({record.file, record.begin, record.begin + 64}, 5, IndexFile::lost, {});
    // The byte that says so.
    flip_bits({record.file, record.begin + 4, record.begin + 5}, 1, IndexFile::lost, {});
}

TEST(AtRest, AnIndexOfZerosIsRebuilt) {
    for (const std::uint64_t from : {0u, 64u, 4096u, 8192u, 12288u, 16384u, 20480u}) {
        const TempDirectory root;
        small_sample().copy_to(root.path());
        const std::string path = store_files(root / "test") + "/cache.idx";
        overwrite(path, from, ByteVector(file_size(path) - from));
        EXPECT_EQ(check(small_sample(), root.path(), {}, from), "") << "zeros from " << from;
    }
}

// Where the limit lets the index grow no further, what is damaged in it has to make room.
TEST(AtRest, AZeroedPageOfSlotsTakesNewEntriesAtOnce) {
    const TempDirectory root;
    CacheOptions options;
    options.root = root.path();
    options.limit_bytes = CAIRN_LIMIT_BYTES_MIN;
    const auto value = [](std::uint64_t key) { return stamped_value({key, 0, 0, 0}, 100); };
    {
        Cache cache(options);
        for (std::uint64_t key = 0; key < 300; ++key) {
            ASSERT_EQ(cache.put(numbered_key(1, key), value(key)), CAIRN_OK);
        }
    }
    const std::uint64_t slots =
        cairn::level_offset(0) + cairn::level_bitmap_pages(0) * cairn::kPage;
    overwrite(store_files(root / "test") + "/cache.idx", slots,
              ByteVector(cairn::index_size(1) - slots));
    Cache cache(options);
    for (std::uint64_t key = 0; key < 300; ++key) {
        ASSERT_EQ(cache.put(numbered_key(2, key), value(key)), CAIRN_OK) << key;
    }
    for (std::uint64_t key = 0; key < 300; ++key) {
        EXPECT_TRUE(cache.get(numbered_key(1, key))) << key;
        EXPECT_TRUE(cache.get(numbered_key(2, key))) << key;
    }
}

TEST(AtRest, AnIndexThatIsCutAnywhereIsRebuilt) {
    const std::uint64_t size = file_size(path_in_cache(small_sample().directory(), "cache.idx"));
    for (std::uint64_t length = 0; length <= size; length += length < 300 ? 17 : 1531) {
        const TempDirectory root;
        small_sample().copy_to(root.path());
        cut(store_files(root / "test") + "/cache.idx", length);
        ASSERT_EQ(check(small_sample(), root.path(), {}, length), "") << "cut to " << length;
    }
}

// ---- things that are no regular files

enum class Special { fifo, directory, dangling_link, link, socket };

void make_special(Special special, const std::string &path, const std::string &outside) {
    unlink(path.c_str());
    switch (special) {
        case Special::fifo:
            ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
            break;
        case Special::directory:
            ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
            break;
        case Special::dangling_link:
            ASSERT_EQ(symlink("nowhere", path.c_str()), 0);
            break;
        case Special::link:
            ASSERT_EQ(symlink(outside.c_str(), path.c_str()), 0);
            break;
        case Special::socket: {
            sockaddr_un address = {};
            address.sun_family = AF_UNIX;
            if (path.size() >= sizeof(address.sun_path)) return;
            path.copy(address.sun_path, path.size());
            const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
            const auto *plain = reinterpret_cast<const sockaddr *>(&address);
            EXPECT_EQ(bind(descriptor, plain, sizeof(address)), 0);
            close(descriptor);
        }
    }
}

// Opening may fail; nothing may be wrong, hang or crash, and what a link points to stays as it is.
int use_with_special(const SampleCache &cache, const std::string &root) {
    CacheOptions options;
    options.root = root;
    Cache opened(options);
    if (!opened.is_open()) return 0;
    for (const SampleEntry &entry : cache.entries()) {
        const auto blob = opened.get(entry.key);
        if (blob && !std::ranges::equal(blob->bytes(), entry.value)) return 1;
    }
    for (const SampleEntry &entry : cache.removed()) {
        if (opened.get(entry.key)) return 2;
    }
    opened.put(as_bytes("key"), as_bytes("value"));
    const auto blob = opened.get(as_bytes("key"));
    if (blob && as_string(blob->bytes()) != "value") return 3;
    opened.clear();
    opened.sync();
    return 0;
}

TEST(AtRest, WhatIsNoRegularFileIsNotUsed) {
    for (const auto special : {Special::fifo, Special::directory, Special::dangling_link,
                               Special::link, Special::socket}) {
        for (const char *extension : {".idx", ".lock", ".val"}) {
            const TempDirectory root;
            const std::string outside = root / "outside";
            const ByteVector content(10000, 'o');
            write_file(outside, content);
            small_sample().copy_to(root.path());
            std::vector<Range> damaged;
            for (const auto &path : files_in(root / "test", extension)) {
                make_special(special, path, outside);
                damaged.push_back({path.substr(path.rfind('/') + 1), 0, UINT64_MAX});
            }
            EXPECT_EQ(run_in_child(kWatchdogSeconds,
                                   [&] { return use_with_special(small_sample(), root.path()); }),
                      "")
                << extension << ", kind " << static_cast<int>(special);
            EXPECT_EQ(read_file(outside), content) << extension;
            // Where only values are gone, the cache still works.
            if (std::string_view(extension) == ".val") {
                remove_tree(root / "test");
                small_sample().copy_to(root.path());
                const std::string path = files_in(root / "test", ".val").front();
                make_special(special, path, outside);
                EXPECT_EQ(check(small_sample(), root.path(),
                                {{path.substr(path.rfind('/') + 1), 0, UINT64_MAX}}, 1),
                          "")
                    << "one segment, kind " << static_cast<int>(special);
                EXPECT_EQ(read_file(outside), content) << "one segment";
            }
        }
    }
}

}  // namespace
}  // namespace cairn_test
