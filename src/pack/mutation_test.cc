// Mutated packs: each look-up gives the right value or a miss, whatever was done to the file.
// SPDX-License-Identifier: MIT
//
// CAIRN_PACK_MUTATIONS is the number of mutated packs (3,000).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include "os/testing/scratch.h"
#include "pack/pack_reader.h"
#include "pack/testing/packs.h"

namespace cairn {
namespace {

using Random = std::mt19937_64;

std::string read_file(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
}

testing::PackedPart example() {
    testing::PackedPart part;
    part.compression = PackCompression::zstd;
    Random random(5);
    for (int i = 0; i < 60; ++i) {
        std::string &value = part.entries["key " + std::to_string(i)];
        while (value.size() < random() % 1500) value += "word" + std::to_string(random() % 50);
    }
    part.order = {"key 7", "key 8"};
    part.dictionary = "word0 word1 word2 word3 word4 word5 word6 word7 word8 word9";
    return part;
}

// One of the things that disks, tools and people do to files.
void mutate(std::string &bytes, const std::string &other, Random &random) {
    const auto place = [&] { return bytes.empty() ? 0 : random() % bytes.size(); };
    const std::size_t at = place();
    const std::size_t size = std::min<std::size_t>(bytes.size() - at, 1 + random() % 5000);
    switch (random() % 9) {
        case 0:
            if (!bytes.empty()) bytes[at] ^= static_cast<char>(1 << random() % 8);
            break;
        case 1:
            if (!bytes.empty()) bytes[at] = static_cast<char>(random());
            break;
        case 2:
            std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), size,
                        "\0\xff\x55"[random() % 3]);
            break;
        case 3:
            for (std::size_t i = at; i < at + size; ++i) bytes[i] = static_cast<char>(random());
            break;
        case 4:
            bytes.resize(at);
            break;
        case 5:
            bytes.append(1 + random() % 9000, static_cast<char>(random()));
            break;
        case 6:  // a part of it elsewhere
            bytes.replace(at, size, bytes.substr(place(), size));
            break;
        case 7:  // a part of another pack
            bytes.replace(at, size, other.substr(std::min(at, other.size()), size));
            break;
        default:
            bytes.erase(at, size);
            break;
    }
}

struct Counts {
    std::uint64_t right = 0, missed = 0, unusable = 0;
};

void look_up_all(const std::string &path, const testing::PackedPart &part, Counts &counts) {
    auto file = Directory::working().open_file(path, Access::read_only);
    ASSERT_TRUE(file.ok());
    auto pack = Pack::open(std::move(*file));
    const auto number = pack.ok() ? (*pack)->find_part(identity_of(part.subject())) : std::nullopt;
    if (!number) {
        ++counts.unusable;
        return;
    }
    const PackPart opened(*pack, *number);
    for (const auto &[key, value] : part.entries) {
        auto found = opened.find(as_bytes(key));
        ASSERT_TRUE(found.ok());
        if (!found->entry) {
            ++counts.missed;
            continue;
        }
        ++counts.right;
        ASSERT_TRUE(same_bytes(found->entry->value(), as_bytes(value))) << key;
        ASSERT_EQ(found->entry->cost_us(), key.size() + 7);
    }
    for (const std::uint32_t slot : opened.order()) (void)opened.read(slot);
}

TEST(MutatedPack, GivesTheRightValueOrAMiss) {
    const testing::Scratch scratch(testing::Scratch::Place::memory);
    const std::string path = scratch / "a.pack";
    const testing::PackedPart part = example();
    testing::write_pack(path, {part});
    const std::string whole = read_file(path);
    testing::PackedPart stranger = part;
    stranger.identifier = "another";
    for (auto &[key, value] : stranger.entries) value += "!";
    testing::write_pack(path, {stranger});
    const std::string other = read_file(path);
    const char *given = std::getenv("CAIRN_PACK_MUTATIONS");
    const std::uint64_t cases = given != nullptr ? std::strtoull(given, nullptr, 10) : 3000;
    Counts counts;
    Random random(2026);
    for (std::uint64_t i = 0; i < cases; ++i) {
        std::string bytes = whole;
        for (std::uint64_t n = 1 + random() % 4; n > 0; --n) mutate(bytes, other, random);
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
        look_up_all(path, part, counts);
        if (HasFatalFailure()) {
            std::ofstream("mutated.pack", std::ios::binary) << bytes;
            return;
        }
    }
    std::printf("cases %llu wrong 0 right %llu missed %llu unusable %llu\n",
                static_cast<unsigned long long>(cases),
                static_cast<unsigned long long>(counts.right),
                static_cast<unsigned long long>(counts.missed),
                static_cast<unsigned long long>(counts.unusable));
    EXPECT_GT(counts.right, counts.missed);
    EXPECT_GT(counts.missed, 0u);
}

}  // namespace
}  // namespace cairn
