// SPDX-License-Identifier: MIT
#include "history/reader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "history/files.h"
#include "history/history.h"
#include "os/deadline.h"
#include "support/files.h"
#include "support/process.h"
#include "support/random.h"
#include "support/shared.h"
#include "support/temp_directory.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using cairn_test::Child;

constexpr std::uint64_t kMiB = 1u << 20;
constexpr const char *kName = "app";

class HistoryReaderTest : public ::testing::Test {
  protected:
    HistoryReaderTest() {
        fs::create_directories(cache_);
        fs::permissions(root_, fs::perms::owner_all);
    }
    std::unique_ptr<History> open(std::uint64_t limit_bytes = 256 * kMiB) const {
        auto opened = History::open({root_, kName, 1, limit_bytes});
        EXPECT_TRUE(opened.ok());
        return opened.ok() ? std::move(*opened) : nullptr;
    }
    Directory directory() const { return std::move(*Directory::open(cache_)); }
    std::vector<LinkRead> links() const {
        auto read = read_history(directory());
        return read.ok() ? read->links : std::vector<LinkRead>();
    }

    cairn_test::TempDirectory directory_;
    const std::string root_ = directory_ / "root";
    const std::string cache_ = root_ + "/" + kName;
    const std::string sources_ = cache_ + "/sources";
};

