// Files of a cache are damaged while processes use it: none crashes, hangs or reads a wrong byte.
// SPDX-License-Identifier: MIT
//
// One thing is not done here: making the index shorter in place. A process that has it mapped gets
// SIGBUS from the kernel when it touches what is gone, and a library that lives in other people's
// processes may not install a handler. Deleting or replacing it is safe, and done.
#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "damage/damage_kinds.h"
#include "support/files.h"
#include "support/process.h"
#include "support/shared.h"
#include "support/stamped_value.h"

namespace cairn_test {
namespace {

constexpr unsigned kProcesses = 4;
constexpr unsigned kWatchdogSeconds = 60;
constexpr std::uint64_t kKeys = 400;

struct Live {
    std::atomic<bool> stop = false;
    std::atomic<std::uint64_t> version = 0;
    std::atomic<std::uint64_t> wrong = 0;
    std::atomic<std::uint64_t> open_failed = 0;
    std::array<std::atomic<std::uint64_t>, kProcesses> operations{};
    std::array<std::atomic<std::uint64_t>, kProcesses> hits{};
};

CacheOptions options_in(const std::string &root) {
    CacheOptions options;
    options.root = root;
    return options;
}

void pause_us(long microseconds) {
    const timespec time = {0, microseconds * 1000};
    nanosleep(&time, nullptr);
}

// Whatever is found must be a value that somebody stored under that key.
bool is_wrong(Cache &cache, std::uint64_t key, Live &live, Random &random, bool &hit) {
    std::optional<Stamp> stamp;
    const auto bytes = numbered_key(1, key, 200);
    if (random.below(3) == 0) {
        const auto value = cache.get_into(bytes, 20000);
        hit = value.has_value();
        if (hit) stamp = read_stamp(*value);
    } else {
        const auto blob = cache.get(bytes);
        hit = blob.has_value();
        if (hit) stamp = read_stamp(blob->bytes());
    }
    if (!hit) return false;
    return !stamp || stamp->key != key || stamp->version > live.version;
}

const SampleCache &foreign() {
    static const SampleCache cache(60, 3, 3, "foreign");
    return cache;
}

// An index and segments of another cache that come together are that cache.
bool is_foreign(ByteView key) {
    const auto same = [&](const SampleEntry &entry) { return std::ranges::equal(entry.key, key); };
    return std::ranges::any_of(foreign().entries(), same);
}

int check_enumerated(void *user, const cairn_entry *entry) {
    auto *live = static_cast<Live *>(user);
    std::uint64_t number = kKeys;
    if (entry->key_size >= 16)
        number =
            *reinterpret_cast<const std::uint64_t *>(static_cast<const char *>(entry->key) + 8);
    const ByteVector expected = numbered_key(1, number, 200);
    const auto *key = static_cast<const std::uint8_t *>(entry->key);
    const ByteView seen(key, entry->key_size);
    if ((number >= kKeys || !std::ranges::equal(expected, seen)) && !is_foreign(seen))
        ++live->wrong;
    return 0;
}

// Reads and writes until told to stop; every value says what it is.
int use_while_damaged(Live &live, unsigned self, const std::string &root) {
    Random random(self + 1);
    while (!live.stop) {
        Cache cache(options_in(root));
        if (!cache.is_open()) {
            ++live.open_failed;
            ++live.operations[self];
            continue;
        }
        do {
            const std::uint64_t key = random.below(kKeys);
            if (random.one_in(3)) {
                const std::uint64_t version = ++live.version;
                const std::size_t size = kStampSize + random.below(random.one_in(8) ? 15000 : 2000);
                (void)cache.put(numbered_key(1, key, 200),
                                stamped_value({key, self, version, 0}, size));
            } else if (random.one_in(30)) {
                (void)cache.remove(numbered_key(1, key, 200));
            } else if (random.one_in(300)) {
                (void)cairn_enumerate(cache.handle(), &check_enumerated, &live);
            } else {
                bool hit = false;
                if (is_wrong(cache, key, live, random, hit)) ++live.wrong;
                live.hits[self] += hit;
            }
            ++live.operations[self];
        } while (!live.stop && !random.one_in(500));
    }
    return 0;
}

class UnderUse : public testing::TestWithParam<unsigned> {
  protected:
    // Waits until every process has gone on by `count` operations. False: one hangs or has died.
    bool all_get_on(std::uint64_t count) {
        const time_t deadline = time(nullptr) + kWatchdogSeconds;
        for (unsigned i = 0; i < kProcesses; ++i) {
            const std::uint64_t goal = live_->operations[i] + count;
            while (live_->operations[i] < goal) {
                if (time(nullptr) > deadline || processes_[i].ended()) return false;
                pause_us(200);
            }
        }
        return true;
    }

