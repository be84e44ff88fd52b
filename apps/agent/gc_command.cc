// SPDX-License-Identifier: MIT
// `cairn remote gc`: removes from remotes what nobody needs any more.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "caches.h"
#include "commands.h"
#include "open_remotes.h"
#include "os/configuration.h"
#include "os/environment.h"
#include "output.h"

namespace cairn::fleet {
namespace {

using cli::Failure;
using cli::kExitFailure;
using cli::kExitOk;
using cli::kExitUsage;
using cli::Words;

constexpr const char *kFooter =
    R"(Removed are manifests that are older than --max-age, as a machine that still uses an application writes its own anew once
a week; then the oldest, while the packs together are larger than the remote's limit; and then packs that no manifest
lists and that are a day old. A machine that runs this needs the right to delete, and no key.

Examples:
  cairn remote gc --dry-run                    what would go
  cairn remote gc --max-age 30 --max-bytes 20G

Exit codes: 0 done, 1 a remote failed, 2 wrong usage.)";

constexpr std::uint64_t kDayS = 24 * 3600;

struct Options {
    RemoteOptions remotes;
    std::string max_age = "90";
    std::string max_bytes;
    bool dry_run = false;
};

// A manifest with where it is.
struct Published {
    std::size_t shelf;
    std::string object;
    std::uint64_t age_s;
    std::vector<ListedPack> packs;
    bool is_known = true;  // false: what it lists is not
};

struct Removed {
    std::uint64_t manifests = 0, packs = 0, of_unknown_age = 0;
    std::uint64_t unclear = 0;                        // shelves whose packs stay
    std::uint64_t bytes_before = 0, bytes_after = 0;  // of packs that are listed
};

// All of a namespace at a remote.
class Tidying {
  public:
    Tidying(OpenRemote &remote, const Machine &machine, bool is_dry) : is_dry_(is_dry) {
        for (const std::string &name : remote.names()) {
            for (const std::string &driver : remote.drivers(name)) {
                shelves_.push_back(std::make_unique<Shelf>(remote, machine, name, driver));
                packs_there_.push_back(shelves_.back()->list_packs());
            }
        }
        // Packs were listed first: what is put meanwhile is listed by a manifest that is read now, or is new.
        for (std::size_t i = 0; i < shelves_.size(); ++i) read_manifests(i);
        std::ranges::stable_sort(published_, {}, &Published::age_s);
    }

    Removed run(std::uint64_t age_max_s, std::optional<std::uint64_t> bytes_max);

  private:
    void read_manifests(std::size_t shelf);
    void remove_manifests(std::uint64_t age_max_s, std::optional<std::uint64_t> bytes_max);
    void remove_packs();

