// The format page and the code say the same: the page's own hexadecimal example is decoded, and
// caches written by every version of the format so far are read.
// SPDX-License-Identifier: MIT
#include <cairn/cairn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "golden/entries.h"
#include "golden/example.h"

namespace cairn_test {
namespace {

// The bytes of the indented block below the line `#### heading` of the page.
std::vector<std::byte> block(const std::string &heading) {
    std::ifstream page(CAIRN_FORMAT_PAGE);
    std::vector<std::byte> bytes;
    std::string line;
    bool inside = false;
    while (std::getline(page, line)) {
        if (line.starts_with("#")) inside = line == "#### " + heading;
        if (!inside || !line.starts_with("    ")) continue;
        std::istringstream words(line);
        std::string word;
        words >> word;  // the offset
        while (words >> word) bytes.push_back(static_cast<std::byte>(std::stoi(word, nullptr, 16)));
    }
    return bytes;
}

TEST(FormatPage, IndexHeaderDecodes) {
    const auto header = cairn::decode_index_header(block("Index header"));
    ASSERT_TRUE(header);
    EXPECT_EQ(header->identity.format, cairn::kNewestFormat);
    EXPECT_EQ(header->identity, example_identity());
    EXPECT_EQ(block("Index header"), example_index_header());
}

TEST(FormatPage, SegmentAndRecordDecode) {
    const auto bytes = block("Segment");
    ASSERT_EQ(bytes, example_segment());
    EXPECT_EQ(cairn::decode_segment_header(bytes, kExampleLocation.segment), example_identity());
    const auto record = cairn::Bytes(bytes).subspan(kExampleLocation.offset);
    const auto header = cairn::decode_record_header(
        record, cairn::record_seed(example_identity().cache_id, kExampleLocation));
    ASSERT_TRUE(header);
    const auto value = record.subspan(header->value_offset(), header->value_size);
    EXPECT_TRUE(cairn::same_bytes(value, cairn::as_bytes(kExampleValue)));
    EXPECT_EQ(cairn::value_checksum(value), header->value_check);
    EXPECT_EQ(header->cost_us, 1500u);
    EXPECT_TRUE(header->pinned);
}

TEST(FormatPage, SlotDecodes) {
    const auto bytes = block("Slot");
    ASSERT_EQ(bytes.size(), 8u);
    const cairn::Slot slot(cairn::get_le<std::uint64_t>(bytes, 0));
    EXPECT_EQ(slot.word(), example_slot().word());
    EXPECT_TRUE(slot.intact());
    EXPECT_EQ(slot.location(), kExampleLocation);
    EXPECT_FALSE(slot.tentative());
}

TEST(FormatPage, SlotLiesInTheFileAsThePageSays) {
    const auto bytes = block("Slot in the file");
    ASSERT_EQ(bytes.size(), 8u);
    EXPECT_EQ(cairn::get_le<std::uint64_t>(bytes, 0), example_word_in_file());
}

// Copies a stored cache to where it may be written, and looks up what it is known to hold.
class GoldenFiles : public ::testing::TestWithParam<const char *> {};

TEST_P(GoldenFiles, AreReadAndWritten) {
    const std::filesystem::path scratch =
        std::filesystem::temp_directory_path() / ("cairn-golden-" + std::to_string(::getpid()));
    std::filesystem::create_directories(scratch);
    std::filesystem::permissions(scratch, std::filesystem::perms::owner_all);
    std::filesystem::copy(std::filesystem::path(CAIRN_GOLDEN_DIRECTORY) / GetParam(),
                          scratch / "example", std::filesystem::copy_options::recursive);
    std::filesystem::permissions(scratch / "example", std::filesystem::perms::owner_all);
    const std::string root = scratch.string();
    cairn_options options = {};
    options.size = sizeof options;
    options.root = root.c_str();
    options.identifier = "example";
    options.version = 3;
    cairn_cache *cache = nullptr;
    ASSERT_EQ(cairn_open(&options, &cache), CAIRN_OK);
    for (int i = 0; i < 20; ++i) expect_entry(cache, i);
    EXPECT_EQ(cairn_put(cache, "new", 3, "value", 5, nullptr), CAIRN_OK);
    EXPECT_EQ(cairn_contains(cache, "new", 3), CAIRN_OK);
    cairn_close(cache);
    std::filesystem::remove_all(scratch);
}

INSTANTIATE_TEST_SUITE_P(EveryVersion, GoldenFiles,
                         ::testing::Values("v1", "v1-compressed", "v2", "v2-compressed"),
                         [](const auto &each) {
                             std::string name = each.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace cairn_test
