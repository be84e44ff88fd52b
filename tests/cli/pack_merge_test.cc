// SPDX-License-Identifier: MIT
// `cairn pack merge` and `cairn pack diff` on real caches.
#include <gmock/gmock.h>

#include "pack/testing/packs.h"
#include "pack_fixture.h"

namespace cairn::cli_test {
namespace {

using ::testing::HasSubstr;

class MergeTest : public PackTest {
  protected:
    // `driver 1` in one pack; `driver 2`, and more of `driver 1`, in the other.
    MergeTest() {
        const std::string second_root = folder_ / "second";
        const auto put = [&](const char *driver, const std::string &key, const std::string &value) {
            cairn_cache *cache = open_program(second_root, driver);
            EXPECT_EQ(cairn_put(cache, key.data(), key.size(), value.data(), value.size(), nullptr),
                      CAIRN_OK);
            cairn_close(cache);
        };
        put("driver 1", "key 3", "another value");
        put("driver 1", "more", "of driver 1");
        put("driver 2", "key 3", "of driver 2");
        cairn_cache *cache = open_program(root_, "driver 1");
        const std::string identifier = cairn_program_cache_identifier(cache);
        cairn_close(cache);
        EXPECT_EQ(run({"create", first_, identifier, "--about", "The first"}, root_).exit_code, 0);
        EXPECT_EQ(run({"create", second_, "--all"}, second_root).exit_code, 0);
    }
    Finished merge(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "merge");
        return run_bare(std::move(arguments));
    }
    Json diff(const std::string &a, const std::string &b, int exit_code) const {
        const Finished done = run_bare({"diff", "--json", "--keys", a, b});
        EXPECT_EQ(done.exit_code, exit_code) << done.standard_error;
        return Json::parse(done.standard_output);
    }
    // The part of this driver, which is there.
    static Json part_of(const Json &json, const std::string &driver) {
        for (const Json &part : json["parts"]) {
            if (part["about"].get<std::string>().ends_with(driver)) return part;
        }
        ADD_FAILURE() << json;
        return {};
    }

