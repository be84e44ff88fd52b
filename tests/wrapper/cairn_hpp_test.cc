// The C++ wrapper: what it adds to the C interface (ownership, spans, callables), not what the
// cache does.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "cairn/cairn.hpp"
#include "cairn/cairn_program_cache.h"

namespace {

using cairn::bytes;
using cairn::Cache;
using cairn::Status;

static_assert(std::is_nothrow_move_constructible_v<Cache> && !std::is_copy_constructible_v<Cache>);
static_assert(std::is_nothrow_move_constructible_v<cairn::Blob> &&
              !std::is_copy_constructible_v<cairn::Blob>);

std::string text(const cairn::Blob &blob) {
    return {reinterpret_cast<const char *>(blob.data()), blob.size()};
}

Cache memory_cache() {
    auto [cache, status] = Cache::open({.identifier = "test", .mode = cairn::Mode::memory});
    EXPECT_EQ(status, Status::ok) << cairn::describe(status);
    return std::move(cache);
}

// A folder that is removed with its content.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        const char *parent = getenv("TMPDIR");
        path_ = std::string(parent ? parent : "/tmp") + "/cairn-wrapper-XXXXXX";
        if (!mkdtemp(path_.data())) path_.clear();
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;
    const std::string &path() const { return path_; }

  private:
    std::string path_;
};

TEST(Wrapper, TrimsAndLimitsAMemoryCache) {
    Cache cache = memory_cache();
    std::uint64_t freed = 0;
    ASSERT_EQ(cache.put(bytes("key"), bytes("value")), Status::ok);
    EXPECT_EQ(cache.trim(7, &freed), Status::ok);
    EXPECT_EQ(freed, 8u);
    EXPECT_EQ(cache.resize(7, 7), Status::ok);
    EXPECT_EQ(cache.put(bytes("key"), bytes("value")), Status::too_large);
    EXPECT_EQ(cache.resize(8, 0, &freed), Status::ok);
    EXPECT_EQ(freed, 0u);
    EXPECT_EQ(cache.put(bytes("key"), bytes("value")), Status::ok);
    EXPECT_EQ(Cache().trim(0), Status::invalid_argument);
}

TEST(Wrapper, ThePolicyDecidesOnDiskAndInMemory) {
    for (const cairn::Mode mode : {cairn::Mode::disk, cairn::Mode::memory}) {
        for (const auto &[policy, left] : {std::pair("", "bc"), std::pair("fifo", "bc"),
                                           std::pair("lru", "ac"), std::pair("mru", "ac")}) {
            const TemporaryFolder folder;
            auto [cache, status] = Cache::open({.identifier = "test",
                                                .root = folder.path(),
                                                .mode = mode,
                                                .limit_entries = 2,
                                                .policy = policy});
            ASSERT_EQ(status, Status::ok) << cairn::describe(status);
            EXPECT_EQ(cache.put(bytes("a"), bytes("value")), Status::ok);
            EXPECT_EQ(cache.put(bytes("b"), bytes("value")), Status::ok);
            if (std::string_view(policy) == "lru") {
                EXPECT_TRUE(cache.get(bytes("a")));
            }
            EXPECT_EQ(cache.put(bytes("c"), bytes("value")), Status::ok);
            std::string found;
            for (const char *key : {"a", "b", "c"}) {
                if (cache.contains(bytes(key))) found += key;
            }
            EXPECT_EQ(found, left) << policy;
        }
    }
    EXPECT_EQ(
        Cache::open({.identifier = "test", .mode = cairn::Mode::memory, .policy = "clock"}).status,
        Status::invalid_argument);
}

TEST(Wrapper, ALayerThatIsNotThereIsPassedOver) {
    const TemporaryFolder folder;
    const auto [cache, status] = Cache::open(
        {.identifier = "test", .root = folder.path(), .layers = {folder.path() + "/none.pack"}});
    EXPECT_EQ(status, Status::ok);
    EXPECT_FALSE(cache.get(bytes("key")));
}

TEST(Wrapper, APutIsFoundByGetAndContains) {
    Cache cache = memory_cache();
    EXPECT_FALSE(cache.get(bytes("key")));
    EXPECT_FALSE(cache.contains(bytes("key")));
    ASSERT_EQ(cache.put(bytes("key"), bytes("value"), {.cost_us = 7}), Status::ok);
    const auto got = cache.get(bytes("key"));
    ASSERT_TRUE(got);
    EXPECT_EQ(text(*got), "value");
    EXPECT_EQ(got->cost_us(), 7u);
    EXPECT_EQ(got->bytes().size(), 5u);
    EXPECT_TRUE(cache.contains(bytes("key")));
}

