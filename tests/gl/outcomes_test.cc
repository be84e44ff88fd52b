// SPDX-License-Identifier: MIT
// Why a program was made: each outcome is brought about in a real program, and `cairn why` says it.
#include <cairn/cairn.h>
#include <cairn/cairn_control.h>
#include <cairn/cairn_program_cache.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "history/outcome.h"
#include "runner.h"
#include "silent_agent.h"
#include "support/cache.h"
#include "support/eventually.h"
#include "support/files.h"
#include "support/process.h"

namespace gl_test {
namespace {

namespace fs = std::filesystem;
using cairn::Outcome;
using nlohmann::json;

int cairn_command(const std::string &arguments) {
    return std::system((std::string(CAIRN_PROGRAM) + " " + arguments + " >/dev/null 2>&1").c_str());
}

struct Entry {
    cairn_test::ByteVector key, value;
};

// The programs in a cache; shaders have longer keys.
std::vector<Entry> programs_in(cairn_cache *cache) {
    struct Search {
        cairn_cache *cache;
        std::vector<Entry> found;
    } search = {cache, {}};
    cairn_enumerate(
        cache,
        [](void *user, const cairn_entry *entry) {
            auto &own = *static_cast<Search *>(user);
            cairn_blob *blob = nullptr;
            const auto *key = static_cast<const uint8_t *>(entry->key);
            if (entry->key_size != 20 ||
                cairn_get(own.cache, key, entry->key_size, &blob) != CAIRN_OK) {
                return 0;
            }
            const auto *bytes = static_cast<const uint8_t *>(cairn_blob_data(blob));
            own.found.push_back(
                {{key, key + entry->key_size}, {bytes, bytes + cairn_blob_size(blob)}});
            cairn_blob_free(blob);
            return 0;
        },
        &search);
    return search.found;
}

std::string hex(const cairn_test::ByteVector &bytes) {
    std::string text;
    for (const uint8_t byte : bytes) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

uint64_t count_in(const Played &played, Outcome outcome) {
    return played.report.outcomes[static_cast<size_t>(outcome)];
}

class OutcomesTest : public testing::TestWithParam<WindowSystem> {
  protected:
    void SetUp() override {
        SKIP_WITHOUT(GetParam());
        fs::create_directories(stage_.directory() / "configuration/cairn");
    }

    // Runs the client, whose programs all end in `outcome`.
    Played expect_all(Outcome outcome, const Environment &more = {},
                      const std::string &scenario = "varied") {
        const Played played = stage_.cached(scenario, more);
        EXPECT_EQ(played.status, "") << played.complaints;
        EXPECT_GT(played.report.link_calls, 0u);
        for (size_t i = 0; i < cairn::kOutcomes; ++i) {
            const auto each = static_cast<Outcome>(i);
            EXPECT_EQ(count_in(played, each), each == outcome ? played.report.link_calls : 0u)
                << cairn::outcome_name(each);
        }
        return played;
    }
    // The run of `cairn why`, the last one being 1.
    json why(int number = 1) const {
        const std::string out = stage_.directory() / "why";
        const std::string command = std::string(CAIRN_PROGRAM) + " why --json --run " +
                                    std::to_string(number) + " --dir " + stage_.cache_root() +
                                    " >" + out + " 2>/dev/null";
        if (std::system(command.c_str()) != 0) return {};
        return json::parse(cairn_test::as_string(cairn_test::read_file(out)))["run"];
    }
    // The only link that missed in the last run.
    json only_miss() const {
        const json misses = why()["misses"];
        EXPECT_EQ(misses.size(), 1u) << misses;
        return misses.empty() ? json() : misses[0];
    }
    std::vector<std::string> caches() const {
        std::vector<std::string> found;
        for (const auto &entry : fs::directory_iterator(stage_.cache_root())) {
            if (entry.is_directory()) found.push_back(entry.path().filename());
        }
        return found;
    }
    std::string only_cache() const {
        EXPECT_EQ(caches().size(), 1u);
        return caches().front();
    }
    std::unique_ptr<cairn_test::Cache> open_cache(uint32_t more_flags = 0) const {
        const uint32_t flags = CAIRN_OPEN_ANY_VERSION | CAIRN_OPEN_EXISTING;
        return std::make_unique<cairn_test::Cache>(cairn_test::CacheOptions{
            .root = stage_.cache_root(), .identifier = only_cache(), .flags = flags | more_flags});
    }
    // Flips a bit of each program's value on disk.
    void damage_programs() const {
        const auto programs = programs_in(open_cache()->handle());
        const std::string folder = stage_.cache_root() + "/" + only_cache();
        for (const std::string &path : cairn_test::files_in(folder, ".val")) {
            const auto bytes = cairn_test::read_file(path);
            for (const Entry &program : programs) {
                const auto at = std::search(bytes.begin(), bytes.end(), program.value.begin(),
                                            program.value.end());
                if (at == bytes.end()) continue;
                const auto middle =
                    static_cast<uint64_t>(at - bytes.begin()) + program.value.size() / 2;
                cairn_test::flip_bit(path, 8 * middle);
            }
        }
    }
    // Removes the only program from the cache, with a call like an application's. Its key.
    cairn_test::ByteVector remove_program() const {
        const auto cache = open_cache();
        const auto programs = programs_in(cache->handle());
        if (programs.size() != 1) return {};
        const auto &key = programs[0].key;
        EXPECT_EQ(cairn_remove(cache->handle(), key.data(), key.size()), CAIRN_OK);
        return key;
    }
    void write_configuration(const std::string &text) const {
        cairn_test::write_file(stage_.directory() / "configuration/cairn/config",
                               cairn_test::as_bytes(text));
    }

    Stage stage_{GetParam()};
};

TEST_P(OutcomesTest, NeverSeenThenFromDisk) {
    expect_all(Outcome::never_seen);
    EXPECT_EQ(only_miss()["outcome"], "never-seen");
    const uint64_t cost_ns = only_miss()["cost_ns"];
    EXPECT_GT(cost_ns, 0u);
    expect_all(Outcome::hit_disk);
    const json run = why();
    EXPECT_EQ(run["hits"], 1);
    // What it cost, in the store's microseconds, less the time of the hit, which may be longer.
    const uint64_t stored_ns = cost_ns / 1000 * 1000;
    const uint64_t spent_ns = run["outcomes"]["hit-disk"]["spent_ns"];
    EXPECT_GT(spent_ns, 0u);
    EXPECT_EQ(run["saved_ns"], std::max(stored_ns, spent_ns) - spent_ns);
    EXPECT_TRUE(run["misses"].empty());
    EXPECT_EQ(run["is_running"], false);
    EXPECT_EQ(run["application"], "gl_client_linked");
    EXPECT_EQ(why(2)["outcomes"]["never-seen"]["programs"], 1);
    expect_all(Outcome::never_seen, {{"CLIENT_SOURCE", "another"}});
}

TEST_P(OutcomesTest, FromMemory) {
    const Played played = stage_.cached("switched");
    EXPECT_EQ(count_in(played, Outcome::never_seen), 1u);
    EXPECT_EQ(count_in(played, Outcome::hit_memory), 3u);
}

TEST_P(OutcomesTest, FromAPack) {
    expect_all(Outcome::never_seen);
    const std::string pack = stage_.directory() / "a.pack";
    const std::string root = stage_.cache_root();
    ASSERT_EQ(cairn_command("pack create --all --dir " + root + " " + pack), 0);
    fs::remove_all(root);
    ASSERT_EQ(cairn_command("pack install --unsigned --dir " + root + " " + pack), 0);
    expect_all(Outcome::hit_pack);
    // It was seen: after the driver has changed, that is known.
    expect_all(Outcome::other_driver, {{"NIR_DEBUG", "novalidate"}});
}

TEST_P(OutcomesTest, AnotherDriverAndTheFieldThatDiffers) {
    expect_all(Outcome::never_seen);
    expect_all(Outcome::other_driver, {{"NIR_DEBUG", "novalidate"}});
    const json miss = only_miss();
    ASSERT_EQ(miss["differences"].size(), 1u) << miss;
    EXPECT_EQ(miss["differences"][0]["field"], "variable NIR_DEBUG");
    EXPECT_EQ(miss["differences"][0]["from"], "");
    EXPECT_EQ(miss["differences"][0]["to"], "novalidate");
    EXPECT_EQ(miss["why"], "variable NIR_DEBUG from none to novalidate");
    expect_all(Outcome::hit_disk, {{"NIR_DEBUG", "novalidate"}});
    // Another one, of which there are two to tell from now.
    expect_all(Outcome::other_driver, {{"NIR_DEBUG", "novalidate,clone"}});
    EXPECT_EQ(only_miss()["differences"][0]["field"], "variable NIR_DEBUG");
    // What is new is new with every driver.
    expect_all(Outcome::never_seen, {{"NIR_DEBUG", "novalidate"}, {"CLIENT_SOURCE", "another"}});
}

TEST_P(OutcomesTest, AnotherContextAndTheFieldThatDiffers) {
    expect_all(Outcome::never_seen);
    expect_all(Outcome::other_context, {{"CLIENT_API", "es3_debug"}});
    EXPECT_THAT(only_miss()["why"], testing::HasSubstr("requested attributes")) << only_miss();
    expect_all(Outcome::hit_disk, {{"CLIENT_API", "es3_debug"}});
}

// The driver says another version in each, so that they are different generations; the driver is the
// same all the same.
TEST_P(OutcomesTest, AnotherProfileIsAnotherContext) {
    expect_all(Outcome::never_seen, {{"CLIENT_API", "core"}});
    expect_all(Outcome::other_context, {{"CLIENT_API", "compatibility"}});
    EXPECT_EQ(caches().size(), 2u);
    const json fields = only_miss()["fields"];
    EXPECT_THAT(fields, testing::Contains(json("GL_VERSION"))) << fields;
    EXPECT_THAT(fields, testing::Contains(json("GL_CONTEXT_PROFILE_MASK"))) << fields;
}

TEST_P(OutcomesTest, OtherSettings) {
    expect_all(Outcome::never_seen, {{"CLIENT_LOCATION", "1"}});
    expect_all(Outcome::other_settings, {{"CLIENT_LOCATION", "2"}});
    expect_all(Outcome::other_settings);
    expect_all(Outcome::hit_disk, {{"CLIENT_LOCATION", "2"}});
    // An older driver knew exactly this one.
    expect_all(Outcome::other_driver, {{"CLIENT_LOCATION", "2"}, {"NIR_DEBUG", "novalidate"}});
    expect_all(Outcome::other_driver, {{"NIR_DEBUG", "novalidate"}});
    expect_all(Outcome::other_settings, {{"CLIENT_LOCATION", "9"}, {"NIR_DEBUG", "novalidate"}});
}

TEST_P(OutcomesTest, EvictedAndWhen) {
    const time_t begin = time(nullptr);
    Environment few = {{"CAIRN_LIMIT", "4194304"}};
    Environment many = few;
    many["CLIENT_PROGRAMS"] = "1000";
    many["CLIENT_SOURCE"] = "before";
    expect_all(Outcome::never_seen, many);
    many["CLIENT_PROGRAMS"] = "100";
    few["CLIENT_PROGRAMS"] = "20";
    few["CLIENT_SOURCE"] = "first";
    expect_all(Outcome::never_seen, few);
    std::vector<std::string> keys;
    const json run_before = why();
    for (const json &miss : run_before["misses"]) keys.push_back(miss["key"].get<std::string>());
    // Which of them goes first is the policy's to say; a run's first program is the costliest.
    // Who only reads counts no hits, for which the entries would stay.
    const auto all_are_there = [&] {
        const auto programs = programs_in(open_cache(CAIRN_OPEN_READ_ONLY)->handle());
        return std::all_of(keys.begin(), keys.end(), [&](const std::string &key) {
            return std::any_of(programs.begin(), programs.end(),
                               [&](const Entry &each) { return hex(each.key).starts_with(key); });
        });
    };
    for (int round = 0; round < 40 && all_are_there(); ++round) {
        many["CLIENT_SOURCE"] = "round " + std::to_string(round);
        expect_all(Outcome::never_seen, many);
    }
    const Played again = stage_.cached("varied", few);
    EXPECT_EQ(again.status, "") << again.complaints;
    EXPECT_GT(count_in(again, Outcome::evicted), 0u);
    EXPECT_EQ(count_in(again, Outcome::evicted) + count_in(again, Outcome::hit_disk),
              again.report.link_calls);
    uint64_t evicted = 0;
    for (int number = 1; number <= 10; ++number) {
        const json run = why(number);
        if (!run.is_null()) evicted += run["evicted"].get<uint64_t>();
    }
    EXPECT_GT(evicted, 0u);
    const json run_again = why();
    ASSERT_FALSE(run_again["misses"].empty());
    const uint64_t at_s = run_again["misses"][0]["at_ms"].get<uint64_t>() / 1000;
    EXPECT_GE(at_s + 60, static_cast<uint64_t>(begin));
    EXPECT_LE(at_s, static_cast<uint64_t>(time(nullptr)));
    // All that is remembered takes little.
    const std::string folder = stage_.cache_root() + "/" + only_cache();
    uint64_t remembered = 0;
    for (const char *name : {"/history", "/ghosts", "/reuse"})
        remembered += cairn_test::file_size(folder + name);
    EXPECT_LE(remembered, 4194304u / 100);
}

TEST_P(OutcomesTest, ClearedAndNothingIsLeft) {
    expect_all(Outcome::never_seen, {{"CAIRN_KEEP_SOURCES", "1"}});
    const std::string folder = stage_.cache_root() + "/" + only_cache();
    EXPECT_TRUE(fs::exists(folder + "/history"));
    EXPECT_TRUE(fs::exists(folder + "/sources"));
    ASSERT_EQ(cairn_command("clear --all --yes --dir " + stage_.cache_root()), 0);
    EXPECT_FALSE(fs::exists(folder + "/history"));
    EXPECT_FALSE(fs::exists(folder + "/sources"));
    EXPECT_TRUE(why().is_null()) << "no run is remembered";
    expect_all(Outcome::cleared);
    EXPECT_GT(only_miss()["at_ms"], 0);
    // That run is over: what it did not have was not there.
    expect_all(Outcome::never_seen, {{"CLIENT_SOURCE", "another"}});
    expect_all(Outcome::hit_disk);
}

TEST_P(OutcomesTest, ClearedWhileItRuns) {
    const std::string clear = std::string(CAIRN_PROGRAM) + " clear --all --yes --dir " +
                              stage_.cache_root() + " >/dev/null";
    // In memory it would still be there.
    const Played played = stage_.cached("switched", {{"CLIENT_AFTER_0", "sleep 1;" + clear}});
    EXPECT_EQ(count_in(played, Outcome::never_seen), 1u);
    const json run = why();
    EXPECT_EQ(run["outcomes"]["never-seen"]["programs"], 0) << "forgotten with the clear";
    expect_all(Outcome::cleared, {{"CLIENT_SOURCE", "another"}});
}

TEST_P(OutcomesTest, DamagedOnDisk) {
    expect_all(Outcome::never_seen);
    damage_programs();
    expect_all(Outcome::damaged);
    EXPECT_EQ(only_miss()["outcome"], "damaged");
    expect_all(Outcome::hit_disk);
}

TEST_P(OutcomesTest, RefusedByTheDriver) {
    expect_all(Outcome::never_seen);
    const json key_text = only_miss()["key"];
    const auto cache = open_cache();
    auto programs = programs_in(cache->handle());
    ASSERT_EQ(programs.size(), 1u);
    programs[0].value.back() ^= 0x5a;
    ASSERT_EQ(cache->put(programs[0].key, programs[0].value), CAIRN_OK);
    expect_all(Outcome::refused);
    EXPECT_EQ(only_miss()["key"], key_text) << "the same program";
    expect_all(Outcome::hit_disk);
}

TEST_P(OutcomesTest, KeptOutAfterCrashes) {
    const std::string manifest = stage_.directory() / "crashing.json";
    const std::string binary = stage_.directory() / "binary";
    write_manifest(manifest, CRASHING_VENDOR);
    stage_.extra = {{"CRASHING_HOW", "fault"},
                    {"CAIRN_EGL_VENDORS", manifest},
                    {"CAIRN_GLX_VENDOR", "crashing"}};
    expect_all(Outcome::never_seen);
    const auto programs = programs_in(open_cache()->handle());
    ASSERT_EQ(programs.size(), 1u);
    // The driver's binary is behind the head and the log: docs/egl.md, "Entries".
    const cairn_test::ByteVector &value = programs[0].value;
    uint32_t log_size = 0;
    ASSERT_GT(value.size(), 32u);
    memcpy(&log_size, value.data() + 28, sizeof log_size);
    cairn_test::write_file(binary,
                           cairn_test::ByteVector(value.begin() + 32 + log_size, value.end()));
    const Environment dying = {{"CRASHING_BINARY", binary}};
    EXPECT_NE(stage_.cached("varied", dying).status, "") << "the driver dies";
    expect_all(Outcome::kept_out, dying);
    EXPECT_EQ(only_miss()["why"], "dropped once");
    EXPECT_NE(stage_.cached("varied", dying).status, "");
    expect_all(Outcome::kept_out, dying);
    EXPECT_EQ(only_miss()["why"], "");
    expect_all(Outcome::kept_out, dying);
}

TEST_P(OutcomesTest, NotCacheableAndWhy) {
    expect_all(Outcome::not_cacheable, {{"MESA_SHADER_CACHE_DISABLE", "true"}});
    const std::string sources = stage_.directory() / "sources";
    fs::create_directory(sources);
    expect_all(Outcome::not_cacheable, {{"MESA_SHADER_READ_PATH", sources}});
    const Played failing = stage_.cached("logs_of_failures");
    EXPECT_GT(count_in(failing, Outcome::not_cacheable), 0u);
    const json failures = why()["misses"];
    for (const json &miss : failures) {
        if (miss["outcome"] != "not-cacheable") continue;
        EXPECT_THAT(miss["why"].get<std::string>(),
                    testing::AnyOf("a shader failed, or is of a kind that is not cached",
                                   "the driver refused to link it"));
    }
    const auto reason_of = [&](const std::string &scenario, const std::string &reason) {
        const Played played = stage_.cached(scenario);
        EXPECT_GT(count_in(played, Outcome::not_cacheable), 0u) << scenario;
        const json misses = why()["misses"];
        bool is_there = false;
        for (const json &miss : misses) is_there |= miss["why"] == reason;
        EXPECT_TRUE(is_there) << scenario << ": " << misses;
    };
    reason_of("unlike_contexts", "contexts that share objects compile differently");
    reason_of("feedback_relink", "the program was linked before and may be in use");
    reason_of("separable", "the program was linked before and may be in use");
}

TEST_P(OutcomesTest, WhatIncludesNamedStringsIsNotCacheable) {
    expect_all(Outcome::not_cacheable, {}, "included_source");
    const json misses = why()["misses"];
    EXPECT_EQ(misses.size(), 6u);
    for (const json &miss : misses) EXPECT_EQ(miss["why"], "a source includes others") << miss;
}

TEST_P(OutcomesTest, SwitchedOff) {
    setenv("CAIRN_DEVELOPER_MODE", "1", 1);
    expect_all(Outcome::never_seen);
    ASSERT_EQ(
        cairn_command("control --kind cache-for-driver --disable --dir " + stage_.cache_root()), 0);
    expect_all(Outcome::not_cacheable);
    EXPECT_EQ(only_miss()["why"], "caching is switched off (`cairn control`)");
}

TEST_P(OutcomesTest, UnusableCaches) {
    cairn_test::write_file(stage_.directory() / "file", cairn_test::as_bytes("no directory"));
    expect_all(Outcome::unusable, {{"CAIRN_DIR", stage_.directory() / "file"}});
}

// What cannot be written now is missed later, and why is known then.
TEST_P(OutcomesTest, NotStoredForLackOfRoom) {
    expect_all(Outcome::never_seen);
    // The driver gives binaries, and writes no files: these would end it.
    const std::string home = stage_.directory() / "no-driver-cache";
    fs::create_directories(home + "/mesa_shader_cache/index");
    stage_.has_usual_driver_cache = true;
    stage_.prefix = {"prlimit", "--fsize=2048"};
    expect_all(Outcome::never_seen, {{"CLIENT_SOURCE", "another"}, {"XDG_CACHE_HOME", home}});
    stage_.prefix.clear();
    stage_.has_usual_driver_cache = false;
    expect_all(Outcome::unusable, {{"CLIENT_SOURCE", "another"}});
    EXPECT_EQ(only_miss()["why"], "it could not be stored when it was made last");
    expect_all(Outcome::hit_disk, {{"CLIENT_SOURCE", "another"}});
}

TEST_P(OutcomesTest, LateWhileAnotherProcessMakesIt) {
    expect_all(Outcome::never_seen);
    const auto key = remove_program();
    ASSERT_FALSE(key.empty());
    const auto cache = open_cache();
    cairn_lease *lease = nullptr;
    ASSERT_EQ(cairn_lease_acquire(cache->handle(), key.data(), key.size(), 0, &lease), CAIRN_OK);
    expect_all(Outcome::late, {{"CAIRN_EGL_LEASE", "20"}});
    cairn_lease_release(lease);
    EXPECT_EQ(only_miss()["why"], "another process was making it");
}

TEST_P(OutcomesTest, LateWhereTheAgentDoesNotAnswerInTime) {
    expect_all(Outcome::never_seen);
    const std::string run = stage_.directory() / "run";
    const SilentAgent agent(stage_.cache_root(), only_cache(), remove_program(), run);
    write_configuration("share = 1\nask_ms = 20\n");
    expect_all(Outcome::late, {{"XDG_RUNTIME_DIR", run}});
    EXPECT_TRUE(cairn_test::eventually([&] { return agent.questions() == 1; }));
    const json miss = only_miss();
    EXPECT_EQ(miss["outcome"], "late");
    EXPECT_EQ(miss["why"], "the agent did not answer in time");
    EXPECT_EQ(why()["outcomes"]["late"]["programs"], 1);
    expect_all(Outcome::hit_disk, {{"XDG_RUNTIME_DIR", run}});
    EXPECT_EQ(agent.questions(), 1);
}

// Each makes what the others make at the same moment: that is no entry which has vanished.
TEST_P(OutcomesTest, ProcessesThatStartAtOnceMissNothingThatWasThere) {
    std::vector<cairn_test::Child> children;
    for (int i = 0; i < 3; ++i) {
        children.emplace_back([&] {
            Stage own(GetParam());
            const Played played = own.cached(
                "varied", {{"CAIRN_DIR", stage_.cache_root()}, {"CLIENT_PROGRAMS", "150"}});
            const uint64_t explained =
                count_in(played, Outcome::never_seen) + count_in(played, Outcome::late) +
                count_in(played, Outcome::hit_disk) + count_in(played, Outcome::cleared);
            return played.status.empty() && explained == 150 ? 0 : 1;
        });
    }
    for (cairn_test::Child &child : children) {
        EXPECT_EQ(cairn_test::describe_status(child.wait()), "");
    }
}

TEST_P(OutcomesTest, WhereItCannotBeKnownItSaysSo) {
    expect_all(Outcome::unknown, {{"CAIRN_EGL_PERSIST", "0"}});
    EXPECT_FALSE(fs::exists(stage_.cache_root() + "/.counters"));
    // Somebody has taken the entries away.
    expect_all(Outcome::never_seen);
    const std::string folder = stage_.cache_root() + "/" + only_cache();
    for (const char *extension : {".val", ".idx"}) {
        for (const std::string &path : cairn_test::files_in(folder, extension)) fs::remove(path);
    }
    expect_all(Outcome::unknown);
    EXPECT_EQ(only_miss()["why"], "it was made before and is no longer there");
}

// Who does not want to be recorded leaves nothing.
TEST_P(OutcomesTest, WhoIsNotRecordedLeavesNothing) {
    write_configuration("record = 0\n");
    expect_all(Outcome::unknown);
    EXPECT_FALSE(fs::exists(stage_.cache_root() + "/" + only_cache() + "/history"));
    EXPECT_FALSE(fs::exists(stage_.cache_root() + "/.counters"));
    expect_all(Outcome::hit_disk);
    EXPECT_FALSE(fs::exists(stage_.cache_root() + "/" + only_cache() + "/history"));
}

// The history is damaged, of another kind, or cannot be written: programs are cached all the same.
TEST_P(OutcomesTest, WithoutAHistoryProgramsAreCached) {
    expect_all(Outcome::never_seen);
    const std::string history = stage_.cache_root() + "/" + only_cache() + "/history";
    for (uint64_t bit = 0; bit < 8 * cairn_test::file_size(history); bit += 8 * 31) {
        cairn_test::flip_bit(history, bit);
    }
    expect_all(Outcome::hit_disk);
    fs::remove(history);
    fs::create_directories(history + "/inside");
    expect_all(Outcome::hit_disk);
}

INSTANTIATE_TEST_SUITE_P(Both, OutcomesTest, testing::ValuesIn(kWindowSystems),
                         [](const auto &played) { return name_of(played.param); });

}  // namespace
}  // namespace gl_test
