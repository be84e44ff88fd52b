// Several who miss the same entry at once: one makes it.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_program_cache.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "support/cache.h"
#include "support/process.h"
#include "support/shared.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kWatchdogSeconds = 60;
constexpr std::uint32_t kLongMs = 30'000;  // nobody's patience ends in a test that passes
constexpr std::uint32_t kShortMs = 30;
constexpr std::size_t kKeys = 12;

enum class Kind { disk, program };

// A cache of either kind, below the same root for all processes.
class Opened {
  public:
    Opened(Kind kind, const std::string &root) {
        if (kind == Kind::disk) {
            cairn_options options = {};
            options.size = sizeof options;
            options.root = root.c_str();
            options.identifier = "test";
            result = cairn_open(&options, &handle);
            return;
        }
        cairn_program_cache_options options = {};
        options.size = sizeof options;
        options.root = root.c_str();
        options.application = "test";
        options.identity = "driver";
        result = cairn_program_cache_open(&options, &handle);
    }
    ~Opened() { cairn_close(handle); }
    Opened(const Opened &) = delete;
    Opened &operator=(const Opened &) = delete;

    int acquire(const std::string &key, std::uint32_t patience_ms, cairn_lease **lease) const {
        return cairn_lease_acquire(handle, key.data(), key.size(), patience_ms, lease);
    }
    int put(const std::string &key) const {
        return cairn_put(handle, key.data(), key.size(), "value", 5, nullptr);
    }
    bool has(const std::string &key) const {
        return cairn_contains(handle, key.data(), key.size()) == CAIRN_OK;
    }

    cairn_cache *handle = nullptr;
    int result = 0;
};

std::string name_of(std::size_t n) {
    return "program " + std::to_string(n);
}

struct Board {
    std::atomic<unsigned> ready;
    std::atomic<bool> go;
    std::atomic<bool> held;
    std::array<std::atomic<unsigned>, kKeys> compiled;
};

void wait_for(const std::atomic<bool> &flag) {
    while (!flag) usleep(200);
}

// As an application does it: look, take the lease, make, put, give back. 0: all went as it should.
int use(const Opened &cache, Board &board, std::size_t first) {
    for (std::size_t i = 0; i < kKeys; ++i) {
        const std::size_t n = (first + i) % kKeys;
        const std::string key = name_of(n);
        if (cache.has(key)) continue;
        cairn_lease *lease = nullptr;
        const int got = cache.acquire(key, kLongMs, &lease);
        if (got == CAIRN_EXISTS) {
            if (!cache.has(key)) return 2;
            continue;
        }
        if (got != CAIRN_OK) return 3;
        ++board.compiled[n];
        usleep(2000);  // the compile
        if (cache.put(key) != CAIRN_OK) return 4;
        cairn_lease_release(lease);
    }
    return 0;
}

class LeaseTest : public testing::TestWithParam<Kind> {
  protected:
    Child holder() {
        Child child([this] {
            const Opened cache(GetParam(), directory_.path());
            cairn_lease *lease = nullptr;
            if (cache.acquire("key", 0, &lease) != CAIRN_OK) return 1;
            board_->held = true;
            for (;;) pause();
        });
        wait_for(board_->held);
        return child;
    }
    int acquire(std::uint32_t patience_ms) {
        const Opened cache(GetParam(), directory_.path());
        cairn_lease *lease = nullptr;
        const int result = cache.acquire("key", patience_ms, &lease);
        cairn_lease_release(lease);
        return result;
    }

    TempDirectory directory_;
    Shared<Board> board_;
};

TEST_P(LeaseTest, ManyProcessesMakeEachEntryOnce) {
    constexpr unsigned kProcesses = 6;
    std::vector<Child> children;
    for (unsigned i = 0; i < kProcesses; ++i) {
        children.emplace_back([&, i] {
            alarm(kWatchdogSeconds);
            const Opened cache(GetParam(), directory_.path());
            ++board_->ready;
            wait_for(board_->go);
            // Some go the same way, some another.
            return use(cache, *board_, i % 2 == 0 ? 0 : i * 3);
        });
    }
    while (board_->ready < kProcesses) usleep(200);
    board_->go = true;
    for (Child &child : children) EXPECT_EQ(describe_status(child.wait()), "");
    for (const auto &count : board_->compiled) EXPECT_EQ(count, 1u);
}