    void start() {
        for (unsigned i = 0; i < kProcesses; ++i) {
            processes_.emplace_back([&, i] { return use_while_damaged(*live_, i, root_.path()); });
        }
        ASSERT_TRUE(all_get_on(300));
    }

    void stop() {
        live_->stop = true;
        for (Child &process : processes_) EXPECT_EQ(describe_status(process.wait()), "");
        EXPECT_EQ(live_->wrong, 0u);
        EXPECT_EQ(live_->open_failed, 0u);
        for (const auto &hits : live_->hits) EXPECT_GT(hits, 0u);
    }

    // Somebody who comes afterwards can store and find.
    void expect_usable() {
        const auto body = [&] {
            Cache cache(options_in(root_.path()));
            if (!cache.is_open()) return 40 - cache.result();
            for (std::uint64_t key = 0; key < 200; ++key) {
                const auto value = stamped_value({key, 0, 0, 0}, 900);
                const int result = cache.put(numbered_key(2, key), value);
                if (result != CAIRN_OK) return 20 - result;
            }
            Cache later(options_in(root_.path()));
            for (std::uint64_t key = 0; key < 200; ++key) {
                const auto blob = later.get(numbered_key(2, key));
                if (!blob || !read_stamp(blob->bytes())) return 4;
            }
            return 0;
        };
        EXPECT_EQ(run_in_child(kWatchdogSeconds, body), "");
    }

    TempDirectory root_;
    Shared<Live> live_;
    std::vector<Child> processes_;
};

// Of every eighth kind, from one on, some file: often the index.
constexpr unsigned kGroups = 8;

std::string damage_one(unsigned group, DamageScene &scene, Random &random) {
    const auto kinds = damage_kinds();
    for (;;) {
        const std::size_t number = group + kGroups * random.below(kinds.size() / kGroups + 1);
        if (number >= kinds.size() || kinds[number].is_permission) continue;
        const auto paths = files_in(scene.directory);
        const std::string path = paths.empty() || random.one_in(3)
                                     ? path_in_cache(scene.directory, "cache.idx")
                                     : paths[random.below(paths.size())];
        const std::string name = path.substr(path.rfind('/') + 1);
        const auto file = file_kind_of(name);
        if (!file || !can_have(kinds[number], *file, Use::mapped)) continue;
        note_mapped(scene);
        return damage_file(kinds[number], scene, name, random).what;
    }
}

TEST_P(UnderUse, DamageSpoilsNothing) {
    const TempDirectory other;
    foreign().copy_to(other.path());  // made before the processes are, so that they know it
    start();
    Random random(GetParam());
    DamageScene scene = {root_ / "test", other / "test", "", Use::mapped};
    std::string what;
    for (int i = 0; i < 45 && !HasFailure(); ++i) {
        what += damage_one(GetParam(), scene, random);
        pause_us(static_cast<long>(random.below(8000)));
        if (i % 8 == 0) {
            ASSERT_TRUE(all_get_on(100)) << "after: " << what;
        }
    }
    EXPECT_TRUE(all_get_on(100)) << "after: " << what;
    stop();
    expect_usable();
}

INSTANTIATE_TEST_SUITE_P(GroupsOfKinds, UnderUse, testing::Range(0u, kGroups));

// "Deleting them by hand, even while processes run, is safe."
TEST_F(UnderUse, DeletingTheWholeDirectoryIsSafe) {
    start();
    for (int i = 0; i < 15 && !HasFailure(); ++i) {
        remove_tree(root_ / "test");
        EXPECT_TRUE(all_get_on(50)) << "time " << i;
    }
    live_->stop = true;
    for (Child &process : processes_) EXPECT_EQ(describe_status(process.wait()), "");
    EXPECT_EQ(live_->wrong, 0u);
    expect_usable();
}

// A handle that was open before the files went away stores again without being reopened.
TEST_F(UnderUse, AHandleOutlivesItsFiles) {
    Cache cache(options_in(root_.path()));
    ASSERT_EQ(cache.put(as_bytes("before"), as_bytes("1")), CAIRN_OK);
    for (const char *extension : {".val", ".idx", ".lock", ""}) {
        for (const auto &path : files_in(root_ / "test", extension)) unlink(path.c_str());
        const auto key = as_bytes(extension[0] == '\0' ? "all" : extension);
        ASSERT_EQ(cache.put(key, as_bytes("2")), CAIRN_OK) << extension;
        EXPECT_TRUE(cache.get(key)) << extension;
        Cache later(options_in(root_.path()));
        ASSERT_EQ(later.result(), CAIRN_OK) << extension;
        const auto blob = later.get(key);
        ASSERT_TRUE(blob) << extension;
        EXPECT_EQ(as_string(blob->bytes()), "2");
    }
}

}  // namespace
}  // namespace cairn_test
