// The adapter for VkPipelineCache with a driver, a cache and a program that do what they should
// not.
// SPDX-License-Identifier: MIT
#include <adapters/vulkan_pipeline_cache.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <set>

#include "adapters/fake_vulkan.h"
#include "support/cache.h"
#include "support/process.h"
#include "support/temp_directory.h"

using cairn_adapters::VulkanPipelineCache;

namespace cairn_test {
namespace {

using Numbers = std::set<std::uint32_t>;

class VulkanTroubleTest : public testing::Test {
  protected:
    VulkanTroubleTest() { fake_vulkan::reset(); }
    ~VulkanTroubleTest() override { EXPECT_EQ(fake_vulkan::state().live, 0); }

    CacheOptions options() const { return {.root = root_ / "root"}; }
    static VulkanPipelineCache pipelines(const Cache &cache) {
        return VulkanPipelineCache(cache.handle(), VK_NULL_HANDLE, driver_.properties,
                                   fake_vulkan::find);
    }
    // What the next process finds.
    Numbers stored() const {
        const Cache cache(options());
        return fake_vulkan::numbers(pipelines(cache).handle());
    }
    // Has `numbers` made and stored.
    void store(const Cache &cache, const Numbers &numbers) const {
        VulkanPipelineCache made = pipelines(cache);
        for (const std::uint32_t number : numbers) fake_vulkan::add(made.handle(), number);
        ASSERT_EQ(made.save(), CAIRN_OK);
    }

