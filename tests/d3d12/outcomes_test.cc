// What look-ups of sessions end in, each brought about: docs/why.md. Sessions are opened in processes
// of their own, each of which is a run.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "d3d12/peer.h"
#include "d3d12/stage.h"
#include "entry.h"
#include "history/counters.h"
#include "history/files.h"
#include "history/reader.h"
#include "os/environment.h"
#include "os/file.h"
#include "setting.h"
#include "store/index_format.h"
#include "support/files.h"
#include "support/process.h"

namespace d3d12_test {
namespace {

using cairn::Detail;
using cairn::HistoryRead;
using cairn::LinkRead;
using cairn::Number;
using cairn::Numbers;
using cairn::Outcome;

constexpr uint64_t kMs = 1'000'000;
constexpr unsigned kMakingMs = 20;

// What an application does for each value: it looks, makes and stores.
HRESULT use(const Session &session, const std::string &key) {
    const HRESULT found = look(session, key);
    if (found != kNotFound) return found;
    std::this_thread::sleep_for(std::chrono::milliseconds(kMakingMs));
    return store(session, key, "value of " + key);
}

class Outcomes : public testing::Test {
  protected:
    // A process that opens such a session; its result.
    HRESULT run(const Desc &desc, const std::function<HRESULT(const Session &)> &body) {
        return in_other_process([&] {
            Session session;
            const HRESULT created = stage_.create_without_device(desc, session);
            return created == kOk ? body(session) : created;
        });
    }
    HRESULT run_using(const Desc &desc, const std::string &key = "key") {
        return run(desc, [&](const Session &session) { return use(session, key); });
    }

    HistoryRead history(size_t cache = 0) const {
        const auto caches = stage_.caches();
        if (caches.size() <= cache) return {};
        const auto directory = cairn::Directory::open(caches[cache]);
        auto read = cairn::read_history(directory.value());
        EXPECT_TRUE(read.ok()) << caches[cache];
        return read.ok() ? read.value() : HistoryRead();
    }
    // The numbers of the last run, which are those of one look-up.
    Numbers last_numbers(size_t cache = 0) const {
        const HistoryRead read = history(cache);
        return read.runs.empty() ? Numbers() : read.runs.back().numbers;
    }
    // The last miss, if it is one of the last run.
    LinkRead last_miss(size_t cache = 0) const {
        const HistoryRead read = history(cache);
        const bool is_of_last =
            !read.links.empty() && read.links.back().run_start_ns == read.runs.back().start_ns;
        EXPECT_TRUE(is_of_last);
        return is_of_last ? read.links.back() : LinkRead();
    }
    void expect_last(Outcome outcome, Detail detail = Detail::none) const {
        const Numbers numbers = last_numbers();
        EXPECT_EQ(numbers.count(outcome), 1u);
        EXPECT_EQ(numbers.lookups(), 1u);
        const LinkRead miss = last_miss();
        EXPECT_EQ(outcome_name(miss.link.outcome), std::string(outcome_name(outcome)));
        EXPECT_EQ(detail_words(miss.link.detail), std::string(detail_words(detail)));
    }

    // In which processes of this test find a configuration.
    void configure(const std::string &text) {
        configuration_ = stage_.root() + "/../configuration";
        std::filesystem::create_directories(configuration_ + "/cairn");
        std::ofstream(configuration_ + "/cairn/config") << text;
        setenv("XDG_CONFIG_HOME", configuration_.c_str(), 1);
    }
    void TearDown() override {
        if (!configuration_.empty()) unsetenv("XDG_CONFIG_HOME");
    }

