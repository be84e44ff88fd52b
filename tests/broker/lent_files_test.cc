// A client can harm nobody with the descriptors that it was lent.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "broker/broker.h"
#include "broker/raw_client.h"
#include "support/files.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

using namespace cairn;
using cairn_test::as_bytes;

constexpr std::uint64_t kLimit = 4u << 20;
constexpr unsigned kEntries = 20;
const std::string kValue(20'000, 'v');

class LentFilesTest : public testing::Test {
  protected:
    LentFilesTest() : broker_(directory_.path(), {"--limit-bytes", std::to_string(kLimit)}) {
        ::signal(SIGIO, SIG_IGN);  // which tells who has a lease that somebody opens the file
        Cache cache = open();
        for (unsigned i = 0; i < kEntries; ++i) {
            EXPECT_EQ(cache.put(as_bytes(key(i)), as_bytes(kValue)), CAIRN_OK);
        }
    }
    static std::string key(unsigned i) { return "key " + std::to_string(i); }
    Cache open() const {
        Cache cache({.root = broker_.root(), .identifier = "app", .limit_bytes = kLimit});
        EXPECT_EQ(cache.result(), CAIRN_OK);
        return cache;
    }
    // Is lent all files there are.
    Raw connect() {
        Raw client(broker_);
        EXPECT_TRUE(client.hello("app"));
        EXPECT_TRUE(client.send(Start{}));
        const std::size_t wanted = 1 + segments().size();
        EXPECT_TRUE(eventually([&] {
            auto more = client.take_descriptors();
            if (!more.empty()) client.send(Received{static_cast<std::uint32_t>(more.size())});
            std::move(more.begin(), more.end(), std::back_inserter(lent_));
            return lent_.size() >= wanted;
        }));
        EXPECT_GT(wanted, 2u);
        return client;
    }
    // As far as the kernel lets it.
    unsigned take_leases() const {
        unsigned taken = 0;
        for (const UniqueFd &fd : lent_) {
            for (const int kind : {F_WRLCK, F_RDLCK}) {
                if (::fcntl(fd.get(), F_SETLEASE, kind) == 0) ++taken;
            }
        }
        return taken;
    }
    void take_locks() const {
        for (const UniqueFd &fd : lent_) {
            struct flock all = {};
            all.l_type = F_RDLCK;
            EXPECT_EQ(::fcntl(fd.get(), F_OFD_SETLK, &all), 0);
            EXPECT_EQ(::flock(fd.get(), LOCK_EX | LOCK_NB), 0);
        }
    }
    struct Held {
        unsigned deleted = 0;
        std::uint64_t blocks = 0;  // of deleted files, but for the index
    };
    Held held() const {
        Held held;
        for (std::size_t i = 1; i < lent_.size(); ++i) {  // the index comes first
            struct stat status;
            EXPECT_EQ(::fstat(lent_[i].get(), &status), 0);
            if (status.st_nlink != 0) continue;
            ++held.deleted;
            held.blocks += static_cast<std::uint64_t>(status.st_blocks);
        }
        return held;
    }
    std::vector<std::string> segments() const { return files_in(broker_.root() + "/app", ".val"); }
    void delete_segments_by_hand() const {
        for (const std::string &segment : segments()) std::filesystem::remove(segment);
    }
    bool broker_has_cache_open() const {
        std::ifstream maps("/proc/" + std::to_string(broker_.pid()) + "/maps");
        std::string line;
        while (std::getline(maps, line)) {
            if (line.find("/app/format-2/cache.idx") != std::string::npos) return true;
        }
        return false;
    }

    TempDirectory directory_;
    Broker broker_;
    std::vector<UniqueFd> lent_;
};

TEST_F(LentFilesTest, NobodyGetsALeaseOnThem) {
    {
        const Raw client = connect();
        EXPECT_EQ(take_leases(), 0u);
        ASSERT_TRUE(broker_has_cache_open());
    }
    ASSERT_TRUE(eventually([&] { return !broker_has_cache_open(); }));
    EXPECT_EQ(take_leases(), 0u) << "nor who keeps a descriptor when its connection is over";
}

TEST_F(LentFilesTest, LeasesKeepNobodyFromRemovingAndClearing) {
    const Raw client = connect();
    (void)take_leases();
    Cache cache = open();
    EXPECT_EQ(cache.remove(as_bytes(key(0))), CAIRN_OK);
    EXPECT_FALSE(cache.get(as_bytes(key(0))));
    EXPECT_TRUE(cache.get(as_bytes(key(1))));
    EXPECT_EQ(cache.clear(), CAIRN_OK);
    for (unsigned i = 0; i < kEntries; ++i) EXPECT_FALSE(cache.get(as_bytes(key(i))));
}

TEST_F(LentFilesTest, LocksAndLeasesKeepNobodyFromMakingRoom) {
    const Raw client = connect();
    take_locks();
    (void)take_leases();
    Cache cache = open();
    for (unsigned i = 0; i < 3 * kLimit / kValue.size(); ++i) {
        ASSERT_EQ(cache.put(as_bytes("new " + std::to_string(i)), as_bytes(kValue)), CAIRN_OK);
    }
    EXPECT_EQ(held().deleted, lent_.size() - 1) << "what is oldest went first";
    EXPECT_TRUE(eventually([&] { return held().blocks == 0; }));
}

TEST_F(LentFilesTest, LocksAndLeasesKeepNobodyFromCompressing) {
    const Raw client = connect();
    take_locks();
    (void)take_leases();
    Cache cache = open();
    ASSERT_EQ(cache.compress(), CAIRN_OK);
    EXPECT_EQ(held().deleted, lent_.size() - 1);
    EXPECT_EQ(held().blocks, 0u);
    EXPECT_TRUE(cache.get(as_bytes(key(0))));
}

TEST_F(LentFilesTest, LocksKeepNobodyFromGoingOnWithASegment) {
    const Raw client = connect();
    take_locks();
    const auto before = segments();
    for (unsigned i = 0; i < 8; ++i) {
        ASSERT_EQ(open().put(as_bytes("one more " + std::to_string(i)), as_bytes("x")), CAIRN_OK);
    }
    EXPECT_EQ(segments(), before);
}

TEST_F(LentFilesTest, WhatIsDeletedByHandHoldsNoBlocks) {
    const Raw client = connect();
    EXPECT_EQ(held().deleted, 0u);
    delete_segments_by_hand();
    EXPECT_EQ(held().deleted, lent_.size() - 1);
    EXPECT_TRUE(eventually([&] { return held().blocks == 0; }));
}

TEST_F(LentFilesTest, WhatIsDeletedWhenNoClientIsLeftHoldsNoBlocks) {
    {
        const Raw client = connect();
        ASSERT_TRUE(broker_has_cache_open());
    }
    ASSERT_TRUE(eventually([&] { return !broker_has_cache_open(); }));
    delete_segments_by_hand();
    EXPECT_EQ(held().deleted, lent_.size() - 1);
    EXPECT_TRUE(eventually([&] { return held().blocks == 0; }));
}

}  // namespace
}  // namespace cairn_test