    static inline fake_vulkan::State &driver_ = fake_vulkan::state();
    const TempDirectory root_;
};

TEST_F(VulkanTroubleTest, ADriverThatCanMakeNoCacheIsServedWithoutOne) {
    driver_.fails_to_create = true;
    const Cache cache(options());
    VulkanPipelineCache made = pipelines(cache);
    EXPECT_EQ(made.handle(), VK_NULL_HANDLE);
    EXPECT_FALSE(made.loaded());
    EXPECT_EQ(made.save(), CAIRN_ERROR_UNSUPPORTED);
}

TEST_F(VulkanTroubleTest, ADriverWithoutAFunctionIsServedWithoutACache) {
    driver_.lacks_merging = true;
    const Cache cache(options());
    VulkanPipelineCache made = pipelines(cache);
    EXPECT_EQ(made.handle(), VK_NULL_HANDLE);
    EXPECT_EQ(made.save(), CAIRN_ERROR_UNSUPPORTED);
}

TEST_F(VulkanTroubleTest, AMergeThatFailsLosesNothingOfOthers) {
    const Cache cache(options());
    VulkanPipelineCache made = pipelines(cache);
    fake_vulkan::add(made.handle(), 1);
    store(cache, {2});
    driver_.fails_to_merge = true;
    EXPECT_EQ(made.save(), CAIRN_ERROR_NO_MEMORY);
    driver_.fails_to_merge = false;
    EXPECT_EQ(stored(), Numbers({2}));
    EXPECT_EQ(made.save(), CAIRN_OK);  // the next time
    EXPECT_EQ(stored(), Numbers({1, 2}));
}

TEST_F(VulkanTroubleTest, AMergeWithoutMemoryLosesNothingOfOthers) {
    const Cache cache(options());
    VulkanPipelineCache made = pipelines(cache);
    fake_vulkan::add(made.handle(), 1);
    store(cache, {2});
    driver_.fails_to_create = true;
    EXPECT_EQ(made.save(), CAIRN_ERROR_NO_MEMORY);
    driver_.fails_to_create = false;
    EXPECT_EQ(stored(), Numbers({2}));
}

TEST_F(VulkanTroubleTest, PipelinesThatComeWhileItReadsAreStored) {
    const Cache cache(options());
    VulkanPipelineCache made = pipelines(cache);
    fake_vulkan::add(made.handle(), 1);
    driver_.grows_while_read = 3;
    EXPECT_EQ(made.save(), CAIRN_OK);
    EXPECT_EQ(stored(), Numbers({1, 1000, 1001, 1002}));
}

TEST_F(VulkanTroubleTest, ADriverWhoseDataNeverFitsIsGivenUp) {
    const Cache cache(options());
    VulkanPipelineCache made = pipelines(cache);
    fake_vulkan::add(made.handle(), 1);
    driver_.grows_while_read = 1000;
    EXPECT_EQ(made.save(), CAIRN_ERROR_NO_MEMORY);
    driver_.grows_while_read = 0;
    EXPECT_EQ(stored(), Numbers());
}

TEST_F(VulkanTroubleTest, DataWithoutTheHeaderOfItsDeviceIsNotStored) {
    driver_.has_a_wrong_header = true;
    const Cache cache(options());
    VulkanPipelineCache made = pipelines(cache);
    fake_vulkan::add(made.handle(), 1);
    EXPECT_EQ(made.save(), CAIRN_ERROR_UNSUPPORTED);
    EXPECT_EQ(cairn_test::Cache(options()).stats().entries, 0);
}

TEST_F(VulkanTroubleTest, AnotherVersionOfTheDriverHasAnotherEntry) {
    const Cache cache(options());
    store(cache, {1});
    const auto change = [&](auto &member) {
        ++member;
        EXPECT_EQ(stored(), Numbers());
        --member;
        EXPECT_EQ(stored(), Numbers({1}));
    };
    change(driver_.properties.driverVersion);
    change(driver_.properties.deviceID);
    change(driver_.properties.vendorID);
    change(driver_.properties.pipelineCacheUUID[15]);
}

TEST_F(VulkanTroubleTest, TheDriverIsGivenNothingThatDoesNotFit) {
    Cache cache(options());
    store(cache, {1, 2, 3});
    ByteVector key;
    const auto take_key = [](void *to, const cairn_entry *entry) {
        const auto *from = static_cast<const std::uint8_t *>(entry->key);
        static_cast<ByteVector *>(to)->assign(from, from + entry->key_size);
        return 1;
    };
    cairn_enumerate(cache.handle(), take_key, &key);
    const std::vector<std::byte> data = fake_vulkan::data_of({1, 2, 3});
    for (std::size_t at = 0; at < sizeof(VkPipelineCacheHeaderVersionOne); ++at) {
        for (const std::uint8_t bit : {std::uint8_t{1}, std::uint8_t{128}}) {
            ByteVector wrong(data.size());
            std::memcpy(wrong.data(), data.data(), data.size());
            wrong[at] ^= bit;
            ASSERT_EQ(cache.put(key, wrong), CAIRN_OK);
            driver_.given_bytes = 0;
            EXPECT_FALSE(pipelines(cache).loaded()) << at;
            EXPECT_EQ(driver_.given_bytes, 0) << at;
        }
    }
}

TEST_F(VulkanTroubleTest, AnotherThatSavesForTooLongIsNotWaitedForAndItsDeathHarmsNobody) {
    const Cache cache(options());
    VulkanPipelineCache made = pipelines(cache);
    fake_vulkan::add(made.handle(), 1);
    store(cache, {2});
    Child other([&] {
        const Cache own(options());
        VulkanPipelineCache more = pipelines(own);
        fake_vulkan::add(more.handle(), 3);
        driver_.when_it_creates = [] { std::raise(SIGSTOP); };
        (void)more.save();  // stops while it merges
        return 0;
    });
    siginfo_t info{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(other.pid()), &info, WSTOPPED), 0);
    ASSERT_EQ(info.si_code, CLD_STOPPED);
    EXPECT_EQ(made.save(0, 1), CAIRN_ERROR_BUSY);
    EXPECT_EQ(stored(), Numbers({2}));
    other.kill();
    EXPECT_EQ(made.save(), CAIRN_OK);
    EXPECT_EQ(stored(), Numbers({1, 2}));
}

TEST_F(VulkanTroubleTest, ACacheThatOnlyReadsIsReadAndTheSaveSaysSo) {
    store(Cache(options()), {1});
    CacheOptions reading = options();
    reading.flags = CAIRN_OPEN_READ_ONLY;
    const Cache cache(reading);
    VulkanPipelineCache made = pipelines(cache);
    EXPECT_TRUE(made.loaded());
    EXPECT_EQ(made.save(), CAIRN_EXISTS);
    fake_vulkan::add(made.handle(), 2);
    EXPECT_EQ(made.save(), CAIRN_ERROR_READ_ONLY);
    EXPECT_EQ(stored(), Numbers({1}));
}

// Without leases among processes there are those of the handle.
TEST_F(VulkanTroubleTest, ACacheInMemoryServesOneProcess) {
    CacheOptions memory = options();
    memory.mode = CAIRN_MODE_MEMORY;
    const Cache cache(memory);
    store(cache, {1});
    store(cache, {2});
    EXPECT_EQ(fake_vulkan::numbers(pipelines(cache).handle()), Numbers({1, 2}));
}

cairn_cache *open_program_cache(const std::string &root) {
    cairn_program_cache_options options{};
    options.size = sizeof(options);
    options.root = root.c_str();
    options.application = "engine";
    options.identity = "fake";
    cairn_cache *cache = nullptr;
    EXPECT_EQ(cairn_program_cache_open(&options, &cache), CAIRN_OK);
    return cache;
}

// What a process keeps in memory of an entry is older than what another has stored.
TEST_F(VulkanTroubleTest, WhatOthersStoreStaysWithAnyKindOfCache) {
    const std::string root = root_ / "root";
    const auto open_plain = [&] {
        cairn_options options{};
        options.size = sizeof(options);
        options.root = root.c_str();
        options.identifier = "plain";
        cairn_cache *cache = nullptr;
        EXPECT_EQ(cairn_open(&options, &cache), CAIRN_OK);
        return cache;
    };
    const auto open_program = [&] { return open_program_cache(root); };
    const auto check = [&](const std::function<cairn_cache *()> &open) {
        const auto make_and_save = [&](cairn_cache *cache, std::uint32_t number) {
            VulkanPipelineCache made(cache, VK_NULL_HANDLE, driver_.properties, fake_vulkan::find);
            fake_vulkan::add(made.handle(), number);
            EXPECT_EQ(made.save(), CAIRN_OK);
        };
        cairn_cache *first = open();
        cairn_cache *second = open();
        for (std::uint32_t round = 0; round < 8; ++round) {
            make_and_save(first, 2 * round);
            make_and_save(second, 2 * round + 1);
        }
        cairn_close(first);
        cairn_close(second);
        cairn_cache *third = open();
        EXPECT_EQ(fake_vulkan::numbers(VulkanPipelineCache(third, VK_NULL_HANDLE,
                                                           driver_.properties, fake_vulkan::find)
                                           .handle())
                      .size(),
                  16);
        cairn_close(third);
    };
    check(open_plain);
    check(open_program);
}

// A driver that dies of what it is given does so once, in a program cache.
TEST_F(VulkanTroubleTest, AProgramCacheDropsWhatTheDriverDiedOf) {
    const std::string root = root_ / "root";
    const auto open = [&] { return open_program_cache(root); };
    const auto loads = [&] {
        cairn_cache *cache = open();
        const bool is_loaded =
            VulkanPipelineCache(cache, VK_NULL_HANDLE, driver_.properties, fake_vulkan::find)
                .loaded();
        cairn_close(cache);
        return is_loaded;
    };
    const std::string dies = run_in_child(60, [&] {
        cairn_cache *cache = open();
        {
            VulkanPipelineCache made(cache, VK_NULL_HANDLE, driver_.properties, fake_vulkan::find);
            fake_vulkan::add(made.handle(), 1);
            if (made.save() != CAIRN_OK) return 1;
        }
        cairn_close(cache);
        if (!loads()) return 2;
        // As the driver would, in the middle of vkCreatePipelineCache.
        driver_.when_it_creates = [] { std::_Exit(9); };
        (void)loads();
        return 3;
    });
    EXPECT_EQ(dies, "exit code 9");
    EXPECT_FALSE(loads());
}

}  // namespace
}  // namespace cairn_test