TEST_F(HistoryReaderTest, WhereNothingWasRememberedNothingIsRead) {
    EXPECT_EQ(read_history(directory()).error(), Error::not_found);
    EXPECT_TRUE(read_sources(directory()).empty());
    cairn_test::write_file(cache_ + "/history", cairn_test::ByteVector(100'000, 'x'));
    EXPECT_EQ(read_history(directory()).error(), Error::not_found);
    cairn_test::write_file(cache_ + "/history", {});
    EXPECT_EQ(read_history(directory()).error(), Error::not_found);
}

TEST_F(HistoryReaderTest, ALinkIsReadAsItWasNoted) {
    const auto history = open();
    history->note_link({Outcome::other_context, Detail::gone, {1, 2, 3}, 1'234'567, 5});
    history->note_link({Outcome::unknown, Detail::asked, {}, UINT64_MAX, UINT64_MAX});
    const auto read = links();
    ASSERT_EQ(read.size(), 2u);
    EXPECT_EQ(read[0].number, 1u);
    EXPECT_EQ(read[0].run_start_ns, read_history(directory())->runs[0].start_ns);
    EXPECT_GE(read[0].time_ns, read[0].run_start_ns);
    EXPECT_EQ(read[0].link.outcome, Outcome::other_context);
    EXPECT_EQ(read[0].link.detail, Detail::gone);
    EXPECT_EQ(read[0].link.key, (LinkKey{1, 2, 3}));
    EXPECT_EQ(read[0].link.cost_ns, 1'234'000u);
    EXPECT_EQ(read[0].link.other, 5u);
    EXPECT_EQ(read[1].link.cost_ns, (UINT64_MAX >> 16) * 1000);
    EXPECT_EQ(read[1].link.other, UINT64_MAX);
    EXPECT_EQ(read_history(directory())->runs[0].last_ns / 1'000'000, read[1].time_ns / 1'000'000);
}

TEST_F(HistoryReaderTest, WhatIsQueuedIsReadUntilTheProcessEnds) {
    const auto queue = [this] {
        const auto read = read_history(directory());
        const RunRead run = read.ok() && !read->runs.empty() ? read->runs.back() : RunRead();
        return std::pair(run.queued_entries, run.queued_bytes);
    };
    const auto none = std::pair<std::uint64_t, std::uint64_t>(0, 0);
    const cairn_test::Shared<std::atomic<unsigned>> step;
    Child process([&] {
        const auto history = open();
        const std::vector<std::pair<std::uint64_t, std::uint64_t>> notes = {
            {3, 300}, {0, 0}, {UINT64_MAX, UINT64_MAX}, {7, 700}};
        for (const auto &[entries, bytes] : notes) {
            history->note_queue(entries, bytes);
            const unsigned now = ++*step;
            while (*step == now) std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
        return 0;
    });
    const auto next = [&] {
        ++*step;
        const unsigned now = *step;
        while (*step == now) std::this_thread::sleep_for(std::chrono::microseconds(100));
    };
    while (*step == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    EXPECT_EQ(queue(), std::pair(std::uint64_t{3}, std::uint64_t{300}));
    next();
    EXPECT_EQ(queue(), none);
    next();
    EXPECT_EQ(queue(), std::pair(kCheckedMax, kCheckedMax));
    next();
    const std::size_t offset = kRunsOffset + offsetof(RunRecord, queued_entries);
    for (unsigned bit = 0; bit < 64; ++bit) {
        cairn_test::flip_bit(cache_ + "/history", offset * 8 + bit);
        EXPECT_EQ(queue(), std::pair(std::uint64_t{0}, std::uint64_t{700})) << bit;
        cairn_test::flip_bit(cache_ + "/history", offset * 8 + bit);
    }
    EXPECT_EQ(queue(), std::pair(std::uint64_t{7}, std::uint64_t{700}));
    process.kill();
    EXPECT_EQ(queue(), none);
    const auto another = open();
    EXPECT_EQ(queue(), none);
}

TEST_F(HistoryReaderTest, TheLastLinksAreKeptInTheirOrder) {
    for (const auto &[limit, links_max] :
         {std::pair(63 * kMiB, kLinksSmall), std::pair(64 * kMiB, kLinksLarge)}) {
        forget_history(directory());
        auto history = open(limit);
        for (std::uint64_t i = 0; i < 10; ++i) history->note_link({.other = i});
        EXPECT_EQ(links().size(), 10u);
        history = open(limit);
        for (std::uint64_t i = 10; i < links_max + 100; ++i) history->note_link({.other = i});
        const auto read = read_history(directory());
        EXPECT_EQ(read.value().links_max, links_max);
        ASSERT_EQ(read.value().links.size(), links_max);
        for (std::size_t i = 0; i < links_max; ++i) {
            EXPECT_EQ(read.value().links[i].link.other, i + 100);
        }
    }
}

TEST_F(HistoryReaderTest, SourcesAreKept) {
    const auto history = open();
    EXPECT_FALSE(fs::exists(sources_));
    history->keep_sources({1}, "void main() {}");
    history->keep_sources({2}, "");
    history->keep_sources({3}, std::string(5000, 'a'));
    history->keep_sources({4}, std::string(kSourcesTextMax + 1, 'b'));
    history->keep_sources({1}, "another");
    const auto found = read_sources(directory());
    ASSERT_EQ(found.size(), 4u);
    EXPECT_EQ(found.at({1}), "another");
    EXPECT_EQ(found.at({2}), "");
    EXPECT_EQ(found.at({3}), std::string(5000, 'a'));
    EXPECT_EQ(found.at({4}), std::string(kSourcesTextMax, 'b'));
}

TEST_F(HistoryReaderTest, SourcesAreKeptOnceByAllProcesses) {
    const auto history = open();
    const auto other = open();
    history->keep_sources({1}, "void main() {}");
    const std::uint64_t size = cairn_test::file_size(sources_);
    for (int i = 0; i < 3; ++i) history->keep_sources({1}, "void main() {}");
    other->keep_sources({1}, "void main() {}");
    open()->keep_sources({1}, "void main() {}");
    Child child([&] {
        history->keep_sources({1}, "void main() {}");
        return 0;
    });
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(cairn_test::file_size(sources_), size);
    // What another one adds meanwhile counts, too.
    other->keep_sources({2}, "void main() {}");
    history->keep_sources({2}, "void main() {}");
    EXPECT_EQ(cairn_test::file_size(sources_), 2 * size);
    forget_history(directory());
    for (int i = 0; i < 2; ++i) history->keep_sources({1}, "void main() {}");
    EXPECT_EQ(cairn_test::file_size(sources_), size) << "it was forgotten";
}

// The new file may get the old one's number, and its size.
TEST_F(HistoryReaderTest, SourcesThatWereDeletedAreKeptAgainBehindThoseOfAnother) {
    const auto history = open();
    const auto other = open();
    history->keep_sources({1}, "void main() {}");
    fs::remove(sources_);
    other->keep_sources({2}, "void main() {}");
    history->keep_sources({1}, "void main() {}");
    EXPECT_EQ(read_sources(directory()).size(), 2u);
}

TEST_F(HistoryReaderTest, SourcesBehindDamageAreFound) {
    {
        const auto history = open();
        for (std::uint8_t i = 0; i < 100; ++i) {
            history->keep_sources({i}, std::string(i, static_cast<char>(i)));
        }
    }
    const auto whole = cairn_test::read_file(sources_);
    cairn_test::Random random(5);
    std::size_t found_most = 0;
    for (int round = 0; round < 500; ++round) {
        auto bytes = whole;
        for (std::uint64_t i = random.below(20) + 1; i > 0; --i) {
            bytes[random.below(bytes.size())] = static_cast<std::uint8_t>(random.next());
        }
        if (round % 5 == 0) bytes.resize(random.below(bytes.size()));
        if (round % 7 == 0) bytes.insert(bytes.begin(), random.below(50), 0x43);
        cairn_test::write_file(sources_, bytes);
        const auto found = read_sources(directory());
        for (const auto &[key, text] : found) {
            ASSERT_EQ(text, std::string(key[0], static_cast<char>(key[0])));
        }
        if (round % 5 != 0) {
            EXPECT_GE(found.size(), 75u);
        }
        found_most = std::max(found_most, found.size());
        open()->keep_sources({200}, std::string(200, static_cast<char>(200)));
        EXPECT_EQ(read_sources(directory()).count({200}), 1u);
    }
    EXPECT_GE(found_most, 98u);
}

TEST_F(HistoryReaderTest, MadeUpSourcesTakeNoTime) {
    // A head that promises much, again and again.
    std::string bytes;
    const SourcesHead head = {kSourcesMagic, 60'000, {}, 0};
    for (int i = 0; i < 20'000; ++i) {
        bytes.append(reinterpret_cast<const char *>(&head), sizeof head);
    }
    cairn_test::write_file(sources_, cairn_test::as_bytes(bytes));
    EXPECT_TRUE(read_sources(directory()).empty());
}

TEST_F(HistoryReaderTest, SourcesTakeNoMoreThanTheirPart) {
    const auto history = open(3 * kMiB);
    for (std::uint8_t i = 0; i < 100; ++i) history->keep_sources({i}, std::string(500, 'x'));
    EXPECT_LE(cairn_test::file_size(sources_), 3 * kMiB / 512);
    EXPECT_EQ(read_sources(directory()).size(), 3 * kMiB / 2048 / 532);
    // Even where something has made the file longer.
    fs::resize_file(sources_, std::uint64_t{1} << 40);
    history->keep_sources({1}, "text");
    EXPECT_EQ(cairn_test::file_size(sources_), std::uint64_t{1} << 40);
}

TEST_F(HistoryReaderTest, ProcessesKeepSourcesAtOnce) {
    std::vector<Child> children;
    for (std::uint8_t p = 0; p < 3; ++p) {
        children.emplace_back([this, p] {
            be_patient(1000);
            const auto history = open();
            for (std::uint8_t i = 0; i < 50; ++i) {
                history->keep_sources({p, i}, std::string(static_cast<std::size_t>(i) * 10, 'a'));
            }
            return 0;
        });
    }
    for (Child &child : children) EXPECT_EQ(child.wait(), 0);
    const auto found = read_sources(directory());
    EXPECT_EQ(found.size(), 150u);
    for (const auto &[key, text] : found) EXPECT_EQ(text.size(), key[1] * 10u);
}

}  // namespace
}  // namespace cairn
