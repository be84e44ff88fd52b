// Processes that share a cache on disk: racing ones, killed ones, damaged files.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "d3d12/peer.h"
#include "d3d12/space_lock.h"
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

// Calls `body` in as many processes at once, each of which is to end well.
template <typename Body>
void in_processes(const Body &body) {
    std::vector<Child> children;
    for (unsigned process = 0; process < kProcesses; ++process) {
        children.emplace_back([&, process] { return body(process); });
    }
    for (Child &child : children) {
        EXPECT_EQ(describe_status(child.wait()), "");
    }
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
    in_processes([&](unsigned process) {
        store_all(stage, *race, process);
        return 0;
    });
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
    in_processes([&](unsigned process) {
        Session session;
        bool is_right = stage.create_without_device(disk_desc(), session) == kOk;
        for (unsigned i = 0; i < kKeys && is_right; ++i) {
            const unsigned number = process * kKeys + i;
            is_right = store(session, key(number), value_of(process, number)) == kOk &&
                       find(session, key(number)) == value_of(process, number);
        }
        return is_right ? 0 : 1;
    });
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
    in_processes([&](unsigned process) {
        Session session;
        HRESULT result = stage.create_without_device(desc, session);
        for (unsigned i = 0; result == kOk; ++i) {
            result = store(session, key(process * kKeys + i), std::string(3000, 'v'));
            *stored += result == kOk ? 1 : 0;
        }
        return result == kCacheFull ? 0 : 1;
    });
    EXPECT_LE(*stored * 3000, 100'000u);
    EXPECT_GE(*stored * 3000, 90'000u);
}

// Of several that want another version each, one gets it; those that hold it are left alone.
TEST(Processes, ADeletedRootIsMadeAnewByTheNextStore) {
    Desc small = disk_desc(2);
    small.MaximumValueFileSizeBytes = 100'000;
    for (const Desc &desc : {disk_desc(), small}) {
        Stage stage;
        Session session;
        ASSERT_EQ(stage.create(desc, session), kOk);
        ASSERT_EQ(store(session, key(1), value_of(0, 1)), kOk);
        for (unsigned round = 2; round < 5; ++round) {
            std::filesystem::remove_all(stage.root());
            EXPECT_EQ(store(session, key(round), value_of(0, round)), kOk);
            EXPECT_EQ(find(session, key(round)), value_of(0, round));
            Child child([&] {
                Session theirs;
                return stage.create_without_device(desc, theirs) == kOk &&
                               find(theirs, key(round)) == value_of(0, round)
                           ? 0
                           : 1;
            });
            EXPECT_EQ(describe_status(child.wait()), "") << round;
        }
    }
}

// A call for the size holds the entry for its thread's next call, and for no other.
TEST(Processes, TheValueIsTheOneWhoseSizeWasTold) {
    Stage stage;
    const std::string name = key(1), value = value_of(0, 1);
    const auto told_before_deletion = [&](Session &session) {
        ASSERT_EQ(stage.create(disk_desc(), session), kOk);
        ASSERT_EQ(store(session, name, value), kOk);
        ASSERT_EQ(look(session, name), kOk);
        std::filesystem::remove_all(stage.root());
    };
    const auto read = [&](const Session &session) {
        std::string found(value.size(), '-');
        UINT size = static_cast<UINT>(found.size());
        const UINT name_size = static_cast<UINT>(name.size());
        const HRESULT result = session->FindValue(name.data(), name_size, found.data(), &size);
        EXPECT_TRUE(result != kOk || found == value);
        return result;
    };
    Session session;
    told_before_deletion(session);
    EXPECT_EQ(read(session), kOk);
    EXPECT_EQ(read(session), kNotFound);

    told_before_deletion(session);
    EXPECT_EQ(look(session, name), kNotFound) << "a size is never held";
    EXPECT_EQ(read(session), kNotFound);

    told_before_deletion(session);
    EXPECT_EQ(look(session, key(2)), kNotFound);
    EXPECT_EQ(read(session), kNotFound);

    told_before_deletion(session);
    std::thread([&] { EXPECT_EQ(read(session), kNotFound); }).join();

    told_before_deletion(session);
    EXPECT_EQ(store(session, name, value), kOk);
    std::filesystem::remove_all(stage.root());
    EXPECT_EQ(read(session), kNotFound);
}

TEST(Processes, WhatIsNoFileIsTakenAway) {
    Stage stage;
    for (const char *name : {"sessions.lock", "cache.lock", "cache.idx"}) {
        {
            Session session;
            ASSERT_EQ(stage.create(disk_desc(), session), kOk);
        }
        const std::string path = cairn_test::path_in_cache(stage.caches().at(0), name);
        unlink(path.c_str());
        ASSERT_EQ(mkfifo(path.c_str(), 0600), 0) << path;
        Session session;
        EXPECT_EQ(stage.create(disk_desc(), session), kOk) << path;
        const HRESULT stored = store(session, key(1), value_of(0, 1));
        EXPECT_TRUE(stored == kOk || stored == kAlreadyExists) << path;
        EXPECT_EQ(find(session, key(1)), value_of(0, 1)) << path;
    }
}

TEST(Processes, VersionsExcludeOneAnother) {
    Stage stage;
    const Shared<std::atomic<unsigned>> opened;
    const Shared<std::atomic<unsigned>> decided;
    in_processes([&](unsigned process) {
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
        // Where the limit of 128 MiB leaves no room for both, what the dead left has to go.
        const HRESULT again = store(session, "large", large);
        EXPECT_EQ(again, there == kOk ? kAlreadyExists : kOk);
        EXPECT_LT(bytes_held(stage), kLarge + (8u << 20));
        UINT size = 0;
        EXPECT_EQ(session->FindValue("large", 5, nullptr, &size), kOk);
        EXPECT_EQ(size, kLarge);
    }
    EXPECT_GT(killed_inside, 0u);
}

std::int64_t thread_cpu_us() {
    timespec time = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000 + time.tv_nsec / 1000;
}

// How long a store is refused for in a full cache of entries of this size, and how many there are.
// Time of the processor, which other processes do not lengthen; the best of three, as sanitizers
// and page faults do.
std::pair<std::int64_t, unsigned> time_of_a_refusal(const std::vector<unsigned char> &value) {
    Stage stage;
    Desc desc = disk_desc();
    desc.MaximumValueFileSizeBytes = 8 * 1024 * 1024;
    Session session;
    EXPECT_EQ(stage.create(desc, session), kOk);
    HRESULT result = kOk;
    unsigned number = 0;
    for (; result == kOk; ++number) result = store(session, key(number), value);
    EXPECT_EQ(result, kCacheFull);
    session.reset();
    const std::vector<unsigned char> large = bytes_of(1, 6'000'000);
    std::int64_t best = INT64_MAX;
    for (unsigned i = 0; i < 3; ++i) {
        Session again;
        EXPECT_EQ(stage.create(desc, again), kOk);
        const std::int64_t begin = thread_cpu_us();
        EXPECT_EQ(store(again, "large", large), kCacheFull);
        best = std::min(best, thread_cpu_us() - begin);
    }
    return {best, number};
}

// A store that is refused does not look through what there is.
TEST(Processes, AFullCacheSaysSoAtOnce) {
    const auto [with_many, many] = time_of_a_refusal(bytes_of(1, 5));
    const auto [with_few, few] = time_of_a_refusal(bytes_of(1, 500'000));
    EXPECT_GT(many, 10'000u);
    EXPECT_LT(few, 20u);
    EXPECT_LT(with_many, 3 * with_few + 3'000) << many << " entries, and " << few;
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

// Processes come and go, and each wishes the cache deleted; some are killed. A process that is
// alone must never find entries from before it.
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

// The store asks for that lock where little space is left.
TEST(Processes, WhoMustWaitForSpaceIsNotTakenForDisabled) {
    Stage stage;
    Desc desc = disk_desc();
    desc.MaximumValueFileSizeBytes = 1024 * 1024;
    Session session;
    ASSERT_EQ(stage.create(desc, session), kOk);
    ASSERT_EQ(store(session, "large", bytes_of(1, 500'000)), kOk);
    // As long as it is held: what needs no new space is stored, and then nothing more.
    HRESULT result = kOk;
    unsigned number = 0;
    {
        const SpaceLock lock(stage.caches().at(0));
        for (; result == kOk && number < 100; ++number) {
            result = store(session, key(number), bytes_of(number, 40'000));
        }
    }
    EXPECT_EQ(result, kFail);
    const auto lines = stage.log_lines();
    EXPECT_TRUE(std::ranges::any_of(lines, [](const std::string &line) {
        return line.find("was not stored") != std::string::npos;
    }));
    // When it is given up in time, nothing is to be noticed.
    bool is_in_time = false;
    for (unsigned round = 0; round < 20 && !is_in_time; ++round) {
        using Clock = std::chrono::steady_clock;
        auto lock = std::make_unique<SpaceLock>(stage.caches().at(0));
        Clock::time_point given_up;
        std::thread other([&] {
            pause_us(30'000);
            lock.reset();
            given_up = Clock::now();
        });
        const auto begin = Clock::now();
        result = store(session, key(number + round), bytes_of(number + round, 40'000));
        other.join();
        // The other thread may get its turn too late.
        is_in_time = given_up - begin < std::chrono::milliseconds(100);
    }
    EXPECT_TRUE(is_in_time);
    EXPECT_EQ(result, kOk);
}

// Children that are forked while other threads are anywhere in the library: they have sessions of
// their own, and let go of what they inherited.
TEST(Processes, AChildOfManyThreadsDoesNotHang) {
    if (const char *why = cairn_test::why_no_fork_beside_threads()) GTEST_SKIP() << why;
    Stage stage;
    auto options = stage.options();
    options.message = nullptr;
    options.log = nullptr;
    const auto create = [&](const Desc &desc, Session &session) {
        return CAIRN_TEST_FUNCTION(create_session)(
            nullptr, &options, &desc, &IID_ID3D12ShaderCacheSession, session.receive());
    };
    Session inherited[2];
    ASSERT_EQ(create(disk_desc(), inherited[0]), kOk);
    ASSERT_EQ(create(memory_desc(), inherited[1]), kOk);
    std::atomic<bool> done = false;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (unsigned i = 0; !done; ++i) {
                Session session;
                (void)create(t % 2 == 0 ? memory_desc(2) : disk_desc(2), session);
                (void)store(inherited[t % 2], key(i % 50), std::string("value"));
                for (unsigned n = 0; n < 20; ++n) {
                    (void)look(inherited[t % 2], key(n));
                }
            }
        });
    }
    std::string wrong;
    for (unsigned i = 0; i < 60 && wrong.empty(); ++i) {
        wrong = cairn_test::run_in_child(60, [&] {
            for (const auto make : {memory_desc, disk_desc}) {
                for (const unsigned identifier : {1u, 2u}) {
                    Session own;
                    if (create(make(identifier), own) != kOk) return 1;
                    const HRESULT stored = store(own, "child", std::string("value"));
                    if (stored != kOk && stored != kAlreadyExists) return 2;
                    if (find(own, "child") != "value") return 3;
                }
            }
            (void)look(inherited[1], "child");
            inherited[0].reset();
            inherited[1].reset();
            return 0;
        });
    }
    done = true;
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong, "");
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