TEST(Wrapper, FlagsReachThePut) {
    Cache cache = memory_cache();
    ASSERT_EQ(cache.put(bytes("key"), bytes("first")), Status::ok);
    EXPECT_EQ(cache.put(bytes("key"), bytes("second"), {.flags = CAIRN_PUT_IF_ABSENT}),
              Status::exists);
    EXPECT_EQ(text(*cache.get(bytes("key"))), "first");
}

TEST(Wrapper, RemoveAndClearForget) {
    Cache cache = memory_cache();
    ASSERT_EQ(cache.put(bytes("one"), bytes("1")), Status::ok);
    ASSERT_EQ(cache.put(bytes("two"), bytes("2")), Status::ok);
    EXPECT_EQ(cache.remove(bytes("one")), Status::ok);
    EXPECT_EQ(cache.remove(bytes("one")), Status::miss);
    EXPECT_FALSE(cache.get(bytes("one")));
    EXPECT_EQ(cache.clear(), Status::ok);
    EXPECT_FALSE(cache.get(bytes("two")));
    EXPECT_EQ(cache.stats().entries, 0u);
}

TEST(Wrapper, ALeaseIsGivenBackWhenItsOwnerIsGone) {
    Cache cache = memory_cache();
    {
        const cairn::Leased first = cache.lease(bytes("key"), 0);
        EXPECT_EQ(first.status, Status::ok);
        EXPECT_TRUE(first.lease);
        const cairn::Leased second = cache.lease(bytes("key"), 0);
        EXPECT_EQ(second.status, Status::busy);
        EXPECT_FALSE(second.lease);
    }
    EXPECT_EQ(cache.lease(bytes("key"), 0).status, Status::ok);
    ASSERT_EQ(cache.put(bytes("key"), bytes("value")), Status::ok);
    EXPECT_EQ(cache.lease(bytes("key"), 0).status, Status::exists);
    EXPECT_EQ(Cache().lease(bytes("key"), 0).status, Status::invalid_argument);
}

TEST(Wrapper, AnUnopenedCacheFindsNothingAndRefusesEverything) {
    Cache never_opened;
    Cache moved_from = memory_cache();
    const Cache moved_to = std::move(moved_from);
    EXPECT_TRUE(moved_to);
    for (Cache *cache : {&never_opened, &moved_from}) {  // NOLINT(bugprone-use-after-move)
        EXPECT_FALSE(*cache);
        EXPECT_FALSE(cache->get(bytes("key")));
        EXPECT_FALSE(cache->contains(bytes("key")));
        EXPECT_EQ(cache->put(bytes("key"), bytes("value")), Status::invalid_argument);
        EXPECT_EQ(cache->remove(bytes("key")), Status::invalid_argument);
        EXPECT_EQ(cache->sync(), Status::invalid_argument);
        EXPECT_EQ(cache->stats().hits, 0u);
        EXPECT_EQ(cache->enumerate([](const cairn::Entry &) {}), Status::invalid_argument);
    }
}

TEST(Wrapper, OpeningWithoutAnIdentifierSaysWhy) {
    const auto [cache, status] = Cache::open({});
    EXPECT_FALSE(cache);
    EXPECT_EQ(status, Status::invalid_argument);
    EXPECT_STRNE(cairn::describe(status), "");
}

TEST(Wrapper, ABlobOutlivesItsCache) {
    std::optional<cairn::Blob> blob;
    {
        Cache cache = memory_cache();
        ASSERT_EQ(cache.put(bytes("key"), bytes("value")), Status::ok);
        blob = cache.get(bytes("key"));
    }
    ASSERT_TRUE(blob);
    EXPECT_EQ(text(*blob), "value");
}

TEST(Wrapper, EnumerateShowsEveryEntryOnce) {
    Cache cache = memory_cache();
    const std::map<std::string, std::string> content{{"a", "1"}, {"b", "22"}, {"c", ""}};
    for (const auto &[key, value] : content) {
        ASSERT_EQ(cache.put(bytes(key), bytes(value)), Status::ok);
    }
    std::map<std::string, size_t> seen;
    const auto status = cache.enumerate([&](const cairn::Entry &entry) {
        const auto [place, fresh] = seen.emplace(
            std::string(reinterpret_cast<const char *>(entry.key.data()), entry.key.size()),
            entry.value_size);
        EXPECT_TRUE(fresh);
    });
    EXPECT_EQ(status, Status::ok);
    ASSERT_EQ(seen.size(), content.size());
    for (const auto &[key, value] : content) EXPECT_EQ(seen.at(key), value.size());
}

