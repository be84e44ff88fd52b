// SPDX-License-Identifier: MIT
#include "manifest_format.h"

#include <algorithm>
#include <cassert>
#include <span>

#include "base/checksum.h"
#include "base/hash.h"

namespace cairn::fleet {
namespace {

constexpr std::string_view kMagic = "CAIRNFLT";
constexpr std::uint64_t kCheckSeed = 5;

// Places in the head, and the sizes of what follows it.
constexpr std::size_t kVersionAt = 8, kPackCountAt = 12, kMachineAt = 16, kWrittenAt = 24;
constexpr std::size_t kKeyCountAt = 32, kNameSpaceSizeAt = 36, kNameSizeAt = 40;
constexpr std::size_t kDriverSizeAt = 44;
constexpr std::size_t kHeadSize = 48, kRowSize = 56, kKeySize = 8, kCheckSize = 8;

constexpr std::size_t kDigitsOfMachine = 16, kDigitsOfHash = 64, kDigitsOfDriver = 32;

// What is within the limits of its parts is within that of the whole.
static_assert(kHeadSize + kNameSpaceMax + kNameMax + kDriverTextMax + kRowSize * kListedPacksMax +
                  kKeySize * kListedKeysMax + kCheckSize + kManifestTrailerSize <=
              kManifestMax);

// How much of each there is in a manifest. Numbers of 32 bits, so that no sum of sizes overflows.
struct Counts {
    std::uint32_t packs = 0, keys = 0, name_space = 0, name = 0, driver = 0;

    std::uint64_t body_size() const {
        return std::uint64_t{kHeadSize} + name_space + name + driver +
               std::uint64_t{packs} * kRowSize + std::uint64_t{keys} * kKeySize + kCheckSize;
    }
    bool are_possible() const {
        return packs <= kListedPacksMax && keys <= kListedKeysMax && name_space <= kNameSpaceMax &&
               name >= 1 && name <= kNameMax && driver <= kDriverTextMax;
    }
};

// Takes the body apart, from its beginning to its end.
class Reader {
  public:
    explicit Reader(Bytes bytes) : rest_(bytes) {}

    // REQUIRES: so much is left.
    Bytes bytes(std::size_t size) {
        assert(size <= rest_.size());
        const Bytes taken = rest_.first(size);
        rest_ = rest_.subspan(size);
        return taken;
    }
    std::string text(std::size_t size) {
        const Bytes taken = bytes(size);
        return {reinterpret_cast<const char *>(taken.data()), taken.size()};
    }
    std::size_t size() const { return rest_.size(); }

  private:
    Bytes rest_;
};

// Terminals and names of files are steered by such characters.
bool has_no_controls(std::string_view text, std::string_view but) {
    return std::ranges::all_of(text, [&](char c) {
        const auto code = static_cast<unsigned char>(c);
        return (code >= 0x20 && code != 0x7f) || but.find(c) != std::string_view::npos;
    });
}

bool is_ascending(std::span<const std::uint64_t> keys) {
    return std::ranges::adjacent_find(keys, std::greater_equal<>()) == keys.end();
}

// All but how many packs and keys there are.
bool has_possible_content(const FleetManifest &manifest) {
    return has_no_controls(manifest.name_space, "") && has_no_controls(manifest.name, "") &&
           has_no_controls(manifest.driver, "\n") &&
           std::ranges::all_of(manifest.packs, [](const ListedPack &pack) {
               return pack.size_bytes >= 1 && pack.size_bytes <= kListedPackSizeMax &&
                      is_ascending(pack.keys);
           });
}

Counts counts_of(const FleetManifest &manifest) {
    std::uint64_t keys = 0;
    for (const ListedPack &pack : manifest.packs) keys += pack.keys.size();
    const auto bounded = [](std::uint64_t count) {
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, UINT32_MAX));
    };
    return {bounded(manifest.packs.size()), bounded(keys), bounded(manifest.name_space.size()),
            bounded(manifest.name.size()), bounded(manifest.driver.size())};
}

