// SPDX-License-Identifier: MIT
#include "cache/layered_cache.h"

#include <algorithm>

#include "os/environment.h"
#include "os/root.h"

namespace cairn {
namespace {

// Those that can be used, but for the parts with these content_ids.
LayeredCache::Layers open_layers(const Directory &directory, Access access, const Log &log,
                                 const std::vector<std::uint64_t> &but,
                                 std::vector<FoundLayer> found_layers) {
    LayeredCache::Layers layers;
    for (FoundLayer &found : found_layers) {
        const PackPart &part = *found.part;
        if (std::find(but.begin(), but.end(), part.row().content_id) != but.end()) continue;
        auto file = LayerFile::open(directory, part.row(), found.path,
                                    part.pack().info().modified_ns, access);
        if (!file.ok() && access == Access::read_write) {
            log.write(Severity::warning,
                      "the pack %s is not used: entries could not be removed: %s",
                      found.path.c_str(), error_name(file.error()));
            continue;
        }
        auto &layer =
            layers.emplace_back(std::make_unique<LayeredCache::Layer>(std::move(found.part)));
        if (file.ok()) layer->file.emplace(std::move(file.value()));
    }
    return layers;
}

Result<Directory> open_directory(const std::string &root, const std::string &identifier) {
    TRY_ASSIGN(const Directory opened, open_root(root, Create::no, Log()));
    return opened.open_directory(identifier);
}

}  // namespace

LayeredCache::LayeredCache(std::unique_ptr<Cache> own, FindLayers first, const Log &log,
                           std::optional<Late> late)
    : own_(std::move(own)),
      log_(log),
      first_(std::move(first)),
      late_(std::move(late)),
      clears_(own_->clears()) {}

LayeredCache::LayeredCache(std::unique_ptr<Cache> own, Layers layers, const Log &log)
    : own_(std::move(own)), log_(log), clears_(own_->clears()) {
    layers_.store(new List(std::move(layers)));
}

LayeredCache::List::List(Layers layers) {
    for (auto &layer : layers) (void)add(std::move(layer));
}

const LayeredCache::List &LayeredCache::layers() const {
    List *list = layers_.load(std::memory_order_acquire);
    if (list != nullptr) return *list;
    static const List kNone;
    auto found = first_({});
    if (!found) return kNone;  // somebody deletes the cache at this moment: look again
    hide_if_cleared(*found);
    auto made = std::make_unique<List>(std::move(*found));
    if (layers_.compare_exchange_strong(list, made.get())) return *made.release();
    return *list;
}

// A process that cleared the cache since it was opened could not hide what nobody had looked for.
// (An index that was deleted and made anew counts from 0.)
void LayeredCache::hide_if_cleared(const Layers &found) const {
    if (own_->clears() <= clears_) return;
    for (const auto &layer : found) {
        const std::uint32_t count = layer->part->row().slot_count();
        for (std::uint32_t slot = 0; slot < count && !layer->is_dropped; ++slot) {
            if (!layer->hide(slot).ok()) layer->is_dropped = true;
        }
    }
}

bool LayeredCache::Layer::is_seen(std::uint32_t slot) const {
    if (hidden_here != nullptr) return !hidden_here[slot].load(std::memory_order_relaxed);
    return !file || !file->is_hidden(slot);
}

Result<bool> LayeredCache::Layer::hide(std::uint32_t slot) {
    if (hidden_here != nullptr) return !hidden_here[slot].exchange(true);
    if (!file) return Error::read_only;
    return file->hide(slot);
}

Result<BlobRef> LayeredCache::find(Bytes key) const {
    for (const auto &layer : layers()) {
        if (layer->is_dropped.load(std::memory_order_relaxed)) continue;
        TRY_ASSIGN(PackPart::Found found, layer->part->find(key));
        if (!found.entry || !layer->is_seen(found.slot)) continue;
        found.entry->set_of_pack();
        return std::move(found.entry);
    }
    return BlobRef();
}

// As find(), for the caller, who may refuse it.
Result<BlobRef> LayeredCache::serve_from(Layer &layer, Bytes key) {
    if (layer.is_dropped.load(std::memory_order_relaxed)) return BlobRef();
    TRY_ASSIGN(PackPart::Found found, layer.part->find(key));
    if (!found.entry || !layer.is_seen(found.slot)) return BlobRef();
    if (layer.served.exchange(std::uint64_t{found.slot} + 1) != 0) layer.refusals = 0;
    hits_.fetch_add(1, std::memory_order_relaxed);
    bytes_read_.fetch_add(found.entry->value().size(), std::memory_order_relaxed);
    found.entry->set_of_pack();
    return std::move(found.entry);
}

Result<BlobRef> LayeredCache::serve(Bytes key) {
    do {
        for (const auto &layer : layers()) {
            auto found = serve_from(*layer, key);
            if (!found.ok() || *found) return found;
        }
    } while (take_in_late_packs());
    return BlobRef();
}

// Whether there are more layers now. One thread looks, and the others go on.
bool LayeredCache::take_in_late_packs() {
    constexpr std::uint64_t kSecondNs = 1'000'000'000;
    if (!late_) return false;
    std::uint64_t look_ns = look_ns_.load(std::memory_order_relaxed);
    // Nobody else looks until this thread has.
    if (coarse_monotonic_ns() < look_ns ||
        !look_ns_.compare_exchange_strong(look_ns, UINT64_MAX, std::memory_order_acquire)) {
        return false;
    }
    const bool is_any_new = look_for_late_packs();
    look_ns_.store(coarse_monotonic_ns() + kSecondNs, std::memory_order_release);
    return is_any_new;
}

bool LayeredCache::look_for_late_packs() {
    std::uint64_t changed_ns = 0;
    for (const std::string &folder : late_->folders) {
        const auto info = file_info(folder);
        if (info.ok()) changed_ns = std::max(changed_ns, info.value().modified_ns);
    }
    if (changed_ns == 0) return false;  // there is none of them
    // Times of folders are not exact: what comes right after a look may have the same. So the second look at a time
    // counts.
    if (changed_ns == seen_ns_ && is_seen_twice_) return false;
    is_seen_twice_ = changed_ns == seen_ns_;
    seen_ns_ = changed_ns;
    std::vector<std::uint64_t> known;
    for (const auto &layer : layers()) known.push_back(layer->part->row().content_id);
    bool is_any_new = false;
    auto found = late_->find(known);
    if (!found) return false;
    for (auto &layer : *found) is_any_new |= add_late(std::move(layer));
    return is_any_new;
}

void LayeredCache::note_removal(Bytes key) {
    constexpr std::size_t kRemovedMax = 1024;
    if (!late_) return;
    const MutexLock lock(mutex_);
    if (removed_ && removed_->size() == kRemovedMax) removed_.reset();
    if (removed_) removed_->emplace_back(as_text(key));
}

// What was removed is hidden in it before it is seen. A thread that removes meanwhile waits, and then finds it among the
// layers. False: it must not be used.
bool LayeredCache::add_late(std::unique_ptr<Layer> layer) {
    const MutexLock lock(mutex_);
    if (!removed_) return false;
    const bool is_hidden =
        std::all_of(removed_->begin(), removed_->end(), [&](const std::string &key) {
            const auto slot = layer->part->find_slot(as_bytes(key));
            return slot.ok() && (!slot.value() || layer->hide(*slot.value()).ok());
        });
    List *const list = layers_.load(std::memory_order_acquire);
    return is_hidden && list != nullptr && list->add(std::move(layer));
}

bool LayeredCache::List::add(std::unique_ptr<Layer> layer) {
    const std::size_t count = count_.load(std::memory_order_relaxed);
    if (count == layers_.size()) return false;
    layers_[count] = std::move(layer);
    count_.store(count + 1, std::memory_order_release);
    return true;
}

void LayeredCache::note_refusal(Layer &layer, std::uint32_t slot) {
    std::uint64_t served = std::uint64_t{slot} + 1;
    if (!layer.served.compare_exchange_strong(served, 0)) return;
    if (layer.refusals.fetch_add(1) + 1 != kRefusalsMax) return;
    layer.is_dropped = true;
    log_.write(Severity::warning,
               "a pack is not used any more by this process: %u of its entries in a row were "
               "refused",
               kRefusalsMax);
}

// Whether a layer's entry was seen until now.
Result<bool> LayeredCache::hide(Bytes key) {
    bool was_seen = false;
    for (const auto &layer : layers()) {
        TRY_ASSIGN(const auto slot, layer->part->find_slot(key));
        if (!slot) continue;
        TRY_ASSIGN(const bool is_new, layer->hide(*slot));
        was_seen |= is_new;
        if (is_new) note_refusal(*layer, *slot);
    }
    return was_seen;
}

Result<BlobRef> LayeredCache::get(Bytes key) {
    auto own = own_->get(key);
    return own.ok() && !*own ? serve(key) : std::move(own);
}

Result<std::optional<std::uint64_t>> LayeredCache::get_into(Bytes key, MutableBytes buffer) {
    auto own = own_->get_into(key, buffer);
    if (!own.ok() || *own) return own;
    TRY_ASSIGN(const BlobRef found, serve(key));
    if (!found) return std::optional<std::uint64_t>();
    const Bytes value = found->value();
    if (value.size() <= buffer.size()) std::copy(value.begin(), value.end(), buffer.begin());
    return std::optional<std::uint64_t>(value.size());
}

Result<bool> LayeredCache::find_slot(Bytes key) const {
    for (const auto &layer : layers()) {
        if (layer->is_dropped.load(std::memory_order_relaxed)) continue;
        TRY_ASSIGN(const auto slot, layer->part->find_slot(key));
        if (slot && layer->is_seen(*slot)) return true;
    }
    return false;
}

Result<bool> LayeredCache::contains(Bytes key) {
    auto own = own_->contains(key);
    return own.ok() && !own.value() ? find_slot(key) : std::move(own);
}

BlobRef LayeredCache::peek(Bytes key) {
    if (BlobRef own = own_->peek(key)) return own;
    auto found = find(key);
    return found.ok() ? std::move(*found) : BlobRef();
}

void LayeredCache::visit_newest(const std::function<bool(Bytes key)> &visit) {
    bool goes_on = true;
    own_->visit_newest([&](Bytes key) { return goes_on = visit(key); });
    for (const auto &layer : layers()) {
        for (const std::uint32_t slot : layer->part->order()) {
            if (!goes_on || layer->is_dropped) break;
            const auto entry = layer->part->look_at(slot);
            const bool is_there = entry.ok() && entry.value() && layer->is_seen(slot);
            if (is_there) goes_on = visit(as_bytes(entry.value()->key));
        }
    }
}

Result<PutOutcome> LayeredCache::put(Bytes key, Bytes value, const PutOptions &options) {
    if (options.if_absent) {
        TRY_ASSIGN(const bool is_there, find_slot(key));
        if (is_there) return PutOutcome::exists;
        return own_->put(key, value, options);
    }
    TRY_ASSIGN(const PutOutcome outcome, own_->put(key, value, options));
    if (!hide(key).ok()) {
        log_.write(Severity::warning, "an entry of a pack cannot be hidden behind a newer one");
    }
    return outcome;
}

Result<bool> LayeredCache::remove(Bytes key) {
    note_removal(key);
    TRY_ASSIGN(const bool was_seen, hide(key));
    TRY_ASSIGN(const bool was_there, own_->remove(key));
    return was_there || was_seen;
}

// What comes later is not known to be none of that.
void LayeredCache::take_in_no_more() {
    if (!late_) return;
    const MutexLock lock(mutex_);
    removed_.reset();
}

Result<std::uint64_t> LayeredCache::clear_range(std::uint64_t begin_ns, std::uint64_t end_ns) {
    take_in_no_more();
    return own_->clear_range(begin_ns, end_ns);
}

// DiskCache hides what layers have, for all processes.
Status LayeredCache::clear() {
    take_in_no_more();
    for (const auto &layer : layers()) {
        if (layer->hidden_here == nullptr) continue;
        const std::uint32_t count = layer->part->row().slot_count();
        for (std::uint32_t slot = 0; slot < count; ++slot) layer->hidden_here[slot] = true;
    }
    return own_->clear();
}

CacheStats LayeredCache::stats() {
    CacheStats stats = own_->stats();
    const std::uint64_t hits = hits_.load(std::memory_order_relaxed);
    stats.hits += hits;
    stats.misses -= std::min(stats.misses, hits);
    stats.bytes_read += bytes_read_.load(std::memory_order_relaxed);
    stats.layer_hits = hits;
    for (const auto &layer : layers()) {
        ++stats.layers;
        stats.damaged += layer->part->damaged();
        stats.layer_entries += layer->part->row().entry_count;
    }
    return stats;
}

std::unique_ptr<Cache> add_layers(std::unique_ptr<Cache> own, const std::string &root,
                                  const LayeredSubject &subject,
                                  const std::vector<std::string> &paths, Access access,
                                  const Log &log, LatePacks late) {
    using Found = std::optional<LayeredCache::Layers>;
    using ContentIds = std::vector<std::uint64_t>;
    const auto first = [=](const ContentIds &but) -> Found {
        const auto directory = open_directory(root, subject.identifier);
        if (!directory.ok()) return std::nullopt;
        return open_layers(directory.value(), access, log, but,
                           find_layers(root, subject, paths, PackKind::entries, log));
    };
    if (late == LatePacks::no) {
        return std::make_unique<LayeredCache>(std::move(own), first, log);
    }
    const std::vector<std::string> folders = pack_folders(root, subject.name);
    const auto find = [=](const ContentIds &but) -> Found {
        const auto directory = open_directory(root, subject.identifier);
        if (!directory.ok()) return std::nullopt;
        return open_layers(directory.value(), access, log, but,
                           find_layers(folders, subject, {}, PackKind::entries, log));
    };
    return std::make_unique<LayeredCache>(std::move(own), first, log,
                                          LayeredCache::Late{folders, find});
}

std::unique_ptr<Cache> layers_alone(Error failure, const std::string &root,
                                    const LayeredSubject &subject,
                                    const std::vector<std::string> &paths,
                                    const MemoryCache::Options &memory, const Log &log) {
    constexpr Error kNoDisk[] = {Error::read_only, Error::denied, Error::no_space,
                                 Error::unsupported};
    if (std::find(std::begin(kNoDisk), std::end(kNoDisk), failure) == std::end(kNoDisk)) {
        return nullptr;
    }
    LayeredCache::Layers layers;
    for (FoundLayer &found : find_layers(root, subject, paths, PackKind::entries, log)) {
        auto &layer =
            layers.emplace_back(std::make_unique<LayeredCache::Layer>(std::move(found.part)));
        layer->hidden_here = std::make_unique<std::atomic<bool>[]>(layer->part->row().slot_count());
    }
    if (layers.empty()) return nullptr;
    return std::make_unique<LayeredCache>(std::make_unique<MemoryCache>(memory), std::move(layers),
                                          log);
}

}  // namespace cairn
