// SPDX-License-Identifier: MIT
#include "pull.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cache/driver_cache.h"
#include "fetching.h"
#include "holdings.h"
#include "kept_packs.h"
#include "keys.h"
#include "output.h"
#include "pack/files.h"
#include "pack/install_folder.h"
#include "pack/merging.h"
#include "pack/plan.h"
#include "packs.h"
#include "session.h"

namespace cairn::fleet {
namespace {

namespace fs = std::filesystem;
using cli::Words;

// A pack that a manifest lists.
struct Offer {
    Shelf *shelf;
    const ListedPack *pack;
    cli::PublicKey signer;
};

struct Fetched {
    TemporaryPack file;
    cli::PublicKey signer;
};

// The fingerprints that a merged pack names.
std::set<std::string> signers_in(std::string_view about) {
    std::set<std::string> signers;
    while (!about.empty()) {
        const std::size_t size = std::min(about.find('\n'), about.size());
        const std::string_view line = about.substr(0, size);
        if (line.starts_with(cli::kSignedByLine))
            signers.emplace(line.substr(cli::kSignedByLine.size()));
        about.remove_prefix(std::min(size + 1, about.size()));
    }
    return signers;
}

// Pulls NAME for one driver.
class Pull {
  public:
    Pull(const std::vector<std::unique_ptr<OpenRemote>> &remotes, const Machine &machine,
         const std::string &name, const std::string &driver)
        : machine_(machine), name_(name), driver_(driver) {
        for (const auto &remote : remotes) {
            shelves_.push_back(std::make_unique<Shelf>(*remote, machine, name, driver));
        }
    }

    Pulled run(const std::optional<std::string> &text, const PullLimits &limits);

  private:
    void read_manifests();
    std::vector<Offer> offers() const;
    void fetch(const std::vector<Offer> &offers, const PullLimits &limits);
    static bool counts(const std::string &signer);
    std::vector<Trust> trust() const;
    void merge(const PullLimits &limits);
    void note_trouble(const Shelf &shelf, const remotes::RemoteFailure &failure);

