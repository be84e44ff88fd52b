// SPDX-License-Identifier: MIT
// When the cache is damaged, refused by the driver, full, forbidden or not wanted, the application
// is served by its driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runner.h"
#include "support/cache.h"
#include "support/files.h"

namespace gl_test {
namespace {

namespace fs = std::filesystem;
using cairn_test::ByteVector;
using cairn_test::ByteView;

// The one cache below a root.
std::string only_cache(const std::string &root) {
    std::string name;
    for (const fs::directory_entry &entry : fs::directory_iterator(root)) {
        if (entry.is_directory()) {
            EXPECT_EQ(name, "") << "more than one cache";
            name = entry.path().filename().string();
        }
    }
    return name;
}

struct Entry {
    ByteVector key;
    ByteVector value;
};

// Entries of programs; shaders have others.
std::vector<Entry> programs_in(cairn_cache *cache) {
    std::vector<Entry> entries;
    cairn_enumerate(
        cache,
        [](void *user, const cairn_entry *entry) {
            const auto *key = static_cast<const uint8_t *>(entry->key);
            static_cast<std::vector<Entry> *>(user)->push_back({{key, key + entry->key_size}, {}});
            return 0;
        },
        &entries);
    for (Entry &entry : entries) {
        cairn_blob *blob = nullptr;
        EXPECT_EQ(cairn_get(cache, entry.key.data(), entry.key.size(), &blob), CAIRN_OK);
        const auto *bytes = static_cast<const uint8_t *>(cairn_blob_data(blob));
        entry.value.assign(bytes, bytes + cairn_blob_size(blob));
        cairn_blob_free(blob);
    }
    std::erase_if(entries, [](const Entry &entry) {
        return entry.value.size() < 4 || entry.value[2] != 'P';
    });
    return entries;
}

// Changes the values of all programs by `change`.
template <typename Change>
size_t change_programs(const std::string &root, Change change) {
    cairn_test::Cache cache({.root = root,
                             .identifier = only_cache(root),
                             .flags = CAIRN_OPEN_ANY_VERSION | CAIRN_OPEN_EXISTING});
    EXPECT_TRUE(cache.is_open());
    const std::vector<Entry> programs = programs_in(cache.handle());
    for (Entry entry : programs) {
        change(entry.value);
        EXPECT_EQ(cache.put(entry.key, entry.value), CAIRN_OK);
    }
    return programs.size();
}

class TroubleTest : public testing::TestWithParam<WindowSystem> {
  protected:
    void SetUp() override {
        SKIP_WITHOUT(GetParam());
        plain_ = stage_.plain(kScenario);
        ASSERT_EQ(plain_.status, "");
    }

    void expect_as_plain(const Played &run) {
        EXPECT_EQ(run.status, "");
        EXPECT_EQ(run.transcript, plain_.transcript);
        EXPECT_EQ(run.complaints, "");
    }
    void expect_warm(const Played &run) {
        expect_as_plain(run);
        EXPECT_EQ(run.report.hits, run.report.link_calls);
        EXPECT_EQ(run.report.driver_compiles, 0u);
        EXPECT_EQ(run.report.rejected, 0u);
    }

