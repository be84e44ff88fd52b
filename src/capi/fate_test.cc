// What became of entries that are missed, and where found ones came from, by the calls that front
// ends make.
// SPDX-License-Identifier: MIT
#include <cairn/internal/front_end.h>
#include <sys/stat.h>

#include <cstdlib>

#include "cache/agent_notice.h"
#include "cache/generations.h"
#include "cache/testing/fake_agent.h"
#include "cache/wanted.h"
#include "capi/testing/programs.h"
#include "os/environment.h"
#include "pack/entry_hash.h"
#include "pack/testing/packs.h"
#include "support/cache.h"
#include "support/files.h"

namespace {

namespace fs = std::filesystem;
using cairn::testing::FakeAgent;
using cairn::testing::ProgramCacheTest;
using cairn::testing::Programs;
using cairn::testing::write_pack;

std::uint64_t now_s() {
    return cairn::wall_clock_ns() / 1'000'000'000;
}

class FateTest : public ProgramCacheTest {
  protected:
    FateTest() { ::setenv("CAIRN_PACKS", (directory_ / "system").c_str(), 1); }
    ~FateTest() override { ::unsetenv("CAIRN_PACKS"); }

    // Checks the time as well.
    std::uint32_t fate(cairn_cache *cache, const std::string &key) const {
        std::uint32_t fate = 99;
        std::uint64_t when_s = 99;
        EXPECT_EQ(cairn_fate(cache, key.data(), key.size(), &fate, &when_s), CAIRN_OK);
        const bool has_time = fate == CAIRN_FATE_EVICTED || fate == CAIRN_FATE_DAMAGED ||
                              fate == CAIRN_FATE_CLEARED || fate == CAIRN_FATE_LATE;
        if (has_time) {
            EXPECT_GT(when_s + 60, begin_s_);
            EXPECT_LE(when_s, now_s());
        } else {
            EXPECT_EQ(when_s, 0u);
        }
        return fate;
    }
    // 1 or 0; -1: a miss.
    static int is_of_pack(const Programs &programs, const std::string &key) {
        cairn_blob *blob = nullptr;
        if (cairn_get(programs.handle(), key.data(), key.size(), &blob) != CAIRN_OK) return -1;
        const int result = cairn_blob_is_of_pack(blob);
        cairn_blob_free(blob);
        return result;
    }
    static cairn::Generation generation() { return {"engine", "", "GL: driver 1"}; }
    std::string generation_folder() const {
        return directory_ / cairn::identifier_of(generation());
    }

