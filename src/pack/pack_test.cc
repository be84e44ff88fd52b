// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "os/testing/failing_calls.h"
#include "os/testing/scratch.h"
#include "pack/pack_reader.h"
#include "pack/testing/packs.h"

namespace cairn {
namespace {

using testing::PackedPart;
using testing::write_pack;

std::string value_of(const BlobRef &blob) {
    const Bytes value = blob->value();
    return {reinterpret_cast<const char *>(value.data()), value.size()};
}

std::string text_of(std::mt19937 &random, std::size_t size) {
    std::string text;
    while (text.size() < size) text += "word" + std::to_string(random() % 64) + " ";
    return text.substr(0, size);
}

PackedPart many(std::size_t count, PackCompression compression = PackCompression::none) {
    PackedPart part;
    part.compression = compression;
    std::mt19937 random(7);
    for (std::size_t i = 0; i < count; ++i) {
        part.entries["key " + std::to_string(i)] = text_of(random, random() % 2000);
    }
    return part;
}

Result<std::shared_ptr<const Pack>> open_pack(const std::string &path) {
    auto file = Directory::working().open_file(path, Access::read_only);
    if (!file.ok()) return file.error();
    return Pack::open(std::move(file.value()));
}

std::unique_ptr<PackPart> open_part(const std::string &path, std::size_t number = 0) {
    auto pack = open_pack(path);
    if (!pack.ok() || number >= pack.value()->rows().size()) return nullptr;
    return std::make_unique<PackPart>(std::move(pack.value()), number);
}

// The value; "": a miss.
std::string get(const PackPart &part, const std::string &key) {
    auto found = part.find(as_bytes(key));
    if (!found.ok() || !found->entry) return "";
    EXPECT_TRUE(same_bytes(found->entry->key(), as_bytes(key)));
    return value_of(found->entry);
}

std::string read_file(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
}

void write_file(const std::string &path, const std::string &bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class PackOf : public ::testing::TestWithParam<PackCompression> {
  protected:
    const testing::Scratch scratch_;
    const std::string path_ = scratch_ / "a.pack";
};
INSTANTIATE_TEST_SUITE_P(EachCompression, PackOf,
                         ::testing::Values(PackCompression::none, PackCompression::zstd),
                         [](const auto &each) {
                             return each.param == PackCompression::none ? "None" : "Zstd";
                         });

TEST_P(PackOf, EachEntryIsFoundAndNoOther) {
    for (const std::size_t count : {0u, 1u, 3u, 4u, 5u, 100u, 5000u}) {
        const PackedPart part = many(count, GetParam());
        write_pack(path_, {part});
        const auto opened = open_part(path_);
        ASSERT_TRUE(opened);
        EXPECT_EQ(opened->row().entry_count, count);
        for (const auto &[key, value] : part.entries) {
            const auto found = opened->find(as_bytes(key));
            ASSERT_TRUE(found.ok() && found->entry) << key;
            EXPECT_EQ(value_of(found->entry), value);
            EXPECT_EQ(found->entry->cost_us(), key.size() + 7);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(found->entry->value().data()) % 16, 0u);
            EXPECT_EQ(*opened->find_slot(as_bytes(key)), found->slot);
        }
        for (int i = 0; i < 1000; ++i) {
            EXPECT_FALSE(opened->find(as_bytes("other " + std::to_string(i)))->entry);
        }
        EXPECT_EQ(opened->damaged(), 0u);
    }
}

TEST_P(PackOf, SlotsHaveAllEntriesOnce) {
    const PackedPart part = many(500, GetParam());
    write_pack(path_, {part});
    const auto opened = open_part(path_);
    ASSERT_TRUE(opened);
    std::map<std::string, std::string> seen;
    for (std::uint32_t slot = 0; slot < opened->row().slot_count(); ++slot) {
        auto entry = opened->read(slot);
        ASSERT_TRUE(entry.ok());
        if (!*entry) continue;
        const Bytes key = (*entry)->key();
        seen.emplace(std::string(reinterpret_cast<const char *>(key.data()), key.size()),
                     value_of(*entry));
    }
    EXPECT_EQ(seen, part.entries);
    EXPECT_FALSE(*opened->read(opened->row().slot_count()));
}

TEST_P(PackOf, ADamagedByteCostsOneEntryAtMost) {
    PackedPart part = many(60, GetParam());
    part.dictionary = "word1 word2 word3 word4 word5 word6 word7 word8 word9 word10 word11";
    part.order = {"key 3", "key 1"};
    write_pack(path_, {part});
    const std::string whole = read_file(path_);
    std::mt19937 random(11);
    std::size_t lost_in_all = 0;
    for (std::size_t at = 0; at < whole.size(); at += 1 + random() % 9) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
        write_file(path_, damaged);
        const auto opened = open_part(path_);
        ASSERT_TRUE(opened) << at;
        std::size_t lost = 0;
        for (const auto &[key, value] : part.entries) {
            if (value.empty()) continue;
            const std::string found = get(*opened, key);
            if (found.empty()) ++lost;
            if (!found.empty()) {
                ASSERT_EQ(found, value) << at;
            }
        }
        ASSERT_LE(lost, 1u) << at;
        lost_in_all += lost;
    }
    EXPECT_GT(lost_in_all, 0u);
}

TEST_P(PackOf, AFileThatIsCutOrOverwrittenWhileItIsOpenGivesMisses) {
    const PackedPart part = many(2000, GetParam());
    write_pack(path_, {part});
    const std::string whole = read_file(path_);
    for (const std::size_t size : {whole.size() / 2, std::size_t{9000}, std::size_t{0}}) {
        write_file(path_, whole);
        const auto opened = open_part(path_);
        ASSERT_TRUE(opened);
        EXPECT_EQ(get(*opened, "key 1"), part.entries.at("key 1"));
        std::filesystem::resize_file(path_, size);
        for (const auto &[key, value] : part.entries) {
            const std::string found = get(*opened, key);
            if (!found.empty()) {
                EXPECT_EQ(found, value);
            }
        }
    }
    write_file(path_, whole);
    const auto opened = open_part(path_);
    write_file(path_, std::string(whole.size(), '\x55'));
    EXPECT_EQ(get(*opened, "key 1"), "");
}

TEST_P(PackOf, ManyThreadsReadAtOnce) {
    const PackedPart part = many(3000, GetParam());
    write_pack(path_, {part});
    const auto opened = open_part(path_);
    ASSERT_TRUE(opened);
    std::atomic<std::size_t> wrong = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (const auto &[key, value] : part.entries) wrong += get(*opened, key) != value;
        });
    }
    for (auto &thread : threads) thread.join();
    EXPECT_EQ(wrong.load(), 0u);
}