    static constexpr const char *kScenario = "shared_shader";
    Stage stage_{GetParam()};
    Played plain_;
};

TEST_P(TroubleTest, ABinaryThatTheDriverRefusesIsLinkedAndReplaced) {
    expect_as_plain(stage_.cached(kScenario));
    const size_t programs =
        change_programs(stage_.cache_root(), [](ByteVector &value) { value.back() ^= 0x5a; });
    EXPECT_EQ(programs, 3u);
    const Played refused = stage_.cached(kScenario);
    expect_as_plain(refused);
    EXPECT_EQ(refused.report.rejected, programs);
    EXPECT_EQ(refused.report.hits, 0u);
    EXPECT_EQ(refused.report.stored, programs);
    expect_warm(stage_.cached(kScenario));
}

TEST_P(TroubleTest, ABinaryOfAnUnknownFormatIsLinkedAndReplacedWithoutAnError) {
    expect_as_plain(stage_.cached(kScenario));
    const size_t programs =
        change_programs(stage_.cache_root(), [](ByteVector &value) { value[20] ^= 0xff; });
    const Played refused = stage_.cached(kScenario);
    expect_as_plain(refused);
    EXPECT_EQ(refused.report.rejected, programs);
    expect_warm(stage_.cached(kScenario));
}

TEST_P(TroubleTest, AnEntryThatIsNotOursIsReplaced) {
    expect_as_plain(stage_.cached(kScenario));
    size_t turn = 0;
    change_programs(stage_.cache_root(), [&turn](ByteVector &value) {
        // Nothing, a cut head, a log that is longer than the entry.
        value.resize(turn == 0 ? 0 : (turn == 1 ? 9 : value.size()));
        if (turn++ == 2) {
            value[29] = 0xff;
        }
    });
    const Played odd = stage_.cached(kScenario);
    expect_as_plain(odd);
    EXPECT_EQ(odd.report.hits, 0u);
    expect_warm(stage_.cached(kScenario));
}

// This machine does not link again the programs that another one has linked.
TEST_P(TroubleTest, AnInstalledPackAnswersEveryLink) {
    expect_as_plain(stage_.cached(kScenario));
    const std::string root = stage_.cache_root();
    const std::string file = stage_.directory() / "warm.pack";
    const std::string program = CAIRN_PROGRAM;
    const std::string quiet = " >/dev/null 2>&1";
    const std::string save =
        program + " pack create --dir " + root + " " + file + " " + only_cache(root) + quiet;
    ASSERT_EQ(std::system(save.c_str()), 0);
    fs::remove_all(root);
    const std::string install = program + " pack install --unsigned --dir " + root + " " + file;
    ASSERT_EQ(std::system((install + quiet).c_str()), 0);
    const Played warm = stage_.cached(kScenario);
    expect_as_plain(warm);
    EXPECT_EQ(warm.report.hits, warm.report.link_calls);
    EXPECT_EQ(warm.report.driver_links, 0u);
}

TEST_P(TroubleTest, DamageToAnyFileIsAMiss) {
    expect_as_plain(stage_.cached(kScenario));
    const std::string folder = stage_.cache_root() + "/" + only_cache(stage_.cache_root());
    for (const char *extension : {".val", ".idx"}) {
        for (const std::string &path : cairn_test::files_in(folder, extension)) {
            for (uint64_t bit = 0; bit < 8 * cairn_test::file_size(path); bit += 8 * 97 + 3) {
                cairn_test::flip_bit(path, bit);
            }
        }
        expect_as_plain(stage_.cached(kScenario));
        expect_as_plain(stage_.cached(kScenario));
    }
}

TEST_P(TroubleTest, ACacheThatMayNotBeUsedIsNotUsed) {
    const std::string elsewhere = stage_.directory() / "elsewhere";
    fs::create_directory(elsewhere);
    fs::create_directory_symlink(elsewhere, stage_.directory() / "link");
    cairn_test::write_file(stage_.directory() / "file", cairn_test::as_bytes("not a directory"));
    for (const std::string &root : {std::string("link"), std::string("file")}) {
        const Played run = stage_.cached(kScenario, {{"CAIRN_DIR", stage_.directory() / root}});
        expect_as_plain(run);
        EXPECT_EQ(run.report.stored, 0u) << root;
        EXPECT_EQ(run.report.misses, run.report.link_calls) << root << ": kept in memory";
        EXPECT_EQ(run.report.driver_compiles, run.report.compile_calls) << root;
    }
    EXPECT_TRUE(fs::is_empty(elsewhere));
}

TEST_P(TroubleTest, ADriverThatGivesNoBinariesIsLeftAlone) {
    // Mesa does so without its own cache.
    stage_.extra = {{"MESA_SHADER_CACHE_DISABLE", "true"}};
    plain_ = stage_.plain(kScenario);
    for (int round = 0; round < 2; ++round) {
        const Played run = stage_.cached(kScenario);
        expect_as_plain(run);
        EXPECT_EQ(run.report.stored, 0u);
        EXPECT_EQ(run.report.driver_compiles, run.report.compile_calls);
    }
}

TEST_P(TroubleTest, SwitchedOffItTouchesNothing) {
    const Played run = stage_.cached(kScenario, {{"CAIRN_DISABLE", "1"}});
    expect_as_plain(run);
    EXPECT_FALSE(fs::exists(stage_.cache_root()));
    EXPECT_EQ(run.report.link_calls, 0u);
    EXPECT_EQ(run.report.processes, 0u);
}

TEST_P(TroubleTest, ADriverOptionMakesAnotherDriverOfIt) {
    expect_as_plain(stage_.cached(kScenario));
    const Played other = stage_.cached(kScenario, {{"NIR_DEBUG", "novalidate"}});
    expect_as_plain(other);
    EXPECT_EQ(other.report.hits, 0u);
    expect_warm(stage_.cached(kScenario));
    expect_warm(stage_.cached(kScenario, {{"LP_NUM_THREADS", "1"}}));
}

// `KEY SIZE_BYTES COST_US` for each entry that is stored or found: the same ones cold and warm.
TEST_P(TroubleTest, ATraceHasALineForEachEntryThatIsUsed) {
    const auto traced = [&](const std::string &path) {
        std::ofstream(path).close();
        expect_as_plain(stage_.cached(kScenario, {{"CAIRN_TRACE", path}}));
        std::map<std::string, std::pair<size_t, uint64_t>> entries;
        std::ifstream file(path);
        std::string key;
        size_t size = 0;
        uint64_t cost = 0;
        while (file >> key >> size >> cost) {
            EXPECT_TRUE(key.size() == 64 || key.size() == 40) << key;  // a shader's, a program's
            EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), std::string::npos) << key;
            entries[key] = {size, cost};
        }
        EXPECT_TRUE(file.eof()) << "a line of another kind";
        return entries;
    };
    const auto cold = traced(stage_.directory() / "cold");
    EXPECT_GE(cold.size(), 6u);  // three programs and their shaders
    EXPECT_EQ(traced(stage_.directory() / "warm"), cold);
    // It is never made: a variable that was left behind fills no disk.
    expect_warm(stage_.cached(kScenario, {{"CAIRN_TRACE", stage_.directory() / "none"}}));
    EXPECT_FALSE(fs::exists(stage_.directory() / "none"));
}

