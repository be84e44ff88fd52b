// SPDX-License-Identifier: MIT
// A driver that dies of one cached binary: the second start works, and keeps all others.
#include <cairn/cairn_program_cache.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <tuple>

#include "runner.h"
#include "support/cache.h"
#include "support/files.h"

namespace gl_test {
namespace {

namespace fs = std::filesystem;

std::string only_cache(const std::string &root) {
    for (const fs::directory_entry &entry : fs::directory_iterator(root)) {
        if (entry.is_directory()) {
            return entry.path().filename();
        }
    }
    return "none";
}

// The largest program in the cache: the driver's binary in it.
cairn_test::ByteVector a_binary_in(const std::string &root) {
    cairn_test::Cache cache({.root = root,
                             .identifier = only_cache(root),
                             .flags = CAIRN_OPEN_ANY_VERSION | CAIRN_OPEN_READ_ONLY});
    cairn_test::ByteVector largest;
    struct Search {
        cairn_cache *cache;
        cairn_test::ByteVector *largest;
    } search = {cache.handle(), &largest};
    cairn_enumerate(
        cache.handle(),
        [](void *user, const cairn_entry *entry) {
            const auto &own = *static_cast<Search *>(user);
            cairn_blob *blob = nullptr;
            if (cairn_get(own.cache, entry->key, entry->key_size, &blob) == CAIRN_OK) {
                const auto *bytes = static_cast<const uint8_t *>(cairn_blob_data(blob));
                if (cairn_blob_size(blob) > own.largest->size() && bytes[2] == 'P') {
                    own.largest->assign(bytes, bytes + cairn_blob_size(blob));
                }
                cairn_blob_free(blob);
            }
            return 0;
        },
        &search);
    // Behind the head and the log: docs/egl.md, "Entries".
    uint32_t log_size = 0;
    if (largest.size() < 32) {
        return {};
    }
    memcpy(&log_size, largest.data() + 28, sizeof log_size);
    largest.erase(largest.begin(), largest.begin() + 32 + log_size);
    return largest;
}

class CrashTest : public testing::TestWithParam<std::tuple<WindowSystem, const char *>> {
  protected:
    void SetUp() override {
        SKIP_WITHOUT(std::get<0>(GetParam()));
        const std::string manifest = stage_.directory() / "crashing.json";
        write_manifest(manifest, CRASHING_VENDOR);
        stage_.extra = {{"CRASHING_HOW", std::get<1>(GetParam())},
                        {"CAIRN_EGL_VENDORS", manifest},
                        {"CAIRN_GLX_VENDOR", "crashing"}};
    }
    Played start() {
        return stage_.cached(kScenario, {{"CRASHING_BINARY", binary_}, {"CAIRN_LOG", "1"}});
    }

    static constexpr const char *kScenario = "shared_shader";
    Stage stage_{std::get<0>(GetParam())};
    const std::string binary_ = stage_.directory() / "binary";
};

TEST_P(CrashTest, TheNextStartWorksAndKeepsAllOtherEntries) {
    const Played cold = start();
    ASSERT_EQ(cold.status, "") << cold.complaints;
    const auto binary = a_binary_in(stage_.cache_root());
    ASSERT_FALSE(binary.empty());
    cairn_test::write_file(binary_, binary);

    EXPECT_NE(start().status, "") << "the driver dies";
    const Played second = start();
    EXPECT_EQ(second.status, "");
    EXPECT_EQ(second.transcript, cold.transcript);
    EXPECT_THAT(second.complaints, testing::HasSubstr("it is dropped"));
    EXPECT_EQ(second.report.misses, 1u) << "the one that was dropped";
    EXPECT_EQ(second.report.hits, cold.report.link_calls - 1);
    EXPECT_EQ(second.report.stored, 1u);

    // It was stored again, and the driver has not got any better.
    EXPECT_NE(start().status, "");
    for (int round = 0; round < 3; ++round) {
        const Played later = start();
        EXPECT_EQ(later.status, "") << round;
        EXPECT_EQ(later.transcript, cold.transcript);
        EXPECT_EQ(later.report.misses, 1u) << "kept out";
        EXPECT_EQ(later.report.hits, cold.report.link_calls - 1);
        EXPECT_EQ(later.report.stored, 0u);
    }

    // `cairn stats` says so.
    const std::string out = stage_.directory() / "stats";
    ASSERT_EQ(std::system(
                  (std::string(CAIRN_PROGRAM) + " stats --dir " + stage_.cache_root() + " >" + out)
                      .c_str()),
              0);
    EXPECT_THAT(cairn_test::as_string(cairn_test::read_file(out)),
                testing::HasSubstr("2 dropped after a driver had died with them, 1 kept out"));
}

class CrashGuardTest : public testing::TestWithParam<WindowSystem> {};

// Of what, nobody knows: the third start does without Cairn.
TEST_P(CrashGuardTest, TwoCrashesInsideTheFrontEndSwitchItOff) {
    SKIP_WITHOUT(GetParam());
    Stage stage(GetParam());
    const std::string manifest = stage.directory() / "crashing.json";
    write_manifest(manifest, CRASHING_VENDOR);
    stage.extra = {
        {"CAIRN_EGL_VENDORS", manifest}, {"CAIRN_GLX_VENDOR", "crashing"}, {"CAIRN_LOG", "1"}};
    const auto start = [&](const char *how) {
        return stage.cached("shared_shader", {{"CRASHING_HOW", how}});
    };
    EXPECT_NE(start("ask").status, "") << "the driver dies of a question of ours";
    const Played second = start("ask");
    EXPECT_NE(second.status, "");
    EXPECT_THAT(second.complaints, testing::Not(testing::HasSubstr("passes everything through")));
    const Played third = start("");
    EXPECT_EQ(third.status, "");
    EXPECT_EQ(third.report.link_calls, 0u);
    EXPECT_THAT(third.report.problem_text, testing::HasSubstr("it died twice within a minute"));
    EXPECT_THAT(third.complaints, testing::HasSubstr("it died twice within a minute"));
}

INSTANTIATE_TEST_SUITE_P(Both, CrashGuardTest, testing::ValuesIn(kWindowSystems),
                         [](const auto &played) { return name_of(played.param); });

INSTANTIATE_TEST_SUITE_P(Both, CrashTest,
                         testing::Combine(testing::ValuesIn(kWindowSystems),
                                          testing::Values("fault", "exit")),
                         [](const auto &played) {
                             return name_of(std::get<0>(played.param)) + "_" +
                                    std::get<1>(played.param);
                         });

}  // namespace
}  // namespace gl_test