TEST_P(PackOf, TheSameEntriesGiveTheSameBytes) {
    write_pack(path_, {many(300, GetParam())});
    const std::string first = read_file(path_);
    write_pack(path_, {many(300, GetParam())});
    EXPECT_EQ(read_file(path_), first);
}

// The bytes of a part's row do not depend on where the part lies.
TEST_P(PackOf, ContentsHaveOneNumberAndOthersAnother) {
    const auto id_of = [&](const PackedPart &part) {
        write_pack(path_, {part});
        return open_part(path_)->row().content_id;
    };
    PackedPart part = many(20, GetParam());
    const std::uint64_t first = id_of(part);
    part.entries["key 7"] += "x";
    const std::uint64_t second = id_of(part);
    part.entries.erase("key 7");
    EXPECT_NE(first, second);
    EXPECT_NE(second, id_of(part));
}

TEST(Pack, HasAPartForEachSubject) {
    const testing::Scratch scratch;
    const std::string path = scratch / "a.pack";
    const std::vector<PackedPart> parts = {
        {"gl-one", 1, "one driver\n", {{"k", "1"}}},
        {"gl-one", 2, "one driver\n", {{"k", "2"}}},
        {"gl-one", 1, "another driver\n", {{"k", "3"}}},
        {.identifier = "gl-one", .entries = {{"mesa/ab", "4"}}, .kind = PackKind::driver_files}};
    write_pack(path, parts, "About it");
    auto pack = open_pack(path);
    ASSERT_TRUE(pack.ok());
    EXPECT_EQ((*pack)->about(), "About it");
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto number = (*pack)->find_part(identity_of(parts[i].subject()));
        ASSERT_EQ(number, i);
        const PackPart part(*pack, *number);
        EXPECT_EQ(get(part, parts[i].entries.begin()->first), parts[i].entries.begin()->second);
        const auto text = (*pack)->part_text(part.row());
        ASSERT_TRUE(text);
        const auto subject = decode_part_text(*text, part.row().kind);
        ASSERT_TRUE(subject);
        EXPECT_EQ(identity_of(*subject), part.row().identity);
    }
    EXPECT_FALSE((*pack)->find_part(identity_of({PackKind::entries, "gl-one", 3, ""})));
}

