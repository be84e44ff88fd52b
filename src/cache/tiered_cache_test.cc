// Memory over disk, and a tier behind the disk, which is one class and one line here.
// SPDX-License-Identifier: MIT
#include "cache/tiered_cache.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "cache/disk_cache.h"
#include "cache/loader.h"
#include "cache/memory_cache.h"
#include "cache/queued_cache.h"
#include "cache/testing/remote_cache.h"
#include "support/eventually.h"
#include "support/temp_directory.h"

namespace cairn {
namespace {

using cairn_test::eventually;
using testing::RemoteCache;
using Home = TieredCache::Home;

constexpr std::uint64_t kLongUs = 60'000'000;

std::string text(const BlobRef &blob) {
    return blob ? std::string(as_text(blob->value())) : "(miss)";
}

std::string get(Cache &cache, const std::string &key) {
    auto found = cache.get(as_bytes(key));
    return found.ok() ? text(*found) : "(error)";
}

bool put(Cache &cache, const std::string &key, const std::string &value) {
    return cache.put(as_bytes(key), as_bytes(value), {}).ok();
}

// The disk, for caches of which one call is another.
struct OverDisk : Cache {
    explicit OverDisk(std::unique_ptr<Cache> below) : disk(std::move(below)) {}
    Result<BlobRef> get(Bytes key) override { return disk->get(key); }
    Result<PutOutcome> put(Bytes key, Bytes value, const PutOptions &options) override {
        return disk->put(key, value, options);
    }
    Result<bool> remove(Bytes key) override { return disk->remove(key); }
    Status clear() override { return disk->clear(); }
    std::uint64_t clears() const override { return disk->clears(); }

    const std::unique_ptr<Cache> disk;
};

class TieredCacheTest : public ::testing::Test {
  protected:
    std::unique_ptr<Cache> open_disk() const {
        StoreOptions options;
        options.root = directory_.path();
        options.identifier = "tiers";
        options.limit_bytes = 64u << 20;
        auto opened = DiskCache::open(options);
        EXPECT_TRUE(opened.ok());
        return std::move(opened.value());
    }
    static std::unique_ptr<Cache> make_memory(std::uint64_t limit_bytes = 1u << 20) {
        MemoryCache::Options options;
        options.limit_bytes = limit_bytes;
        return std::make_unique<MemoryCache>(options);
    }
    std::unique_ptr<Cache> make_local() const {
        auto disk = std::make_unique<QueuedCache>(open_disk(), 1u << 20);
        return std::make_unique<TieredCache>(make_memory(), std::move(disk), Home::lower);
    }

    cairn_test::TempDirectory directory_;
};

TEST_F(TieredCacheTest, WhatIsReadBelowIsKeptAbove) {
    ASSERT_TRUE(put(*open_disk(), "a", "1"));
    const auto local = make_local();
    EXPECT_EQ(get(*local, "a"), "1");
    EXPECT_EQ(local->stats().program->memory_hits, 0u);
    EXPECT_EQ(get(*local, "a"), "1");
    EXPECT_EQ(local->stats().program->memory_hits, 1u);
}

TEST_F(TieredCacheTest, APutThatFailsBelowChangesNothingAbove) {
    auto lower = std::make_unique<RemoteCache>();  // takes no puts
    lower->offer("a", "1");
    TieredCache cache(make_memory(), std::move(lower), Home::lower);
    EXPECT_EQ(get(cache, "a"), "1");
    EXPECT_FALSE(put(cache, "a", "2"));
    EXPECT_FALSE(put(cache, "b", "2"));
    EXPECT_EQ(get(cache, "a"), "1");
    EXPECT_EQ(get(cache, "b"), "(miss)");
}

TEST_F(TieredCacheTest, WhatIsTooLargeForMemoryLeavesNothingOlderThere) {
    TieredCache cache(make_memory(100), open_disk(), Home::lower);
    ASSERT_TRUE(put(cache, "a", "old"));
    const std::string large(200, 'l');
    ASSERT_TRUE(put(cache, "a", large));
    EXPECT_EQ(get(cache, "a"), large);
}

// A look-up reads the old entry below, and `change` happens before it is kept.
class LateLoad : public TieredCacheTest {
  protected:
    void change_meanwhile(void (*change)(Cache &), const std::string &after) {
        auto lower = std::make_unique<SlowCache>(open_disk());
        SlowCache &slow = *lower;
        ASSERT_TRUE(put(slow, "a", "old"));
        TieredCache cache(make_memory(), std::move(lower), Home::lower);
        slow.is_held = true;
        std::thread late([&] { EXPECT_EQ(get(cache, "a"), "old"); });
        EXPECT_TRUE(eventually([&] { return slow.waiting == 1; }));
        change(cache);
        (void)cache.trim(0);  // so that there is room above for what is late
        slow.is_held = false;
        late.join();
        EXPECT_EQ(get(cache, "a"), after);
    }

