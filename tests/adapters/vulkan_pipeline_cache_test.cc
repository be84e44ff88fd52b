// The adapter for VkPipelineCache on real drivers: RADV, which compiles for a GPU that is not
// there, and lavapipe.
// SPDX-License-Identifier: MIT
#include <adapters/vulkan_pipeline_cache.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <vector>

#include "adapters/vulkan_device.h"
#include "support/cache.h"
#include "support/process.h"
#include "support/temp_directory.h"

using cairn_adapters::VulkanPipelineCache;

namespace cairn_test {
namespace {

constexpr int kNoDriver = 77;

// What a process has: its own driver, and the cache that all share.
struct Process {
    explicit Process(const TempDirectory &root, VulkanDriver driver = VulkanDriver::radv,
                     std::size_t size_max = std::size_t{1} << 30)
        : device(driver), cache({.root = root / "root"}) {
        if (!device.is_open()) return;
        pipelines.emplace(cache.handle(), device.device(), device.properties(), vkGetDeviceProcAddr,
                          size_max);
    }
    bool make(std::uint32_t variant) const {
        return device.make_pipeline(variant, pipelines->handle());
    }

    VulkanDevice device;
    Cache cache;
    std::optional<VulkanPipelineCache> pipelines;
};

#define CHECK_IN_CHILD(condition)                               \
    if (!(condition)) {                                         \
        std::fprintf(stderr, "%d: %s\n", __LINE__, #condition); \
        return 1;                                               \
    }

// Runs `body` in a process of its own, for a driver is loaded once.
#define IN_PROCESS(...)                                                          \
    do {                                                                         \
        const std::string status = run_in_child(60, __VA_ARGS__);                \
        if (status == "exit code 77") GTEST_SKIP() << "there is no such driver"; \
        ASSERT_EQ(status, "");                                                   \
    } while (false)

// The entries of the cache: the key of each, and its size.
std::vector<std::pair<ByteVector, std::size_t>> entries(const Cache &cache) {
    std::vector<std::pair<ByteVector, std::size_t>> found;
    const auto add = [](void *to, const cairn_entry *entry) {
        const auto *key = static_cast<const std::uint8_t *>(entry->key);
        static_cast<decltype(found) *>(to)->emplace_back(ByteVector(key, key + entry->key_size),
                                                         entry->value_size);
        return 0;
    };
    cairn_enumerate(cache.handle(), add, &found);
    return found;
}

TEST(VulkanPipelineCacheTest, ASecondProcessFindsWhatTheFirstHasMade) {
    const TempDirectory root;
    IN_PROCESS([&] {
        Process first(root);
        if (!first.device.is_open()) return kNoDriver;
        CHECK_IN_CHILD(!first.pipelines->loaded());
        CHECK_IN_CHILD(!first.make(1));
        CHECK_IN_CHILD(first.pipelines->save() == CAIRN_OK);
        CHECK_IN_CHILD(entries(first.cache).size() == 1);
        return 0;
    });
    IN_PROCESS([&] {
        Process second(root);
        CHECK_IN_CHILD(second.pipelines->loaded());
        CHECK_IN_CHILD(second.make(1));
        CHECK_IN_CHILD(!second.make(2));  // a hit says something
        return 0;
    });
}

TEST(VulkanPipelineCacheTest, WhatIsStoredAlreadyIsNotStoredAgain) {
    const TempDirectory root;
    IN_PROCESS([&] {
        Process first(root);
        if (!first.device.is_open()) return kNoDriver;
        CHECK_IN_CHILD(first.pipelines->save() == CAIRN_EXISTS);  // nothing was made
        CHECK_IN_CHILD(entries(first.cache).empty());
        first.make(1);
        first.make(2);
        CHECK_IN_CHILD(first.pipelines->save() == CAIRN_OK);
        CHECK_IN_CHILD(first.pipelines->save() == CAIRN_EXISTS);
        return 0;
    });
    IN_PROCESS([&] {
        Process second(root);
        CHECK_IN_CHILD(second.make(2) && second.make(1));
        CHECK_IN_CHILD(second.pipelines->save() == CAIRN_EXISTS);
        CHECK_IN_CHILD(second.cache.stats().puts == 0);
        return 0;
    });
}

// All begin with nothing, make a pipeline each, and save at the same moment.
TEST(VulkanPipelineCacheTest, ProcessesThatSaveAtOnceLoseNothing) {
    constexpr std::uint32_t kProcesses = 6;
    const TempDirectory root;
    std::array<int, 2> ready{}, go{};
    ASSERT_EQ(pipe(ready.data()), 0);
    ASSERT_EQ(pipe(go.data()), 0);
    std::vector<Child> children;
    for (std::uint32_t variant = 1; variant <= kProcesses; ++variant) {
        children.emplace_back([&, variant] {
            close(go[1]);
            Process self(root);
            if (self.device.is_open()) self.make(variant);
            char byte = 0;
            CHECK_IN_CHILD(write(ready[1], &byte, 1) == 1);
            CHECK_IN_CHILD(read(go[0], &byte, 1) == 0);  // until the other end is closed
            if (!self.device.is_open()) return kNoDriver;
            CHECK_IN_CHILD(self.pipelines->save(0, 30'000) == CAIRN_OK);
            return 0;
        });
    }
    char byte = 0;
    for (std::uint32_t i = 0; i < kProcesses; ++i) ASSERT_EQ(read(ready[0], &byte, 1), 1);
    close(go[1]);
    bool is_missing = false;
    for (Child &child : children) {
        const std::string status = describe_status(child.wait());
        if (status == "exit code 77")
            is_missing = true;
        else
            EXPECT_EQ(status, "");
    }
    for (const int end : {ready[0], ready[1], go[0]}) close(end);
    if (is_missing) GTEST_SKIP() << "there is no such driver";
    IN_PROCESS([&] {
        Process last(root);
        for (std::uint32_t variant = 1; variant <= kProcesses; ++variant) {
            CHECK_IN_CHILD(last.make(variant));
        }
        CHECK_IN_CHILD(!last.make(kProcesses + 1));
        return 0;
    });
}

TEST(VulkanPipelineCacheTest, WhatOthersStoreMeanwhileStays) {
    const TempDirectory root;
    IN_PROCESS([&] {
        Process self(root);
        if (!self.device.is_open()) return kNoDriver;
        self.make(1);
        CHECK_IN_CHILD(self.pipelines->save() == CAIRN_OK);
        VulkanPipelineCache other(self.cache.handle(), self.device.device(),
                                  self.device.properties(), vkGetDeviceProcAddr);
        self.device.make_pipeline(2, other.handle());
        CHECK_IN_CHILD(other.save() == CAIRN_OK);
        self.make(3);
        CHECK_IN_CHILD(self.pipelines->save() == CAIRN_OK);
        return 0;
    });
    IN_PROCESS([&] {
        Process last(root);
        CHECK_IN_CHILD(last.make(1) && last.make(2) && last.make(3));
        return 0;
    });
}

TEST(VulkanPipelineCacheTest, WhatAnotherHasStoredMeanwhileIsNotStoredAgain) {
    const TempDirectory root;
    IN_PROCESS([&] {
        Process self(root);
        if (!self.device.is_open()) return kNoDriver;
        VulkanPipelineCache other(self.cache.handle(), self.device.device(),
                                  self.device.properties(), vkGetDeviceProcAddr);
        for (const std::uint32_t variant : {1U, 2U, 3U}) {
            self.make(variant);
            self.device.make_pipeline(variant, other.handle());
        }
        CHECK_IN_CHILD(other.save() == CAIRN_OK);
        CHECK_IN_CHILD(self.pipelines->save() == CAIRN_EXISTS);
        CHECK_IN_CHILD(self.cache.stats().puts == 1);
        return 0;
    });
}

// The vendor, and the UUID. vulkan_trouble_test.cc has all of the header.
TEST(VulkanPipelineCacheTest, AHeaderOfAnotherDeviceIsRefusedAndReplaced) {
    for (const std::size_t at : {8U, 31U}) {
        const TempDirectory root;
        IN_PROCESS([&] {
            Process first(root);
            if (!first.device.is_open()) return kNoDriver;
            first.make(1);
            CHECK_IN_CHILD(first.pipelines->save() == CAIRN_OK);
            const ByteVector key = entries(first.cache)[0].first;
            const Blob stored = *first.cache.get(key);
            ByteVector other(stored.bytes().begin(), stored.bytes().end());
            other[at] ^= 0x15;
            CHECK_IN_CHILD(first.cache.put(key, other) == CAIRN_OK);
            return 0;
        });
        IN_PROCESS([&] {
            Process second(root);
            CHECK_IN_CHILD(!second.pipelines->loaded());
            CHECK_IN_CHILD(!second.make(1));
            CHECK_IN_CHILD(second.pipelines->save() == CAIRN_OK);
            return 0;
        });
        IN_PROCESS([&] {
            Process third(root);
            CHECK_IN_CHILD(third.pipelines->loaded() && third.make(1));
            return 0;
        });
    }
}

TEST(VulkanPipelineCacheTest, ACutEntryIsRefused) {
    const TempDirectory root;
    IN_PROCESS([&] {
        Process first(root);
        if (!first.device.is_open()) return kNoDriver;
        first.make(1);
        CHECK_IN_CHILD(first.pipelines->save() == CAIRN_OK);
        const ByteVector key = entries(first.cache)[0].first;
        const Blob stored = *first.cache.get(key);
        for (const std::size_t size : {0U, 1U, 31U}) {
            CHECK_IN_CHILD(first.cache.put(key, stored.bytes().first(size)) == CAIRN_OK);
            const VulkanPipelineCache cut(first.cache.handle(), first.device.device(),
                                          first.device.properties(), vkGetDeviceProcAddr);
            CHECK_IN_CHILD(!cut.loaded() && cut.handle() != VK_NULL_HANDLE);
        }
        return 0;
    });
}

TEST(VulkanPipelineCacheTest, ACacheThatHasGrownTooLargeIsBegunAnew) {
    const TempDirectory root;
    IN_PROCESS([&] {
        Process first(root);
        if (!first.device.is_open()) return kNoDriver;
        first.make(1);
        first.make(2);
        CHECK_IN_CHILD(first.pipelines->save() == CAIRN_OK);
        return 0;
    });
    IN_PROCESS([&] {
        Process second(root, VulkanDriver::radv, 100);
        CHECK_IN_CHILD(!second.pipelines->loaded());
        second.make(3);
        CHECK_IN_CHILD(second.pipelines->save() == CAIRN_OK);
        return 0;
    });
    IN_PROCESS([&] {
        Process third(root);
        CHECK_IN_CHILD(third.make(3) && !third.make(1));
        return 0;
    });
}

TEST(VulkanPipelineCacheTest, DriversDoNotSeeEachOthersPipelines) {
    const TempDirectory root;
    IN_PROCESS([&] {
        Process radv(root);
        if (!radv.device.is_open()) return kNoDriver;
        radv.make(1);
        CHECK_IN_CHILD(radv.pipelines->save() == CAIRN_OK);
        return 0;
    });
    IN_PROCESS([&] {
        Process lavapipe(root, VulkanDriver::lavapipe);
        if (!lavapipe.device.is_open()) return kNoDriver;
        CHECK_IN_CHILD(!lavapipe.pipelines->loaded());
        // Not even where somebody copies one driver's bytes to the key of another.
        const ByteVector key = entries(lavapipe.cache)[0].first;
        const Blob stored = *lavapipe.cache.get(key);
        const cairn::Bytes bytes(reinterpret_cast<const std::byte *>(stored.bytes().data()),
                                 stored.bytes().size());
        CHECK_IN_CHILD(!VulkanPipelineCache::fits(bytes, lavapipe.device.properties()));
        return 0;
    });
}

// Of Mesa 22.3. Its data has the header, which has to fit, and there is nothing to keep.
TEST(VulkanPipelineCacheTest, LavapipeWorksAndKeepsNothing) {
    const TempDirectory root;
    IN_PROCESS([&] {
        Process self(root, VulkanDriver::lavapipe);
        if (!self.device.is_open()) return kNoDriver;
        CHECK_IN_CHILD(self.pipelines->handle() != VK_NULL_HANDLE);
        std::array<std::byte, 4096> data{};
        std::size_t size = data.size();
        CHECK_IN_CHILD(vkGetPipelineCacheData(self.device.device(), self.pipelines->handle(), &size,
                                              data.data()) == VK_SUCCESS);
        CHECK_IN_CHILD(VulkanPipelineCache::fits({data.data(), size}, self.device.properties()));
        self.make(1);
        const int result = self.pipelines->save();
        // A later lavapipe may hold something.
        CHECK_IN_CHILD(result == CAIRN_EXISTS || result == CAIRN_OK);
        CHECK_IN_CHILD(entries(self.cache).size() == (result == CAIRN_OK ? 1 : 0));
        return 0;
    });
}

TEST(VulkanPipelineCacheTest, WithoutACacheItServesPipelinesAllTheSame) {
    IN_PROCESS([&] {
        const VulkanDevice device(VulkanDriver::radv);
        if (!device.is_open()) return kNoDriver;
        VulkanPipelineCache pipelines(nullptr, device.device(), device.properties(),
                                      vkGetDeviceProcAddr);
        CHECK_IN_CHILD(!device.make_pipeline(1, pipelines.handle()));
        CHECK_IN_CHILD(device.make_pipeline(1, pipelines.handle()));
        CHECK_IN_CHILD(pipelines.save() == CAIRN_ERROR_INVALID_ARGUMENT);
        return 0;
    });
}

}  // namespace
}  // namespace cairn_test
