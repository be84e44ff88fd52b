// Puts that need room which another process makes.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <string>

#include "os/system_calls.h"
#include "os/testing/scratch.h"
#include "store/index.h"
#include "store/index_file.h"
#include "store/space.h"
#include "store/store.h"
#include "store/testing/calls.h"

namespace cairn {
namespace {

using testing::put;

// How often the lock of the process that evicts is found held.
std::atomic<unsigned> times_held = 0;
// Where that process retires a segment each time. Nowhere: it was stopped.
std::atomic<Index *> retires_in = nullptr;

int lock_while_another_evicts(int fd, int command, struct flock *range) {
    const bool asks = range->l_type == F_WRLCK && range->l_start == kEvictionByte;
    unsigned left = asks ? times_held.load() : 0;
    while (left > 0 && !times_held.compare_exchange_weak(left, left - 1)) {
    }
    if (left == 0) return kKernel.lock(fd, command, range);
    if (Index *index = retires_in) index->count_retired();
    errno = EAGAIN;
    return -1;
}

class WaitTest : public ::testing::Test {
  protected:
    WaitTest() {
        options_.root = scratch_ / "root";
        options_.identifier = "cache";
        options_.limit_bytes = 2 << 20;
        calls_.lock = lock_while_another_evicts;
        system_calls = &calls_;
        store_ = std::move(Store::open(options_).value());
        for (int i = 0; i < 300; ++i) EXPECT_EQ(put_next(), Error::none);
        const auto folder =
            Directory::open(options_.root + "/cache/" + format_folder(kNewestFormat));
        File file = std::move(folder.value().open_file(kIndexFileName, Access::read_write).value());
        const CacheIdentity identity = read_index_identity(file, options_.identifier).value();
        index_ = std::move(Index::open(std::move(file), identity, Access::read_write).value());
    }
    // Threads of the store use the calls until it is closed.
    ~WaitTest() override {
        times_held = 0;
        retires_in = nullptr;
        store_.reset();
        system_calls = &kKernel;
    }

    Error put_next() {
        return put(*store_, "key " + std::to_string(next_++), std::string(16'000, 'v'));
    }
    // Puts until one fails or the lock is not held any more. The first few find room that was kept free.
    Error put_until_one_waits(unsigned times) {
        times_held = times;
        const int first = next_;
        Error error = Error::none;
        while (error == Error::none && times_held > 0) error = put_next();
        EXPECT_LT(next_ - first, 40);
        return error;
    }

    testing::Scratch scratch_{testing::Scratch::Place::memory};
    SystemCalls calls_;
    StoreOptions options_;
    std::unique_ptr<Store> store_;
    std::unique_ptr<Index> index_;  // as another process has it
    int next_ = 0;
};

constexpr unsigned kForEver = 1'000'000;

// Each time but the first few is a pause of a millisecond.
TEST_F(WaitTest, APutWaitsForOneThatRetiresSegments) {
    retires_in = index_.get();
    EXPECT_EQ(put_until_one_waits(300), Error::none);
    EXPECT_EQ(put_next(), Error::none);
}

TEST_F(WaitTest, APutDoesNotWaitLongForOneThatWasStopped) {
    EXPECT_EQ(put_until_one_waits(kForEver), Error::full);
    EXPECT_GT(times_held, kForEver - 200);
    // Nor do the next ones wait at all, within a second.
    unsigned least = kForEver;
    for (int i = 0; i < 5; ++i) {
        const unsigned before = times_held;
        EXPECT_EQ(put_next(), Error::full);
        least = std::min(least, before - times_held);
    }
    EXPECT_LE(least, 5u);
}

TEST_F(WaitTest, APutDoesNotWaitForEverForOneThatLeavesItNoRoom) {
    retires_in = index_.get();
    EXPECT_EQ(put_until_one_waits(kForEver), Error::full);
    EXPECT_GT(times_held, kForEver - 1'000);
}

}  // namespace
}  // namespace cairn