TEST(Pack, KeepsTheOrderOfAStart) {
    const testing::Scratch scratch;
    PackedPart part = many(50);
    part.order = {"key 9", "missing", "key 30", "key 2"};
    write_pack(scratch / "a.pack", {part});
    const auto opened = open_part(scratch / "a.pack");
    ASSERT_TRUE(opened);
    std::vector<std::string> keys;
    for (const std::uint32_t slot : opened->order()) keys.push_back((*opened->look_at(slot))->key);
    EXPECT_EQ(keys, (std::vector<std::string>{"key 9", "key 30", "key 2"}));
}

TEST(Pack, ADictionaryIsUsedWhereItPaysAndMayBeDamagedOnce) {
    const testing::Scratch scratch;
    const std::string path = scratch / "a.pack";
    PackedPart part;
    part.compression = PackCompression::zstd;
    std::mt19937 random(3);
    const std::string common = text_of(random, 3000) + std::to_string(random());
    for (int i = 0; i < 20; ++i)
        part.entries["key " + std::to_string(i)] = common + std::to_string(i);
    part.dictionary = common;
    write_pack(path, {part});
    const auto opened = open_part(path);
    ASSERT_TRUE(opened);
    for (const auto &[key, value] : part.entries) {
        EXPECT_EQ((*opened->look_at(**opened->find_slot(as_bytes(key))))->record.codec,
                  PackCodec::zstd_with_dictionary);
        EXPECT_EQ(get(*opened, key), value);
    }
    const PackRow row = opened->row();
    std::string damaged = read_file(path);
    damaged[row.dictionary_offset + 5] ^= 1;
    write_file(path, damaged);
    EXPECT_EQ(get(*open_part(path), "key 1"), part.entries.at("key 1"));
    damaged[row.dictionary_offset + row.dictionary_size + 5] ^= 1;
    write_file(path, damaged);
    EXPECT_EQ(get(*open_part(path), "key 1"), "");
}

