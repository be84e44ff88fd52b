// SPDX-License-Identifier: MIT
// The storage is trusted for nothing: who may write it can hide what is there, and no more.
#include <gmock/gmock.h>

#include <algorithm>

#include "fleet_fixture.h"
#include "manifest_format.h"
#include "shelf.h"

namespace cairn::fleet_test {
namespace {

using ::testing::HasSubstr;

constexpr const char *kDriver = "driver 1";

class TrustTest : public FleetTest {
  protected:
    TrustTest() {
        first_.put_programs(kDriver, 0, 10);
        push(first_);
        second_.start(kDriver);
    }
    // A pull that takes nothing, and says why.
    void expect_nothing(const std::string &why) const {
        const Finished done = second_.cairn(pull_words());
        EXPECT_THAT(done.standard_error, HasSubstr(why));
        EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 0);
    }
    static void overwrite(const fs::path &path, const std::string &content) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    }
};

TEST_F(TrustTest, NothingCountsThatNoTrustedKeyHasSigned) {
    const Machine third;
    third.start(kDriver);
    const Finished done = third.cairn(pull_words());
    EXPECT_EQ(done.exit_code, 1) << "a fleet that shares nothing is no success";
    EXPECT_THAT(done.standard_error, HasSubstr("signed by a key that you do not trust"));
    EXPECT_EQ(third.programs_found(kDriver, 0, 10), 0);
}

TEST_F(TrustTest, TrustCanBeNarrowedForARemote) {
    const Machine other;
    other.make_key("farm");
    second_.trust(other.key("farm"));
    other.put_programs(kDriver, 10, 20);
    other.done({"push", "--remote", url_, "--sign", "farm", "game"});
    Words words = pull_words();
    words.insert(words.end(), {"--trust", "farm"});
    second_.done(words);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 20), 10);
    EXPECT_EQ(second_.programs_found(kDriver, 10, 20), 10);
    words.back() = "nobody";
    EXPECT_THAT(second_.cairn(words).standard_error, HasSubstr("you trust no key `nobody`"));
}

TEST_F(TrustTest, ARevokedKeyTakesWithItWhatItSigned) {
    const Machine other;
    other.make_key("farm");
    second_.trust(other.key("farm"));
    other.put_programs(kDriver, 10, 20);
    other.done({"push", "--remote", url_, "--sign", "farm", "game"});
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 20), 20);
    second_.done({"key", "revoke", "farm"});
    EXPECT_EQ(second_.programs_found(kDriver, 0, 20), 0);
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 20), 10);
    EXPECT_EQ(second_.programs_found(kDriver, 10, 20), 0);
}

TEST_F(TrustTest, WhatAKeySignedThatIsTrustedNoMoreIsNotKept) {
    pull(second_);
    const Machine other;
    other.make_key("farm");
    second_.trust(other.key("farm"));
    fs::remove(second_.configuration() + "/trusted/ci.key");
    other.put_programs(kDriver, 10, 20);
    other.done({"push", "--remote", url_, "--sign", "farm", "game"});
    (void)second_.cairn(pull_words());
    EXPECT_EQ(second_.programs_found(kDriver, 0, 20), 10);
}

TEST_F(TrustTest, RevokingAKeyTakesWhatTheAgentKeeps) {
    const fs::path kept = second_.root() + "/.fleet/packs/x",
                   wanted = second_.root() + "/.fleet/wanted/x";
    for (const fs::path &each : {kept, wanted}) {
        fs::create_directories(each.parent_path());
        overwrite(each, "something");
    }
    second_.done({"key", "revoke", "ci"});
    EXPECT_FALSE(fs::exists(kept));
    EXPECT_FALSE(fs::exists(wanted));
}

