// SPDX-License-Identifier: MIT
#include "store/segment_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "os/testing/scratch.h"
#include "store/segment_format.h"

namespace cairn {
namespace {

class SegmentTableTest : public ::testing::Test {
  protected:
    SegmentTableTest()
        : directory_(std::move(Directory::open(scratch_.path()).value())), table_(directory_) {}

    void create(std::uint32_t segment, const std::string &text) {
        const auto file = directory_.create_file(segment_file_name(segment));
        const Bytes pieces[] = {as_bytes(text)};
        ASSERT_TRUE(file->write_at(0, pieces).ok());
    }
    void remove(std::uint32_t segment) {
        ASSERT_TRUE(directory_.remove_file(segment_file_name(segment)).ok());
    }
    static std::string content(const SegmentTable::OpenSegment &reader) {
        std::byte bytes[64];
        const auto count = reader.file().read_at(0, bytes);
        if (!count.ok()) return "(error)";
        return {reinterpret_cast<const char *>(bytes), count.value()};
    }

    testing::Scratch scratch_{testing::Scratch::Place::memory};
    Directory directory_;
    SegmentTable table_;
};

TEST_F(SegmentTableTest, OpensAndReads) {
    create(3, "three");
    const auto reader = table_.open(3);
    ASSERT_TRUE(reader.ok());
    EXPECT_EQ(content(reader.value()), "three");
    EXPECT_EQ(reader->file().info()->size_bytes, 5u);
    std::byte head[2], rest[8];
    EXPECT_EQ(reader->file().read_at(0, MutableBytes(head), MutableBytes(rest)).value(), 5u);
    EXPECT_EQ(rest[0], std::byte{'r'});
}

TEST_F(SegmentTableTest, AMissingSegmentIsNotFound) {
    EXPECT_EQ(table_.open(3).error(), Error::not_found);
    EXPECT_EQ(table_.reopen(3).error(), Error::not_found);
    create(3, "now");
    EXPECT_EQ(content(table_.open(3).value()), "now");
}

TEST_F(SegmentTableTest, ADeletedFileIsReadableWhileItIsHeldAndForgottenAfterwards) {
    create(3, "three");
    {
        const auto reader = table_.open(3);
        remove(3);
        table_.forget_deleted();
        EXPECT_EQ(content(reader.value()), "three");
        EXPECT_EQ(content(table_.open(3).value()), "three");
    }
    table_.forget_deleted();
    EXPECT_EQ(table_.open(3).error(), Error::not_found);
}

TEST_F(SegmentTableTest, ReopeningFindsTheFileThatHasTheNameNow) {
    create(3, "old");
    EXPECT_EQ(content(table_.open(3).value()), "old");
    remove(3);
    create(3, "new");
    EXPECT_EQ(content(table_.open(3).value()), "old") << "the descriptor is still that";
    EXPECT_EQ(content(table_.reopen(3).value()), "new");
    EXPECT_EQ(content(table_.open(3).value()), "new");
}

TEST_F(SegmentTableTest, ReopeningLeavesOtherReadersTheirFile) {
    create(3, "old");
    const auto held = table_.open(3);
    remove(3);
    create(3, "new");
    EXPECT_EQ(content(table_.reopen(3).value()), "new");
    EXPECT_EQ(content(held.value()), "old");
}

TEST_F(SegmentTableTest, SegmentsThatShareAnEntryAreNotMixedUp) {
    create(5, "five");
    create(5 + 1024, "five again");
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(content(table_.open(5).value()), "five");
        EXPECT_EQ(content(table_.open(5 + 1024).value()), "five again");
    }
    const auto held = table_.open(5);
    EXPECT_EQ(content(table_.open(5 + 1024).value()), "five again");
    EXPECT_EQ(content(held.value()), "five");
}

TEST_F(SegmentTableTest, ThreadsReadWhileFilesAreDeletedAndMadeAgain) {
    constexpr std::uint32_t kSegments = 4;
    const auto text = [](std::uint32_t segment, unsigned age) {
        return "segment " + std::to_string(segment) + " age " + std::to_string(age) + ";";
    };
    for (std::uint32_t s = 0; s < kSegments; ++s) create(s * 1024, text(s * 1024, 0));
    std::atomic<bool> ended = false;
    std::atomic<unsigned> wrong = 0;
    std::vector<std::thread> readers;
    for (unsigned t = 0; t < 3; ++t) {
        readers.emplace_back([&, t] {
            for (unsigned i = t; !ended.load(); ++i) {
                const std::uint32_t segment = i % kSegments * 1024;  // all in one place
                const auto reader = i % 7 == 0 ? table_.reopen(segment) : table_.open(segment);
                if (!reader.ok()) continue;
                const std::string expected = "segment " + std::to_string(segment) + " age";
                const std::string found = content(reader.value());
                // A file is empty for a moment after it was made.
                if (!found.empty() && !found.starts_with(expected)) wrong.fetch_add(1);
                if (i % 11 == 0) table_.forget_deleted();
            }
        });
    }
    for (unsigned age = 1; age < 300; ++age) {
        const std::uint32_t segment = age % kSegments * 1024;
        remove(segment);
        create(segment, text(segment, age));
    }
    ended = true;
    for (std::thread &reader : readers) reader.join();
    EXPECT_EQ(wrong.load(), 0u);
    for (std::uint32_t s = 0; s < kSegments; ++s) {
        EXPECT_TRUE(content(table_.reopen(s * 1024).value()).starts_with("segment"));
    }
}

}  // namespace
}  // namespace cairn
