// The bytes of a fleet manifest: what one machine has published for one application and one driver.
// SPDX-License-Identifier: MIT
//
// The layout is in docs/formats/manifest.md. A manifest is one immutable object of a storage that
// anybody may have written. Its signature (apps/cli/signature.h) follows the bytes that are encoded
// here, and is checked before they are decoded. Even then all sizes are bounded.
//
// Thread safety: values and pure functions.
// Failure: bytes that encode() cannot have written decode to nothing, and take no memory before the
// numbers in them fit the size of the whole. Decoded manifests encode to the same bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "pack/entry_hash.h"
#include "pack/pack_format.h"

namespace cairn::fleet {

inline constexpr std::uint32_t kManifestVersion = 1;
inline constexpr std::size_t kManifestTrailerSize = 128;  // the signature, behind the body
inline constexpr std::size_t kManifestMax = 4u << 20;     // of the object: body and trailer
inline constexpr std::size_t kListedPacksMax = 4096;
inline constexpr std::size_t kListedKeysMax = 400'000;          // of all packs together
inline constexpr std::uint64_t kListedPackSizeMax = 64u << 20;  // of the file of a pack
inline constexpr std::size_t kNameSpaceMax = 256;  // with it, names of objects stay below 512 bytes
inline constexpr std::size_t kNameMax = 128;       // of an identifier
inline constexpr std::size_t kDriverTextMax = kPackTextMax;

using ObjectHash = std::array<std::byte, 32>;  // BLAKE2b-256

struct ListedPack {
    ObjectHash hash = {};           // of the file
    std::uint64_t size_bytes = 0;   // of the file
    std::uint64_t published_s = 0;  // since 1970, by the clock of the machine that published it
    // What it has: the entry_hash() of each entry, ascending, each once.
    std::vector<std::uint64_t> keys;

    bool operator==(const ListedPack &) const = default;
};

struct FleetManifest {
    std::string name_space;
    std::string name;    // an application, or the identifier of a cache
    std::string driver;  // lines of text, of which driver_name() is the hash; may be empty
    std::uint64_t machine = 0;
    std::uint64_t written_ns = 0;  // since 1970, by the clock of the machine
    std::vector<ListedPack> packs;

    bool operator==(const FleetManifest &) const = default;
};

// Whether it keeps to all limits, so that it can be encoded.
bool is_possible(const FleetManifest &manifest);

// The body, to be followed by the trailer. REQUIRES: is_possible(manifest).
std::string encode(const FleetManifest &manifest);
// nullopt: it is none of this version, it is damaged, or something in it cannot be.
std::optional<FleetManifest> decode(Bytes body);

// DRIVER in names of objects: 32 digits.
std::string driver_name(std::string_view driver_text);
// MACHINE in names of objects: 16 digits.
std::string machine_name(std::uint64_t machine);
ObjectHash hash_of_object(Bytes whole);
// HASH in names of objects: 64 digits.
std::string hash_name(const ObjectHash &hash);

// MACHINE-HASH, by which a manifest lies in the storage.
struct ManifestName {
    std::uint64_t machine = 0;
    ObjectHash hash = {};

    bool operator==(const ManifestName &) const = default;
};
std::string manifest_name(std::uint64_t machine, Bytes whole_object);
// nullopt: manifest_name() gives no such name.
std::optional<ManifestName> parse_manifest_name(std::string_view name);

}  // namespace cairn::fleet
