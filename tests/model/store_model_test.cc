// Random operations on a cache, compared with a std::map. `CAIRN_MODEL_SEED=n` repeats one seed.
// SPDX-License-Identifier: MIT
#include "model/store_model.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/random.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

enum class Mode : std::uint8_t { memory, disk, small_disk, small_memory };

// The first byte as the model reads it.
std::uint8_t configuration(Mode mode, std::uint64_t seed) {
    const auto memory = static_cast<unsigned>(seed % 4) * 4;
    switch (mode) {
        case Mode::memory:
            return static_cast<std::uint8_t>(memory);
        case Mode::disk:
            return static_cast<std::uint8_t>(1 + memory);
        case Mode::small_disk:
            return static_cast<std::uint8_t>(1 + memory + 48);
        default:
            return static_cast<std::uint8_t>(memory + 48);
    }
}

void run_seed(Mode mode, std::uint64_t seed, std::size_t input_size) {
    const TempDirectory directory;
    ByteVector input(input_size);
    Random(mix(seed, static_cast<std::uint64_t>(mode))).fill(input);
    input[0] = configuration(mode, seed);
    const ModelResult result = run_store_model(input, directory.path(), SIZE_MAX);
    EXPECT_EQ(result.failure, "") << "seed " << seed << ", mode " << static_cast<int>(mode);
    EXPECT_GT(result.operations, input_size / 20);
}

void run_seeds(Mode mode, std::uint64_t count, std::size_t input_size) {
    if (const char *given = std::getenv("CAIRN_MODEL_SEED")) {
        return run_seed(mode, std::strtoull(given, nullptr, 10), input_size);
    }
    for (std::uint64_t seed = 0; seed < count && !testing::Test::HasFailure(); ++seed)
        run_seed(mode, seed, input_size);
}

TEST(StoreModel, DiskCacheAnswersLikeAMap) {
    run_seeds(Mode::disk, 16, 4000);
}
TEST(StoreModel, LongLivedDiskCacheAnswersLikeAMap) {
    run_seeds(Mode::disk, 1, 30000);
}
TEST(StoreModel, MemoryCacheAnswersLikeAMap) {
    run_seeds(Mode::memory, 30, 4000);
}
TEST(StoreModel, SmallDiskCacheLosesEntriesButIsNeverWrong) {
    run_seeds(Mode::small_disk, 10, 4000);
}
TEST(StoreModel, SmallMemoryCacheLosesEntriesButIsNeverWrong) {
    run_seeds(Mode::small_memory, 20, 4000);
}

}  // namespace
}  // namespace cairn_test