    const Machine &machine_;
    const std::string name_, driver_;
    std::string text_;
    std::vector<std::unique_ptr<Shelf>> shelves_;
    std::vector<std::vector<ReadManifest>> manifests_;  // of each shelf
    std::vector<Fetched> fetched_;
    Pulled result_;
};

void Pull::note_trouble(const Shelf &shelf, const remotes::RemoteFailure &failure) {
    shelf.remote().leave_alone();
    result_.troubles.push_back({shelf.remote().settings().name, failure.what()});
}

void Pull::read_manifests() {
    for (const auto &shelf : shelves_) {
        manifests_.emplace_back();
        if (shelf->remote().is_left_alone()) continue;
        try {
            manifests_.back() = shelf->read_manifests();
        } catch (const remotes::RemoteFailure &failure) {
            note_trouble(*shelf, failure);
        }
    }
}

// Of each remote those with most entries first, so that few are fetched.
std::vector<Offer> Pull::offers() const {
    std::vector<Offer> offers;
    for (std::size_t i = 0; i < shelves_.size(); ++i) {
        const std::size_t begin = offers.size();
        for (const ReadManifest &each : manifests_[i]) {
            for (const ListedPack &pack : each.manifest.packs) {
                offers.push_back({shelves_[i].get(), &pack, each.signer});
            }
        }
        std::stable_sort(offers.begin() + static_cast<std::ptrdiff_t>(begin), offers.end(),
                         [](const Offer &a, const Offer &b) {
                             return a.pack->keys.size() > b.pack->keys.size();
                         });
    }
    return offers;
}

void Pull::fetch(const std::vector<Offer> &offers, const PullLimits &limits) {
    std::vector<std::uint64_t> here = entries_here(machine_.root(), name_, text_);
    // What is left out for lack of room is not fetched again and again.
    std::error_code error;
    const std::uintmax_t size =
        fs::file_size(pulled_pack_path(machine_.root(), name_, driver_), error);
    const std::uint64_t room =
        limits.bytes_max - std::min<std::uint64_t>(error ? 0 : size, limits.bytes_max);
    bool is_full = false;
    for (const Offer &offer : offers) {
        const auto is_lacking = [&](std::uint64_t key) { return !has_entry(here, key); };
        if (offer.shelf->remote().is_left_alone() ||
            std::ranges::none_of(offer.pack->keys, is_lacking)) {
            continue;
        }
        if (offer.pack->size_bytes > room - std::min(result_.bytes, room)) {
            is_full = true;
            continue;
        }
        try {
            auto file = fetch_pack(*offer.shelf, *offer.pack, offer.signer, name_, text_);
            if (!file) continue;
            if (limits.keeps) (void)KeptPacks(machine_.root()).keep(offer.pack->hash, file->path());
            fetched_.push_back({std::move(*file), offer.signer});
        } catch (const remotes::RemoteFailure &failure) {
            note_trouble(*offer.shelf, failure);
            continue;
        } catch (const cli::Failure &failure) {
            result_.problems.emplace_back(failure.what());
            continue;
        }
        ++result_.packs;
        ++offer.shelf->remote().counts().packs_pulled;
        result_.bytes += offer.pack->size_bytes;
        // Apart: what is searched has to stay in order.
        std::vector<std::uint64_t> added;
        std::ranges::copy_if(offer.pack->keys, std::back_inserter(added), is_lacking);
        result_.entries += added.size();
        offer.shelf->remote().counts().entries_pulled += added.size();
        const auto middle = static_cast<std::ptrdiff_t>(here.size());
        here.insert(here.end(), added.begin(), added.end());
        std::ranges::inplace_merge(here, here.begin() + middle);
    }
    if (is_full) {
        result_.problems.push_back(name_ + ": there is no room for all of it (see --max-bytes)");
    }
}

// The keys are read anew: what counted when the manifests were read may not count now.
std::vector<Trust> Pull::trust() const {
    std::vector<Trust> trust;
    for (const auto &shelf : shelves_) trust.emplace_back(shelf->remote().settings());
    return trust;
}

// Of what was merged before, by whatever remote: all trusted keys.
bool Pull::counts(const std::string &signer) {
    const auto is_it = [&](const cli::NamedKey &each) {
        return cli::fingerprint(each.key) == signer;
    };
    return std::ranges::any_of(cli::trusted_keys().keys, is_it) &&
           std::ranges::none_of(cli::revoked_keys().keys, is_it);
}

void Pull::merge(const PullLimits &limits) {
    const ByteLock lock = machine_.lock(name_);
    // A key that is revoked meanwhile removes the pack that is written here, or is not used for it.
    const cli::KeysLock keys(cli::KeysUse::read);
    const std::string path = pulled_pack_path(machine_.root(), name_, driver_);
    std::vector<cli::OpenPack> packs;
    std::set<std::string> signers;
    std::error_code error;
    if (fs::exists(path, error)) {
        try {
            cli::OpenPack old = cli::open_pack(path);
            signers = signers_in(old.pack->about().value_or(""));
            const bool is_trusted =
                !signers.empty() &&
                std::ranges::all_of(signers, [&](const auto &each) { return counts(each); });
            if (is_trusted) packs.push_back(std::move(old));
        } catch (const cli::Failure &failure) {
            result_.problems.emplace_back(failure.what());
        }
        if (packs.empty()) signers.clear();
    }
    const std::vector<Trust> trusted = trust();
    for (const Fetched &each : fetched_) {
        if (std::ranges::none_of(trusted,
                                 [&](const Trust &trust) { return trust.counts(each.signer); })) {
            continue;
        }
        packs.push_back(cli::open_pack(each.file.path()));
        signers.insert(cli::fingerprint(each.signer));
    }
    std::uint64_t lost = 0;
    std::vector<cli::PlannedPart> parts = cli::plan_merge(std::move(packs), lost);
    cli::PackOptions options;
    options.out = path;
    options.max_bytes = std::to_string(limits.bytes_max);
    cli::keep_the_best(parts, options);
    if (parts.size() > kPackPartsMax) parts.resize(kPackPartsMax);
    if (parts.empty()) return;
    const std::string top = machine_.root() + "/.packs";
    cli::make_pack_folder(top, cli::InstallFor::user);
    const cli::FolderLock folder_lock(top);
    const cli::InstallFolder folder(top, name_, cli::InstallFor::user);
    cli::PackMaker maker(options);
    // A pack that others may write would be no layer, whatever the umask.
    maker.begin(parts.size(), cli::NewFile::Reader::everybody);
    for (const cli::PlannedPart &part : parts) (void)maker.write(part);
    std::string about = "Merged by `cairn pull`.\n";
    for (const std::string &each : signers)
        about.append(cli::kSignedByLine).append(each).append("\n");
    (void)maker.finish(about);
    // For an application that has been started already: the driver looks for each file when it needs it.
    (void)place_driver_files(machine_.root(), {name_, name_, 0, text_}, {}, Log());
}

Pulled Pull::run(const std::optional<std::string> &text, const PullLimits &limits) {
    read_manifests();
    if (text) text_ = *text;
    for (const auto &manifests : manifests_) {
        if (!text && !manifests.empty()) text_ = manifests.front().manifest.driver;
        result_.listed += entries_of(manifests).size();
    }
    fetch(offers(), limits);
    if (!fetched_.empty()) merge(limits);
    for (const auto &shelf : shelves_) {
        for (const std::string &problem : shelf->problems()) {
            result_.problems.push_back(shelf->remote().settings().name + ": " + problem);
        }
    }
    return std::move(result_);
}

}  // namespace

void Pulled::add(Pulled other) {
    packs += other.packs;
    entries += other.entries;
    bytes += other.bytes;
    listed += other.listed;
    std::ranges::move(other.troubles, std::back_inserter(troubles));
    std::ranges::move(other.problems, std::back_inserter(problems));
}

Pulled pull(const std::vector<std::unique_ptr<OpenRemote>> &remotes, const Machine &machine,
            const std::string &name, const std::string &driver,
            const std::optional<std::string> &text, const PullLimits &limits) {
    return Pull(remotes, machine, name, driver).run(text, limits);
}

}  // namespace cairn::fleet