TEST(Pack, RefusesWhatIsNoPackAndOtherVersions) {
    const testing::Scratch scratch;
    const std::string path = scratch / "a.pack";
    for (const std::size_t size : {0u, 10u, 8191u, 8192u, 100'000u}) {
        write_file(path, std::string(size, 'x'));
        EXPECT_EQ(open_pack(path).error(), Error::corrupt);
    }
    write_pack(path, {many(2)});
    std::string bytes = read_file(path);
    bytes[8] = 2;
    write_file(path, bytes);
    EXPECT_TRUE(open_pack(path).ok()) << "one header is damaged";
    bytes[bytes.size() - kPackTrailerSize - kPackHeaderSize + 8] = 2;
    write_file(path, bytes);
    EXPECT_EQ(open_pack(path).error(), Error::unsupported);
}

// All checks fit, and the header and a slot name more bytes than any machine has memory for.
TEST(Pack, NoMemoryIsTakenForWhatTheFileDoesNotHave) {
    const testing::Scratch scratch;
    const std::string path = scratch / "a.pack";
    PackedPart part;
    part.entries = {{"key", "value"}};
    write_pack(path, {part});
    std::string bytes = read_file(path);
    const auto file = std::as_writable_bytes(std::span(bytes.data(), bytes.size()));
    auto header = decode_pack_header(file.first(kPackHeaderSize));
    ASSERT_TRUE(header.has_value());
    header->body_size = std::uint64_t{1} << 50;
    for (const std::uint32_t size : {64u, 1u << 20, 1u << 31, 0xffff'ffffu}) {
        const PackSlot slot = {pack_tag(pack_key_hash(as_bytes("key"), header->rows[0].seed())),
                               kPackHeaderSize, size * kPackUnit};
        const auto slot_bytes = encode_pack_slot(slot, 0);
        const auto index = file.subspan(header->rows[0].index_offset);
        std::copy(slot_bytes.begin(), slot_bytes.end(), index.begin());
        const PackHeaderBytes first = encode_pack_header(*header);
        std::copy(first.begin(), first.end(), file.begin());
        write_file(path, bytes);
        const auto opened = open_part(path);
        ASSERT_NE(opened, nullptr);
        auto read = opened->read(0);
        EXPECT_TRUE(read.ok() && !*read) << size;
        auto found = opened->find(as_bytes("key"));
        EXPECT_TRUE(found.ok() && !found->entry) << size;
    }
    // Of an index and an order that are said to be large, what the file has is used.
    header->rows[0].bucket_count = kPackSlotsMax / kPackSlotsPerBucket;
    header->rows[0].order_count = kPackSlotsMax;
    const PackHeaderBytes first = encode_pack_header(*header);
    std::copy(first.begin(), first.end(), file.begin());
    write_file(path, bytes);
    const auto opened = open_part(path);
    ASSERT_NE(opened, nullptr);
    EXPECT_TRUE(opened->order().empty());
    for (const std::uint32_t slot : {0u, 64u, 4096u, kPackSlotsMax - 1}) {
        auto read = opened->read(slot);
        EXPECT_TRUE(read.ok() && !*read) << slot;
    }
}

TEST(Pack, TheWriterRefusesKeysOutOfOrderAndTooManyParts) {
    const testing::Scratch scratch;
    const auto directory = Directory::open(scratch.path());
    auto file = directory->create_file("a.pack");
    PackWriter writer(*file);
    ASSERT_TRUE(writer.begin_part({PackKind::entries, "a", 1, ""}, PackCompression::none, {}).ok());
    ASSERT_TRUE(writer.add({as_bytes("b"), {}}).ok());
    EXPECT_EQ(writer.add({as_bytes("b"), {}}).error(), Error::invalid_argument);
    EXPECT_EQ(writer.add({as_bytes("a"), {}}).error(), Error::invalid_argument);
    for (std::size_t i = 1; i < kPackPartsMax; ++i) {
        ASSERT_TRUE(writer.end_part({}).ok());
        ASSERT_TRUE(
            writer.begin_part({PackKind::entries, "a", i, ""}, PackCompression::none, {}).ok());
    }
    EXPECT_EQ(writer.begin_part({PackKind::entries, "b", 1, ""}, PackCompression::none, {}).error(),
              Error::invalid_argument);
    EXPECT_EQ(writer
                  .begin_part({PackKind::entries, "a", 99, std::string(kPackTextMax, 'x')},
                              PackCompression::none, {})
                  .error(),
              Error::invalid_argument);
}

TEST(Pack, OpeningReadsAsMuchOfALargePackAsOfASmallOne) {
    const testing::Scratch scratch(testing::Scratch::Place::memory);
    const auto calls_to_open = [&](std::size_t entries) {
        PackedPart part;
        for (std::size_t i = 0; i < entries; ++i) part.entries["k" + std::to_string(i)] = "v";
        write_pack(scratch / "a.pack", {part});
        testing::FailingCalls calls;
        testing::Fault none;
        none.first = UINT64_MAX;
        calls.arm(none);
        const auto opened = open_part(scratch / "a.pack");
        EXPECT_EQ(get(*opened, "k1"), "v");
        calls.disarm();
        return calls.calls();
    };
    const std::uint64_t small = calls_to_open(10);
    EXPECT_LE(calls_to_open(100'000), small + 1);  // a bucket may be followed by another one
    EXPECT_LT(small, 10u);
}

}  // namespace
}  // namespace cairn
