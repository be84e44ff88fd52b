// SPDX-License-Identifier: MIT
#include "bench/fleet/asking.h"

#include <algorithm>
#include <stdexcept>

#include "cache/asking_cache.h"
#include "fetching.h"
#include "machine.h"
#include "pack/entry_hash.h"
#include "shelf.h"

namespace bench::fleet {
namespace {

namespace fl = cairn::fleet;

std::uint64_t in_us(double seconds) {
    return static_cast<std::uint64_t>(seconds * 1e6);
}

std::uint64_t in_ns(double seconds) {
    return static_cast<std::uint64_t>(seconds * 1e9);
}

}  // namespace

fl::OpenRemotes open_remote(const fl::RemoteSettings &settings) {
    std::vector<fl::RemoteTrouble> troubles;
    fl::OpenRemotes remotes = fl::open_remotes({settings}, troubles);
    if (remotes.empty()) throw std::runtime_error(troubles.front().problem);
    return remotes;
}

void Asking::begin_process() {
    process_ = Process();
    if (cache_) return;
    for (const std::string &text : fl::drivers_in_caches(parts_.root, parts_.name)) {
        for (fl::HeldCache &each : fl::caches_here(parts_.root, parts_.name, text)) {
            cache_ = std::move(each);
        }
    }
    if (!cache_) throw std::runtime_error("a machine's cache cannot be found");
}

std::size_t Asking::look(const fl::OpenRemotes &remotes) {
    const fl::Machine machine(parts_.root);
    std::size_t troubles = 0;
    for (const std::string &text : fl::drivers_in_caches(parts_.root, parts_.name)) {
        troubles += looking_.look(remotes, machine, parts_.name, text).size();
    }
    return troubles;
}

cairn::BlobRef Asking::find_in_sources(const std::string &key, double now_s) const {
    for (const Source &source : process_.sources) {
        if (source.from_s > now_s) continue;
        auto found = source.part->find(cairn::as_bytes(key));
        if (found.ok() && found->entry) return std::move(found->entry);
    }
    return {};
}

cairn::BlobRef Asking::find(const std::string &key, double now_s) {
    const std::uint64_t entry = cairn::entry_hash(cache_->identity, cairn::as_bytes(key));
    process_.wanted.refresh(cairn::wanted_path(parts_.root, cache_->identity), in_ns(now_s));
    cairn::BlobRef found = find_in_sources(key, now_s);
    if (found || !process_.wanted.contains(entry) || process_.asked.contains(entry)) return found;
    const auto answered_s = ask(entry, now_s);
    return answered_s ? find_in_sources(key, *answered_s) : cairn::BlobRef();
}

// One question is on its way at a time. It ends with its answer, or when the process is patient no longer.
std::optional<double> Asking::ask(std::uint64_t entry, double now_s) {
    if (now_s < process_.line_free_s) return std::nullopt;
    const auto patience_us =
        process_.patience.patience_us(in_ns(now_s), parts_.most_us, process_.compile_us.value());
    if (!patience_us) return std::nullopt;
    process_.asked.insert(entry);
    const auto offer = offers_.find(cache_->identifier, entry);
    const auto there_s = offer ? have(*offer, now_s) : std::nullopt;
    const double patient_until_s = now_s + static_cast<double>(*patience_us) / 1e6;
    const double answered_s = there_s.value_or(now_s);
    process_.line_free_s = std::min(answered_s, patient_until_s);
    if (there_s) add_source(*offer, answered_s);
    if (answered_s > patient_until_s) {
        process_.patience.note_failure(in_ns(patient_until_s), parts_.random());
        return std::nullopt;
    }
    process_.patience.note_answer(in_ns(answered_s), in_us(answered_s - now_s));
    return answered_s;
}

// When the machine has kept this pack, which may be later.
std::optional<double> Asking::have(const fl::PackOffer &offer, double now_s) {
    was_asked_ = true;
    if (!kept_.has(offer.hash)) {
        try {
            fetch(offer, now_s);
        } catch (const std::exception &) {
            ++failures_;
            return std::nullopt;
        }
    }
    const auto fetched = fetched_s_.find(offer.hash);  // none: a pull has kept it
    return fetched == fetched_s_.end() ? now_s : std::max(now_s, fetched->second);
}

// As Fetcher::fetch() does it.
void Asking::fetch(const fl::PackOffer &offer, double now_s) {
    ++fetches_;
    const fl::OpenRemotes remotes = open_remote(parts_.settings);
    const fl::Machine machine(parts_.root);
    fl::Shelf shelf(*remotes.front(), machine, offer.name, fl::driver_name(offer.driver_text));
    fl::ListedPack listed;
    listed.hash = offer.hash;
    listed.size_bytes = offer.size_bytes;
    const auto file = fl::fetch_pack(shelf, listed, offer.signer, offer.name, offer.driver_text);
    if (!file || !kept_.keep(offer.hash, file->path())) throw std::runtime_error("no pack");
    fetcher_free_s_ =
        std::max(fetcher_free_s_, now_s) + parts_.account(remotes.front()->remote().traffic());
    fetched_s_[offer.hash] = fetcher_free_s_;
}

void Asking::add_source(const fl::PackOffer &offer, double from_s) {
    std::vector<Source> &sources = process_.sources;
    if (std::ranges::find(sources, offer.hash, &Source::hash) != sources.end()) return;
    const auto folder = cairn::Directory::open(cairn::kept_packs_path(parts_.root));
    auto file = folder.ok()
                    ? folder->open_file(cairn::kept_pack_file(offer.hash), cairn::Access::read_only)
                    : folder.error();
    auto pack = file.ok() ? cairn::Pack::open(std::move(file.value())) : file.error();
    const auto number = pack.ok() ? (*pack)->find_part(cache_->identity) : std::nullopt;
    if (!number) {
        ++failures_;
        return;
    }
    if (sources.size() == cairn::AskingCache::kSourcesMax) sources.erase(sources.begin());
    sources.push_back(
        {offer.hash, from_s, std::make_shared<const cairn::PackPart>(*pack, *number)});
}

}  // namespace bench::fleet