void append(std::string &out, Bytes bytes) {
    out.append(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

void append_number(std::string &out, std::uint64_t number) {
    std::array<std::byte, kKeySize> bytes = {};
    put_le(MutableBytes(bytes), 0, number);
    append(out, bytes);
}

void append_head(std::string &out, const FleetManifest &manifest, const Counts &counts) {
    std::array<std::byte, kHeadSize> head = {};
    const MutableBytes bytes(head);
    std::ranges::copy(as_bytes(kMagic), head.begin());
    put_le(bytes, kVersionAt, kManifestVersion);
    put_le(bytes, kPackCountAt, counts.packs);
    put_le(bytes, kMachineAt, manifest.machine);
    put_le(bytes, kWrittenAt, manifest.written_ns);
    put_le(bytes, kKeyCountAt, counts.keys);
    put_le(bytes, kNameSpaceSizeAt, counts.name_space);
    put_le(bytes, kNameSizeAt, counts.name);
    put_le(bytes, kDriverSizeAt, counts.driver);
    append(out, head);
}

void append_row(std::string &out, const ListedPack &pack) {
    append(out, pack.hash);
    append_number(out, pack.size_bytes);
    append_number(out, pack.published_s);
    append_number(out, pack.keys.size());
}

// nullopt: the head is no such head, or says more or less than there is.
std::optional<Counts> decode_counts(Bytes body) {
    if (body.size() < kHeadSize + kCheckSize ||
        !same_bytes(body.first(kMagic.size()), as_bytes(kMagic)) ||
        get_le<std::uint32_t>(body, kVersionAt) != kManifestVersion) {
        return std::nullopt;
    }
    const Counts counts = {
        get_le<std::uint32_t>(body, kPackCountAt), get_le<std::uint32_t>(body, kKeyCountAt),
        get_le<std::uint32_t>(body, kNameSpaceSizeAt), get_le<std::uint32_t>(body, kNameSizeAt),
        get_le<std::uint32_t>(body, kDriverSizeAt)};
    if (!counts.are_possible() || counts.body_size() != body.size()) return std::nullopt;
    return counts;
}

bool is_whole(Bytes body) {
    const std::size_t size = body.size() - kCheckSize;
    return checksum(body.first(size), kCheckSeed) == get_le<std::uint64_t>(body, size);
}

// The packs without their keys, and how many each has. False: they do not have so many together.
bool decode_rows(Reader &reader, const Counts &counts, std::vector<ListedPack> &packs,
                 std::vector<std::uint64_t> &key_counts) {
    std::uint64_t left = counts.keys;
    packs.resize(counts.packs);
    for (ListedPack &pack : packs) {
        const Bytes row = reader.bytes(kRowSize);
        std::ranges::copy(row.first(pack.hash.size()), pack.hash.begin());
        pack.size_bytes = get_le<std::uint64_t>(row, 32);
        pack.published_s = get_le<std::uint64_t>(row, 40);
        key_counts.push_back(get_le<std::uint64_t>(row, 48));
        if (key_counts.back() > left) return false;
        left -= key_counts.back();
    }
    return left == 0;
}

void decode_keys(Reader &reader, std::uint64_t count, std::vector<std::uint64_t> &keys) {
    const Bytes bytes = reader.bytes(static_cast<std::size_t>(count) * kKeySize);
    keys.reserve(static_cast<std::size_t>(count));
    for (std::size_t at = 0; at < bytes.size(); at += kKeySize) {
        keys.push_back(get_le<std::uint64_t>(bytes, at));
    }
}

std::optional<unsigned> value_of_digit(char digit) {
    if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
    if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a') + 10;
    return std::nullopt;
}

// False: they are not two lower-case digits for each byte.
bool bytes_of_digits(std::string_view digits, MutableBytes out) {
    if (digits.size() != out.size() * 2) return false;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto high = value_of_digit(digits[2 * i]), low = value_of_digit(digits[2 * i + 1]);
        if (!high || !low) return false;
        out[i] = static_cast<std::byte>(*high << 4 | *low);
    }
    return true;
}

// As people write numbers: the digits that count most come first.
std::array<std::byte, 8> big_endian(std::uint64_t number) {
    std::array<std::byte, 8> bytes = {};
    put_le(MutableBytes(bytes), 0, number);
    std::ranges::reverse(bytes);
    return bytes;
}

}  // namespace

