// A damaged index has the segments searched: whatever the damage looks like, and wherever the
// search is broken off, every entry that was not hit itself is found. SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>

#include "os/system_calls.h"
#include "store/index_format.h"
#include "store/slot.h"
#include "support/files.h"
#include "support/process.h"
#include "support/stamped_value.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

constexpr unsigned kWatchdogSeconds = 60;
constexpr std::uint64_t kFirstSlots =
    cairn::level_offset(0) + cairn::level_bitmap_pages(0) * cairn::kPage;

// Entries in a cache of their own, of which each test damages a copy.
class Sample {
  public:
    explicit Sample(std::uint64_t entries) : entries_(entries) {
        Cache cache(options_in(root_.path()));
        for (std::uint64_t n = 0; n < entries; ++n) {
            EXPECT_EQ(cache.put(numbered_key(1, n), stamped_value({n, 0, 0, 0}, 200)), CAIRN_OK);
        }
    }
    static CacheOptions options_in(const std::string &root) {
        CacheOptions options;
        options.root = root;
        options.limit_bytes = std::uint64_t{16} << 20;
        return options;
    }
    // The index of a new copy below `root`.
    std::string copy_to(const std::string &root) const {
        remove_tree(root + "/test");
        copy_directory(root_ / "test", root + "/test");
        return root + "/test/cache.idx";
    }
    // How many entries are not found, or are not what they were. One look-up searches for a bounded
    // time, and those that follow go on.
    std::uint64_t missing_in(Cache &cache) const {
        std::uint64_t missing = 0;
        for (std::uint64_t n = 0; n < entries_; ++n) {
            bool found = false;
            for (unsigned i = 0; i < kLooks && !found; ++i) found = has(cache, n);
            missing += !found;
        }
        return missing;
    }
    // The same in a process of its own.
    std::string check(const std::string &root) const {
        return run_in_child(kWatchdogSeconds, [&] {
            Cache cache(options_in(root));
            return missing_in(cache) == 0 ? 0 : 1;
        });
    }

  private:
    static constexpr unsigned kLooks = 50;

    static bool has(Cache &cache, std::uint64_t n) {
        const auto blob = cache.get(numbered_key(1, n));
        const auto stamp = blob ? read_stamp(blob->bytes()) : std::nullopt;
        return stamp && stamp->key == n;
    }

    TempDirectory root_;
    std::uint64_t entries_;
};

// ---- searches that are broken off

// Ends this process at one of the reads that it makes, as SIGKILL at a random moment does.
std::atomic<std::uint64_t> reads_left;

void die_at_last_read() {
    if (reads_left.fetch_sub(1) == 1) kill(getpid(), SIGKILL);
}

void die_after_reads(std::uint64_t count) {
    static cairn::SystemCalls mortal;
    mortal = cairn::kKernel;
    mortal.pread = [](int fd, void *data, size_t size, off_t offset) {
        die_at_last_read();
        return cairn::kKernel.pread(fd, data, size, offset);
    };
    mortal.preadv = [](int fd, const iovec *pieces, int count_of_pieces, off_t offset) {
        die_at_last_read();
        return cairn::kKernel.preadv(fd, pieces, count_of_pieces, offset);
    };
    mortal.pwritev = [](int fd, const iovec *pieces, int count_of_pieces, off_t offset) {
        die_at_last_read();
        return cairn::kKernel.pwritev(fd, pieces, count_of_pieces, offset);
    };
    reads_left = count;
    cairn::system_calls = &mortal;
}

class BrokenOff : public testing::Test {
  protected:
    // Zeroes a page of slots in a copy of the sample, and runs `body` in a process that is killed
    // after `reads` reads. False: it came to its end.
    bool dies(std::uint64_t reads, std::uint64_t page, const std::function<void(Cache &)> &body) {
        const std::string index = sample_.copy_to(root_.path());
        overwrite(index, kFirstSlots + page * cairn::kPage, ByteVector(cairn::kPage));
        Child child([&] {
            Cache cache(Sample::options_in(root_.path()));
            die_after_reads(reads);
            body(cache);
            return 0;
        });
        return child.wait() != 0;
    }

    const Sample sample_{1500};
    const TempDirectory root_;
};

TEST_F(BrokenOff, AKilledReaderLosesNothing) {
    Random random(1);
    std::uint64_t died = 0;
    for (unsigned trial = 0; trial < 100; ++trial) {
        died += dies(1 + random.below(9000), trial % 8,
                     [&](Cache &cache) { (void)sample_.missing_in(cache); });
        ASSERT_EQ(sample_.check(root_.path()), "") << "trial " << trial;
    }
    EXPECT_GT(died, 30u);
}

// A put that finds no free slot empties a damaged one.
TEST_F(BrokenOff, AKilledWriterLosesNothing) {
    Random random(2);
    for (unsigned trial = 0; trial < 40; ++trial) {
        dies(1 + random.below(4000), trial % 8, [&](Cache &cache) {
            for (std::uint64_t n = 0; n < 4000; ++n) {
                cache.put(numbered_key(2, n), stamped_value({n, 0, 0, 0}, 100));
            }
        });
        ASSERT_EQ(sample_.check(root_.path()), "") << "trial " << trial;
    }
}

// ---- what damage looks like

class Fill : public testing::Test {
  protected:
    // Overwrites all pages of slots of the first level with a pattern.
    std::string check_pattern(ByteView pattern) {
        const std::string index = sample_.copy_to(root_.path());
        ByteVector slots(cairn::level_pages(0) * cairn::kPage);
        for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = pattern[i % pattern.size()];
        overwrite(index, kFirstSlots, slots);
        return sample_.check(root_.path());
    }
    static bool is_valid(std::uint64_t word) { return cairn::Slot(word).intact(); }

    const Sample sample_{2000};
    const TempDirectory root_;
};

TEST_F(Fill, OfAnyByteIsSeen) {
    unsigned valid = 0;
    for (unsigned byte = 0; byte < 256; ++byte) {
        // By chance some words of equal bytes are slots.
        if (is_valid(byte * 0x0101010101010101u)) {
            ++valid;
            continue;
        }
        EXPECT_EQ(check_pattern(ByteVector(8, static_cast<std::uint8_t>(byte))), "") << byte;
    }
    EXPECT_LE(valid, 8u);
}

TEST_F(Fill, OfRepeatedRandomWordsIsSeen) {
    Random random(3);
    for (const std::size_t words : {1u, 2u, 3u, 4u, 8u, 16u, 32u}) {
        for (unsigned trial = 0; trial < 8; ++trial) {
            ByteVector pattern(words * 8);
            random.fill(pattern);
            for (std::size_t i = 0; i < words; ++i) {
                std::uint64_t word = 0;
                std::memcpy(&word, pattern.data() + i * 8, 8);
                if (is_valid(word)) pattern[i * 8] ^= 1;
            }
            EXPECT_EQ(check_pattern(pattern), "") << words << " words, trial " << trial;
        }
    }
}

}  // namespace
}  // namespace cairn_test