  private:
    // Has read when it waits.
    struct SlowCache final : OverDisk {
        using OverDisk::OverDisk;
        Result<BlobRef> get(Bytes key) override {
            auto found = disk->get(key);
            ++waiting;
            while (is_held) sleep_us(100);
            --waiting;
            return found;
        }

        std::atomic<bool> is_held = false;
        std::atomic<int> waiting = 0;
    };
};

TEST_F(LateLoad, ReplacesNothingThatWasPutMeanwhile) {
    change_meanwhile([](Cache &cache) { put(cache, "a", "new"); }, "new");
}

TEST_F(LateLoad, BringsNothingBackThatWasRemovedMeanwhile) {
    change_meanwhile([](Cache &cache) { EXPECT_TRUE(cache.remove(as_bytes("a")).value()); },
                     "(miss)");
}

TEST_F(LateLoad, BringsNothingBackThatWasClearedMeanwhile) {
    change_meanwhile([](Cache &cache) { EXPECT_TRUE(cache.clear().ok()); }, "(miss)");
}

// What is loaded ahead has been read below, and `change` happens before it is kept.
class LateAhead : public TieredCacheTest {
  protected:
    std::uint64_t loaded_when(void (*change)(Cache &)) const {
        auto lower = std::make_unique<ReadAhead>(open_disk());
        ReadAhead &below = *lower;
        EXPECT_TRUE(put(below, "a", "old"));
        TieredCache cache(make_memory(), std::move(lower), Home::lower);
        below.has_read = [&] { change(cache); };
        (void)cache.load_newest([] { return true; });
        return cache.stats().program->memory_entries;
    }

  private:
    struct ReadAhead final : OverDisk {
        using OverDisk::OverDisk;
        BlobRef peek(Bytes key) override {
            BlobRef found = disk->peek(key);
            has_read();
            return found;
        }
        void visit_newest(const std::function<bool(Bytes key)> &visit) override {
            disk->visit_newest(visit);
        }