bool is_possible(const FleetManifest &manifest) {
    return counts_of(manifest).are_possible() && has_possible_content(manifest);
}

std::string encode(const FleetManifest &manifest) {
    assert(is_possible(manifest));
    const Counts counts = counts_of(manifest);
    std::string body;
    body.reserve(static_cast<std::size_t>(counts.body_size()));
    append_head(body, manifest, counts);
    body.append(manifest.name_space).append(manifest.name).append(manifest.driver);
    for (const ListedPack &pack : manifest.packs) append_row(body, pack);
    for (const ListedPack &pack : manifest.packs) {
        for (const std::uint64_t key : pack.keys) append_number(body, key);
    }
    append_number(body, checksum(as_bytes(body), kCheckSeed));
    assert(body.size() == counts.body_size());
    return body;
}

std::optional<FleetManifest> decode(Bytes body) {
    const auto counts = decode_counts(body);
    if (!counts || !is_whole(body)) return std::nullopt;
    FleetManifest manifest;
    manifest.machine = get_le<std::uint64_t>(body, kMachineAt);
    manifest.written_ns = get_le<std::uint64_t>(body, kWrittenAt);
    Reader reader(body.subspan(kHeadSize));
    manifest.name_space = reader.text(counts->name_space);
    manifest.name = reader.text(counts->name);
    manifest.driver = reader.text(counts->driver);
    std::vector<std::uint64_t> key_counts;
    if (!decode_rows(reader, *counts, manifest.packs, key_counts)) return std::nullopt;
    for (std::size_t i = 0; i < manifest.packs.size(); ++i) {
        decode_keys(reader, key_counts[i], manifest.packs[i].keys);
    }
    assert(reader.size() == kCheckSize);
    if (!has_possible_content(manifest)) return std::nullopt;
    return manifest;
}

std::string driver_name(std::string_view driver_text) {
    Blake2b hash;
    hash.add(as_bytes("cairn-fleet-driver/1"));
    hash.add(as_bytes(driver_text));
    return hexadecimal(hash.finish()).substr(0, kDigitsOfDriver);
}

std::string machine_name(std::uint64_t machine) {
    return hexadecimal(big_endian(machine));
}

ObjectHash hash_of_object(Bytes whole) {
    Blake2b hash;
    hash.add(whole);
    return hash.finish();
}

std::string hash_name(const ObjectHash &hash) {
    return hexadecimal(hash);
}

std::string manifest_name(std::uint64_t machine, Bytes whole_object) {
    return machine_name(machine) + "-" + hash_name(hash_of_object(whole_object));
}

std::optional<ManifestName> parse_manifest_name(std::string_view name) {
    if (name.size() != kDigitsOfMachine + 1 + kDigitsOfHash || name[kDigitsOfMachine] != '-') {
        return std::nullopt;
    }
    ManifestName parsed;
    std::array<std::byte, 8> machine = {};
    if (!bytes_of_digits(name.substr(0, kDigitsOfMachine), machine) ||
        !bytes_of_digits(name.substr(kDigitsOfMachine + 1), parsed.hash)) {
        return std::nullopt;
    }
    std::ranges::reverse(machine);
    parsed.machine = get_le<std::uint64_t>(machine, 0);
    return parsed;
}

}  // namespace cairn::fleet