    Stage stage_;
    std::string configuration_;
};

TEST_F(Outcomes, WhatIsNewIsNeverSeenAndFoundInTheNextRun) {
    ASSERT_EQ(run_using(disk_desc()), kOk);
    expect_last(Outcome::never_seen);
    const LinkRead miss = last_miss();
    EXPECT_GE(miss.link.cost_ns, kMakingMs * kMs);
    EXPECT_NE(miss.link.key, cairn::LinkKey());
    Numbers numbers = last_numbers();
    EXPECT_GE(numbers.ns(Outcome::never_seen), kMakingMs * kMs);
    EXPECT_EQ(numbers[Number::stored], 1u);
    EXPECT_EQ(numbers[Number::bytes_written], std::string("value of key").size());

    ASSERT_EQ(run(disk_desc(),
                  [](const Session &session) {
                      HRESULT result = kFail;
                      find(session, "key", &result);
                      return result;
                  }),
              kOk);
    numbers = last_numbers();
    EXPECT_EQ(numbers.count(Outcome::hit_disk), 1u) << "the two calls for a value are one look-up";
    EXPECT_EQ(numbers.lookups(), 1u);
    // What it cost, less the time of the look-up.
    EXPECT_GE(numbers[Number::saved_ns] + numbers.ns(Outcome::hit_disk), kMakingMs * kMs);
    EXPECT_LE(numbers[Number::saved_ns], miss.link.cost_ns);
    EXPECT_EQ(numbers[Number::bytes_read], std::string("value of key").size());
    EXPECT_EQ(history().runs.size(), 2u);
    EXPECT_EQ(history().links.size(), 1u);
}

TEST_F(Outcomes, WhatAValueCostIsKnownOnlyWhereTheThreadThatMissedItStoresIt) {
    ASSERT_EQ(run(disk_desc(),
                  [](const Session &session) {
                      if (look(session, "other thread") != kNotFound) return kFail;
                      HRESULT stored = kFail;
                      std::thread([&] { stored = store(session, "other thread", "v"); }).join();
                      if (stored != kOk || look(session, "a") != kNotFound) return kFail;
                      if (look(session, "b") != kNotFound) return kFail;
                      return store(session, "a", "v");
                  }),
              kOk);
    const Numbers numbers = last_numbers();
    EXPECT_EQ(numbers.count(Outcome::never_seen), 3u);
    EXPECT_EQ(numbers[Number::stored], 2u);
    for (const LinkRead &each : history().links) EXPECT_EQ(each.link.cost_ns, 0u);
}

TEST_F(Outcomes, WhoAsksAgainAndAgainHasOneReason) {
    constexpr unsigned kTimes = 1000;
    ASSERT_EQ(run(disk_desc(),
                  [](const Session &session) {
                      for (unsigned i = 0; i < kTimes; ++i) {
                          if (look(session, "key") != kNotFound) return kFail;
                      }
                      return use(session, "key");
                  }),
              kOk);
    EXPECT_EQ(last_numbers().count(Outcome::never_seen), kTimes + 1);
    EXPECT_EQ(history().links.size(), 1u);
    EXPECT_GE(last_miss().link.cost_ns, kMakingMs * kMs);
}

TEST_F(Outcomes, AnotherDriver) {
    Desc desc = disk_desc();
    desc.Flags = D3D12_SHADER_CACHE_FLAG_DRIVER_VERSIONED;
    ASSERT_EQ(run_using(desc), kOk);
    const std::string first = stage_.caches()[0];
    const auto number_of = [](const std::string &path) {
        return cairn::generation_number(path.substr(path.rfind('/') + 1));
    };
    const auto expect_other = [&](const char *adapter, const char *driver) {
        stage_.set_adapter(adapter, driver);
        ASSERT_EQ(run_using(desc), kOk);
        bool is_seen = false;
        for (size_t cache = 0; cache < stage_.caches().size(); ++cache) {
            if (stage_.caches()[cache] == first) continue;
            const LinkRead miss = last_miss(cache);
            EXPECT_EQ(miss.link.outcome, Outcome::other_driver) << adapter << driver;
            is_seen |= miss.link.other == number_of(first);
        }
        EXPECT_TRUE(is_seen);
    };
    expect_other("test adapter", "2");
    expect_other("another adapter", "1");
}

TEST_F(Outcomes, ASessionForAnyDriverIsNoGeneration) {
    Desc one = disk_desc(1);
    Desc other = disk_desc(1);
    other.Identifier.Data4[7] = 9;  // whose name differs in its last digits only
    ASSERT_EQ(run_using(one), kOk);
    ASSERT_EQ(run_using(other), kOk);
    ASSERT_EQ(stage_.caches().size(), 2u);
    for (const size_t cache : {size_t{0}, size_t{1}}) {
        EXPECT_EQ(last_miss(cache).link.outcome, Outcome::never_seen);
    }
}

TEST_F(Outcomes, AnotherVersionEmptiesTheCache) {
    Desc first = disk_desc();
    Desc second = disk_desc();
    second.Version = 2;
    const uint64_t begin_s = cairn::wall_clock_ns() / 1'000'000'000;
    ASSERT_EQ(run_using(first), kOk);
    ASSERT_EQ(run_using(second), kOk);
    expect_last(Outcome::other_context);
    EXPECT_EQ(last_miss().link.other,
              uint64_t{1} << static_cast<unsigned>(cairn::ContextField::version));
    ASSERT_EQ(run_using(first), kOk);
    expect_last(Outcome::cleared);
    EXPECT_GE(last_miss().link.other, begin_s);
}

// When a program was made is known to the minute.
TEST_F(Outcomes, ClearedInTheSecondInWhichTheMinuteOfAProgramBegan) {
    Desc second = disk_desc();
    second.Version = 2;
    ASSERT_EQ(run_using(disk_desc()), kOk);
    const uint64_t minute_s = cairn::wall_clock_ns() / 1'000'000'000 / 60 * 60;
    ASSERT_EQ(run_using(second), kOk);
    const auto emptied_then = [&](const Session &session) {
        const auto word = std::bit_cast<std::array<uint8_t, 8>>(minute_s);
        cairn_test::overwrite(cairn_test::path_in_cache(stage_.caches()[0], cairn::kIndexFileName),
                              cairn::counter_offset(cairn::Counter::cleared_at), word);
        return use(session, "key");
    };
    ASSERT_EQ(run(disk_desc(), emptied_then), kOk);
    expect_last(Outcome::cleared);
    EXPECT_EQ(last_miss().link.other, minute_s);
}

TEST_F(Outcomes, Cleared) {
    const DeveloperMode mode;
    ASSERT_EQ(run_using(disk_desc()), kOk);
    ASSERT_EQ(in_other_process([&] {
                  return stage_.control(D3D12_SHADER_CACHE_KIND_FLAG_APPLICATION_MANAGED,
                                        D3D12_SHADER_CACHE_CONTROL_FLAG_CLEAR);
              }),
              kOk);
    EXPECT_FALSE(std::filesystem::exists(stage_.caches()[0] + "/history"));
    ASSERT_EQ(run_using(disk_desc()), kOk);
    expect_last(Outcome::cleared);
}

TEST_F(Outcomes, SwitchedOff) {
    const DeveloperMode mode;
    ASSERT_EQ(run(disk_desc(),
                  [&](const Session &session) {
                      const HRESULT off =
                          stage_.control(D3D12_SHADER_CACHE_KIND_FLAG_APPLICATION_MANAGED,
                                         D3D12_SHADER_CACHE_CONTROL_FLAG_DISABLE);
                      return off != kOk ? off : look(session, "key");
                  }),
              kNotCurrentlyAvailable);
    expect_last(Outcome::not_cacheable, Detail::switched_off);
}

TEST_F(Outcomes, AnotherKeyOfTheSameHash) {
    ASSERT_EQ(
        in_other_process([&] {
            cairn::d3d12::set_hash_for_tests([](cairn::Bytes) { return cairn::d3d12::KeyHash{1}; });
            Session session;
            HRESULT result = stage_.create_without_device(disk_desc(), session);
            if (result == kOk) result = store(session, "key", "value");
            return result == kOk ? look(session, "another") : result;
        }),
        kHashCollision);
    expect_last(Outcome::not_cacheable, Detail::hash_collision);
}

TEST_F(Outcomes, Damaged) {
    ASSERT_EQ(run_using(disk_desc()), kOk);
    for (const std::string &file : cairn_test::files_in(stage_.caches()[0])) {
        auto bytes = cairn_test::read_file(file);
        constexpr std::string_view kValue = "value of key";
        const auto found = std::search(bytes.begin(), bytes.end(), kValue.begin(), kValue.end());
        if (found == bytes.end()) continue;
        *found = 'V';
        cairn_test::write_file(file, bytes);
    }
    ASSERT_EQ(run_using(disk_desc()), kOk);
    expect_last(Outcome::damaged);
}

TEST_F(Outcomes, WhatFoundNoRoom) {
    Desc desc = disk_desc();
    desc.MaximumValueFileSizeBytes = 4 << 20;
    const auto use_large = [](const Session &session) {
        const HRESULT found = look(session, "key");
        return found == kNotFound ? store(session, "key", bytes_of(1, 5 << 20)) : found;
    };
    ASSERT_EQ(run(desc, use_large), kCacheFull);
    EXPECT_EQ(last_numbers()[Number::store_failed], 1u);
    ASSERT_EQ(run(desc, use_large), kCacheFull);
    expect_last(Outcome::unusable, Detail::not_stored);
}

TEST_F(Outcomes, WhatFoundNoRoomInAProcessThatGoesOn) {
    Desc desc = disk_desc();
    desc.MaximumValueFileSizeBytes = 4 << 20;
    Session session;
    Peer other(
        [&] {
            const HRESULT created = stage_.create_without_device(desc, session);
            if (created != kOk) return created;
            (void)look(session, "key");
            return store(session, "key", bytes_of(1, 5 << 20));
        },
        [] { return kOk; });
    ASSERT_EQ(other.begun(), kCacheFull);
    ASSERT_EQ(run(desc, [](const Session &own) { return look(own, "key"); }), kNotFound);
    expect_last(Outcome::unusable, Detail::not_stored);
    EXPECT_EQ(other.finish(), kOk);
}

TEST_F(Outcomes, WhoAsksAgainHearsHowItIsNow) {
    const DeveloperMode mode;
    const auto control = [&](D3D12_SHADER_CACHE_CONTROL_FLAGS flags) {
        return stage_.control(D3D12_SHADER_CACHE_KIND_FLAG_APPLICATION_MANAGED, flags);
    };
    ASSERT_EQ(run(disk_desc(),
                  [&](const Session &session) {
                      (void)look(session, "key");
                      if (control(D3D12_SHADER_CACHE_CONTROL_FLAG_DISABLE) != kOk) return kFail;
                      for (unsigned i = 0; i < 3; ++i) (void)look(session, "key");
                      if (control(D3D12_SHADER_CACHE_CONTROL_FLAG_ENABLE) != kOk) return kFail;
                      return use(session, "key");
                  }),
              kOk);
    const Numbers numbers = last_numbers();
    EXPECT_EQ(numbers.count(Outcome::never_seen), 2u);
    EXPECT_EQ(numbers.count(Outcome::not_cacheable), 3u);
    EXPECT_GE(numbers.ns(Outcome::never_seen), kMakingMs * kMs);
    EXPECT_LT(numbers.ns(Outcome::not_cacheable), kMakingMs * kMs);
}

// The cost of a value is that of the link that missed it, and of no other of the same number.
TEST_F(Outcomes, AClearBetweenAMissAndItsStore) {
    const DeveloperMode mode;
    ASSERT_EQ(run(disk_desc(),
                  [&](const Session &session) {
                      (void)look(session, "first");
                      const HRESULT cleared =
                          stage_.control(D3D12_SHADER_CACHE_KIND_FLAG_APPLICATION_MANAGED,
                                         D3D12_SHADER_CACHE_CONTROL_FLAG_CLEAR);
                      if (cleared != kOk) return cleared;
                      std::thread([&] { (void)look(session, "another"); }).join();
                      std::this_thread::sleep_for(std::chrono::milliseconds(kMakingMs));
                      return store(session, "first", "value");
                  }),
              kOk);
    ASSERT_EQ(history().links.size(), 1u);
    EXPECT_EQ(last_miss().link.cost_ns, 0u);
}

TEST_F(Outcomes, AFewKeysThatAreAskedForInTurnLeaveRoomForOthers) {
    ASSERT_EQ(run(disk_desc(),
                  [](const Session &session) {
                      (void)look(session, "first");
                      for (unsigned i = 0; i < 2000; ++i) {
                          for (const char *key : {"p", "q", "r"}) (void)look(session, key);
                      }
                      return kOk;
                  }),
              kOk);
    EXPECT_EQ(last_numbers().count(Outcome::never_seen), 6001u);
    EXPECT_EQ(history().links.size(), 4u);
}

TEST_F(Outcomes, WhoOnlyOpensSessionsLeavesNoRun) {
    ASSERT_EQ(run_using(disk_desc()), kOk);
    for (unsigned i = 0; i < 20; ++i) {
        ASSERT_EQ(run(disk_desc(), [](const Session &) { return kOk; }), kOk);
    }
    EXPECT_EQ(history().runs.size(), 1u);
    EXPECT_EQ(last_numbers().lookups(), 1u);
}

TEST_F(Outcomes, ACacheInTheWorkingDirectoryLeavesNothingElsewhere) {
    const std::string folder = stage_.root() + "/../work";
    std::filesystem::create_directories(folder);
    Desc desc = disk_desc();
    desc.Flags = D3D12_SHADER_CACHE_FLAG_USE_WORKING_DIR;
    ASSERT_EQ(in_other_process([&] {
                  std::filesystem::current_path(folder);
                  Session session;
                  const HRESULT created = stage_.create_without_device(desc, session);
                  return created == kOk ? use(session, "key") : created;
              }),
              kOk);
    EXPECT_TRUE(stage_.caches().empty());
    EXPECT_FALSE(std::filesystem::exists(stage_.root() + "/.counters"));
    EXPECT_FALSE(std::filesystem::exists(folder + "/d3d12-shader-cache/.counters"));
    for (const auto &cache : std::filesystem::directory_iterator(folder + "/d3d12-shader-cache")) {
        if (cache.is_directory()) {
            EXPECT_TRUE(std::filesystem::exists(cache.path() / "history"));
        }
    }
}

TEST_F(Outcomes, WhatSomebodyHasRemoved) {
    ASSERT_EQ(run_using(disk_desc()), kOk);
    const std::string path = stage_.caches()[0];
    cairn_options options = {};
    options.size = sizeof options;
    options.root = stage_.root().c_str();
    const std::string identifier = path.substr(path.rfind('/') + 1);
    options.identifier = identifier.c_str();
    options.flags = CAIRN_OPEN_EXISTING | CAIRN_OPEN_ANY_VERSION;
    cairn_cache *cache = nullptr;
    ASSERT_EQ(cairn_open(&options, &cache), CAIRN_OK);
    const auto hash = cairn::d3d12::hash_key(cairn::as_bytes(std::string_view("key")));
    EXPECT_EQ(cairn_remove(cache, hash.data(), hash.size()), CAIRN_OK);
    cairn_close(cache);
    ASSERT_EQ(run_using(disk_desc()), kOk);
    expect_last(Outcome::unknown, Detail::gone);
}

TEST_F(Outcomes, TheNumbersOfTheDayHaveBothModes) {
    ASSERT_EQ(run(disk_desc(1),
                  [&](const Session &session) {
                      Session in_memory;
                      HRESULT result = stage_.create_without_device(memory_desc(2), in_memory);
                      if (result == kOk) result = use(session, "on disk");
                      if (result == kOk) result = use(in_memory, "in memory");
                      return result == kOk ? look(in_memory, "in memory") : result;
                  }),
              kOk);
    Numbers all;
    for (const cairn::DayRow &row : cairn::read_counters(stage_.root())) all += row.numbers;
    EXPECT_EQ(all[Number::starts], 1u);
    EXPECT_EQ(all.count(Outcome::never_seen), 1u);
    EXPECT_EQ(all.count(Outcome::unknown), 1u);
    EXPECT_EQ(all.count(Outcome::hit_memory), 1u);
    EXPECT_GE(all.ns(Outcome::unknown), kMakingMs * kMs);
    EXPECT_GE(all[Number::saved_ns] + all.ns(Outcome::hit_memory), kMakingMs * kMs);
    EXPECT_EQ(last_numbers().lookups(), 1u) << "of a MEMORY session nothing is remembered";
}

TEST_F(Outcomes, WhoWantsNoRecordLeavesNone) {
    for (const char *line : {"record = 0\n", "enabled = 0\n"}) {
        configure(line);
        ASSERT_EQ(run_using(disk_desc()), kOk) << line;
        EXPECT_FALSE(std::filesystem::exists(stage_.caches()[0] + "/history")) << line;
        EXPECT_FALSE(std::filesystem::exists(stage_.root() + "/.counters")) << line;
    }
}

// By the name that the application gives the library, too.
TEST_F(Outcomes, ANamedApplicationThatWantsNoRecordLeavesNone) {
    configure("[application MyGame]\nrecord = 0\n");
    for (const char *name : {"MyGame", "Another"}) {
        ASSERT_EQ(in_other_process([&] {
                      cairn_d3d12_options options = stage_.options();
                      options.application = name;
                      const Desc desc = disk_desc();
                      Session session;
                      const HRESULT created = CAIRN_TEST_FUNCTION(create_session)(
                          nullptr, &options, &desc, &IID_ID3D12ShaderCacheSession,
                          session.receive());
                      return created == kOk ? use(session, "key") : created;
                  }),
                  kOk);
    }
    for (const std::string &cache : stage_.caches()) {
        const bool is_of_another = cache.find("Another") != std::string::npos;
        EXPECT_EQ(std::filesystem::exists(cache + "/history"), is_of_another) << cache;
    }
    const auto rows = cairn::read_counters(stage_.root());
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].application, "Another");
}