    const std::string first_ = folder_ / "first.pack", second_ = folder_ / "second.pack";
};

TEST_F(MergeTest, WhatSeveralPacksHaveIsInOne) {
    const Finished merged = merge({pack_, first_, second_});
    ASSERT_EQ(merged.exit_code, 0) << merged.standard_error;
    EXPECT_THAT(merged.standard_output, HasSubstr("Merged 42 entries of 2 packs"));
    EXPECT_EQ(run_bare({"verify", pack_}).exit_code, 0);
    ASSERT_EQ(run({"install", "--unsigned", pack_}, other_).exit_code, 0);
    for (int i = 0; i < 40; ++i) {
        const std::string key = "key " + std::to_string(i);
        EXPECT_EQ(get_program(other_, "driver 1", key), value(i) + "driver 1")
            << "the first pack's entry is taken";
    }
    EXPECT_EQ(get_program(other_, "driver 1", "more"), "of driver 1");
    EXPECT_EQ(get_program(other_, "driver 2", "key 3"), "of driver 2");
    EXPECT_EQ(get_program(other_, "driver 2", "key 4"), "(miss)");
    const Json json = inspect();
    EXPECT_EQ(json["about"], "The first");
    EXPECT_EQ(json["key"], nullptr);
    ASSERT_EQ(json["parts"].size(), 2u);
    EXPECT_EQ(part_of(json, "driver 1")["entries"], 41);
    EXPECT_EQ(part_of(json, "driver 1")["start_entries"], 41);
}

TEST_F(MergeTest, TheOtherWayRoundTheOtherEntryIsTaken) {
    ASSERT_EQ(merge({pack_, second_, first_}).exit_code, 0);
    ASSERT_EQ(run({"install", "--unsigned", pack_}, other_).exit_code, 0);
    EXPECT_EQ(get_program(other_, "driver 1", "key 3"), "another value");
    EXPECT_EQ(get_program(other_, "driver 1", "key 4"), value(4) + "driver 1");
}

TEST_F(MergeTest, TheSamePacksGiveTheSameBytesAndOneOfThemMayBeReplaced) {
    ASSERT_EQ(merge({pack_, first_, second_}).exit_code, 0);
    const std::string bytes = read_file(pack_);
    ASSERT_EQ(merge({first_, first_, second_}).exit_code, 0);
    EXPECT_EQ(read_file(first_), bytes);
    ASSERT_EQ(merge({pack_, pack_, pack_}).exit_code, 0);
    EXPECT_EQ(read_file(pack_), bytes);
}

TEST_F(MergeTest, OptionsAreThoseOfCreate) {
    ASSERT_EQ(
        merge({pack_, first_, second_, "--max-bytes", "2K", "--about", "small", "--no-compress"})
            .exit_code,
        0);
    std::uint64_t entries = 0;
    const Json json = inspect();
    for (const Json &part : json["parts"]) {
        entries += part["entries"].get<std::uint64_t>();
        EXPECT_EQ(part["stored_bytes"], part["value_bytes"]);
    }
    EXPECT_GT(entries, 0u);
    EXPECT_LT(entries, 42u);
    EXPECT_EQ(inspect()["about"], "small");
    EXPECT_EQ(merge({pack_, first_, "--max-bytes", "much"}).exit_code, 2);
    EXPECT_EQ(merge({pack_}).exit_code, 2);
    EXPECT_EQ(merge({pack_, first_, "--sign", "nobody"}).exit_code, 1);
    EXPECT_EQ(merge({pack_, first_, folder_ / "absent.pack"}).exit_code, 1);
    EXPECT_EQ(inspect()["about"], "small") << "a failure replaced the pack";
}

TEST_F(MergeTest, WhatIsDamagedIsLeftOutAndCounted) {
    std::string bytes = read_file(first_);
    // The records follow the header.
    for (std::size_t i = 9000; i < 9040; ++i) bytes[i] = static_cast<char>(bytes[i] ^ 0x55);
    std::ofstream(first_, std::ios::binary) << bytes;
    ASSERT_EQ(run_bare({"verify", first_}).exit_code, 1);
    const Finished merged = merge({pack_, first_});
    EXPECT_EQ(merged.exit_code, 0);
    EXPECT_THAT(merged.standard_error, HasSubstr("left out"));
    EXPECT_EQ(run_bare({"verify", pack_}).exit_code, 0);
    const int entries = part_of(inspect(), "driver 1")["entries"].get<int>();
    EXPECT_LT(entries, 40);
    EXPECT_GT(entries, 30);
    const Json part = part_of(diff(first_, pack_, 1), "driver 1");
    EXPECT_EQ(part["same"], entries);
    std::ofstream(second_, std::ios::binary) << "no pack";
    EXPECT_EQ(merge({pack_, first_, second_}).exit_code, 1);
    EXPECT_EQ(part_of(inspect(), "driver 1")["entries"], entries) << "a failure replaced the pack";
}

TEST_F(MergeTest, MorePartsThanAPackHoldsAreRefused) {
    std::vector<testing::PackedPart> parts;
    for (int i = 0; i < 40; ++i) {
        parts.push_back({"cache-" + std::to_string(i), 1, "", {{"key", "value"}}});
    }
    testing::write_pack(first_, parts);
    for (testing::PackedPart &part : parts) part.version = 2;
    testing::write_pack(second_, parts);
    const Finished merged = merge({pack_, first_, second_});
    EXPECT_EQ(merged.exit_code, 1);
    EXPECT_THAT(merged.standard_error, HasSubstr("80 parts"));
    EXPECT_FALSE(fs::exists(pack_));
}

TEST_F(MergeTest, DiffSaysWhatOnePackHasAndTheOtherHasNot) {
    const Json json = diff(first_, second_, 1);
    EXPECT_EQ(json["same"], false);
    ASSERT_EQ(json["parts"].size(), 2u);
    const Json both = part_of(json, "driver 1");
    EXPECT_EQ(both["in"], "both");
    EXPECT_EQ(both["application"], "gl-game");
    EXPECT_EQ(both["same"], 0);
    EXPECT_EQ(both["only_a"], 39);
    EXPECT_EQ(both["only_b"], 1);
    EXPECT_EQ(both["changed"], 1);
    EXPECT_EQ(both["keys"]["changed"], Json::array({"6b65792033"}));
    EXPECT_EQ(part_of(json, "driver 2")["in"], "b");
    EXPECT_THAT(run_bare({"diff", "--keys", first_, second_}).standard_output,
                HasSubstr("    ~ 6b65792033\n"));
}

TEST_F(MergeTest, PacksWithTheSameEntriesAreTheSame) {
    ASSERT_EQ(merge({pack_, first_, "--no-compress"}).exit_code, 0);
    EXPECT_NE(read_file(pack_), read_file(first_));
    const Finished same = run_bare({"diff", first_, pack_});
    EXPECT_EQ(same.exit_code, 0);
    EXPECT_EQ(same.standard_output, "");
    EXPECT_EQ(diff(first_, pack_, 0)["same"], true);
    EXPECT_EQ(run_bare({"diff", first_, "/dev/null"}).exit_code, 2);
    EXPECT_EQ(run_bare({"diff", first_}).exit_code, 2);
}

}  // namespace
}  // namespace cairn::cli_test
