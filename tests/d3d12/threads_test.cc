// Threads that share sessions and caches, for ThreadSanitizer to look at.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "d3d12/stage.h"

namespace d3d12_test {
namespace {

constexpr unsigned kThreads = 6;

void run_threads(const std::function<void(unsigned)> &body) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t) {
        threads.emplace_back(body, t);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
}

std::string key(unsigned number) {
    return "key " + std::to_string(number);
}

TEST(Threads, OneStoresAKeyAndAllFindIt) {
    for (const auto make : {memory_desc, disk_desc}) {
        Stage stage;
        Session session;
        ASSERT_EQ(stage.create(make(1), session), kOk);
        std::atomic<unsigned> stored = 0;
        std::atomic<unsigned> wrong = 0;
        run_threads([&](unsigned) {
            for (unsigned i = 0; i < 40; ++i) {
                const HRESULT result = store(session, key(i), std::string(100, 'v'));
                stored += result == kOk ? 1 : 0;
                wrong += result != kOk && result != kAlreadyExists ? 1 : 0;
                wrong += find(session, key(i)) != std::string(100, 'v') ? 1 : 0;
            }
        });
        EXPECT_EQ(stored, 40u);
        EXPECT_EQ(wrong, 0u);
    }
}

// The cache opens and closes over and over; a thread that has a session has a whole one.
TEST(Threads, SessionsComeAndGo) {
    for (const auto make : {memory_desc, disk_desc}) {
        Stage stage;
        std::atomic<unsigned> wrong = 0;
        run_threads([&](unsigned t) {
            for (unsigned i = 0; i < 30; ++i) {
                Session session;
                if (stage.create(make(1 + i % 2), session) != kOk) {
                    ++wrong;
                    continue;
                }
                const HRESULT result = store(session, key(t), std::string("value"));
                wrong += result != kOk && result != kAlreadyExists ? 1 : 0;
                wrong += find(session, key(t)) != "value" ? 1 : 0;
                if (t == 0) {
                    session->SetName(L"a name");
                    (void)desc_of(session.get());
                }
            }
        });
        EXPECT_EQ(wrong, 0u);
    }
}

// Two versions of one cache exclude each other; nothing else may come of it.
TEST(Threads, VersionsExcludeOneAnother) {
    Stage stage;
    std::atomic<unsigned> open[2] = {0, 0};
    std::atomic<unsigned> wrong = 0;
    std::atomic<unsigned> opened = 0;
    run_threads([&](unsigned t) {
        for (unsigned i = 0; i < 50; ++i) {
            Desc desc = memory_desc();
            desc.Version = t % 2;
            Session session;
            const HRESULT result = stage.create(desc, session);
            if (result != kOk) {
                wrong += result != kAlreadyExists ? 1 : 0;
                continue;
            }
            ++opened;
            ++open[t % 2];
            wrong += open[1 - t % 2] != 0 ? 1 : 0;
            --open[t % 2];
        }
    });
    EXPECT_EQ(wrong, 0u);
    EXPECT_GT(opened, 0u);
}

// Finds and stores while others clear, and in a second round disable and enable. Only then may
// calls say that they are disabled.
void control_besides(bool may_disable) {
    const DeveloperMode on;
    Stage stage;
    Session disk;
    Session memory;
    ASSERT_EQ(stage.create(disk_desc(), disk), kOk);
    ASSERT_EQ(stage.create(memory_desc(), memory), kOk);
    const std::vector<unsigned> controls =
        may_disable ? std::vector<unsigned>{4, 1, 2, 4 | 2} : std::vector<unsigned>{4};
    const auto is_disabled = [&](HRESULT result) {
        return may_disable && result == kNotCurrentlyAvailable;
    };
    std::atomic<unsigned> wrong = 0;
    run_threads([&](unsigned t) {
        for (unsigned i = 0; i < 20; ++i) {
            if (t == 0) {
                wrong += stage.control(8, controls[i % controls.size()]) != kOk ? 1 : 0;
                continue;
            }
            const Session &session = t % 2 == 0 ? disk : memory;
            const HRESULT stored = store(session, key(i), std::string("value"));
            wrong += stored != kOk && stored != kAlreadyExists && !is_disabled(stored) ? 1 : 0;
            HRESULT found = kOk;
            const std::string value = find(session, key(i), &found);
            const bool is_right =
                found == kOk ? value == "value" : found == kNotFound || is_disabled(found);
            wrong += is_right ? 0 : 1;
        }
    });
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(stage.control(8, 2), kOk);
}

TEST(Threads, ClearingGoesOnBesides) {
    control_besides(false);
}

TEST(Threads, ControlGoesOnBesides) {
    control_besides(true);
}

TEST(Threads, PrivateDataIsReplacedByMany) {
    Stage stage;
    Session session;
    ASSERT_EQ(stage.create(memory_desc(), session), kOk);
    constexpr GUID kTag = {1, 2, 3, {4}};
    std::atomic<unsigned> wrong = 0;
    run_threads([&](unsigned t) {
        for (unsigned i = 0; i < 200; ++i) {
            wrong += session->SetPrivateData(kTag, sizeof t, &t) != kOk ? 1 : 0;
            unsigned found = kThreads;
            UINT size = sizeof found;
            const HRESULT result = session->GetPrivateData(kTag, &size, &found);
            wrong += result != kOk || found >= kThreads ? 1 : 0;
        }
    });
    EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace d3d12_test