TEST_F(TrustTest, WhatAMachinePublishesCountsForItselfWhomeverItTrusts) {
    const Machine other;
    other.make_key("farm");
    first_.trust(other.key("farm"));
    first_.put_programs(kDriver, 10, 12);
    Words words = push_words();
    words.insert(words.end(), {"--trust", "farm"});
    EXPECT_THAT(first_.done(words), HasSubstr("pushed 2 entries"));
    EXPECT_THAT(first_.done(words), HasSubstr("nothing new"));
    EXPECT_EQ(objects("manifests").size(), 1u);
}

TEST_F(TrustTest, WhatNobodyHasSignedDoesNotFillTheDisk) {
    const std::string content(1'000'000, 'x');
    const fs::path folder = objects("manifests").front().parent_path();
    for (int i = 1; i < 10; ++i) {
        const std::string junk = content + std::to_string(i);
        overwrite(folder / fleet::manifest_name(static_cast<std::uint64_t>(i), as_bytes(junk)),
                  junk);
    }
    pull(second_);
    std::uintmax_t bytes = 0;
    for (const auto &each :
         fs::recursive_directory_iterator(second_.root() + "/.fleet/manifests")) {
        bytes += each.is_regular_file() ? each.file_size() : 0u;
    }
    EXPECT_GT(bytes, 0u);
    EXPECT_LT(bytes, fleet::kRefusedBytesMax + 100'000);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 10) << "what is signed counts all the same";
}

TEST_F(TrustTest, AReaderCannotPublish) {
    second_.put_programs(kDriver, 10, 20);
    const Finished refused = second_.cairn({"push", "--remote", url_, "--sign", "ci", "game"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.standard_error, HasSubstr("there is no key `ci` to sign with"));
}

TEST_F(TrustTest, AManifestWithAnyOtherByteDoesNotCount) {
    const fs::path path = objects("manifests").front();
    const std::string whole = cli_test::read_file(path);
    for (std::size_t at = 0; at < whole.size(); at += std::max<std::size_t>(whole.size() / 7, 1)) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        overwrite(path, changed);
        expect_nothing("a manifest is not what its name says");
    }
    overwrite(path, whole);
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 10);
}

// By the bytes that come in: what counts and what does not is fetched once.
TEST_F(TrustTest, EachManifestIsFetchedOnceWhetherItCountsOrNot) {
    Machine stranger;
    stranger.make_key("stranger");
    stranger.put_programs(kDriver, 20, 40);
    stranger.done({"push", "--remote", url_, "--sign", "stranger", "game"});
    pull(second_);
    const auto bytes_in = [&] { return status(second_)["so_far"]["bytes_in"].get<int>(); };
    const int before = bytes_in();
    for (int i = 0; i < 5; ++i) pull(second_);
    EXPECT_EQ(bytes_in(), before);
    // Another remote has others, which do not take the place of these.
    const std::string other = "file://" + folder_ / "other";
    fs::create_directory(folder_ / "other");
    first_.done({"push", "--remote", other, "--sign", "ci", "game"});
    const Words both = {"pull", "--remote", url_, "--remote", other, "game"};
    second_.done(both);
    second_.done(both);
    EXPECT_EQ(bytes_in(), before);
    // A copy that is damaged is made anew, and once.
    for (const auto &each :
         fs::recursive_directory_iterator(second_.root() + "/.fleet/manifests")) {
        if (!each.is_regular_file()) continue;
        overwrite(each.path(), std::string(each.file_size(), '\0'));
    }
    pull(second_);
    const int after = bytes_in();
    EXPECT_GT(after, before);
    pull(second_);
    EXPECT_EQ(bytes_in(), after);
    // One that comes to be trusted is read from here.
    second_.trust(stranger.key("stranger"));
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 20, 40), 20);
}

