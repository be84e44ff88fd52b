// SPDX-License-Identifier: MIT
#include "push.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "keys.h"
#include "os/environment.h"
#include "output.h"
#include "pack/files.h"
#include "pack/merging.h"

namespace cairn::fleet {
namespace {

using cli::Failure;
using cli::kExitFailure;
using cli::PlannedPart;

// What a pack has of values, as they are stored. Compressed it is less.
constexpr std::uint64_t kPackBytes = 4u << 20;
// A machine that lists more makes large ones of the small ones.
constexpr std::size_t kOwnPacksMax = 16;
// A manifest that is older is written anew, so that `cairn remote gc` sees that it is in use.
constexpr std::uint64_t kRenewNs = 7ULL * 24 * 3600 * 1'000'000'000;

std::uint64_t size_of(const PlannedPart &part) {
    std::uint64_t sum = 0;
    constexpr std::uint64_t kSlot = 32;  // of an index, which is filled by a half
    for (const cli::PlannedEntry &each : part.entries) sum += cli::size_in_pack(each) + kSlot;
    return sum;
}

// Parts of packs of about kPackBytes each.
std::vector<std::vector<PlannedPart>> by_packs(std::vector<PlannedPart> parts) {
    std::vector<std::vector<PlannedPart>> packs;
    std::uint64_t bytes = 0;
    for (PlannedPart &part : parts) {
        for (PlannedPart &piece : cli::split(std::move(part), kPackBytes)) {
            const std::uint64_t size = size_of(piece);
            if (packs.empty() || bytes + size > kPackBytes ||
                packs.back().size() == kPackPartsMax) {
                packs.emplace_back();
                bytes = 0;
            }
            bytes += size;
            packs.back().push_back(std::move(piece));
        }
    }
    return packs;
}

std::string content_of(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::string content(std::istreambuf_iterator<char>(file), {});
    if (!file) throw Failure(kExitFailure, "cannot read {}", path);
    return content;
}

// What is in a pack, as it says itself: something may have gone while it was made.
std::vector<std::uint64_t> keys_of(const std::string &path) {
    std::vector<std::uint64_t> keys;
    for (const cli::OpenPart &part : cli::open_pack(path).parts) {
        (void)cli::visit_entries(part, [&](std::uint32_t, const PackPart::Entry &entry) {
            keys.push_back(entry_hash(part.part->row().identity, as_bytes(entry.key)));
        });
    }
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
}

class Push {
  public:
    Push(OpenRemote &remote, const Machine &machine, std::string name, std::string driver_text,
         const std::string &key_name)
        : shelf_(remote, machine, name, driver_name(driver_text)),
          machine_(machine),
          key_name_(key_name),
          key_(cli::load_secret_key(key_name)),
          number_(machine.number()) {
        shelf_.count_also(key_.public_key());
        manifest_.name_space = remote.settings().name_space;
        manifest_.name = std::move(name);
        manifest_.driver = std::move(driver_text);
        manifest_.machine = number_;
        manifest_.written_ns = wall_clock_ns();
    }

    Pushed run(std::vector<PlannedPart> parts);

  private:
    bool is_own(const ReadManifest &each) const {
        return each.manifest.machine == number_ && each.signer == key_.public_key();
    }
    void take_over_own_packs();
    void forget_lost_packs();
    void leave_out_what_no_manifest_holds(std::vector<PlannedPart> &parts);
    void leave_out_what_others_have();
    void merge_own_packs();
    void publish(std::vector<PlannedPart> parts);
    std::uint64_t put_pack(const std::vector<PlannedPart> &parts);
    bool needs_renewal() const;