// A process counts below one root; what it does below another one is not counted there.
TEST_F(Outcomes, EachRootHasItsOwnNumbers) {
    Stage other;
    ASSERT_EQ(in_other_process([&] {
                  Session session;
                  Session elsewhere;
                  if (stage_.create_without_device(disk_desc(), session) != kOk) return kFail;
                  if (other.create_without_device(disk_desc(), elsewhere) != kOk) return kFail;
                  const HRESULT used = use(session, "key");
                  for (unsigned i = 0; i < 3; ++i) (void)look(elsewhere, "key");
                  return used;
              }),
              kOk);
    Numbers all;
    for (const cairn::DayRow &row : cairn::read_counters(stage_.root())) all += row.numbers;
    EXPECT_EQ(all.lookups(), 1u);
    EXPECT_TRUE(cairn::read_counters(other.root()).empty());
}

// What a thread was just opening is in nobody's way.
TEST_F(Outcomes, ChildrenThatAreForkedWhileSessionsBegin) {
    if (const char *why = cairn_test::why_no_fork_beside_threads()) GTEST_SKIP() << why;
    ASSERT_EQ(in_other_process([&] {
                  for (unsigned round = 0; round < 30; ++round) {
                      cairn_d3d12_options options = stage_.options();
                      const std::string root = stage_.root() + std::to_string(round);
                      options.root = root.c_str();
                      options.log = nullptr;
                      options.message = nullptr;
                      const Desc desc = disk_desc();
                      const auto begin = [&] {
                          Session session;
                          const HRESULT created = CAIRN_TEST_FUNCTION(create_session)(
                              nullptr, &options, &desc, &IID_ID3D12ShaderCacheSession,
                              session.receive());
                          return created == kOk ? look(session, "key") : created;
                      };
                      std::thread thread(begin);
                      cairn_test::Child child([&] { return begin() == kNotFound ? 0 : 1; });
                      thread.join();
                      if (!cairn_test::describe_status(child.wait()).empty()) return kFail;
                  }
                  return kOk;
              }),
              kOk);
}

// A session is at worst without a memory.
TEST_F(Outcomes, WhatIsRememberedIsNotNeeded) {
    ASSERT_EQ(run_using(disk_desc()), kOk);
    const std::string path = stage_.caches()[0] + "/history";
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    std::ofstream(path + "/file") << "in the way";
    ASSERT_EQ(run(disk_desc(),
                  [](const Session &session) {
                      const HRESULT result = look(session, "key");
                      return result == kOk ? use(session, "new") : result;
                  }),
              kOk);
}

}  // namespace
}  // namespace d3d12_test