TEST(Wrapper, ACallableThatReturnsFalseEndsTheEnumeration) {
    Cache cache = memory_cache();
    for (const char *key : {"a", "b", "c"}) ASSERT_EQ(cache.put(bytes(key), bytes("")), Status::ok);
    int calls = 0;
    const auto status = cache.enumerate([&](const cairn::Entry &) { return ++calls < 2; });
    EXPECT_EQ(status, Status::ok);
    EXPECT_EQ(calls, 2);
}

TEST(Wrapper, AnExceptionOfTheCallableReachesTheCallerAndLeavesTheCacheUsable) {
    Cache cache = memory_cache();
    ASSERT_EQ(cache.put(bytes("key"), bytes("value")), Status::ok);
    const auto throwing = [](const cairn::Entry &) { throw std::runtime_error("stop"); };
    EXPECT_THROW((void)cache.enumerate(throwing), std::runtime_error);
    EXPECT_TRUE(cache.get(bytes("key")));
}

TEST(Wrapper, KeysDependOnEveryFieldAndItsPlace) {
    const auto key = [](auto... fields) {
        cairn::KeyBuilder builder("test/1");
        uint32_t tag = 0;
        (builder.add(tag++, std::string_view(fields)), ...);
        return builder.finish().value();
    };
    EXPECT_EQ(key("a", "b"), key("a", "b"));
    EXPECT_NE(key("a", "b"), key("b", "a"));
    EXPECT_NE(key("ab", ""), key("a", "b"));
    EXPECT_NE(key("a"), key("a", ""));
    EXPECT_NE(cairn::KeyBuilder("test/1").add_number(1, 2).finish(),
              cairn::KeyBuilder("test/2").add_number(1, 2).finish());
}

TEST(Wrapper, AKeyIsFinishedOnce) {
    cairn::KeyBuilder builder("test/1");
    builder.add(1, "field");
    EXPECT_TRUE(builder.finish());
    EXPECT_FALSE(builder.finish());
    const cairn::KeyBuilder abandoned("test/1");
}

TEST(Wrapper, BytesOfIntegersAreTheirObjectRepresentation) {
    const std::array<uint32_t, 2> words{1, 2};
    EXPECT_EQ(bytes(std::span(words)).size(), 8u);
    EXPECT_EQ(bytes("ab")[1], std::byte{'b'});
}

TEST(Wrapper, BytesAndSpansConvertToEachOther) {
    const std::array<std::byte, 3> from{};
    const cairn::Bytes borrowed = std::span(from);
    const std::span<const std::byte> back = borrowed;
    EXPECT_EQ(back.data(), from.data());
    EXPECT_EQ(back.size(), 3u);
    EXPECT_EQ(bytes(std::string("key")).size(), 3u);
}

TEST(Wrapper, ADiskCacheIsFoundAgainByTheNextHandle) {
    const TemporaryFolder folder;
    ASSERT_FALSE(folder.path().empty());
    const cairn::Options options{.identifier = "test", .root = folder.path(), .version = 3};
    {
        auto [cache, status] = Cache::open(options);
        ASSERT_EQ(status, Status::ok) << cairn::describe(status);
        ASSERT_EQ(cache.put(bytes("key"), bytes("value"), {.flags = CAIRN_PUT_PINNED}), Status::ok);
        EXPECT_EQ(cache.sync(), Status::ok);
    }
    auto [cache, status] = Cache::open(options);
    ASSERT_EQ(status, Status::ok) << cairn::describe(status);
    EXPECT_EQ(text(*cache.get(bytes("key"))), "value");
    EXPECT_EQ(cache.stats().version, 3u);
    bool pinned = false;
    EXPECT_EQ(cache.enumerate([&](const cairn::Entry &entry) { pinned = entry.pinned; }),
              Status::ok);
    EXPECT_TRUE(pinned);
}

TEST(Wrapper, AHandleOfAnotherCallIsTakenOverAndClosed) {
    const TemporaryFolder folder;
    cairn_program_cache_options options = {};
    options.size = sizeof options;
    options.root = folder.path().c_str();
    options.application = "test";
    options.identity = "driver";
    for (const bool is_there : {false, true}) {
        cairn_cache *handle = nullptr;
        ASSERT_EQ(cairn_program_cache_open(&options, &handle), CAIRN_OK);
        Cache cache(handle);
        EXPECT_EQ(cache.handle(), handle);
        EXPECT_EQ(cache.contains(bytes("key")), is_there);
        // It is queued; closing writes it, so the next handle finds it.
        EXPECT_EQ(cache.put(bytes("key"), bytes("value")), Status::ok);
    }
    Cache none(nullptr);
    EXPECT_FALSE(none);
    EXPECT_EQ(none.put(bytes("key"), bytes("value")), Status::invalid_argument);
}

}  // namespace