TEST_P(LeaseTest, TheLeaseOfAProcessThatIsKilledIsFree) {
    Child child = holder();
    EXPECT_EQ(acquire(0), CAIRN_ERROR_BUSY);
    child.kill();
    EXPECT_EQ(acquire(0), CAIRN_OK);
}

TEST_P(LeaseTest, WhoWaitsHasItWhenTheHolderIsKilled) {
    Child child = holder();
    Child killer([pid = child.pid()] {
        usleep(20'000);
        return kill(pid, SIGKILL);
    });
    EXPECT_EQ(acquire(kLongMs), CAIRN_OK);
    EXPECT_EQ(killer.wait(), 0);
}

TEST_P(LeaseTest, AHolderThatIsStoppedCostsOthersTheirPatience) {
    Child child = holder();
    child.stop();
    const auto begin = Clock::now();
    EXPECT_EQ(acquire(kShortMs), CAIRN_ERROR_BUSY);
    EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(kShortMs));
    child.resume();
    child.kill();
    EXPECT_EQ(acquire(0), CAIRN_OK);
}

TEST_P(LeaseTest, WaitingTakesNoProcessorTime) {
    const Child child = holder();
    rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    EXPECT_EQ(acquire(500), CAIRN_ERROR_BUSY);
    getrusage(RUSAGE_SELF, &after);
    const auto switches = after.ru_nvcsw - before.ru_nvcsw;
    EXPECT_GE(switches, 10);    // it slept
    EXPECT_LE(switches, 2000);  // and was not woken for nothing
}

TEST_P(LeaseTest, AChildOfForkDoesNotKeepItsParentsLease) {
    if (GetParam() == Kind::program && why_no_fork_beside_threads() != nullptr) {
        GTEST_SKIP() << why_no_fork_beside_threads();
    }
    std::atomic<pid_t> &grandchild = *new (&board_->compiled[0]) std::atomic<pid_t>(0);
    Child parent([&] {
        const Opened cache(GetParam(), directory_.path());
        cairn_lease *lease = nullptr;
        if (cache.acquire("key", 0, &lease) != CAIRN_OK) return 1;
        const pid_t pid = fork();
        if (pid == 0) {
            // It is no holder: it is refused what its parent has, and gives nothing back.
            cairn_lease *other = nullptr;
            if (cache.acquire("key", 0, &other) != CAIRN_ERROR_BUSY) _exit(1);
            if (cache.acquire("another", 0, &other) != CAIRN_OK) _exit(1);
            cairn_lease_release(lease);
            if (acquire(0) != CAIRN_ERROR_BUSY) _exit(1);
            grandchild = getpid();
            for (;;) pause();
        }
        board_->held = true;
        for (;;) pause();
    });
    wait_for(board_->held);
    while (grandchild == 0 && !parent.ended()) usleep(200);
    EXPECT_EQ(acquire(0), CAIRN_ERROR_BUSY);
    parent.kill();
    EXPECT_EQ(acquire(0), CAIRN_OK);
    // The child still has the lease that it took by itself.
    const Opened cache(GetParam(), directory_.path());
    cairn_lease *lease = nullptr;
    EXPECT_EQ(cache.acquire("another", 0, &lease), CAIRN_ERROR_BUSY);
    kill(grandchild, SIGKILL);
    EXPECT_EQ(cache.acquire("another", kLongMs, &lease), CAIRN_OK);
    cairn_lease_release(lease);
}

TEST_P(LeaseTest, TwoThatWantEachOthersDoNotWait) {
    const auto cross = [&](const char *own, const char *others, unsigned number) {
        alarm(kWatchdogSeconds);
        const Opened cache(GetParam(), directory_.path());
        cairn_lease *first = nullptr, *second = nullptr;
        if (cache.acquire(own, kLongMs, &first) != CAIRN_OK) return 1;
        ++board_->ready;
        while (board_->ready < 2) usleep(200);
        if (cache.acquire(others, kLongMs, &second) != CAIRN_ERROR_BUSY) return 2;
        ++board_->compiled[number];
        while (board_->compiled[0] + board_->compiled[1] < 2) usleep(200);
        cairn_lease_release(first);
        return 0;
    };
    Child one([&] { return cross("a", "b", 0); });
    Child other([&] { return cross("b", "a", 1); });
    EXPECT_EQ(describe_status(one.wait()), "");
    EXPECT_EQ(describe_status(other.wait()), "");
}

