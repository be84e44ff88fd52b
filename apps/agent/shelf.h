// What a remote has of one application for one driver: manifests, and the packs that they list (docs/fleet.md).
// SPDX-License-Identifier: MIT
//
//     NAMESPACE/NAME/DRIVER/manifests/MACHINE-HASH
//     NAMESPACE/NAME/DRIVER/packs/HASH.pack.zst
//
// Thread safety: one thread at a time.
// Failure: a RemoteFailure where the remote fails. What is there and does not count is left out, and why is kept for
// people. Nothing is taken that no key has signed whose signatures count here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "counts.h"
#include "keys.h"
#include "machine.h"
#include "manifest_format.h"
#include "remote_settings.h"
#include "remotes/remote.h"
#include "signature.h"

namespace cairn::fleet {

// The most bytes of a pack that is shared, and of a value in it: a pack is in memory while it comes or goes.
inline constexpr std::uint64_t kSharedPackMax = 8u << 20;
inline constexpr std::uint64_t kSharedValueMax = 6u << 20;

// So much is read of one shelf; there may be anything, and as much as somebody likes. Rows of packs and texts of
// drivers count as the entries for which there is room in as many bytes. With it, an agent stays below 64 MB
// (tests/fleet/agent_memory_test.cc).
inline constexpr std::size_t kReadManifestsMax = 2048;
inline constexpr std::size_t kReadEntriesMax = 500'000;
// Of manifests that do not count, so much is kept here.
inline constexpr std::size_t kRefusedBytesMax = 4u << 20;

// Whose signatures count on a remote: those of the keys that are trusted now and not revoked, or of those of them
// that are named.
class Trust {
  public:
    // A Failure where a name is none of a trusted key, or nobody knows which keys were revoked.
    explicit Trust(const RemoteSettings &settings);
    bool counts(const cli::PublicKey &key) const;

  private:
    std::vector<cli::PublicKey> keys_;
};

// A remote, for one command.
class OpenRemote {
  public:
    explicit OpenRemote(RemoteSettings settings);

    const RemoteSettings &settings() const { return settings_; }
    remotes::Remote &remote() { return *remote_; }
    const Trust &trust() const { return trust_; }

    // Once it has failed, a command leaves it alone: each further call may wait for as long again.
    void leave_alone() { is_left_alone_ = true; }
    bool is_left_alone() const { return is_left_alone_; }

    // What was pulled and pushed; requests and bytes, the remote counts itself.
    RemoteCounts &counts() { return counts_; }

    // What there is in the namespace: NAMEs, and DRIVERs of one.
    cli::Words names();
    cli::Words drivers(const std::string &name);

  private:
    cli::Words folders_in(const std::string &folder);

    const RemoteSettings settings_;
    const std::unique_ptr<remotes::Remote> remote_;
    const Trust trust_;
    RemoteCounts counts_;
    bool is_left_alone_ = false;
};

struct ReadManifest {
    std::string object;  // MACHINE-HASH
    FleetManifest manifest;
    cli::PublicKey signer;
    std::optional<std::uint64_t> age_s;  // by the remote's clock
};

class Shelf {
  public:
    // `driver`: DRIVER.
    Shelf(OpenRemote &remote, const Machine &machine, std::string name, std::string driver);

    OpenRemote &remote() const { return remote_; }
    const std::string &driver() const { return driver_; }

    // From now on what this key has signed counts, too: that of the machine itself.
    void count_also(const cli::PublicKey &key) { own_key_ = key; }

    // Those that count, and whose place they name, the newest first as far as limits allow. Those that were
    // read before come from the machine's copies.
    std::vector<ReadManifest> read_manifests();
    // The same, one after the other, for who does not keep them.
    void visit_manifests(const std::function<void(ReadManifest)> &visit);
    // Why others did not count, each reason once.
    const cli::Words &problems() const { return problems_; }

    // The bytes of a pack that this machine has kept; nullopt: it has none that is whole and signed by this key.
    std::optional<std::string> kept(const ObjectHash &pack, const cli::PublicKey &signer) const;
    // The pack, whole and signed by this key; nullopt: it is not there, or not that. One that this machine has kept
    // is not fetched again.
    std::optional<TemporaryPack> fetch(const ListedPack &pack, const cli::PublicKey &signer);

    // Puts it, compressed, and fills in what that is called and how large it is.
    void put_pack(ListedPack &pack, Bytes content);
    // Signs and puts it. Returns its MACHINE-HASH.
    std::string put_manifest(const FleetManifest &manifest, const cli::SecretKey &key);
    void remove_manifest(const std::string &object);

    // For those that tidy a remote up.
    std::vector<remotes::Listed> list_manifests();
    // Of any key; nullopt: it is not there, or none of this place.
    std::optional<FleetManifest> read_any_manifest(const std::string &object);
    std::vector<remotes::Listed> list_packs();
    void remove_pack(const std::string &file);
    static std::string file_of(const ListedPack &pack);

  private:
    std::vector<remotes::Listed> newest_manifests();
    std::string folder(const char *kind) const;
    std::optional<std::string> get(const std::string &object, std::uint64_t size_max);
    std::optional<std::string> read(const std::string &object, bool &is_copy);
    void keep_copy(const std::string &object, const std::string &content) const;
    std::optional<FleetManifest> decode_own(const std::string &object, Bytes content) const;
    std::optional<ReadManifest> check(const std::string &object, const std::string &content);
    void note(const std::string &problem);

    OpenRemote &remote_;
    const Machine &machine_;
    const std::string name_, driver_;
    const std::string copies_;  // where the machine keeps those of this remote
    std::optional<cli::PublicKey> own_key_;
    cli::Words problems_;
};

// The first 8 bytes of hashes of all entries that these manifests list: ascending, each once.
std::vector<std::uint64_t> entries_of(const std::vector<ReadManifest> &manifests);
bool has_entry(const std::vector<std::uint64_t> &entries, std::uint64_t hash);

}  // namespace cairn::fleet