TEST_F(TrustTest, AManifestOfAnotherPlaceDoesNotCount) {
    const fs::path path = objects("manifests").front();
    const fs::path folder = path.parent_path();
    const fs::path driver = folder.parent_path();
    // Of another application.
    const fs::path other = driver.parent_path().parent_path() / "gl-other" / driver.filename();
    fs::create_directories(other.parent_path());
    fs::copy(driver, other, fs::copy_options::recursive);
    const Finished done = second_.cairn({"pull", "--all-drivers", "--remote", url_, "other"});
    EXPECT_THAT(done.standard_error, HasSubstr("of another place"));
    // Of another namespace, and of another machine.
    fs::copy(storage_ + "/cairn", storage_ + "/elsewhere", fs::copy_options::recursive);
    EXPECT_THAT(second_.cairn({"pull", "--namespace", "elsewhere", "--remote", url_, "game"})
                    .standard_error,
                HasSubstr("of another place"));
    std::string name = path.filename();
    name[0] = name[0] == '0' ? '1' : '0';
    fs::rename(path, folder / name);
    expect_nothing("of another place");
}

TEST_F(TrustTest, APackThatIsNotWhatWasListedIsNotTaken) {
    const fs::path path = objects("packs").front();
    const std::string whole = cli_test::read_file(path);
    std::string changed = whole;
    changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
    for (const std::string &content :
         {changed, whole.substr(0, whole.size() / 2), std::string("garbage"), std::string()}) {
        overwrite(path, content);
        expect_nothing("a pack is not what was listed");
    }
    overwrite(path, whole + "more");
    (void)second_.cairn(pull_words());
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 0);
    fs::remove(path);
    expect_nothing("a pack that is listed is not there");
}

// It is no trouble of the remote, which would be left alone.
TEST_F(TrustTest, ObjectsThatAreTooLargeHideNoOthers) {
    const fs::path first_pack = objects("packs").front();
    first_.put_programs(kDriver, 10, 20);
    push(first_);
    overwrite(first_pack, cli_test::read_file(first_pack) + "more");
    const fs::path folder = objects("manifests").front().parent_path();
    overwrite(folder / ("0123456789abcdef-" + std::string(64, 'a')),
              std::string(fleet::kManifestMax + 1, 'x'));
    const Finished done = second_.cairn(pull_words());
    EXPECT_EQ(done.exit_code, 0) << done.standard_error;
    EXPECT_THAT(done.standard_error, HasSubstr("a pack is not what was listed"));
    EXPECT_THAT(done.standard_error, HasSubstr("a manifest is not what its name says"));
    EXPECT_EQ(second_.programs_found(kDriver, 0, 20), 10);
    first_.put_programs(kDriver, 20, 30);
    EXPECT_THAT(push(first_), HasSubstr("pushed 10 entries"));
    second_.done({"remote", "gc", "--remote", url_});
}

TEST_F(TrustTest, AnUnsignedPackAndNamesThatCannotBeAreLeftOut) {
    const fs::path folder = objects("manifests").front().parent_path();
    for (const char *name : {"x", "0123456789abcdef-0123", "-", ".hidden"}) {
        overwrite(folder / name, "nonsense");
    }
    overwrite(folder / ("0123456789abcdef-" + std::string(64, 'a')), "nonsense");
    fs::create_directory(folder / ("0123456789abcdef-" + std::string(64, 'b')));
    fs::create_symlink("/etc/passwd", folder / ("0123456789abcdef-" + std::string(64, 'c')));
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 10);
}

// What was listed once is right for ever.
TEST_F(TrustTest, AnOldManifestThatComesBackDoesNoHarm) {
    const fs::path old = objects("manifests").front();
    const std::string content = cli_test::read_file(old);
    const fs::path old_pack = objects("packs").front();
    first_.put_programs(kDriver, 10, 20);
    push(first_);
    overwrite(old, content);
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 20), 20);
    push(first_);
    EXPECT_EQ(objects("manifests").size(), 1u);
    // Where what it lists is gone, too.
    const Machine third;
    third.trust(first_.key("ci"));
    third.start(kDriver);
    overwrite(old, content);
    fs::remove(old_pack);
    (void)third.cairn(pull_words());
    EXPECT_EQ(third.programs_found(kDriver, 0, 20), 10);
}

}  // namespace
}  // namespace cairn::fleet_test