TEST_P(LeaseTest, TwoHandlesOfAProcessExcludeOneAnother) {
    if (GetParam() == Kind::program && why_no_fork_beside_threads() != nullptr) {
        GTEST_SKIP() << why_no_fork_beside_threads();
    }
    const Opened one(GetParam(), directory_.path());
    const Opened other(GetParam(), directory_.path() + "/.");
    cairn_lease *lease = nullptr, *second = nullptr;
    ASSERT_EQ(one.acquire("key", 0, &lease), CAIRN_OK);
    EXPECT_EQ(other.acquire("key", 0, &second), CAIRN_ERROR_BUSY);
    // To give one back leaves another as it is, though they share a file.
    ASSERT_EQ(other.acquire("another", 0, &second), CAIRN_OK);
    cairn_lease_release(second);
    Child child([&] { return acquire(0) == CAIRN_ERROR_BUSY ? 0 : 1; });
    EXPECT_EQ(child.wait(), 0);
    cairn_lease_release(lease);
    Child next([&] { return acquire(0) == CAIRN_OK ? 0 : 1; });
    EXPECT_EQ(next.wait(), 0);
}

TEST_P(LeaseTest, AnEntryThatIsThereNeedsNoLease) {
    const Opened cache(GetParam(), directory_.path());
    ASSERT_EQ(cache.put("key"), CAIRN_OK);
    ASSERT_EQ(cairn_flush(cache.handle, kLongMs), CAIRN_OK);
    EXPECT_EQ(acquire(kLongMs), CAIRN_EXISTS);
    cairn_lease *lease = nullptr;
    EXPECT_EQ(cache.acquire("key", 0, &lease), CAIRN_EXISTS);
    EXPECT_EQ(lease, nullptr);
}

TEST_P(LeaseTest, AnEntryThatComesEndsTheWaitAlthoughTheLeaseIsHeld) {
    const Child child = holder();
    Child putter([&] {
        usleep(20'000);
        const Opened cache(GetParam(), directory_.path());
        return cache.put("key");
    });
    EXPECT_EQ(acquire(kLongMs), CAIRN_EXISTS);
}

TEST_P(LeaseTest, AFileThatIsNotOursIsTakenAwayAndNotFollowed) {
    std::string folder;
    {
        const Opened cache(GetParam(), directory_.path());
        ASSERT_EQ(cache.put("other key"), CAIRN_OK);
        folder = directory_.path() + "/" +
                 (GetParam() == Kind::disk ? "test" : cairn_program_cache_identifier(cache.handle));
    }
    std::filesystem::create_symlink(directory_.path() + "/elsewhere", folder + "/leases");
    EXPECT_EQ(acquire(0), CAIRN_OK);
    EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/elsewhere"));
    EXPECT_TRUE(
        std::filesystem::is_regular_file(std::filesystem::symlink_status(folder + "/leases")));
}

TEST_P(LeaseTest, TheCacheMayBeDeletedMeanwhile) {
    const Opened cache(GetParam(), directory_.path());
    cairn_lease *lease = nullptr;
    ASSERT_EQ(cache.acquire("key", 0, &lease), CAIRN_OK);
    for (const auto &entry : std::filesystem::directory_iterator(directory_.path())) {
        std::filesystem::remove_all(entry.path());
    }
    cairn_lease_release(lease);
    EXPECT_EQ(cache.acquire("key", 0, &lease), CAIRN_ERROR_NOT_FOUND);
}

INSTANTIATE_TEST_SUITE_P(Kinds, LeaseTest, testing::Values(Kind::disk, Kind::program),
                         [](const auto &kind) {
                             return kind.param == Kind::disk ? "Disk" : "Program";
                         });

TEST(LeaseResultTest, OfArgumentsAndReaders) {
    const TempDirectory directory;
    const Opened cache(Kind::disk, directory.path());
    cairn_lease *lease = nullptr;
    EXPECT_EQ(cairn_lease_acquire(nullptr, "k", 1, 0, &lease), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_lease_acquire(cache.handle, nullptr, 1, 0, &lease),
              CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_lease_acquire(cache.handle, "k", 0, 0, &lease), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_lease_acquire(cache.handle, "k", 1, 0, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
    cairn_lease_release(nullptr);
    CacheOptions options;
    options.root = directory.path();
    options.version = 0;
    options.flags = CAIRN_OPEN_READ_ONLY;
    const Cache reader(options);
    ASSERT_EQ(reader.result(), CAIRN_OK);
    EXPECT_EQ(cairn_lease_acquire(reader.handle(), "k", 1, 0, &lease), CAIRN_ERROR_READ_ONLY);
}

}  // namespace
}  // namespace cairn_test
