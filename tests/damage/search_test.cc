// A damaged index has the segments searched: whatever the damage looks like, and wherever the
// search is broken off, every entry that was not hit itself is found.
// SPDX-License-Identifier: MIT
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
#include "support/long_form.h"
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
    explicit Sample(std::uint64_t entries, std::uint64_t limit_bytes = kLimit) : entries_(entries) {
        CacheOptions options = options_in(root_.path());
        options.limit_bytes = limit_bytes;
        Cache cache(options);
        for (std::uint64_t n = 0; n < entries; ++n) {
            EXPECT_EQ(cache.put(numbered_key(1, n), stamped_value({n, 0, 0, 0}, 200)), CAIRN_OK);
        }
    }
    static CacheOptions options_in(const std::string &root) {
        CacheOptions options;
        options.root = root;
        options.limit_bytes = kLimit;
        return options;
    }
    // The index of a new copy below `root`.
    std::string copy_to(const std::string &root) const {
        remove_tree(root + "/test");
        copy_directory(root_ / "test", root + "/test");
        return path_in_cache(root + "/test", "cache.idx");
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
    static constexpr std::uint64_t kLimit = std::uint64_t{16} << 20;

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
    for (unsigned byte = 0; byte < 256; byte += kIsSlow ? 5 : 1) {
        // By chance some words of equal bytes are slots.
        if (is_valid(byte * 0x0101010101010101u)) {
            ++valid;
            continue;
        }
        EXPECT_EQ(check_pattern(ByteVector(8, static_cast<std::uint8_t>(byte))), "") << byte;
    }
    EXPECT_LE(valid, 8u);
}