    const std::uint64_t begin_s_ = now_s();
};

TEST_F(FateTest, WhatWasNeverStoredIsUnknown) {
    const Programs programs(options());
    EXPECT_EQ(fate(programs.handle(), "key"), std::uint32_t{CAIRN_FATE_UNKNOWN});
    EXPECT_EQ(cairn_evicted(programs.handle()), 0u);
    ASSERT_EQ(programs.put("key", "binary"), CAIRN_OK);
    ASSERT_EQ(programs.remove("key"), CAIRN_OK);
    EXPECT_EQ(fate(programs.handle(), "key"), std::uint32_t{CAIRN_FATE_UNKNOWN});
}

TEST_F(FateTest, WhatWasEvictedIsSaidToBeThroughQueueAndMemory) {
    auto small = options();
    small.limit_bytes = 4 << 20;
    small.memory_bytes = 64 << 10;
    const Programs programs(small);
    ASSERT_EQ(programs.result(), CAIRN_OK);
    constexpr int kCount = 280;
    for (int i = 0; i < kCount; ++i) {
        ASSERT_EQ(programs.put("key" + std::to_string(i), std::string(16'000, 'b')), CAIRN_OK);
        ASSERT_EQ(programs.flush(), CAIRN_OK);
    }
    std::uint64_t evicted = 0;
    for (int i = 0; i < kCount; ++i) {
        const std::string key = "key" + std::to_string(i);
        if (programs.get(key) != "(miss)") continue;
        EXPECT_EQ(fate(programs.handle(), key), std::uint32_t{CAIRN_FATE_EVICTED}) << key;
        ++evicted;
    }
    EXPECT_GT(evicted, 10u);
    EXPECT_EQ(cairn_evicted(programs.handle()), evicted);
    const Programs next(small);
    EXPECT_EQ(fate(next.handle(), "key0"), std::uint32_t{CAIRN_FATE_EVICTED});
    EXPECT_EQ(cairn_evicted(next.handle()), 0u);
    EXPECT_EQ(fate(next.handle(), "another"), std::uint32_t{CAIRN_FATE_UNKNOWN});
}

TEST_F(FateTest, WhatWasDamagedIsSaidToBe) {
    ASSERT_EQ(Programs(options()).put("key", std::string(100'000, 'b')), CAIRN_OK);
    for (const std::string &segment : cairn_test::files_in(generation_folder(), ".val")) {
        cairn_test::flip_bit(segment, 400'000);
    }
    const Programs programs(options());
    EXPECT_EQ(programs.get("key"), "(miss)");
    EXPECT_EQ(fate(programs.handle(), "key"), std::uint32_t{CAIRN_FATE_DAMAGED});
    EXPECT_EQ(fate(programs.handle(), "another"), std::uint32_t{CAIRN_FATE_UNKNOWN});
}

TEST_F(FateTest, ACrashIsToldFromBeingKeptOut) {
    ASSERT_EQ(Programs(options()).put("key", "binary"), CAIRN_OK);
    die_with("key");
    {
        const Programs programs(options());
        EXPECT_EQ(programs.get("key"), "(miss)");
        EXPECT_EQ(fate(programs.handle(), "key"), std::uint32_t{CAIRN_FATE_CRASHED});
        EXPECT_EQ(fate(programs.handle(), "another"), std::uint32_t{CAIRN_FATE_UNKNOWN});
        ASSERT_EQ(programs.put("key", "another"), CAIRN_OK);
    }
    die_with("key");
    const Programs programs(options());
    EXPECT_EQ(programs.get("key"), "(miss)");
    EXPECT_EQ(fate(programs.handle(), "key"), std::uint32_t{CAIRN_FATE_KEPT_OUT});
    ASSERT_EQ(cairn_clear(programs.handle()), CAIRN_OK);
    EXPECT_EQ(fate(programs.handle(), "key"), std::uint32_t{CAIRN_FATE_KEPT_OUT});
    EXPECT_EQ(fate(programs.handle(), "another"), std::uint32_t{CAIRN_FATE_CLEARED});
}

TEST_F(FateTest, AClearOfAnyProcessIsSaid) {
    const Programs programs(options());
    ASSERT_EQ(programs.put("key", "binary"), CAIRN_OK);
    ASSERT_EQ(programs.flush(), CAIRN_OK);
    ASSERT_EQ(cairn_clear(Programs(options()).handle()), CAIRN_OK);
    EXPECT_EQ(programs.get("key"), "(miss)");
    EXPECT_EQ(fate(programs.handle(), "key"), std::uint32_t{CAIRN_FATE_CLEARED});
}

TEST_F(FateTest, AnAgentThatIsLateIsSaid) {
    const std::string folder = directory_ / "config";
    fs::create_directories(folder + "/cairn");
    fs::create_directories(directory_ / "run/cairn");
    cairn_test::write_file(folder + "/cairn/config",
                           cairn_test::as_bytes("share = 1\nask_ms = 30\n"));
    ::chmod((folder + "/cairn/config").c_str(), 0600);
    const std::string root = directory_ / "root";
    cairn_options plain = {};
    plain.size = sizeof plain;
    plain.root = root.c_str();
    plain.identifier = "plain";
    cairn_cache *cache = nullptr;
    ASSERT_EQ(cairn_open(&plain, &cache), CAIRN_OK);
    cairn_close(cache);
    for (const char *below : {"/.fleet", "/.fleet/packs", "/.fleet/wanted"}) {
        fs::create_directory(root + below);
        ::chmod((root + below).c_str(), 0700);
    }
    const cairn::LayeredSubject subject = {"plain", "plain", 0, ""};
    const auto identity = cairn::identity_of(subject.of_kind(cairn::PackKind::entries));
    const auto wanted =
        cairn::encode_wanted(std::vector{cairn::entry_hash(identity, cairn::as_bytes("key"))});
    const std::string path = cairn::wanted_path(root, identity);
    cairn_test::write_file(path,
                           {reinterpret_cast<const std::uint8_t *>(wanted.data()), wanted.size()});
    ::chmod(path.c_str(), 0600);
    ::setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
    ::setenv("XDG_RUNTIME_DIR", (directory_ / "run").c_str(), 1);
    const FakeAgent agent(directory_ / "run/cairn/agent-ask.sock",
                          [](const cairn::AgentQuestion &, cairn::Socket &) {});
    ASSERT_EQ(cairn_open(&plain, &cache), CAIRN_OK);
    cairn_blob *blob = nullptr;
    EXPECT_EQ(cairn_get(cache, "key", 3, &blob), CAIRN_MISS);
    EXPECT_EQ(fate(cache, "key"), std::uint32_t{CAIRN_FATE_LATE});
    EXPECT_EQ(fate(cache, "another"), std::uint32_t{CAIRN_FATE_UNKNOWN});
    cairn_close(cache);
    ::unsetenv("XDG_CONFIG_HOME");
    ::unsetenv("XDG_RUNTIME_DIR");
}

TEST_F(FateTest, ABlobKnowsThatItCameFromAPackAlsoInMemory) {
    const std::string folder = directory_ / ".packs/engine";
    fs::create_directories(folder);
    write_pack(folder + "/a.pack", {{cairn::identifier_of(generation()),
                                     0,
                                     cairn::describe(generation()),
                                     {{"a", "of the pack"}, {"b", "also"}},
                                     {"b"}}});
    const Programs programs(options());
    ASSERT_EQ(programs.put("own", "binary"), CAIRN_OK);
    for (int i = 0; i < 60'000 && programs.stats().load_done == 0; ++i) ::usleep(1000);
    EXPECT_EQ(programs.stats().memory_hits, 0u);
    EXPECT_EQ(is_of_pack(programs, "b"), 1) << "loaded ahead";
    EXPECT_EQ(programs.stats().memory_hits, 1u);
    EXPECT_EQ(is_of_pack(programs, "a"), 1);
    EXPECT_EQ(is_of_pack(programs, "a"), 1) << "from memory";
    EXPECT_EQ(is_of_pack(programs, "own"), 0);
    ASSERT_EQ(programs.put("a", "newer"), CAIRN_OK);
    EXPECT_EQ(is_of_pack(programs, "a"), 0);
    ASSERT_EQ(programs.flush(), CAIRN_OK);
    const Programs again(options());
    EXPECT_EQ(is_of_pack(again, "a"), 0);
    EXPECT_EQ(is_of_pack(again, "b"), 1);
}

TEST_F(FateTest, NothingIsKnownWhereThereIsNoDisk) {
    cairn_options memory = {};
    memory.size = sizeof memory;
    memory.identifier = "memory";
    memory.mode = CAIRN_MODE_MEMORY;
    cairn_cache *cache = nullptr;
    ASSERT_EQ(cairn_open(&memory, &cache), CAIRN_OK);
    ASSERT_EQ(cairn_put(cache, "key", 3, "value", 5, nullptr), CAIRN_OK);
    ASSERT_EQ(cairn_clear(cache), CAIRN_OK);
    EXPECT_EQ(fate(cache, "key"), std::uint32_t{CAIRN_FATE_UNKNOWN});
    EXPECT_EQ(cairn_evicted(cache), 0u);
    cairn_close(cache);
}

TEST_F(FateTest, NullsAreErrorsOrNothing) {
    const Programs programs(options());
    std::uint32_t fate = 7;
    std::uint64_t when_s = 7;
    cairn_cache *const cache = programs.handle();
    EXPECT_EQ(cairn_fate(nullptr, "key", 3, &fate, &when_s), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_fate(cache, nullptr, 3, &fate, &when_s), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_fate(cache, "key", 0, &fate, &when_s), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_fate(cache, "key", 3, nullptr, &when_s), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_fate(cache, "key", 3, &fate, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(fate, 7u);
    EXPECT_EQ(when_s, 7u);
    EXPECT_EQ(cairn_blob_is_of_pack(nullptr), 0);
    EXPECT_EQ(cairn_evicted(nullptr), 0u);
    EXPECT_EQ(cairn_disk_limit(nullptr), 0u);
}

TEST_F(FateTest, TheLimitIsThatOfTheFilesThroughQueueAndMemory) {
    auto small = options();
    small.limit_bytes = 4 << 20;
    EXPECT_EQ(cairn_disk_limit(Programs(small).handle()), 4u << 20);
    cairn_options in_memory = {};
    in_memory.size = sizeof in_memory;
    in_memory.identifier = "memory";
    in_memory.mode = CAIRN_MODE_MEMORY;
    in_memory.limit_bytes = 1 << 20;
    cairn_cache *cache = nullptr;
    ASSERT_EQ(cairn_open(&in_memory, &cache), CAIRN_OK);
    EXPECT_EQ(cairn_disk_limit(cache), 0u);
    cairn_close(cache);
}

}  // namespace