    Shelf shelf_;
    const Machine &machine_;
    const std::string key_name_;
    const cli::SecretKey key_;
    const std::uint64_t number_;
    std::vector<ReadManifest> manifests_;
    FleetManifest manifest_;  // the new one
    Pushed result_;
};

// What this machine's manifests list together, each once.
void Push::take_over_own_packs() {
    std::map<ObjectHash, ListedPack> packs;
    for (const ReadManifest &each : manifests_) {
        if (!is_own(each)) continue;
        for (const ListedPack &pack : each.manifest.packs) packs.emplace(pack.hash, pack);
    }
    for (auto &[hash, pack] : packs) manifest_.packs.push_back(std::move(pack));
}

// What somebody has removed from the storage is published again by the next push.
void Push::forget_lost_packs() {
    if (manifest_.packs.empty()) return;
    std::set<std::string> there;
    for (remotes::Listed &each : shelf_.list_packs()) there.insert(std::move(each.name));
    std::erase_if(manifest_.packs,
                  [&](const ListedPack &pack) { return !there.contains(Shelf::file_of(pack)); });
}

// A manifest holds so many entries of a machine.
void Push::leave_out_what_no_manifest_holds(std::vector<PlannedPart> &parts) {
    std::size_t room = kListedKeysMax;
    for (const ListedPack &pack : manifest_.packs) room -= std::min(room, pack.keys.size());
    for (PlannedPart &part : parts) {
        if (part.entries.size() > room) {
            result_.problems.push_back(
                fmt::format("{}: more entries than the {} that a machine can publish of it",
                            manifest_.name, kListedKeysMax));
            part.entries.resize(room);
        }
        room -= part.entries.size();
    }
    std::erase_if(parts, [](const PlannedPart &part) { return part.entries.empty(); });
}

// Two machines that compile the same at the same time both publish it. Then the one with the higher number takes its
// own back, and never both do.
void Push::leave_out_what_others_have() {
    std::vector<ReadManifest> before;
    for (const ReadManifest &each : manifests_) {
        if (each.manifest.machine < number_) before.push_back(each);
    }
    const std::vector<std::uint64_t> theirs = entries_of(before);
    std::erase_if(manifest_.packs, [&](const ListedPack &pack) {
        return std::ranges::all_of(pack.keys,
                                   [&](std::uint64_t key) { return has_entry(theirs, key); });
    });
}

std::uint64_t Push::put_pack(const std::vector<PlannedPart> &parts) {
    const TemporaryPack file = machine_.new_pack();
    cli::PackOptions options;
    options.out = file.path();
    options.sign = key_name_;
    cli::PackMaker maker(options);
    maker.begin(parts.size());
    for (const PlannedPart &part : parts) (void)maker.write(part);
    // A pack that is put again after its push was killed is another one: the first may be removed at any time.
    (void)maker.finish(
        fmt::format("Published by machine {} at {}.", machine_name(number_), wall_clock_ns()));
    const std::string content = content_of(file.path());
    ListedPack listed;
    listed.keys = keys_of(file.path());
    if (listed.keys.empty()) return 0;
    if (content.size() > kSharedPackMax) {
        result_.problems.push_back(manifest_.name + ": a pack is too large to be shared");
        return 0;
    }
    listed.published_s = wall_clock_ns() / 1'000'000'000;
    shelf_.put_pack(listed, as_bytes(content));
    result_.packs += 1;
    result_.bytes += listed.size_bytes;
    const std::uint64_t entries = listed.keys.size();
    manifest_.packs.push_back(std::move(listed));
    return entries;
}

void Push::publish(std::vector<PlannedPart> parts) {
    for (const std::vector<PlannedPart> &pack : by_packs(std::move(parts))) {
        result_.entries += put_pack(pack);
    }
}

// Many small ones become few: readers fetch each.
void Push::merge_own_packs() {
    if (manifest_.packs.size() <= kOwnPacksMax) return;
    std::vector<TemporaryPack> files;
    std::vector<cli::OpenPack> packs;
    std::vector<ListedPack> large;
    for (ListedPack &each : manifest_.packs) {
        auto file =
            each.size_bytes < kPackBytes / 2 ? shelf_.fetch(each, key_.public_key()) : std::nullopt;
        if (file) {
            packs.push_back(cli::open_pack(file->path()));
            files.push_back(std::move(*file));
        } else if (each.size_bytes >= kPackBytes / 2) {
            large.push_back(std::move(each));
        }
    }
    manifest_.packs = std::move(large);
    std::uint64_t lost = 0;
    for (const auto &pack : by_packs(cli::plan_merge(std::move(packs), lost))) (void)put_pack(pack);
}

bool Push::needs_renewal() const {
    const std::uint64_t now = wall_clock_ns();
    std::size_t own = 0;
    bool is_old = false;
    for (const ReadManifest &each : manifests_) {
        if (!is_own(each)) continue;
        ++own;
        const std::uint64_t written = each.manifest.written_ns;
        is_old = is_old || written > now || now - written > kRenewNs;
    }
    return own > 1 || is_old;
}

Pushed Push::run(std::vector<PlannedPart> parts) {
    manifests_ = shelf_.read_manifests();
    result_.problems = shelf_.problems();
    take_over_own_packs();
    const std::size_t before = manifest_.packs.size();
    const std::vector<std::uint64_t> listed = entries_of(manifests_);
    for (PlannedPart &part : parts) {
        const PackIdentity identity = identity_of(part.subject());
        std::erase_if(part.entries, [&](const cli::PlannedEntry &each) {
            return has_entry(listed, entry_hash(identity, as_bytes(each.key)));
        });
    }
    std::erase_if(parts, [](const PlannedPart &part) { return part.entries.empty(); });
    leave_out_what_others_have();
    if (parts.empty() && manifest_.packs.size() == before && !needs_renewal()) return result_;
    forget_lost_packs();
    leave_out_what_no_manifest_holds(parts);
    if (!is_possible(manifest_)) {
        result_.problems.push_back(manifest_.name +
                                   ": its name or its driver has letters that no "
                                   "manifest may have, so it is not published");
        return result_;
    }
    publish(std::move(parts));
    merge_own_packs();
    // What this machine listed before may be all listed by others now.
    const std::string object = manifest_.packs.empty() ? "" : shelf_.put_manifest(manifest_, key_);
    for (const ReadManifest &each : manifests_) {
        if (is_own(each) && each.object != object) shelf_.remove_manifest(each.object);
    }
    return result_;
}

}  // namespace

Pushed push(OpenRemote &remote, const Machine &machine, const std::string &name,
            const std::string &driver_text, std::vector<PlannedPart> parts,
            const std::string &key_name) {
    Pushed pushed = Push(remote, machine, name, driver_text, key_name).run(std::move(parts));
    remote.counts().packs_pushed += pushed.packs;
    remote.counts().entries_pushed += pushed.entries;
    return pushed;
}

}  // namespace cairn::fleet