        std::function<void()> has_read;
    };
};

TEST_F(LateAhead, IsKeptWhereNothingChanges) {
    EXPECT_EQ(loaded_when([](Cache &) {}), 1u);
}

TEST_F(LateAhead, BringsNothingBackThatWasPutMeanwhile) {
    EXPECT_EQ(loaded_when([](Cache &cache) {
                  EXPECT_TRUE(put(cache, "a", "new"));
                  // These two take its place in memory, and leave it again.
                  const std::string large(600'000, 'l');
                  for (const char *key : {"b", "c"}) EXPECT_TRUE(put(cache, key, large));
                  for (const char *key : {"b", "c"}) EXPECT_TRUE(cache.remove(as_bytes(key)).ok());
                  EXPECT_EQ(cache.stats().program->memory_entries, 0u);
              }),
              0u);
}

TEST_F(LateAhead, BringsNothingBackThatWasRemovedMeanwhile) {
    EXPECT_EQ(loaded_when([](Cache &cache) { (void)cache.remove(as_bytes("a")); }), 0u);
}

TEST_F(LateAhead, BringsNothingBackThatWasClearedMeanwhile) {
    EXPECT_EQ(loaded_when([](Cache &cache) { (void)cache.clear(); }), 0u);
}

TEST_F(LateAhead, FillsNothingThatWasTrimmedMeanwhile) {
    EXPECT_EQ(loaded_when([](Cache &cache) { (void)cache.trim(0); }), 0u);
}

// A tier behind the disk.
class RemoteTierTest : public TieredCacheTest {
  protected:
    RemoteTierTest() {
        auto owned = std::make_unique<RemoteCache>();
        remote_ = owned.get();
        remote_->offer("far", "away");
        cache_ = std::make_unique<TieredCache>(make_local(), std::move(owned), Home::upper);
    }

    RemoteCache *remote_;
    std::unique_ptr<Cache> cache_;
};

TEST_F(RemoteTierTest, AMissOnDiskIsAnsweredByItAndThenFoundInTheUpperTiers) {
    EXPECT_EQ(get(*cache_, "far"), "away");
    EXPECT_EQ(get(*cache_, "far"), "away");
    EXPECT_EQ(remote_->asked, 1);
    EXPECT_EQ(cache_->stats().program->memory_hits, 1u);
    EXPECT_TRUE(cache_->flush(kLongUs).ok());
    const auto disk = open_disk();
    EXPECT_EQ(get(*disk, "far"), "away") << "other processes find it on disk";
    EXPECT_EQ(disk->get(as_bytes("far")).value()->cost_us(), 7u);
    EXPECT_EQ(get(*cache_, "nowhere"), "(miss)");
}

TEST_F(RemoteTierTest, WhatIsPutHereGoesBeforeWhatIsThere) {
    EXPECT_TRUE(put(*cache_, "far", "near"));
    EXPECT_EQ(get(*cache_, "far"), "near");
    EXPECT_EQ(remote_->asked, 0);
    EXPECT_EQ(cache_->put(as_bytes("far"), as_bytes("x"), {.if_absent = true}).value(),
              PutOutcome::exists);
    EXPECT_TRUE(cache_->remove(as_bytes("far")).value());
    EXPECT_EQ(get(*cache_, "far"), "away") << "it cannot be removed there";
}

TEST_F(RemoteTierTest, EverythingElseGoesOnWhenItIsAway) {
    remote_->is_away = true;
    EXPECT_EQ(get(*cache_, "far"), "(miss)");
    EXPECT_FALSE(cache_->contains(as_bytes("far")).value());
    EXPECT_TRUE(put(*cache_, "near", "1"));
    EXPECT_EQ(get(*cache_, "near"), "1");
    EXPECT_TRUE(cache_->remove(as_bytes("near")).value());
    EXPECT_FALSE(cache_->remove(as_bytes("near")).value());
    EXPECT_TRUE(cache_->clear().ok());
    EXPECT_TRUE(cache_->flush(kLongUs).ok());
    remote_->is_away = false;
    EXPECT_EQ(get(*cache_, "far"), "away");
}

TEST_F(RemoteTierTest, NobodyElseWaitsWhenItIsSlow) {
    ASSERT_TRUE(put(*cache_, "near", "1"));
    std::vector<std::string> noted;
    Loader bounded(*cache_, Loader::Ahead::no,
                   [&](Bytes key) { noted.emplace_back(as_text(key)); });
    remote_->is_slow = true;
    EXPECT_FALSE(bounded.get_within(as_bytes("far"), 1000).value().has_value());
    EXPECT_EQ(get(*cache_, "near"), "1");
    EXPECT_TRUE(put(*cache_, "far", "made here meanwhile"));
    EXPECT_EQ(get(*cache_, "far"), "made here meanwhile");
    EXPECT_TRUE(cache_->flush(kLongUs).ok());
    remote_->is_slow = false;
    EXPECT_TRUE(bounded.get_within(as_bytes("nowhere"), kLongUs).value().has_value());
    EXPECT_EQ(noted, std::vector<std::string>{"far"}) << "what came late was used, too";
    EXPECT_EQ(get(*cache_, "far"), "made here meanwhile") << "the late answer replaces nothing";
}

TEST_F(RemoteTierTest, ThreadsFindTheirLatestWhileOthersFetch) {
    for (int i = 0; i < 30; ++i) remote_->offer("k" + std::to_string(i), "remote");
    std::vector<std::thread> threads;
    std::atomic<int> stale = 0;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 300; ++i) {
                const std::string own = "k" + std::to_string((i * 4 + t) % 28);
                (void)get(*cache_, "k" + std::to_string(i % 30));
                const std::string mine = std::to_string(t);
                if ((i * 4 + t) % 28 % 4 != t) continue;
                if (put(*cache_, own, mine) && get(*cache_, own) != mine) ++stale;
                if (i % 50 == 0) (void)cache_->trim(0);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(stale, 0);
}

}  // namespace
}  // namespace cairn