TEST_P(TroubleTest, TheCachesNameIsToldWhateverFunctionsTheDriverHas) {
    for (const auto &[name, driver] : drivers(stage_)) {
        SCOPED_TRACE(name);
        const Played run = stage_.cached("identified", driver);
        EXPECT_EQ(run.status, "") << run.complaints;
        EXPECT_THAT(run.transcript, testing::StartsWith("gl-gl_client_linked-"));
        Environment disabled = driver;
        disabled["CAIRN_DISABLE"] = "1";
        EXPECT_EQ(stage_.cached("identified", disabled).transcript, "\n");
    }
}

TEST_P(TroubleTest, LinesAreWrittenOnlyWhenTheyAreAskedFor) {
    const Played run = stage_.cached(kScenario, {{"CAIRN_LOG", "1"}});
    EXPECT_EQ(run.transcript, plain_.transcript);
    const std::string who = GetParam() == WindowSystem::egl ? "cairn-egl" : "cairn-glx";
    EXPECT_THAT(run.complaints, testing::HasSubstr(who + ": cache gl-"));
}

INSTANTIATE_TEST_SUITE_P(Both, TroubleTest, testing::ValuesIn(kWindowSystems),
                         [](const auto &played) { return name_of(played.param); });

class ContextsTest : public testing::TestWithParam<WindowSystem> {};

// With one arena for all threads, memory that one of them frees is the next that another one gets:
// contexts are made under handles that are just being destroyed.
TEST_P(ContextsTest, AHandleThatIsUsedAgainAtOnceIsTheNewContext) {
    SKIP_WITHOUT(GetParam());
    Stage stage(GetParam());
    stage.extra = {{"MALLOC_ARENA_MAX", "1"}};
    const Played plain = stage.plain("contexts_come_and_go");
    for (int round = 0; round < 2; ++round) {
        const Played run = stage.cached("contexts_come_and_go");
        EXPECT_EQ(run.status, "");
        EXPECT_EQ(run.transcript, plain.transcript);
        EXPECT_EQ(run.report.bypassed, 0u);
        EXPECT_EQ(run.report.hits + run.report.misses, run.report.link_calls);
    }
}

INSTANTIATE_TEST_SUITE_P(Both, ContextsTest, testing::ValuesIn(kWindowSystems),
                         [](const auto &played) { return name_of(played.param); });

class EndTest : public testing::TestWithParam<std::tuple<WindowSystem, const char *>> {};

TEST_P(EndTest, CountersAndEntriesAreThereHoweverTheProcessEnds) {
    const auto [window_system, parameter] = GetParam();
    SKIP_WITHOUT(window_system);
    const std::string end = parameter;
    Stage stage(window_system, Client::dlopened);
    const Played first = stage.cached("simple", {}, end);
    const Played second = stage.cached("simple", {}, end);
    EXPECT_EQ(first.status.empty(), end != "kill") << first.status;
    EXPECT_EQ(first.report.link_calls, 1u);
    EXPECT_EQ(first.report.misses, 1u);
    EXPECT_EQ(first.report.stored, 3u);
    EXPECT_EQ(second.report.hits, 1u);
    EXPECT_EQ(second.report.driver_compiles, 0u);
    EXPECT_EQ(first.transcript, second.transcript);
}

INSTANTIATE_TEST_SUITE_P(Both, EndTest,
                         testing::Combine(testing::ValuesIn(kWindowSystems),
                                          testing::Values("return", "exit", "_exit", "kill")),
                         [](const auto &played) {
                             const std::string end = std::get<1>(played.param);
                             return name_of(std::get<0>(played.param)) + "_" +
                                    (end == "_exit" ? "at_once" : end);
                         });

}  // namespace
}  // namespace gl_test
