// SPDX-License-Identifier: MIT
#include "manifest_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <new>
#include <sstream>

#include "base/checksum.h"

namespace {

// The most that was asked for at once.
std::atomic<std::size_t> largest = 0;

}  // namespace

[[gnu::noinline]] void *operator new(std::size_t size) {
    if (size > largest.load()) largest = size;
    void *memory = std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

[[gnu::noinline]] void operator delete(void *memory) noexcept {
    std::free(memory);
}

[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept {
    std::free(memory);
}

namespace cairn::fleet {
namespace {

// Places in the head, see the page.
constexpr std::size_t kVersionAt = 8, kPackCountAt = 12, kKeyCountAt = 32, kNameSpaceSizeAt = 36,
                      kNameSizeAt = 40, kDriverSizeAt = 44, kCheckSize = 8;

ObjectHash hash_of(std::string_view text) {
    return hash_of_object(as_bytes(text));
}

// That of the page.
FleetManifest example() {
    const PackIdentity identity = identity_of({PackKind::entries, "gl-game-01", 2, "text"});
    FleetManifest manifest;
    manifest.name_space = "shaders";
    manifest.name = "gl-game";
    manifest.driver = "GL: Mesa\n";
    manifest.machine = 0x0123456789abcdef;
    manifest.written_ns = 1'764'000'000'123'456'789;
    std::vector<std::uint64_t> keys = {entry_hash(identity, as_bytes("teapot")),
                                       entry_hash(identity, as_bytes("cup"))};
    std::ranges::sort(keys);
    manifest.packs = {{hash_of("a pack"), 65536, 1'764'000'000, keys},
                      {hash_of("another"), 20480, 1'763'000'000, {}}};
    return manifest;
}

std::string with_check(std::string body) {
    std::array<std::byte, kCheckSize> check = {};
    const std::size_t size = body.size() - kCheckSize;
    put_le(MutableBytes(check), 0, checksum(as_bytes(body).first(size), 5));
    return body.replace(size, kCheckSize, reinterpret_cast<const char *>(check.data()), kCheckSize);
}

// With this number in the head, and the check that a hostile author would give it.
std::string with_number(std::string body, std::size_t offset, std::uint32_t number) {
    for (std::size_t i = 0; i < sizeof number; ++i) {
        body[offset + i] = static_cast<char>(number >> (8 * i));
    }
    return with_check(std::move(body));
}

std::string page() {
    std::ifstream file(MANIFEST_DOCUMENT);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
}

// The bytes of the page's example. Each of its lines begins with the offset.
std::string example_of_page() {
    std::istringstream text(page());
    std::string line, body;
    bool is_inside = false;
    while (std::getline(text, line)) {
        if (line.starts_with("#")) is_inside = line == "#### The body";
        if (!is_inside || !line.starts_with("    ")) continue;
        std::istringstream words(line);
        std::string word;
        words >> word;
        EXPECT_EQ(std::stoul(word, nullptr, 16), body.size());
        while (words >> word) body.push_back(static_cast<char>(std::stoi(word, nullptr, 16)));
    }
    return body;
}

TEST(ManifestPage, ItsExampleIsWhatIsEncoded) {
    EXPECT_EQ(hexadecimal(as_bytes(example_of_page())), hexadecimal(as_bytes(encode(example()))));
}

TEST(ManifestPage, ItsExampleDecodes) {
    EXPECT_EQ(decode(as_bytes(example_of_page())), example());
}

TEST(ManifestPage, ItHasTheNamesThatAreMade) {
    const PackIdentity identity = identity_of({PackKind::entries, "gl-game-01", 2, "text"});
    EXPECT_THAT(page(), testing::HasSubstr(driver_name(example().driver)));
    EXPECT_THAT(page(), testing::HasSubstr(driver_name("")));
    EXPECT_THAT(page(), testing::HasSubstr(machine_name(example().machine)));
    EXPECT_THAT(page(), testing::HasSubstr(machine_name(entry_hash(identity, as_bytes("cup")))));
    EXPECT_THAT(page(),
                testing::HasSubstr(manifest_name(example().machine, as_bytes(encode(example())))));
}

TEST(ManifestFormat, WhatIsEncodedDecodes) {
    FleetManifest manifest = example();
    EXPECT_EQ(decode(as_bytes(encode(manifest))), manifest);
    manifest.packs.clear();
    manifest.name_space.clear();
    manifest.driver.clear();
    EXPECT_EQ(decode(as_bytes(encode(manifest))), manifest) << "with nothing that may be missing";
    manifest.driver = "GL: Intel\xc2\xae\nline 2\n";
    manifest.packs = {{hash_of("x"), 1, UINT64_MAX, {0, 1, UINT64_MAX}}};
    manifest.machine = manifest.written_ns = UINT64_MAX;
    EXPECT_EQ(decode(as_bytes(encode(manifest))), manifest);
}

TEST(ManifestFormat, DamageToAnyByteIsFound) {
    const std::string whole = encode(example());
    for (std::size_t i = 0; i < whole.size(); ++i) {
        for (int flip = 1; flip < 256; ++flip) {
            std::string damaged = whole;
            damaged[i] = static_cast<char>(damaged[i] ^ flip);
            ASSERT_FALSE(decode(as_bytes(damaged))) << "byte " << i << " by " << flip;
        }
    }
}

// What a hostile author with a trusted key could write: it is refused, or is exactly what it says.
TEST(ManifestFormat, AnyByteWithTheCheckThatFitsDecodesToTheSameBytesOrNothing) {
    const std::string whole = encode(example());
    std::size_t decoded = 0;
    for (std::size_t i = 0; i + kCheckSize < whole.size(); ++i) {
        for (int flip = 1; flip < 256; ++flip) {
            std::string changed = whole;
            changed[i] = static_cast<char>(changed[i] ^ flip);
            changed = with_check(std::move(changed));
            const auto manifest = decode(as_bytes(changed));
            if (!manifest) continue;
            ++decoded;
            ASSERT_NE(*manifest, example());
            ASSERT_EQ(encode(*manifest), changed) << "byte " << i << " by " << flip;
        }
    }
    EXPECT_GT(decoded, 0u);
}

TEST(ManifestFormat, OneThatIsLongerOrShorterIsNone) {
    const std::string whole = encode(example());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const std::string cut = whole.substr(0, size);
        ASSERT_FALSE(decode(as_bytes(cut))) << size;
        if (size >= kCheckSize) {
            ASSERT_FALSE(decode(as_bytes(with_check(cut)))) << size;
        }
    }
    EXPECT_FALSE(decode(as_bytes(whole + '\0')));
    EXPECT_FALSE(decode(as_bytes(with_check(whole + std::string(8, '\0')))));
    EXPECT_FALSE(decode(as_bytes(whole + whole)));
}

TEST(ManifestFormat, NumbersThatCannotBeTakeNoMemory) {
    const std::string whole = encode(example());
    for (const std::size_t offset :
         {kPackCountAt, kKeyCountAt, kNameSpaceSizeAt, kNameSizeAt, kDriverSizeAt}) {
        for (const std::uint32_t number : {4096u, 4097u, 131'072u, 400'000u, 400'001u, 1u << 30,
                                           1u << 31, UINT32_MAX - 7, UINT32_MAX}) {
            const std::string hostile = with_number(whole, offset, number);
            largest = 0;
            EXPECT_FALSE(decode(as_bytes(hostile)));
            EXPECT_EQ(largest.load(), 0u) << offset << " " << number;
        }
    }
    // Of the packs themselves: 56 bytes each, behind the texts; the last 8 say how many keys.
    const std::size_t keys_at = 48 + 7 + 7 + 9 + 48;
    for (const std::uint32_t number : {0u, 1u, 3u, UINT32_MAX}) {
        for (const std::size_t offset : {keys_at, keys_at + 4, keys_at + 56, keys_at + 60}) {
            const std::string hostile = with_number(whole, offset, number);
            if (hostile == whole) continue;
            largest = 0;
            EXPECT_FALSE(decode(as_bytes(hostile)));
            EXPECT_LT(largest.load(), 1000u) << offset << " " << number;
        }
    }
}

TEST(ManifestFormat, AnotherVersionIsNone) {
    const std::string whole = encode(example());
    EXPECT_EQ(with_number(whole, kVersionAt, 1), whole);
    EXPECT_FALSE(decode(as_bytes(with_number(whole, kVersionAt, 2))));
    EXPECT_FALSE(decode(as_bytes(with_number(whole, kVersionAt, 0))));
    EXPECT_FALSE(decode(as_bytes(with_number(whole, 0, 0x4e444f43))));
}

// What a change makes of an example that is possible.
bool is_refused(const std::function<void(FleetManifest &)> &change) {
    FleetManifest manifest = example();
    EXPECT_TRUE(is_possible(manifest));
    change(manifest);
    return !is_possible(manifest);
}

TEST(ManifestFormat, WhatCannotBeIsNotWritten) {
    EXPECT_TRUE(is_refused([](auto &m) { m.name = ""; }));
    EXPECT_TRUE(is_refused([](auto &m) { m.name = std::string(kNameMax + 1, 'x'); }));
    EXPECT_TRUE(is_refused([](auto &m) { m.name_space = std::string(kNameSpaceMax + 1, 'x'); }));
    EXPECT_TRUE(is_refused([](auto &m) { m.driver = std::string(kDriverTextMax + 1, 'x'); }));
    EXPECT_TRUE(is_refused([](auto &m) { m.packs.resize(kListedPacksMax + 1, m.packs[0]); }));
    EXPECT_TRUE(is_refused([](auto &m) { m.packs[0].size_bytes = 0; }));
    EXPECT_TRUE(is_refused([](auto &m) { m.packs[0].size_bytes = kListedPackSizeMax + 1; }));
    EXPECT_TRUE(is_refused([](auto &m) { m.packs[0].keys = {1, 1}; }));
    EXPECT_TRUE(is_refused([](auto &m) { m.packs[0].keys = {2, 1}; }));
    EXPECT_TRUE(is_refused([](auto &m) {
        for (std::uint64_t i = 0; i <= kListedKeysMax - 2; ++i) m.packs[1].keys.push_back(i);
    }));
    for (const char *text : {"a\x1b[2J", "a\n", "a\r", "\t", "\x7f"}) {
        EXPECT_TRUE(is_refused([&](auto &m) { m.name = text; })) << text;
        EXPECT_TRUE(is_refused([&](auto &m) { m.name_space = text; })) << text;
    }
    EXPECT_TRUE(is_refused([](auto &m) { m.driver = std::string("a\0b", 3); }));
    EXPECT_TRUE(is_refused([](auto &m) { m.driver = "GL: x\x1b]0;title\n"; }));
}

TEST(ManifestFormat, WhatCannotBeIsNotRead) {
    const std::string whole = encode(example());
    const std::size_t texts_at = 48, rows_at = texts_at + 7 + 7 + 9, keys_at = rows_at + 2 * 56;
    std::string controls = whole;
    controls[texts_at] = '\n';
    EXPECT_FALSE(decode(as_bytes(with_check(controls))));
    controls = whole;
    controls[rows_at - 1] = '\t';
    EXPECT_FALSE(decode(as_bytes(with_check(controls))));
    EXPECT_FALSE(decode(as_bytes(with_number(whole, rows_at + 36, 1)))) << "a pack of 4 GiB";
    EXPECT_FALSE(decode(as_bytes(with_number(whole, rows_at + 32, 0)))) << "a pack of 0 bytes";
    const std::string turned =
        whole.substr(0, keys_at) + whole.substr(keys_at + 8, 8) + whole.substr(keys_at, 8);
    EXPECT_FALSE(decode(as_bytes(with_check(turned + std::string(8, '\0')))));
    const std::string twice =
        whole.substr(0, keys_at) + whole.substr(keys_at, 8) + whole.substr(keys_at, 8);
    EXPECT_FALSE(decode(as_bytes(with_check(twice + std::string(8, '\0')))));
}

TEST(ManifestFormat, TheLargestFitsIntoAnObject) {
    FleetManifest manifest;
    manifest.name_space = std::string(kNameSpaceMax, 's');
    manifest.name = std::string(kNameMax, 'n');
    manifest.driver = std::string(kDriverTextMax, '\n');
    manifest.packs.resize(kListedPacksMax);
    std::uint64_t key = 0;
    for (std::size_t i = 0; i < kListedPacksMax; ++i) {
        manifest.packs[i].size_bytes = kListedPackSizeMax;
        for (std::size_t k = i; k < kListedKeysMax; k += kListedPacksMax) {
            manifest.packs[i].keys.push_back(key++);
        }
    }
    ASSERT_TRUE(is_possible(manifest));
    const std::string body = encode(manifest);
    EXPECT_LE(body.size() + kManifestTrailerSize, kManifestMax);
    EXPECT_EQ(decode(as_bytes(body)), manifest);
}

TEST(ManifestFormat, EntriesAreToldApartByTheirCacheAndKey) {
    const PackIdentity one = identity_of({PackKind::entries, "a", 1, ""});
    const PackIdentity other = identity_of({PackKind::entries, "a", 2, ""});
    EXPECT_EQ(entry_hash(one, as_bytes("key")), entry_hash(one, as_bytes("key")));
    EXPECT_NE(entry_hash(one, as_bytes("key")), entry_hash(one, as_bytes("kez")));
    EXPECT_NE(entry_hash(one, as_bytes("key")), entry_hash(other, as_bytes("key")));
}

TEST(ManifestNames, TheyAreDigitsThatNameWhatTheyAreOf) {
    EXPECT_THAT(driver_name("GL: Mesa\n"), testing::MatchesRegex("[0-9a-f]{32}"));
    EXPECT_NE(driver_name("GL: Mesa\n"), driver_name("GL: Mesa"));
    EXPECT_EQ(machine_name(0x1f), "000000000000001f");
    EXPECT_EQ(machine_name(UINT64_MAX), "ffffffffffffffff");
    const std::string name = manifest_name(0x0123456789abcdef, as_bytes("object"));
    EXPECT_EQ(parse_manifest_name(name), (ManifestName{0x0123456789abcdef, hash_of("object")}));
}

TEST(ManifestNames, OtherNamesAreNone) {
    const std::string name = manifest_name(0x0123456789abcdef, as_bytes("object"));
    std::string shouted = name;
    std::ranges::transform(shouted, shouted.begin(), ::toupper);
    std::string no_hyphen = name;
    no_hyphen[16] = '0';
    for (const std::string &wrong :
         {std::string(), shouted, no_hyphen, name + "0", name.substr(1), "g" + name.substr(1),
          name.substr(0, 80) + "/", name.substr(0, 80) + " ", name.substr(0, 16), name + ".tmp"}) {
        EXPECT_FALSE(parse_manifest_name(wrong)) << wrong;
    }
}

}  // namespace
}  // namespace cairn::fleet
