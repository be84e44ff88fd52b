// SPDX-License-Identifier: MIT
// `cairn remote gc` removes what nobody needs, and nothing that somebody lists.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>

#include "fleet_fixture.h"
#include "keys.h"
#include "manifest_format.h"
#include "signature.h"

namespace cairn::fleet_test {
namespace {

using ::testing::HasSubstr;

constexpr const char *kDriver = "driver 1";

class GcTest : public FleetTest {
  protected:
    std::string gc(const Words &options = {}) const {
        Words words = {"remote", "gc", "--remote", url_};
        words.insert(words.end(), options.begin(), options.end());
        // It needs no key.
        return Machine().done(words);
    }
    static void make_older(const fs::path &path, int days) {
        fs::last_write_time(path,
                            fs::file_time_type::clock::now() - std::chrono::hours(24 * days + 1));
    }
    fs::path write_orphan() const {
        const fs::path path =
            objects("packs").front().parent_path() / (std::string(64, 'a') + ".pack.zst");
        std::ofstream(path) << "of a push that was killed";
        return path;
    }
    // The same manifest as the machine would have written it so long ago.
    fs::path rewrite_as_of(const fs::path &path, int days_ago) const {
        for (const auto &[name, value] : first_.environment()) {
            ::setenv(name.c_str(), value.c_str(), 1);
        }
        const std::string content = cli_test::read_file(path);
        auto manifest =
            fleet::decode(as_bytes(content).first(content.size() - fleet::kManifestTrailerSize));
        EXPECT_TRUE(manifest);
        constexpr std::int64_t kDayNs = 24LL * 3600 * 1'000'000'000;
        manifest->written_ns -= static_cast<std::uint64_t>(days_ago * kDayNs);
        std::string made = fleet::encode(*manifest);
        const cli::TrailerBytes trailer =
            cli::encode_trailer(cli::sign_bytes(as_bytes(made), cli::load_secret_key("ci")));
        made.append(reinterpret_cast<const char *>(trailer.data()), trailer.size());
        fs::remove(path);
        const fs::path written =
            path.parent_path() / fleet::manifest_name(manifest->machine, as_bytes(made));
        std::ofstream(written, std::ios::binary) << made;
        return written;
    }
    void publish(int from, int to) const {
        first_.put_programs(kDriver, from, to);
        push(first_);
    }
};

TEST_F(GcTest, WhatIsListedStays) {
    publish(0, 10);
    for (const char *kind : {"packs", "manifests"}) make_older(objects(kind).front(), 80);
    EXPECT_THAT(gc(), HasSubstr("0 manifests and 0 packs removed"));
    second_.start(kDriver);
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 10);
}

TEST_F(GcTest, PacksThatNobodyListsGoWhenTheyAreADayOld) {
    publish(0, 10);
    const fs::path orphan = write_orphan();
    EXPECT_THAT(gc(), HasSubstr("0 packs removed"));
    make_older(orphan, 1);
    EXPECT_THAT(gc({"--dry-run"}), HasSubstr("would be: 0 manifests and 1 pack removed"));
    EXPECT_TRUE(fs::exists(orphan));
    EXPECT_THAT(gc(), HasSubstr("1 pack removed"));
    EXPECT_FALSE(fs::exists(orphan));
    EXPECT_EQ(objects("packs").size(), 1u);
}

TEST_F(GcTest, WhatANewerVersionMayListStays) {
    publish(0, 10);
    const fs::path orphan = write_orphan();
    make_older(orphan, 2);
    const std::string content =
        "a manifest of another version, with a trailer" + std::string(128, 'x');
    const fs::path manifest =
        objects("manifests").front().parent_path() / fleet::manifest_name(1, as_bytes(content));
    std::ofstream(manifest, std::ios::binary) << content;
    const Finished done = Machine().cairn({"remote", "gc", "--remote", url_});
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_THAT(done.standard_error, HasSubstr("of another version of Cairn"));
    EXPECT_TRUE(fs::exists(orphan));
    make_older(manifest, 91);
    EXPECT_THAT(gc(), HasSubstr("1 manifest and 1 pack removed"));
    EXPECT_FALSE(fs::exists(orphan));
}

TEST_F(GcTest, OldGenerationsGoWithTheirPacks) {
    publish(0, 10);
    make_older(objects("manifests").front(), 31);
    make_older(objects("packs").front(), 31);
    EXPECT_THAT(gc(), HasSubstr("0 manifests"));
    EXPECT_THAT(gc({"--max-age", "30"}), HasSubstr("1 manifest and 1 pack removed"));
    EXPECT_TRUE(objects("manifests").empty());
    EXPECT_TRUE(objects("packs").empty());
    // The machine publishes again what it has.
    EXPECT_THAT(push(first_), HasSubstr("pushed 10 entries"));
}

TEST_F(GcTest, TheOldestGoWhereThereIsTooMuch) {
    publish(0, 10);
    make_older(objects("manifests").front(), 5);
    make_older(objects("packs").front(), 5);
    const Machine other;
    other.make_key("farm");
    other.put_programs(kDriver, 10, 20);
    other.done({"push", "--remote", url_, "--sign", "farm", "game"});
    ASSERT_EQ(objects("packs").size(), 2u);
    const std::uintmax_t sum =
        fs::file_size(objects("packs")[0]) + fs::file_size(objects("packs")[1]);
    EXPECT_THAT(gc({"--max-bytes", "1G"}), HasSubstr("0 manifests"));
    EXPECT_THAT(gc({"--max-bytes", std::to_string(sum * 3 / 4)}),
                HasSubstr("1 manifest and 1 pack"));
    second_.trust(other.key("farm"));
    second_.start(kDriver);
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 10, 20), 10);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 0);
}

TEST_F(GcTest, AManifestInUseIsWrittenAnewOnceAWeek) {
    publish(0, 10);
    const fs::path young = objects("manifests").front();
    push(first_);
    EXPECT_EQ(objects("manifests").front(), young);
    const fs::path old = rewrite_as_of(young, /*days_ago=*/8);
    push(first_);
    ASSERT_EQ(objects("manifests").size(), 1u);
    EXPECT_NE(objects("manifests").front(), old);
}

// A clock that was wrong when they were written.
TEST_F(GcTest, ObjectsOfTheFutureAreYoung) {
    publish(0, 10);
    const fs::path orphan = write_orphan();
    for (const fs::path &path : {objects("manifests").front(), objects("packs")[0], orphan}) {
        make_older(path, -400);
    }
    EXPECT_THAT(gc(), HasSubstr("0 manifests and 0 packs removed"));
    EXPECT_THAT(gc({"--max-age", "1"}), HasSubstr("0 manifests and 0 packs removed"));
    second_.start(kDriver);
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 10);
}

TEST_F(GcTest, AManifestOfTheFutureIsTakenAndWrittenAnew) {
    publish(0, 10);
    const fs::path of_future = rewrite_as_of(objects("manifests").front(), /*days_ago=*/-400);
    second_.start(kDriver);
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 10);
    EXPECT_THAT(gc({"--max-age", "1"}), HasSubstr("0 manifests and 0 packs removed"));
    push(first_);
    ASSERT_EQ(objects("manifests").size(), 1u);
    EXPECT_NE(objects("manifests").front(), of_future);
}

TEST_F(GcTest, AnEmptyRemoteIsNoFailure) {
    EXPECT_THAT(gc(), HasSubstr("0 manifests and 0 packs removed"));
}

}  // namespace
}  // namespace cairn::fleet_test
