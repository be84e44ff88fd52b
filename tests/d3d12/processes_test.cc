// Processes that share a cache on disk: racing ones, killed ones, damaged files.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "d3d12/peer.h"
#include "d3d12/stage.h"
#include "support/files.h"
#include "support/random.h"

namespace d3d12_test {
namespace {

using cairn_test::Child;
using cairn_test::describe_status;
using cairn_test::Shared;

constexpr unsigned kProcesses = 8;
constexpr unsigned kKeys = 200;
constexpr size_t kLarge = 64 * 1024 * 1024;

void pause_us(long microseconds) {
    const timespec time = {0, microseconds * 1000};
    nanosleep(&time, nullptr);
}

std::string key(unsigned number) {
    return "key " + std::to_string(number);
}

std::string value_of(unsigned process, unsigned number) {
    return std::to_string(process) + " of " + std::to_string(number) + std::string(3000, 'v');
}

struct Race {
    std::atomic<unsigned> ready = 0;
    std::array<std::atomic<unsigned>, kKeys> stored = {};
    std::array<std::atomic<unsigned>, kKeys> winner = {};
    std::atomic<unsigned> existed = 0;
    std::atomic<unsigned> unexpected = 0;
};

// All store the same keys, each in an order of its own, from the same moment on.
void store_all(Stage &stage, Race &race, unsigned process) {
    Session session;
    if (stage.create_without_device(disk_desc(), session) != kOk) {
        ++race.unexpected;
        return;
    }
    ++race.ready;
    while (race.ready < kProcesses) {
        pause_us(50);
    }
    for (unsigned i = 0; i < kKeys; ++i) {
        const unsigned number = process % 2 == 0 ? i : kKeys - 1 - i;
        const HRESULT result = store(session, key(number), value_of(process, number));
        if (result == kOk) {
            ++race.stored[number];
            race.winner[number] = process;
        } else if (result == kAlreadyExists) {
            ++race.existed;
        } else {
            ++race.unexpected;
        }
    }
}

TEST(Processes, ExactlyOneStoresAKey) {
    Stage stage;
    const Shared<Race> race;
    std::vector<Child> children;
    for (unsigned process = 0; process < kProcesses; ++process) {
        children.emplace_back([&, process] {
            store_all(stage, *race, process);
            return 0;
        });
    }
    for (Child &child : children) {
        EXPECT_EQ(describe_status(child.wait()), "");
    }
    EXPECT_EQ(race->unexpected, 0u);
    EXPECT_EQ(race->existed, (kProcesses - 1) * kKeys);
    Session session;
    ASSERT_EQ(stage.create(disk_desc(), session), kOk);
    for (unsigned number = 0; number < kKeys; ++number) {
        EXPECT_EQ(race->stored[number], 1u) << number;
        EXPECT_EQ(find(session, key(number)), value_of(race->winner[number], number));
    }
}

TEST(Processes, AllStoreKeysOfTheirOwn) {
    Stage stage;
    std::vector<Child> children;
    for (unsigned process = 0; process < kProcesses; ++process) {
        children.emplace_back([&, process] {
            Session session;
            bool is_right = stage.create_without_device(disk_desc(), session) == kOk;
            for (unsigned i = 0; i < kKeys && is_right; ++i) {
                const unsigned number = process * kKeys + i;
                is_right = store(session, key(number), value_of(process, number)) == kOk &&
                           find(session, key(number)) == value_of(process, number);
            }
            return is_right ? 0 : 1;
        });
    }
    for (Child &child : children) {
        EXPECT_EQ(describe_status(child.wait()), "");
    }
    Session session;
    ASSERT_EQ(stage.create(disk_desc(), session), kOk);
    for (unsigned number = 0; number < kProcesses * kKeys; ++number) {
        EXPECT_EQ(find(session, key(number)), value_of(number / kKeys, number));
    }
}

TEST(Processes, SmallLimitsHoldForAllTogether) {
    Stage stage;
    Desc desc = disk_desc();
    desc.MaximumValueFileSizeBytes = 100'000;
    const Shared<std::atomic<unsigned>> stored;
    std::vector<Child> children;
    for (unsigned process = 0; process < kProcesses; ++process) {
        children.emplace_back([&, process] {
            Session session;
            HRESULT result = stage.create_without_device(desc, session);
            for (unsigned i = 0; result == kOk; ++i) {
                result = store(session, key(process * kKeys + i), std::string(3000, 'v'));
                *stored += result == kOk ? 1 : 0;
            }
            return result == kCacheFull ? 0 : 1;
        });
    }
    for (Child &child : children) {
        EXPECT_EQ(describe_status(child.wait()), "");
    }
    EXPECT_LE(*stored * 3000, 100'000u);
    EXPECT_GE(*stored * 3000, 90'000u);
}

// Of several that want another version each, one gets it; those that hold it are left alone.
TEST(Processes, VersionsExcludeOneAnother) {
    Stage stage;
    const Shared<std::atomic<unsigned>> opened;
    const Shared<std::atomic<unsigned>> decided;
    std::vector<Child> children;
    for (unsigned process = 0; process < kProcesses; ++process) {
        children.emplace_back([&, process] {
            Desc desc = disk_desc();
            desc.Version = process + 1;
            Session session;
            const HRESULT result = stage.create_without_device(desc, session);
            *opened += result == kOk ? 1 : 0;
            ++*decided;
            while (*decided < kProcesses) {
                pause_us(200);
            }
            if (result == kOk) {
                return store(session, "key", std::string("value")) == kOk ? 0 : 1;
            }
            return result == kAlreadyExists ? 0 : 2;
        });
    }
    for (Child &child : children) {
        EXPECT_EQ(describe_status(child.wait()), "");
    }
    EXPECT_EQ(*opened, 1u);
}

std::uint64_t bytes_held(const Stage &stage) {
    const auto caches = stage.caches();
    return caches.empty() ? 0 : cairn_test::blocks_held(caches.at(0));
}

TEST(Processes, AStoreThatIsKilledLeavesNothing) {
    const std::vector<unsigned char> large = bytes_of(1, kLarge);
    cairn_test::Random random(7);
    unsigned killed_inside = 0;
    for (unsigned attempt = 0; attempt < 40 && killed_inside < 3; ++attempt) {
        Stage stage;
        const Shared<std::atomic<unsigned>> state;
        Child child([&] {
            Session session;
            if (stage.create_without_device(disk_desc(), session) != kOk) return 1;
            *state = 1;
            const HRESULT result = store(session, "large", large);
            *state = 2;
            return result == kOk ? 0 : 2;
        });
        // Until it takes space on disk, which it does right before it writes.
        while (*state != 2 && bytes_held(stage) < (1u << 20) && !child.ended()) {
            pause_us(20);
        }
        pause_us(static_cast<long>(random.below(10'000)));
        child.kill();
        const bool was_inside = *state == 1;
        const bool was_writing = was_inside && bytes_held(stage) > (1u << 20);

        Session session;
        ASSERT_EQ(stage.create(disk_desc(), session), kOk);
        const HRESULT there = look(session, "large");
        if (!was_inside) {
            EXPECT_EQ(there, kOk);
            continue;
        }
        // It may have been killed behind the last step of the store.
        EXPECT_TRUE(there == kNotFound || there == kOk);
        killed_inside += was_writing && there == kNotFound ? 1 : 0;
        // 128 MiB are the limit: what the dead left must not take a part of it.
        const HRESULT again = store(session, "large", large);
        EXPECT_EQ(again, there == kOk ? kAlreadyExists : kOk);
        EXPECT_LT(bytes_held(stage), kLarge + (8u << 20));
        UINT size = 0;
        EXPECT_EQ(session->FindValue("large", 5, nullptr, &size), kOk);
        EXPECT_EQ(size, kLarge);
    }
    EXPECT_GT(killed_inside, 0u);
}

// On a file system of 8 MiB that only the child sees.
TEST(Processes, AFullDiskIsAFullCache) {
    constexpr HRESULT kSkip = kNotImplemented;
    Stage stage;
    const HRESULT result = in_other_process([&] {
        mkdir(stage.root().c_str(), 0700);
        if (unshare(CLONE_NEWNS) != 0 ||
            mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount("cache", stage.root().c_str(), "tmpfs", 0, "size=8m,mode=0700") != 0) {
            return kSkip;
        }
        Session session;
        HRESULT stored = stage.create_without_device(disk_desc(), session);
        unsigned count = 0;
        for (; stored == kOk && count < 200; ++count) {
            stored = store(session, key(count), bytes_of(count, 100'000));
        }
        if (stored != kCacheFull || count < 10 || !stage.said(1292)) return kInvalidCall;
        for (unsigned i = 0; i + 1 < count; ++i) {
            const auto value = bytes_of(i, 100'000);
            if (find(session, key(i)) != std::string(value.begin(), value.end())) return kNotFound;
        }
        return kOk;
    });
    if (result == kSkip) GTEST_SKIP() << "a file system cannot be mounted here";
    EXPECT_EQ(result, kOk);
}

TEST(Processes, DamageOfOneEntryLeavesTheOthers) {
    constexpr unsigned kEntries = 128;
    Stage stage;
    {
        Session session;
        ASSERT_EQ(stage.create(disk_desc(), session), kOk);
        for (unsigned i = 0; i < kEntries; ++i) {
            ASSERT_EQ(store(session, key(i), bytes_of(i, 5000)), kOk);
        }
    }
    // A bit in the middle of the value of entry 77.
    const auto victim = bytes_of(77, 5000);
    const std::string needle(victim.begin() + 2000, victim.begin() + 2032);
    unsigned hits = 0;
    for (const std::string &path : cairn_test::files_in(stage.caches().at(0), ".val")) {
        const auto content = cairn_test::read_file(path);
        const std::string text(content.begin(), content.end());
        const size_t at = text.find(needle);
        if (at != std::string::npos) {
            cairn_test::flip_bit(path, at * 8 + 3);
            ++hits;
        }
    }
    ASSERT_EQ(hits, 1u);
    Session session;
    ASSERT_EQ(stage.create(disk_desc(), session), kOk);
    unsigned found = 0;
    for (unsigned i = 0; i < kEntries; ++i) {
        const auto value = bytes_of(i, 5000);
        if (find(session, key(i)) == std::string(value.begin(), value.end())) ++found;
    }
    EXPECT_EQ(found, kEntries - 1);
    EXPECT_EQ(look(session, key(77)), kNotFound);
    EXPECT_EQ(store(session, key(77), std::string("again")), kOk);
}

// Processes come and go, and each wishes the cache deleted; some are killed. Whoever is alone must
// never find what was there before it.
TEST(Processes, WhoIsAloneFindsNothingAfterAWishToDelete) {
    Stage stage;
    for (unsigned round = 0; round < 20; ++round) {
        const Shared<std::atomic<unsigned>> ready;
        std::vector<Child> children;
        for (unsigned process = 0; process < 3; ++process) {
            children.emplace_back([&, process] {
                Session session;
                if (stage.create_without_device(disk_desc(), session) != kOk) return 1;
                session->SetDeleteOnDestroy();
                (void)store(session, key(process), std::string("value"));
                ++*ready;
                while (*ready < 3) {
                    pause_us(50);
                }
                if (process == round % 4) {
                    kill(getpid(), SIGKILL);
                }
                session.reset();
                return 0;
            });
        }
        for (Child &child : children) {
            (void)child.wait();
        }
        ASSERT_EQ(*ready, 3u);
        Session session;
        ASSERT_EQ(stage.create(disk_desc(), session), kOk);
        for (unsigned process = 0; process < 3; ++process) {
            EXPECT_EQ(look(session, key(process)), kNotFound) << "round " << round;
        }
    }
}

// A child shares its parent's locks; what it releases is its own.
TEST(Processes, AChildOfForkTakesNothingAway) {
    Stage stage;
    Session session;
    ASSERT_EQ(stage.create(disk_desc(), session), kOk);
    ASSERT_EQ(store(session, "key", std::string("value")), kOk);
    session->SetDeleteOnDestroy();
    Child child([&] {
        const bool is_there =
            find(session, "key") == "value" && store(session, "child", std::string("value")) == kOk;
        session.reset();
        return is_there ? 0 : 1;
    });
    EXPECT_EQ(describe_status(child.wait()), "");
    EXPECT_EQ(stage.entries_on_disk(), 2u);
    // The parent is still there for others.
    const HRESULT result = in_other_process([&] {
        Session other;
        const HRESULT created = stage.create_without_device(disk_desc(), other);
        if (created != kOk) return created;
        other->SetDeleteOnDestroy();
        other.reset();
        return kOk;
    });
    EXPECT_EQ(result, kOk);
    EXPECT_EQ(stage.entries_on_disk(), 2u);
    session.reset();
    EXPECT_EQ(stage.entries_on_disk(), 0u);
}

// Somebody who was stopped while holding the cache's lock delays nobody who has a session.
TEST(Processes, AStoppedProcessDelaysNoSession) {
    Stage stage;
    Session session;
    ASSERT_EQ(stage.create(disk_desc(), session), kOk);
    const Shared<std::atomic<bool>> running;
    Child child([&] {
        Session theirs;
        if (stage.create_without_device(disk_desc(), theirs) != kOk) return 1;
        *running = true;
        for (unsigned i = 0;; ++i) {
            (void)store(theirs, key(100'000 + i), std::string(3000, 'v'));
        }
    });
    while (!*running) {
        pause_us(100);
    }
    for (unsigned i = 0; i < 20; ++i) {
        pause_us(500);
        child.stop();
        EXPECT_EQ(store(session, key(i), std::string("value")), kOk);
        EXPECT_EQ(look(session, key(i)), kOk);
        Session another;
        EXPECT_EQ(stage.create(disk_desc(), another), kOk);
        child.resume();
    }
    child.kill();
}

}  // namespace
}  // namespace d3d12_test