// The header and its copy, the counters, what is spare, and the bitmap.
TEST_F(Fill, OfAnyOtherPageCostsNothing) {
    const auto store = [&] {
        Cache cache(Sample::options_in(root_.path()));
        for (std::uint64_t n = 0; n < 100; ++n) {
            if (cache.put(numbered_key(2, n), as_bytes("value")) != CAIRN_OK) return 1;
            if (cache.put(numbered_key(2, n), as_bytes("another")) != CAIRN_OK) return 2;
            const auto blob = cache.get(numbered_key(2, n));
            if (!blob || as_string(blob->bytes()) != "another") return 3;
            if (cache.remove(numbered_key(2, n)) != CAIRN_OK) return 4;
            if (cache.get(numbered_key(2, n))) return 5;
        }
        return 0;
    };
    for (std::uint64_t page = 0; page * cairn::kPage < kFirstSlots; ++page) {
        for (const unsigned byte :
             {0x00u, 0x01u, 0x2Au, 0x55u, 0x7Fu, 0x80u, 0xAAu, 0xFEu, 0xFFu}) {
            const std::string index = sample_.copy_to(root_.path());
            const ByteVector bytes(cairn::kPage, static_cast<std::uint8_t>(byte));
            overwrite(index, page * cairn::kPage, bytes);
            EXPECT_EQ(sample_.check(root_.path()), "") << "page " << page << ", " << byte;
            EXPECT_EQ(run_in_child(kWatchdogSeconds, store), "") << "page " << page << ", " << byte;
            EXPECT_EQ(sample_.check(root_.path()), "") << "page " << page << ", " << byte;
        }
    }
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

// ---- sizes that do not follow from the levels

class Size : public testing::Test {
  protected:
    // Everything is still there, new entries are taken, and the limit holds; for two processes, one
    // after the other.
    void expect_unharmed(const std::string &what) {
        for (std::uint64_t family = 2; family < 4; ++family) {
            EXPECT_EQ(run_in_child(kWatchdogSeconds, [&] { return use(family); }), "") << what;
        }
    }
    int use(std::uint64_t family) const {
        Cache cache(options_);
        return sample_.missing_in(cache) != 0 ? 1 : fill(cache, family);
    }
    int fill(Cache &cache, std::uint64_t family) const {
        for (std::uint64_t n = 0; n < 200; ++n) {
            const auto value = stamped_value({n, 0, 0, 0}, 100);
            const int result = cache.put(numbered_key(family, n), value);
            if (result != CAIRN_OK) return 20 - result;
        }
        for (std::uint64_t n = 0; n < 200; ++n) {
            if (!cache.get(numbered_key(family, n))) return 2;
        }
        if (sample_.missing_in(cache) != 0) return 3;
        return blocks_held(root_ / "test") <= options_.limit_bytes ? 0 : 4;
    }

    const Sample sample_{600};  // with those of fill() far fewer than fill a bucket
    const TempDirectory root_;
    CacheOptions options_ = [this] {
        CacheOptions options = Sample::options_in(root_.path());
        options.limit_bytes = CAIRN_LIMIT_BYTES_MIN;
        return options;
    }();
};

TEST_F(Size, OfAnIndexIsWhatItsLevelsNeed) {
    const std::uint64_t right = cairn::index_size(1);
    std::vector<std::uint64_t> sizes = {std::uint64_t{16} << 30, 100'000'000};
    for (const std::uint64_t off : {1u, 7u, 64u, 4095u, 4096u, 4097u, 20000u}) {
        sizes.push_back(right + off);
        sizes.push_back(right - off);
    }
    for (unsigned levels = 2; levels <= cairn::kLevelMax; ++levels) {
        for (const int off : {-1, 0, 1}) {
            sizes.push_back(cairn::index_size(levels) + static_cast<std::uint64_t>(off));
        }
    }
    for (const std::uint64_t size : sizes) {
        const std::string index = sample_.copy_to(root_.path());
        ASSERT_EQ(file_size(index), right);
        cut(index, size);
        expect_unharmed("index of " + std::to_string(size) + " bytes");
    }
}

TEST_F(Size, OfAnIndexIsNotTakenFromWhatWasAppended) {
    Random random(4);
    for (const std::uint64_t size : {cairn::index_size(2) - cairn::index_size(1),
                                     std::uint64_t{300'000}, std::uint64_t{3'000'000}}) {
        for (const unsigned fill : {0x00u, 0x55u, 0xFFu, 0x100u}) {
            const std::string index = sample_.copy_to(root_.path());
            ByteVector bytes(size, static_cast<std::uint8_t>(fill));
            if (fill == 0x100) random.fill(bytes);
            append(index, bytes);
            expect_unharmed(std::to_string(size) + " bytes of " + std::to_string(fill));
        }
    }
}

TEST_F(Size, OfAnIndexMayChangeWhileItIsUsed) {
    for (const std::uint64_t size : {std::uint64_t{3'000'000}, std::uint64_t{16} << 30}) {
        const std::string index = sample_.copy_to(root_.path());
        const auto body = [&] {
            Cache cache(options_);
            if (const int result = fill(cache, 2)) return result;
            if (size < 10'000'000) append(index, ByteVector(size, 0x33));
            cut(index, size);
            return fill(cache, 3);
        };
        EXPECT_EQ(run_in_child(kWatchdogSeconds, body), "") << size;
        expect_unharmed("after it");
    }
}

// Entries are in both levels; the counter of levels lies, too.
TEST_F(Size, OfAnIndexAndTheNumberOfItsLevelsMayBothBeWrong) {
    options_.limit_bytes = std::uint64_t{64} << 20;
    const TempDirectory root;
    const Sample sample(6000, options_.limit_bytes);
    const std::uint64_t right = cairn::index_size(2);
    for (const std::uint64_t levels : {0u, 1u, 2u, 3u, 7u, 255u}) {
        for (const std::uint64_t size : {right, right + 100, cairn::index_size(3), right - 100}) {
            if (size < right && levels == 1) continue;  // each hides the other
            const std::string index = sample.copy_to(root.path());
            ASSERT_EQ(file_size(index), right);
            ByteVector word(8);
            word[0] = static_cast<std::uint8_t>(levels);
            overwrite(index, cairn::counter_offset(cairn::Counter::levels), word);
            cut(index, size);
            EXPECT_EQ(sample.check(root.path()), "") << levels << " levels, " << size << " bytes";
            EXPECT_EQ(sample.check(root.path()), "") << levels << " levels, " << size << " bytes";
        }
    }
}

TEST_F(Size, OfASegmentMayBeAny) {
    sample_.copy_to(root_.path());
    cut(files_in(root_ / "test", ".val").front(), std::uint64_t{16} << 30);
    expect_unharmed("a long segment");
    unlink((path_in_cache(root_ / "test", "cache.idx")).c_str());
    expect_unharmed("a long segment, and no index");
}

}  // namespace
}  // namespace cairn_test
