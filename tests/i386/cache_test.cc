// SPDX-License-Identifier: MIT
// Processes of 32 and of 64 bits share one cache on disk, at once, and through one broker.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "support/files.h"
#include "support/process.h"
#include "support/random.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

constexpr unsigned kWriters = 4;

class BothKinds : public testing::Test {
  protected:
    BothKinds() {
        if (const char *build = std::getenv("CAIRN_TEST_BUILD_64")) build_64_ = build;
    }

    // Of 32 bits where `number` is even, else of 64.
    std::string peer(unsigned number) const {
        return number % 2 == 0 ? I386_PEER : build_64_ + "/tests/i386/i386_peer";
    }
    Child start(std::vector<std::string> command, const std::string &output = "/dev/null") const {
        return Child([command = std::move(command), output]() mutable {
            std::vector<char *> words;
            for (std::string &word : command) words.push_back(word.data());
            words.push_back(nullptr);
            if (std::freopen(output.c_str(), "w", stdout) == nullptr) return 97;
            execv(words[0], words.data());
            return 96;
        });
    }
    Child writer(unsigned number, const std::string &place, unsigned count) const {
        return start({peer(number), "put", place, std::to_string(number), std::to_string(kWriters),
                      std::to_string(count)});
    }
    std::vector<Child> writers(const std::string &place, unsigned count) const {
        std::vector<Child> all;
        for (unsigned i = 0; i < kWriters; ++i) all.push_back(writer(i, place, count));
        return all;
    }
    // What a peer of that kind prints; fails when it does not succeed.
    std::string ask(unsigned kind, const std::string &what, const std::string &place,
                    unsigned count) const {
        const std::string output = directory_ / "output";
        Child child = start(
            {peer(kind), what, place, std::to_string(kWriters), std::to_string(count)}, output);
        EXPECT_EQ(describe_status(child.wait()), "") << what << " by kind " << kind;
        return as_string(read_file(output));
    }
    std::string place(unsigned limit_mib) const {
        return std::to_string(limit_mib) + ":" + (directory_ / "caches");
    }

    TempDirectory directory_;
    std::string build_64_ = I386_OWN_BUILD;
};

// Enough entries for the index to grow several times while all have it mapped.
TEST_F(BothKinds, FindWhatTheOtherPutWhileBothPut) {
    constexpr unsigned kCount = 6000;
    for (Child &child : writers(place(256), kCount)) EXPECT_EQ(describe_status(child.wait()), "");
    const std::string all = std::to_string((kWriters + 1) * kCount) + "\n";
    EXPECT_EQ(ask(0, "check", place(256), kCount), all);
    EXPECT_EQ(ask(1, "check", place(256), kCount), all);
}

TEST_F(BothKinds, EvictTogether) {
    constexpr unsigned kCount = 8000;
    for (Child &child : writers(place(4), kCount)) EXPECT_EQ(describe_status(child.wait()), "");
    const std::string found = ask(0, "read", place(4), kCount);
    EXPECT_EQ(ask(1, "read", place(4), kCount), found);
    EXPECT_GT(std::stoul(found), 0u);
    EXPECT_LT(std::stoul(found), (kWriters + 1) * kCount) << "nothing was evicted";
    EXPECT_GT(std::stoul(found.substr(found.find(' '))), 100u) << "nothing is said to be";
    for (const auto &cache : std::filesystem::directory_iterator(directory_ / "caches")) {
        EXPECT_LE(blocks_held(cache.path()), std::uint64_t{4} << 20) << cache.path();
    }
}

// One after the other, as of two that note at once one may lose something.
TEST_F(BothKinds, RememberAndCountForEachOther) {
    constexpr unsigned kCount = 500;
    const std::string root = directory_ / "root", cache = root + "/gl-app-0123456789abcdef";
    std::filesystem::create_directories(cache);
    for (const std::string &each : {root, cache}) {
        std::filesystem::permissions(each, std::filesystem::perms::owner_all);
    }
    for (unsigned i = 0; i < kWriters; ++i) {
        Child child = start({peer(i), "remember", root, std::to_string(i), std::to_string(kCount)});
        EXPECT_EQ(describe_status(child.wait()), "");
    }
    ask(0, "know", root, kCount);
    ask(1, "know", root, kCount);
}

// A killed process leaves nothing that another one of the other kind takes for a value.
TEST_F(BothKinds, OutliveEachOthersKills) {
    constexpr unsigned kCount = 1'000'000;
    Random random(7);
    std::vector<Child> all = writers(place(32), kCount);
    for (unsigned kill = 0; kill < 60; ++kill) {
        usleep(static_cast<useconds_t>(random.below(40'000)));
        const auto victim = static_cast<unsigned>(random.below(kWriters));
        ASSERT_FALSE(all[victim].ended()) << "writer " << victim << " failed";
        all[victim].kill();
        all[victim] = writer(victim, place(32), kCount);
    }
    for (Child &child : all) {
        EXPECT_FALSE(child.ended());
        child.kill();
    }
    const std::string found = ask(1, "read", place(32), 3000);
    EXPECT_EQ(ask(0, "read", place(32), 3000), found);
    EXPECT_GT(std::stoul(found), 0u);
}

// What is put is sent to the broker, of 64 bits, which stores it; all look up in its files.
TEST_F(BothKinds, ShareABroker) {
    constexpr unsigned kCount = 300;
    const std::string socket = directory_ / "socket";
    Child broker = start({build_64_ + "/apps/broker/cairnd", "--socket", socket, "--root",
                          directory_ / "brokered", "--messages-per-second", "100000",
                          "--bytes-per-second", "1000000000"});
    for (unsigned i = 0; i < 1000 && access(socket.c_str(), F_OK) != 0; ++i) usleep(10'000);
    const std::string place = "broker:" + socket;
    for (Child &child : writers(place, kCount)) EXPECT_EQ(describe_status(child.wait()), "");
    const std::string all = std::to_string((kWriters + 1) * kCount) + "\n";
    EXPECT_EQ(ask(0, "check", place, kCount), all);
    EXPECT_EQ(ask(1, "check", place, kCount), all);
    broker.kill();
}

}  // namespace
}  // namespace cairn_test
