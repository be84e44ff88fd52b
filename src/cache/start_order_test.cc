// SPDX-License-Identifier: MIT
#include "cache/start_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "os/testing/failing_calls.h"
#include "os/testing/scratch.h"

namespace cairn {
namespace {

Directory open_at(const testing::Scratch &scratch) {
    auto directory = Directory::open(scratch.path());
    EXPECT_TRUE(directory.ok());
    return std::move(directory.value());
}

void write_file(const Directory &directory, Bytes content) {
    (void)directory.remove_file(kOrderFileName);
    const auto file = directory.create_file(kOrderFileName);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write_whole(content).ok());
}

StartOrder keys(std::size_t from, std::size_t to) {
    StartOrder order;
    for (std::size_t i = from; i < to; ++i) order.push_back("key " + std::to_string(i));
    return order;
}

Result<bool> write_first(const Directory &directory, const StartOrder &start) {
    return write_order(directory, start, OrderWrite::first);
}

std::vector<std::byte> encode(const StartOrder &order) {
    std::vector<OrderedKey> keys;
    for (const std::string &key : order) keys.push_back({key, 0});
    return encode_order(keys);
}

TEST(StartOrder, WhatIsWrittenIsReadInItsOrder) {
    const testing::Scratch scratch;
    const Directory directory = open_at(scratch);
    EXPECT_TRUE(read_order(directory).empty());
    ASSERT_TRUE(write_first(directory, {"b", "a", "c"}).ok());
    EXPECT_EQ(read_order(directory), (StartOrder{"b", "a", "c"}));
    forget_order(directory);
    EXPECT_TRUE(read_order(directory).empty());
}

TEST(StartOrder, ANewStartIsFirstAndTheRestOfTheLastStays) {
    const testing::Scratch scratch;
    const Directory directory = open_at(scratch);
    ASSERT_TRUE(write_first(directory, {"a", "b", "c"}).ok());
    ASSERT_TRUE(write_first(directory, {"c", "d"}).ok());
    EXPECT_EQ(read_order(directory), (StartOrder{"c", "d", "a", "b"}));
}

TEST(StartOrder, EachKeyKnowsHowManyStartsHaveNotUsedIt) {
    const testing::Scratch scratch;
    const Directory directory = open_at(scratch);
    ASSERT_TRUE(write_first(directory, {"a", "b"}).ok());
    ASSERT_TRUE(write_first(directory, {"b", "c"}).ok());
    ASSERT_TRUE(write_order(directory, {"b", "c", "d"}, OrderWrite::again).ok());
    EXPECT_EQ(read_order(directory, 1), (StartOrder{"b", "c", "d"}));
    EXPECT_EQ(read_order(directory, 2), (StartOrder{"b", "c", "d", "a"}));
    ASSERT_TRUE(write_first(directory, {"d"}).ok());
    ASSERT_TRUE(write_first(directory, {"d"}).ok());
    EXPECT_EQ(read_order(directory, 2), StartOrder{"d"});
    EXPECT_EQ(read_order(directory, 3), (StartOrder{"d", "b", "c"}));
    EXPECT_EQ(read_order(directory, 4), (StartOrder{"d", "b", "c", "a"}));
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(write_first(directory, {"d"}).ok());
    EXPECT_EQ(read_order(directory, kStartsMax), StartOrder{"d"});
    EXPECT_EQ(read_order(directory), (StartOrder{"d", "b", "c", "a"}));
}

TEST(StartOrder, TheSameStartWritesNothing) {
    const testing::Scratch scratch;
    const Directory directory = open_at(scratch);
    ASSERT_TRUE(write_first(directory, {"a", "b"}).ok());
    const auto path = std::filesystem::path(scratch.path()) / kOrderFileName;
    const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
    std::filesystem::last_write_time(path, long_ago);
    ASSERT_TRUE(write_first(directory, {"a", "b"}).ok());
    ASSERT_TRUE(write_order(directory, {"a"}, OrderWrite::again).ok());
    EXPECT_EQ(std::filesystem::last_write_time(path), long_ago);
    ASSERT_TRUE(write_first(directory, {"b", "a"}).ok());
    EXPECT_NE(std::filesystem::last_write_time(path), long_ago);
}

// As a tool that uses one entry, or a start that ends early.
TEST(StartOrder, AStartThatUsedFewOfTheKeysChangesNothing) {
    const testing::Scratch scratch;
    const Directory directory = open_at(scratch);
    ASSERT_TRUE(write_first(directory, keys(0, 640)).ok());
    ASSERT_TRUE(write_first(directory, keys(300, 310)).ok());
    EXPECT_EQ(read_order(directory), keys(0, 640));
    EXPECT_EQ(read_order(directory, 1), keys(0, 640)) << "it is no start";
    ASSERT_TRUE(write_first(directory, keys(300, 311)).ok()) << "more than a 64th";
    EXPECT_EQ(read_order(directory).front(), "key 300");
    ASSERT_TRUE(write_first(directory, {"key 7", "new"}).ok());
    EXPECT_EQ(read_order(directory).front(), "key 7");
    EXPECT_EQ(read_order(directory).size(), 641u);
}

TEST(StartOrder, AnythingElseOfThatNameIsReplacedAndALinksTargetStays) {
    const testing::Scratch scratch;
    const Directory directory = open_at(scratch);
    const std::vector<std::byte> damaged(1000, std::byte{'x'});
    write_file(directory, damaged);
    ASSERT_TRUE(write_first(directory, {"a"}).ok());
    EXPECT_EQ(read_order(directory), StartOrder{"a"});
    const auto path = std::filesystem::path(scratch.path()) / kOrderFileName;
    const auto other = std::filesystem::path(scratch.path()) / "other";
    std::filesystem::rename(path, other);
    std::filesystem::create_symlink(other, path);
    EXPECT_TRUE(read_order(directory).empty());
    ASSERT_TRUE(write_first(directory, {"b"}).ok());
    EXPECT_EQ(read_order(directory), StartOrder{"b"});
    EXPECT_EQ(std::filesystem::file_size(other), encode({"a"}).size());
    std::filesystem::remove(other);
    std::filesystem::create_hard_link(path, other);
    ASSERT_TRUE(write_first(directory, {"c"}).ok());
    EXPECT_EQ(std::filesystem::file_size(other), encode({"b"}).size());
}

TEST(StartOrder, AFileThatCannotBeWrittenStaysAndNothingIsLeftBehind) {
    const testing::Scratch scratch;
    const Directory directory = open_at(scratch);
    ASSERT_TRUE(write_first(directory, {"a"}).ok());
    testing::FailingCalls calls;
    testing::Fault fault;
    fault.error = ENOSPC;
    for (const testing::Call call : {testing::Call::openat, testing::Call::pwritev}) {
        fault.only = call;
        fault.first = call == testing::Call::openat ? 2 : 1;  // the first one reads
        calls.arm(fault);
        EXPECT_FALSE(write_first(directory, {"b"}).ok());
        EXPECT_EQ(read_order(directory), StartOrder{"a"});
    }
    // A file system that cannot exchange files.
    fault.error = EINVAL;
    fault.only = testing::Call::renameat2;
    calls.arm(fault);
    ASSERT_TRUE(write_first(directory, {"b"}).ok());
    EXPECT_EQ(read_order(directory), (StartOrder{"b", "a"}));
    const auto entries = std::filesystem::directory_iterator(scratch.path());
    EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

// As two caches of one process do, or of processes with one number in different containers.
TEST(StartOrder, OfTwoThatWriteAtOneMomentOneCounts) {
    const testing::Scratch scratch;
    const Directory directory = open_at(scratch);
    ASSERT_TRUE(write_first(directory, keys(0, 2000)).ok());
    const auto write = [&](StartOrder order) {
        for (int i = 0; i < 100; ++i) {
            EXPECT_TRUE(write_first(directory, order).ok());
            std::rotate(order.begin(), order.begin() + 1, order.end());
        }
    };
    std::thread thread([&] { write(keys(0, 2000)); });
    std::thread reader([&] {
        for (int i = 0; i < 300; ++i) EXPECT_GE(read_order(directory).size(), 2000u);
    });
    write(keys(1000, 3000));
    thread.join();
    reader.join();
    EXPECT_EQ(read_order(directory).size(), 3000u);
}

TEST(StartOrder, ItIsBoundedAndTheFirstKeysStay) {
    const StartOrder many = keys(0, 2 * kOrderKeysMax);
    const std::vector<std::byte> cut = encode(many);
    const auto read = decode_order(cut);
    ASSERT_TRUE(read);
    EXPECT_TRUE(std::equal(read->begin(), read->end(), many.begin(),
                           [](const OrderedKey &a, const std::string &b) { return a.key == b; }));
    EXPECT_EQ(read->size(), kOrderKeysMax);

    StartOrder large(1000, std::string(kOrderKeyMax, 'x'));
    large.front() = std::string(kOrderKeyMax + 1, 'y');
    const std::vector<std::byte> bytes = encode(large);
    EXPECT_LE(bytes.size(), kOrderBytesMax);
    EXPECT_GT(bytes.size(), kOrderBytesMax - 2 * kOrderKeyMax);
    EXPECT_EQ(decode_order(bytes)->front().key, std::string(kOrderKeyMax, 'x'));
}

// docs/formats/order.md
TEST(StartOrder, TheDocumentsExampleIsWhatIsWritten) {
    constexpr unsigned char kExample[] = {0x43, 0x4e, 0x4f, 0x52, 0x44, 0x45, 0x52, 0x32, 0xfd,
                                          0xa5, 0x26, 0x08, 0x52, 0xe1, 0x66, 0x36, 2,    0,
                                          0,    0,    0,    0,    0,    0,    1,    0,    0,
                                          'a',  2,    0,    1,    'b',  'c'};
    const std::vector<std::byte> written = encode_order({{"a", 0}, {"bc", 1}});
    EXPECT_TRUE(same_bytes(written, std::as_bytes(std::span(kExample))));
}

TEST(StartOrder, DamageIsNoOrder) {
    const std::vector<std::byte> good = encode(keys(0, 20));
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(decode_order(Bytes(good).first(size))) << size;
    }
    for (std::size_t i = 0; i < good.size(); ++i) {
        std::vector<std::byte> bad = good;
        bad[i] ^= std::byte{0x10};
        EXPECT_FALSE(decode_order(bad)) << i;
    }
    std::vector<std::byte> longer = good;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(decode_order(longer));
}

// A forger of a file can compute its check, too.
TEST(StartOrder, AForgedFileIsReadWithinItsBoundsOnly) {
    const auto forged = [](std::uint64_t count, std::vector<std::uint16_t> sizes) {
        std::vector<std::byte> bytes = encode(keys(0, sizes.size()));
        put_le(MutableBytes(bytes), 16, count);
        std::size_t offset = 24;
        for (const std::uint16_t size : sizes) {
            put_le(MutableBytes(bytes), offset, size);
            offset += 3 + 5;
        }
        put_le(MutableBytes(bytes), 8, order_check(bytes));
        return bytes;
    };
    EXPECT_TRUE(decode_order(forged(3, {5, 5, 5})));
    EXPECT_FALSE(decode_order(forged(4, {5, 5, 5})));
    EXPECT_FALSE(decode_order(forged(2, {5, 5, 5})));
    EXPECT_FALSE(decode_order(forged(UINT64_MAX, {5, 5, 5})));
    EXPECT_FALSE(decode_order(forged(3, {5, 5, 6})));
    EXPECT_FALSE(decode_order(forged(3, {5, 65535, 5})));
    EXPECT_FALSE(decode_order(forged(3, {0, 5, 5})));
}

TEST(StartOrder, WhatIsNoFileOfOursIsNoOrder) {
    const testing::Scratch scratch;
    const Directory directory = open_at(scratch);
    const std::vector<std::byte> huge(kOrderBytesMax + 1);
    write_file(directory, huge);
    EXPECT_TRUE(read_order(directory).empty());
    write_file(directory, {});
    EXPECT_TRUE(read_order(directory).empty());
    ASSERT_TRUE(write_first(directory, {"a"}).ok());
    EXPECT_EQ(read_order(directory), StartOrder{"a"});
    ASSERT_TRUE(directory.remove_file(kOrderFileName).ok());
    ASSERT_TRUE(directory.create_directory(kOrderFileName).ok());
    EXPECT_TRUE(read_order(directory).empty());
    ASSERT_TRUE(write_first(directory, {"a"}).ok());
    EXPECT_EQ(read_order(directory), StartOrder{"a"});
}

}  // namespace
}  // namespace cairn
