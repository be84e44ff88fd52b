// A cache over another one: what that misses, the user's agent may have, or fetch.
// SPDX-License-Identifier: MIT
//
// Rules:
//  1. Only what the file of wanted entries lists is asked for (wanted.h), once in a process, and only
//     for as long as agent_line.h allows.
//  2. The agent names a pack, which stays open as a source of further entries. A pack counts as a layer
//     would (layers.h): the user's own, of exactly this cache.
//  3. What a source has goes into the cache below, once for each key. So removing, clearing and hiding
//     work as for all that the cache has, and what was removed or refused does not come back.
//  4. An entry whose key was changed since it was missed is not kept, so it replaces nothing newer.
//  5. Once the cache was cleared, by whatever process, this process asks nothing more.
//
// Only get() and get_into() ask. Those who bound how long they wait (get_within()) go past it.
//
// Thread safety, ownership: as Cache. After fork() a child asks anew.
// Failure: a miss.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/mutex.h"
#include "cache/agent_line.h"
#include "cache/cache.h"
#include "cache/layers.h"
#include "cache/wanted.h"
#include "os/per_process.h"
#include "pack/pack_reader.h"

namespace cairn {

class AskingCache final : public Cache {
  public:
    static constexpr std::size_t kSourcesMax = 64;  // packs that are open; the oldest goes
    // Keys that are remembered, as what they must not be asked for again; then nothing is asked.
    static constexpr std::size_t kKeysMax = 65536;

    static constexpr std::size_t kLateMax = 16;  // keys whose answer was late, that are remembered

    AskingCache(std::unique_ptr<Cache> inner, std::string root, const LayeredSubject &subject,
                std::uint64_t most_ms, AgentLine &line = AgentLine::of_process());

    Result<BlobRef> get(Bytes key) override;
    Result<std::optional<std::uint64_t>> get_into(Bytes key, MutableBytes buffer) override;
    Result<std::optional<BlobRef>> get_within(Bytes key, std::uint64_t patience_us) override {
        return inner_->get_within(key, patience_us);
    }
    Result<bool> contains(Bytes key) override { return inner_->contains(key); }
    BlobRef get_cached(Bytes key) override { return inner_->get_cached(key); }
    Fate fate_of(Bytes key) override;
    BlobRef peek(Bytes key) override { return inner_->peek(key); }
    void visit_newest(const std::function<bool(Bytes key)> &visit) override {
        inner_->visit_newest(visit);
    }
    std::uint64_t load_newest(const std::function<bool()> &go_on) override {
        return inner_->load_newest(go_on);
    }
    Result<PutOutcome> put(Bytes key, Bytes value, const PutOptions &options) override;
    Result<PutOutcome> put_blob(BlobRef entry, const PutOptions &options) override;
    Result<PutOutcome> put_behind(BlobRef entry) override {
        return inner_->put_behind(std::move(entry));
    }
    Result<bool> remove(Bytes key) override;
    Status clear() override;
    Result<std::uint64_t> clear_range(std::uint64_t begin_ns, std::uint64_t end_ns) override;
    std::uint64_t clears() const override { return inner_->clears(); }
    Result<std::uint64_t> trim(std::uint64_t bytes) override { return inner_->trim(bytes); }
    Result<std::uint64_t> resize(std::uint64_t limit_bytes, std::uint64_t keep_bytes) override {
        return inner_->resize(limit_bytes, keep_bytes);
    }
    Status flush(std::uint64_t patience_us) override { return inner_->flush(patience_us); }
    Status sync() override { return inner_->sync(); }
    Status compress() override { return inner_->compress(); }
    CacheStats stats() override;
    std::uint64_t evicted() override { return inner_->evicted(); }
    std::uint64_t disk_limit() override { return inner_->disk_limit(); }
    void enumerate(const Visit &visit) override { inner_->enumerate(visit); }
    Result<BlobRef> nth(std::uint64_t number) override { return inner_->nth(number); }
    std::uint32_t begin_use(Bytes key) override { return inner_->begin_use(key); }
    void end_use(std::uint32_t ticket) override { inner_->end_use(ticket); }
    const CachePlace *place() const override { return inner_->place(); }

  private:
    struct Source {
        KeptPackName name;
        std::shared_ptr<const PackPart> part;
    };
    using Sources = std::vector<Source>;
    struct Late {
        std::uint64_t hash;
        std::uint64_t when_s;
    };
    // Of one process.
    struct Own {
        Mutex mutex;
        Wanted wanted GUARDED_BY(mutex);
        std::shared_ptr<const Sources> sources GUARDED_BY(mutex) = std::make_shared<Sources>();
        std::unordered_set<std::uint64_t> asked GUARDED_BY(mutex);
        std::unordered_set<std::uint64_t> settled GUARDED_BY(mutex);  // served, stored or removed
        // The last keys whose answer did not come in time, and when that was. By number of asking.
        std::array<Late, kLateMax> late GUARDED_BY(mutex) = {};
        std::size_t late_count GUARDED_BY(mutex) = 0;
        Usual compile_us GUARDED_BY(mutex);
        // Changes are counted by hash: keys that share a place cost each other an entry.
        std::array<std::uint32_t, 256> changes GUARDED_BY(mutex) = {};
        std::uint32_t &changes_of(std::uint64_t hash) REQUIRES_LOCK(mutex) {
            return changes[static_cast<std::size_t>(hash % changes.size())];
        }
        bool is_over GUARDED_BY(mutex) = false;
    };
    // What is known of a key that was missed.
    struct Missed {
        Bytes key;
        std::uint64_t hash = 0;
        std::uint32_t changes = 0;
        bool is_wanted = false;
        std::shared_ptr<const Sources> sources;  // null: it is not to be found
        AgentLine::Limits limits;
    };

    BlobRef find(Bytes key);
    Missed look_up(Own &own, Bytes key);
    bool add_source(Own &own, const KeptPackName &name);
    std::shared_ptr<const PackPart> open_source(const KeptPackName &name) const;
    static BlobRef find_in(const Sources &sources, Bytes key);
    BlobRef ask(Own &own, Missed &missed);
    BlobRef keep(Own &own, const Missed &missed, BlobRef entry);
    enum class Change { stored, removed };
    static void forget_late(Own &own, std::uint64_t hash) REQUIRES_LOCK(own.mutex);
    void note_change(Bytes key, Change change, std::uint32_t cost_us);
    void end();

    // Constant after construction.
    const std::unique_ptr<Cache> inner_;
    const std::string root_, identifier_;
    const PackIdentity identity_;
    const std::string wanted_path_;
    const std::string socket_;  // "": there is none
    const std::uint64_t most_us_;
    const std::uint64_t clears_;  // when it was opened
    AgentLine &line_;

    PerProcess<Own> own_;
    std::atomic<std::uint64_t> hits_ = 0, bytes_read_ = 0;
};

// The cache, asking where the user wants it to: `most_ms` is 0 where not. Our own programs never ask.
std::unique_ptr<Cache> add_questions(std::unique_ptr<Cache> inner, const std::string &root,
                                     const LayeredSubject &subject, std::uint64_t most_ms);

}  // namespace cairn
