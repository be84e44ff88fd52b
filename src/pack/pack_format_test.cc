// SPDX-License-Identifier: MIT
#include "pack/pack_format.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "os/testing/scratch.h"
#include "pack/pack_reader.h"
#include "pack/testing/packs.h"

namespace cairn {
namespace {

// The pack of the page's example: its bytes that are not zero, by offset.
std::map<std::size_t, std::vector<std::byte>> example_of_page() {
    std::ifstream page(PACK_DOCUMENT);
    std::map<std::size_t, std::vector<std::byte>> rows;
    std::string line;
    bool is_inside = false;
    while (std::getline(page, line)) {
        if (line.starts_with("#")) is_inside = line == "#### The file";
        if (!is_inside || !line.starts_with("    ")) continue;
        std::istringstream words(line);
        std::string word;
        words >> word;
        auto &row = rows[std::stoul(word, nullptr, 16)];
        while (words >> word) row.push_back(static_cast<std::byte>(std::stoi(word, nullptr, 16)));
    }
    return rows;
}

std::vector<testing::PackedPart> example_parts() {
    return {{"example", 3, "", {{"teapot", "I am a teapot."}}, {"teapot"}}};
}

std::vector<std::byte> bytes_of_file(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const Bytes bytes = as_bytes(text);
    return {bytes.begin(), bytes.end()};
}

TEST(PackPage, ItsExampleIsWhatTheWriterWrites) {
    const testing::Scratch scratch;
    testing::write_pack(scratch / "a.pack", example_parts(), "An example.");
    const auto written = bytes_of_file(scratch / "a.pack");
    const auto rows = example_of_page();
    ASSERT_FALSE(rows.empty());
    std::vector<std::byte> from_page(written.size());
    for (const auto &[offset, row] : rows) {
        ASSERT_LE(offset + row.size(), from_page.size());
        std::copy(row.begin(), row.end(), from_page.begin() + static_cast<std::ptrdiff_t>(offset));
    }
    for (std::size_t i = 0; i < written.size(); i += 16) {
        const Bytes expected = Bytes(written).subspan(i, 16);
        ASSERT_TRUE(same_bytes(Bytes(from_page).subspan(i, 16), expected))
            << std::hex << i << ": " << hexadecimal(expected);
    }
}

TEST(PackPage, ItsExampleDecodes) {
    std::vector<std::byte> bytes(1u << 20);
    std::size_t size = 0;
    for (const auto &[offset, row] : example_of_page()) {
        std::copy(row.begin(), row.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
        size = offset + row.size();
    }
    const testing::Scratch scratch;
    const auto directory = Directory::open(scratch.path());
    auto file = directory->create_file("a.pack");
    const Bytes body = Bytes(bytes).first(size + kPackTrailerSize);
    ASSERT_TRUE(file->write_at(0, std::span(&body, 1)).ok());
    auto pack = Pack::open(std::move(*file));
    ASSERT_TRUE(pack.ok());
    const auto number = (*pack)->find_part(identity_of({PackKind::entries, "example", 3, ""}));
    ASSERT_TRUE(number);
    const auto found = PackPart(*pack, *number).find(as_bytes("teapot"));
    ASSERT_TRUE(found.ok() && found->entry);
    EXPECT_TRUE(same_bytes(found->entry->value(), as_bytes("I am a teapot.")));
    EXPECT_EQ(found->entry->cost_us(), 13u);
}

TEST(PackFormat, NumbersThatCannotBeAreRefused) {
    const auto refused = [](auto change) {
        PackHeader header;
        header.body_size = 1u << 20;
        PackRow &row = header.rows.emplace_back();
        row.bucket_count = 4;
        row.probes_max = 1;
        row.entry_count = 3;
        if (!decode_pack_header(encode_pack_header(header))) return false;
        change(header, header.rows[0]);
        return !decode_pack_header(encode_pack_header(header));
    };
    EXPECT_TRUE(refused([](auto &, PackRow &row) { row.bucket_count = 3; }));
    EXPECT_TRUE(refused([](auto &, PackRow &row) { row.bucket_count = 0; }));
    EXPECT_TRUE(refused([](auto &, PackRow &row) { row.bucket_count = 1u << 31; }));
    EXPECT_TRUE(refused([](auto &, PackRow &row) { row.entry_count = 17; }));
    EXPECT_TRUE(refused([](auto &, PackRow &row) { row.probes_max = 5; }));
    EXPECT_TRUE(refused([](auto &, PackRow &row) { row.probes_max = 0; }));
    EXPECT_TRUE(refused([](auto &, PackRow &row) { row.index_offset = 1u << 20; }));
    EXPECT_TRUE(refused([](auto &, PackRow &row) { row.index_offset = UINT64_MAX; }));
    EXPECT_TRUE(refused([](auto &, PackRow &row) { row.text_size = 1u << 19; }));
    EXPECT_TRUE(refused([](auto &, PackRow &row) { row.order_count = 17; }));
    EXPECT_TRUE(refused([](auto &, PackRow &row) { row.dictionary_size = 1u << 20; }));
    EXPECT_TRUE(refused([](PackHeader &header, auto &) { header.body_size = 100; }));
    EXPECT_TRUE(refused([](PackHeader &header, auto &) {
        header.about_offset = 1u << 20;
        header.about_size = 1;
    }));
}

TEST(PackFormat, ASlotVerifiesInItsOwnPlaceOnly) {
    const PackSlot slot = {0x12345678, 4096, 64};
    const PackSlotBytes bytes = encode_pack_slot(slot, 9);
    const auto decoded = decode_pack_slot(bytes, 9);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->tag, slot.tag);
    EXPECT_EQ(decoded->offset, slot.offset);
    EXPECT_EQ(decoded->size, slot.size);
    EXPECT_FALSE(decode_pack_slot(bytes, 10));
    EXPECT_FALSE(decode_pack_slot(PackSlotBytes(), 0));
}

TEST(PackFormat, APartsTextSaysWhatThePartIsOf) {
    const PackSubject subject = {PackKind::entries, "gl-app-01", 18446744073709551615u, "a\nb\n"};
    const std::string text = encode_part_text(subject);
    const auto decoded = decode_part_text(text, PackKind::entries);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->identifier, subject.identifier);
    EXPECT_EQ(decoded->version, subject.version);
    EXPECT_EQ(decoded->generation, subject.generation);
    for (const char *wrong : {"", "a", "a\n", "a\n1", "a\nx\n", "../a\n1\n", "\n1\n", "a\n-1\n"}) {
        EXPECT_FALSE(decode_part_text(wrong, PackKind::entries)) << wrong;
    }
}

}  // namespace
}  // namespace cairn
