// A cache over the packs that lie under it: what it does not have, they answer.
// SPDX-License-Identifier: MIT
//
// Rules (the table is in docs/formats/pack.md):
//  1. The cache's own entry goes before those of layers, and an earlier layer before a later one.
//  2. Removing an entry hides it in every layer, for all processes, before it goes from the cache.
//     Storing one hides it afterwards: what layers have may not come back when it is evicted.
//  3. A layer whose entries the caller refuses one after the other, which it does by changing or
//     removing what it has just got, is dropped for this process.
//  4. Layers are looked for when they are first needed, mostly at the first miss.
//  5. Packs that are installed while the cache is open become layers behind the others, for caches
//     that are shared: a miss looks for them, once a second at most. So a start has the use of what
//     the user's agent pulls for it. They bring nothing back that this process has removed.
//
// Clearing hides what layers have in DiskCache, which knows of those that are not open, too.
//
// Thread safety, ownership and failure: as Cache. An entry that cannot be hidden is not removed.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "cache/cache.h"
#include "cache/layer_file.h"
#include "cache/layers.h"
#include "cache/memory_cache.h"

namespace cairn {

// Packs that come while the cache is open, or only those that were there when it was opened.
enum class LatePacks { no, yes };

class LayeredCache final : public Cache {
  public:
    // After so many refusals in a row a layer is dropped.
    static constexpr unsigned kRefusalsMax = 8;

    struct Layer {
        explicit Layer(std::unique_ptr<PackPart> given) : part(std::move(given)) {}

        bool is_seen(std::uint32_t slot) const;
        // Whether it was seen until now.
        Result<bool> hide(std::uint32_t slot);

        const std::unique_ptr<PackPart> part;
        // What is hidden: for all processes, or for this one where the cache is not on disk. Where
        // there is neither, the cache is only read, and nothing was ever hidden.
        std::optional<LayerFile> file;
        std::unique_ptr<std::atomic<bool>[]> hidden_here;
        // Of this process.
        std::atomic<std::uint64_t> served = 0;  // the slot that was served last, + 1; 0: refused
        std::atomic<unsigned> refusals = 0;     // in a row
        std::atomic<bool> is_dropped = false;
    };
    using Layers = std::vector<std::unique_ptr<Layer>>;

    // Opens the layers that there are now, but for the parts with these content_ids. nullopt: the
    // cache's directory, which has files of theirs, cannot be opened now.
    using FindLayers = std::function<std::optional<Layers>(const std::vector<std::uint64_t> &but)>;
    struct Late {
        std::vector<std::string> folders;  // in which packs may appear
        FindLayers find;
    };

    LayeredCache(std::unique_ptr<Cache> own, FindLayers first, const Log &log,
                 std::optional<Late> late = std::nullopt);
    LayeredCache(std::unique_ptr<Cache> own, Layers layers, const Log &log);
    ~LayeredCache() override { delete layers_.load(); }
    LayeredCache(const LayeredCache &) = delete;
    LayeredCache &operator=(const LayeredCache &) = delete;

    Result<BlobRef> get(Bytes key) override;
    Result<std::optional<std::uint64_t>> get_into(Bytes key, MutableBytes buffer) override;
    Result<bool> contains(Bytes key) override;
    BlobRef get_cached(Bytes key) override { return own_->get_cached(key); }
    Fate fate_of(Bytes key) override { return own_->fate_of(key); }
    BlobRef peek(Bytes key) override;
    void visit_newest(const std::function<bool(Bytes key)> &visit) override;
    Result<PutOutcome> put(Bytes key, Bytes value, const PutOptions &options) override;
    Result<bool> remove(Bytes key) override;
    Status clear() override;
    Result<std::uint64_t> clear_range(std::uint64_t begin_ns, std::uint64_t end_ns) override;
    std::uint64_t clears() const override { return own_->clears(); }
    Status sync() override { return own_->sync(); }
    Status compress() override { return own_->compress(); }
    CacheStats stats() override;
    std::uint64_t evicted() override { return own_->evicted(); }
    std::uint64_t disk_limit() override { return own_->disk_limit(); }
    void enumerate(const Visit &visit) override { own_->enumerate(visit); }
    const CachePlace *place() const override { return own_->place(); }

  private:
    // Layers are added behind the others, and stay.
    class List {
      public:
        List() = default;
        explicit List(Layers layers);
        // False: there is no room.
        bool add(std::unique_ptr<Layer> layer);
        const std::unique_ptr<Layer> *begin() const { return layers_.data(); }
        const std::unique_ptr<Layer> *end() const {
            return layers_.data() + count_.load(std::memory_order_acquire);
        }

      private:
        std::array<std::unique_ptr<Layer>, 2 * kLayersMax> layers_;
        std::atomic<std::size_t> count_ = 0;
    };

    // Looks for the first ones, if nobody has.
    const List &layers() const;
    void hide_if_cleared(const Layers &found) const;
    Result<BlobRef> find(Bytes key) const;
    Result<bool> find_slot(Bytes key) const;
    Result<BlobRef> serve(Bytes key);
    Result<BlobRef> serve_from(Layer &layer, Bytes key);
    bool take_in_late_packs();
    void take_in_no_more();
    void note_removal(Bytes key);
    bool look_for_late_packs();
    bool add_late(std::unique_ptr<Layer> layer);
    Result<bool> hide(Bytes key);
    void note_refusal(Layer &layer, std::uint32_t slot);

    // Constant after construction.
    const std::unique_ptr<Cache> own_;
    const Log log_;
    const FindLayers first_;
    const std::optional<Late> late_;
    const std::uint64_t clears_;  // when it was opened

    // Owned; null: nobody has looked. Threads that look at the same time each do, and the first
    // counts: none waits, and a forked child finds no lock that is held.
    mutable std::atomic<List *> layers_ = nullptr;
    std::atomic<std::uint64_t> look_ns_ =
        0;  // late packs are not looked for before; all bits set: a thread does
    // Of that thread.
    std::uint64_t seen_ns_ = 0;  // when the folders had changed last
    bool is_seen_twice_ = false;
    Mutex mutex_;
    // By this process, while packs may come; nullopt: too much for that.
    std::optional<std::vector<std::string>> removed_ GUARDED_BY(mutex_) =
        std::vector<std::string>();

    std::atomic<std::uint64_t> hits_ = 0, bytes_read_ = 0;  // of layers
};

// The cache with the layers that will be found for it.
std::unique_ptr<Cache> add_layers(std::unique_ptr<Cache> own, const std::string &root,
                                  const LayeredSubject &subject,
                                  const std::vector<std::string> &paths, Access access,
                                  const Log &log, LatePacks late = LatePacks::no);

// The layers alone, for a process that cannot have the cache on disk: what it stores and hides, it
// does in a cache in memory with the options `memory`. Null: there are none, or it is not for lack of a disk
// that opening the cache failed.
std::unique_ptr<Cache> layers_alone(Error failure, const std::string &root,
                                    const LayeredSubject &subject,
                                    const std::vector<std::string> &paths,
                                    const MemoryCache::Options &memory, const Log &log);

}  // namespace cairn
