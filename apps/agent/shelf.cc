// SPDX-License-Identifier: MIT
#include "shelf.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <limits>

#include "kept_packs.h"
#include "output.h"
#include "pack/files.h"

namespace cairn::fleet {
namespace {

using cli::Failure;
using cli::kExitFailure;
using cli::Words;

constexpr std::string_view kPackEnd = ".pack.zst";

// What a pack of a few entries has most of is zeroes.
std::string compressed(Bytes content) {
    constexpr int kLevel = 3;
    std::string out(ZSTD_compressBound(content.size()), '\0');
    const std::size_t size =
        ZSTD_compress(out.data(), out.size(), content.data(), content.size(), kLevel);
    if (ZSTD_isError(size) != 0) throw Failure(kExitFailure, "there is not enough memory");
    out.resize(size);
    return out;
}

// nullopt: it is no frame of zstd, or one of more than kSharedPackMax bytes.
std::optional<std::string> decompressed(Bytes frame) {
    const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
    if (size > kSharedPackMax) return std::nullopt;  // so are the numbers that say what is wrong
    std::string out(size, '\0');
    const std::size_t got = ZSTD_decompress(out.data(), out.size(), frame.data(), frame.size());
    return got == size ? std::optional(std::move(out)) : std::nullopt;
}

// Each remote has copies of its own, as those that it does not list any more are deleted.
std::string copies_of(const RemoteSettings &settings) {
    constexpr std::size_t kDigits = 16;
    const std::string place = settings.url + "\n" + settings.name_space;
    return hash_name(hash_of_object(as_bytes(place))).substr(0, kDigits);
}

}  // namespace

Trust::Trust(const RemoteSettings &settings) {
    const cli::Keys revoked = cli::revoked_keys();
    if (!revoked.problems.empty()) {
        throw Failure(kExitFailure, "{}; until then it is not known which keys were revoked",
                      revoked.problems.front());
    }
    const cli::Keys trusted = cli::trusted_keys();
    for (const std::string &problem : trusted.problems) cli::complain(problem);
    for (const std::string &name : settings.trust) {
        if (std::ranges::find(trusted.keys, name, &cli::NamedKey::name) == trusted.keys.end()) {
            throw Failure(kExitFailure, "{}: you trust no key `{}`; `cairn key ls` shows all",
                          settings.name, name);
        }
    }
    for (const cli::NamedKey &each : trusted.keys) {
        const bool is_named = settings.trust.empty() ||
                              std::ranges::find(settings.trust, each.name) != settings.trust.end();
        const bool is_revoked =
            std::ranges::find(revoked.keys, each.key, &cli::NamedKey::key) != revoked.keys.end();
        if (is_named && !is_revoked) keys_.push_back(each.key);
    }
}

bool Trust::counts(const cli::PublicKey &key) const {
    return std::ranges::find(keys_, key) != keys_.end();
}

OpenRemote::OpenRemote(RemoteSettings settings)
    : settings_(std::move(settings)),
      remote_(remotes::open_remote(settings_.url, remotes::Limits())),
      trust_(settings_) {}

Words OpenRemote::folders_in(const std::string &folder) {
    Words names;
    for (const remotes::Listed &each : remote_->list(folder)) {
        if (each.name.ends_with('/')) names.push_back(each.name.substr(0, each.name.size() - 1));
    }
    std::ranges::sort(names);
    return names;
}

Words OpenRemote::names() {
    return folders_in(settings_.name_space);
}

Words OpenRemote::drivers(const std::string &name) {
    return folders_in(settings_.name_space + "/" + name);
}

Shelf::Shelf(OpenRemote &remote, const Machine &machine, std::string name, std::string driver)
    : remote_(remote),
      machine_(machine),
      name_(std::move(name)),
      driver_(std::move(driver)),
      copies_(copies_of(remote.settings()) + "/" + name_ + "/" + driver_) {}

std::string Shelf::folder(const char *kind) const {
    return remote_.settings().name_space + "/" + name_ + "/" + driver_ + "/" + kind;
}

void Shelf::note(const std::string &problem) {
    if (std::ranges::find(problems_, problem) == problems_.end()) problems_.push_back(problem);
}

std::vector<remotes::Listed> Shelf::list_manifests() {
    std::vector<remotes::Listed> listed = remote_.remote().list(folder("manifests"));
    std::erase_if(listed,
                  [](const remotes::Listed &each) { return !parse_manifest_name(each.name); });
    return listed;
}

std::vector<remotes::Listed> Shelf::list_packs() {
    std::vector<remotes::Listed> listed = remote_.remote().list(folder("packs"));
    std::erase_if(listed,
                  [](const remotes::Listed &each) { return !each.name.ends_with(kPackEnd); });
    return listed;
}

std::string Shelf::file_of(const ListedPack &pack) {
    return hash_name(pack.hash) + std::string(kPackEnd);
}

// nullopt: it is not there. What is larger than it may be comes back empty, and is as wrong as that: one such object is no
// trouble of the remote, and hides no other.
std::optional<std::string> Shelf::get(const std::string &object, std::uint64_t size_max) {
    try {
        return remote_.remote().get(object, size_max);
    } catch (const remotes::RemoteFailure &failure) {
        if (failure.trouble() != remotes::Trouble::too_large) throw;
        return std::string();
    }
}

// The content of a manifest, which has the hash that its name says; nullopt: it is not there, or another one.
// `is_copy`: it comes from this machine.
std::optional<std::string> Shelf::read(const std::string &object, bool &is_copy) {
    const auto is_it = [&](const std::string &content) {
        return hash_of_object(as_bytes(content)) == parse_manifest_name(object)->hash;
    };
    auto copy = machine_.copy_of(copies_, object);
    is_copy = copy && is_it(*copy);
    if (is_copy) return copy;
    auto content = get(folder("manifests") + "/" + object, kManifestMax);
    if (!content) return std::nullopt;
    if (!is_it(*content)) {
        note("a manifest is not what its name says: it is damaged, or was changed");
        return std::nullopt;
    }
    return content;
}

// nullopt: it is of another version, or of another place.
std::optional<FleetManifest> Shelf::decode_own(const std::string &object, Bytes content) const {
    if (content.size() < cli::kTrailerSize) return std::nullopt;
    auto manifest = decode(content.first(content.size() - cli::kTrailerSize));
    const bool is_own = manifest && manifest->name_space == remote_.settings().name_space &&
                        manifest->name == name_ && driver_name(manifest->driver) == driver_ &&
                        manifest->machine == parse_manifest_name(object)->machine;
    return is_own ? std::move(manifest) : std::nullopt;
}

std::optional<ReadManifest> Shelf::check(const std::string &object, const std::string &content) {
    const auto signer = cli::signer_of(as_bytes(content));
    if (!signer) {
        note("a manifest is not signed");
        return std::nullopt;
    }
    if (!remote_.trust().counts(*signer) && signer != own_key_) {
        note(
            fmt::format("manifests are signed by a key that you do not trust here ({}); "
                        "`cairn key trust` trusts one",
                        cli::fingerprint(*signer)));
        return std::nullopt;
    }
    auto manifest = decode_own(object, as_bytes(content));
    if (!manifest) {
        note("a manifest is of another version of Cairn, or of another place");
        return std::nullopt;
    }
    return ReadManifest{object, std::move(*manifest), *signer, std::nullopt};
}

std::optional<FleetManifest> Shelf::read_any_manifest(const std::string &object) {
    bool is_copy = false;
    const auto content = read(object, is_copy);
    if (!content || !cli::signer_of(as_bytes(*content))) return std::nullopt;
    return decode_own(object, as_bytes(*content));
}

// The machine's own, as what it has published is not to be published again; then the newest first, as many as are read.
std::vector<remotes::Listed> Shelf::newest_manifests() {
    std::vector<remotes::Listed> listed = list_manifests();
    std::ranges::stable_sort(listed, {}, [](const remotes::Listed &each) {
        return each.age_s.value_or(std::numeric_limits<std::uint64_t>::max());
    });
    std::stable_partition(listed.begin(), listed.end(),
                          [own = machine_.number()](const remotes::Listed &each) {
                              return parse_manifest_name(each.name)->machine == own;
                          });
    if (listed.size() > kReadManifestsMax) {
        note("there are too many manifests; `cairn remote gc` removes old ones");
        listed.resize(kReadManifestsMax);
        listed.shrink_to_fit();
    }
    return listed;
}

void Shelf::visit_manifests(const std::function<void(ReadManifest)> &visit) {
    Words objects;
    std::size_t bytes = 0, refused_bytes = 0;
    for (const remotes::Listed &each : newest_manifests()) {
        objects.push_back(each.name);
        bool is_copy = false;
        const auto content = read(each.name, is_copy);
        if (!content) continue;
        auto checked = check(each.name, *content);
        if (!checked) {
            // Kept as well, so that not each job fetches it again; but nobody fills this disk.
            refused_bytes += content->size();
            if (!is_copy && refused_bytes <= kRefusedBytesMax) keep_copy(each.name, *content);
            continue;
        }
        bytes += content->size();
        if (bytes > kReadEntriesMax * sizeof(std::uint64_t)) {
            note("the manifests list too many entries; the oldest were not read");
            break;
        }
        checked->age_s = each.age_s;
        if (!is_copy) keep_copy(each.name, *content);
        visit(std::move(*checked));
    }
    machine_.forget_copies(copies_, objects);
}

void Shelf::keep_copy(const std::string &object, const std::string &content) const {
    machine_.keep_copy(copies_, object, as_bytes(content));
}

std::vector<ReadManifest> Shelf::read_manifests() {
    std::vector<ReadManifest> manifests;
    visit_manifests([&](ReadManifest each) { manifests.push_back(std::move(each)); });
    return manifests;
}

std::optional<std::string> Shelf::kept(const ObjectHash &pack, const cli::PublicKey &signer) const {
    auto content = KeptPacks(machine_.root()).read(pack, kSharedPackMax);
    if (!content || cli::signer_of(as_bytes(*content)) != signer) return std::nullopt;
    return content;
}

std::optional<TemporaryPack> Shelf::fetch(const ListedPack &pack, const cli::PublicKey &signer) {
    if (pack.size_bytes > kSharedPackMax) {
        note("a pack is larger than is shared");
        return std::nullopt;
    }
    if (const auto here = kept(pack.hash, signer)) return machine_.new_pack(as_bytes(*here));
    const auto content = get(folder("packs") + "/" + file_of(pack), pack.size_bytes);
    if (!content) {
        note("a pack that is listed is not there");
        return std::nullopt;
    }
    const auto whole = hash_of_object(as_bytes(*content)) == pack.hash
                           ? decompressed(as_bytes(*content))
                           : std::nullopt;
    if (!whole || cli::signer_of(as_bytes(*whole)) != signer) {
        note("a pack is not what was listed: it is damaged, or was changed");
        return std::nullopt;
    }
    return machine_.new_pack(as_bytes(*whole));
}

void Shelf::put_pack(ListedPack &pack, Bytes content) {
    const std::string frame = compressed(content);
    pack.hash = hash_of_object(as_bytes(frame));
    pack.size_bytes = frame.size();
    remote_.remote().put(folder("packs") + "/" + file_of(pack), as_bytes(frame));
}

std::string Shelf::put_manifest(const FleetManifest &manifest, const cli::SecretKey &key) {
    std::string content = encode(manifest);
    const cli::TrailerBytes trailer = cli::encode_trailer(cli::sign_bytes(as_bytes(content), key));
    content.append(reinterpret_cast<const char *>(trailer.data()), trailer.size());
    std::string object = manifest_name(manifest.machine, as_bytes(content));
    remote_.remote().put(folder("manifests") + "/" + object, as_bytes(content));
    return object;
}

void Shelf::remove_manifest(const std::string &object) {
    remote_.remote().remove(folder("manifests") + "/" + object);
}

void Shelf::remove_pack(const std::string &file) {
    remote_.remote().remove(folder("packs") + "/" + file);
}

std::vector<std::uint64_t> entries_of(const std::vector<ReadManifest> &manifests) {
    std::size_t count = 0;
    for (const ReadManifest &each : manifests) {
        for (const ListedPack &pack : each.manifest.packs) count += pack.keys.size();
    }
    std::vector<std::uint64_t> entries;
    entries.reserve(count);
    for (const ReadManifest &each : manifests) {
        for (const ListedPack &pack : each.manifest.packs) {
            entries.insert(entries.end(), pack.keys.begin(), pack.keys.end());
        }
    }
    std::ranges::sort(entries);
    entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
    return entries;
}

bool has_entry(const std::vector<std::uint64_t> &entries, std::uint64_t hash) {
    return std::ranges::binary_search(entries, hash);
}

}  // namespace cairn::fleet