    const bool is_dry_;
    std::vector<std::unique_ptr<Shelf>> shelves_;
    std::vector<std::vector<remotes::Listed>> packs_there_;  // of each shelf
    std::vector<Published> published_;                       // the newest first
    Removed removed_;
};

// A manifest of any key keeps its packs until it is old.
void Tidying::read_manifests(std::size_t shelf) {
    for (const remotes::Listed &each : shelves_[shelf]->list_manifests()) {
        auto manifest = shelves_[shelf]->read_any_manifest(each.name);
        const std::uint64_t now_s = wall_clock_ns() / 1'000'000'000;
        Published published = {shelf, each.name, 0, {}};
        if (manifest) {
            const std::uint64_t written_s = manifest->written_ns / 1'000'000'000;
            published.age_s = now_s - std::min(written_s, now_s);
            published.packs = std::move(manifest->packs);
            for (ListedPack &pack : published.packs) pack.keys = {};
        } else {
            published.is_known = false;
        }
        if (each.age_s) published.age_s = *each.age_s;
        published_.push_back(std::move(published));
    }
}

void Tidying::remove_manifests(std::uint64_t age_max_s, std::optional<std::uint64_t> bytes_max) {
    std::vector<Published> kept;
    std::set<ObjectHash> seen, seen_before;
    std::vector<std::set<std::string>> there(shelves_.size());
    for (std::size_t i = 0; i < shelves_.size(); ++i) {
        for (const remotes::Listed &pack : packs_there_[i]) there[i].insert(pack.name);
    }
    bool is_full = false;
    for (Published &each : published_) {
        std::uint64_t more = 0;
        for (const ListedPack &pack : each.packs) {
            // What a manifest says of packs that are not there counts for nothing.
            if (!there[each.shelf].contains(Shelf::file_of(pack))) continue;
            if (seen_before.insert(pack.hash).second) removed_.bytes_before += pack.size_bytes;
            if (!seen.contains(pack.hash)) more += pack.size_bytes;
        }
        is_full = is_full || (bytes_max && removed_.bytes_after + more > *bytes_max);
        if (each.age_s > age_max_s || is_full) {
            ++removed_.manifests;
            if (!is_dry_) shelves_[each.shelf]->remove_manifest(each.object);
            continue;
        }
        removed_.bytes_after += more;
        for (const ListedPack &pack : each.packs) seen.insert(pack.hash);
        kept.push_back(std::move(each));
    }
    published_ = std::move(kept);
}

void Tidying::remove_packs() {
    std::vector<std::set<std::string>> listed(shelves_.size());
    std::set<std::size_t> unclear;  // a newer version of Cairn may list anything there
    for (const Published &each : published_) {
        if (!each.is_known) unclear.insert(each.shelf);
        for (const ListedPack &pack : each.packs) listed[each.shelf].insert(Shelf::file_of(pack));
    }
    removed_.unclear = unclear.size();
    for (std::size_t i = 0; i < shelves_.size(); ++i) {
        if (unclear.contains(i)) continue;
        for (const remotes::Listed &pack : packs_there_[i]) {
            if (listed[i].contains(pack.name)) continue;
            if (!pack.age_s) ++removed_.of_unknown_age;
            // A younger one may be of a push that has not written its manifest yet.
            if (!pack.age_s || *pack.age_s < kDayS) continue;
            ++removed_.packs;
            if (!is_dry_) shelves_[i]->remove_pack(pack.name);
        }
    }
}

Removed Tidying::run(std::uint64_t age_max_s, std::optional<std::uint64_t> bytes_max) {
    remove_manifests(age_max_s, bytes_max);
    remove_packs();
    return removed_;
}

std::uint64_t age_of(const Options &options) {
    std::uint64_t days = 0;
    const char *const end = options.max_age.data() + options.max_age.size();
    const auto [stopped, error] = std::from_chars(options.max_age.data(), end, days);
    if (error != std::errc() || stopped != end || days == 0 || days > 36500) {
        throw Failure(kExitUsage, "--max-age `{}`: write a number of days", options.max_age);
    }
    return days * kDayS;
}

std::optional<std::uint64_t> bytes_of(const Options &options, const RemoteSettings &settings) {
    if (options.max_bytes.empty()) return settings.limit_bytes;
    const auto size = size_from_text(options.max_bytes);
    if (!size)
        throw Failure(kExitUsage, "--max-bytes `{}`: no such size; write 20G", options.max_bytes);
    return size;
}

void say_of(const std::string &remote, const Removed &removed, bool is_dry) {
    cli::say(fmt::format(
        "{}: {}{} and {} removed; packs that are listed: {}, before {}", remote,
        is_dry ? "would be: " : "", cli::format_count(removed.manifests, "manifest", "manifests"),
        cli::format_count(removed.packs, "pack", "packs"), cli::format_bytes(removed.bytes_after),
        cli::format_bytes(removed.bytes_before)));
    if (removed.unclear != 0) {
        cli::complain(
            "{}: of {} all packs stay, as a manifest there is of another version of Cairn, or "
            "damaged",
            remote, cli::format_count(removed.unclear, "driver", "drivers"));
    }
    if (removed.of_unknown_age != 0) {
        cli::complain("{}: {} that no manifest lists stay, as this storage does not tell their age",
                      remote, cli::format_count(removed.of_unknown_age, "pack", "packs"));
    }
}

int run(const Options &options) {
    const std::uint64_t age_max_s = age_of(options);
    std::vector<RemoteTrouble> troubles;
    const OpenRemotes remotes = open_chosen(options.remotes, RemoteUse::any, troubles);
    const Machine machine(cli::usable_root());
    for (const auto &remote : remotes) {
        try {
            const auto bytes_max = bytes_of(options, remote->settings());
            const Removed removed =
                Tidying(*remote, machine, options.dry_run).run(age_max_s, bytes_max);
            say_of(remote->settings().name, removed, options.dry_run);
        } catch (const remotes::RemoteFailure &failure) {
            troubles.push_back({remote->settings().name, failure.what()});
        }
    }
    complain_of(troubles, {});
    return troubles.empty() ? kExitOk : kExitFailure;
}

cli::Run define(cli::Arguments &take) {
    auto options = std::make_shared<Options>();
    add_remote_options(take, options->remotes, RemoteUse::any);
    take.value("--max-age", options->max_age, "Days that a manifest may be old; default 90",
               "DAYS");
    take.value("--max-bytes", options->max_bytes,
               "What all packs that are listed may take; default: the remote's `limit`", "SIZE");
    take.flag("--dry-run", options->dry_run, "Say what would go, and remove nothing");
    take.dir();
    take.quiet();
    return [options] { return run(*options); };
}

}  // namespace

const cli::Command gc_command = {"gc", "Remove from remotes what nobody needs", kFooter, define};

}  // namespace cairn::fleet
