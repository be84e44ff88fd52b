// SPDX-License-Identifier: MIT
// `cairn key`: the files of keys before and after, and those that count as none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "keys.h"
#include "output.h"
#include "pack/testing/packs.h"
#include "packs.h"
#include "program.h"
#include "signature.h"

namespace cairn::cli_test {
namespace {

namespace fs = std::filesystem;

using cli::NamedKey;
using cli::SecretKey;
using ::testing::HasSubstr;

constexpr fs::perms kGroupWrites = fs::perms::group_write;

class KeyTest : public ::testing::Test {
  protected:
    KeyTest() {
        fs::create_directory(home_);
        fs::create_directory(root_);
        fs::permissions(root_, fs::perms::owner_all);
        environment_ = {{"HOME", home_},
                        {"XDG_CONFIG_HOME", ""},
                        {"SUDO_UID", ""},
                        {"USER", "sam"},
                        {"CAIRN_DIR", root_}};
    }
    Finished run(const std::vector<std::string> &arguments, const Environment &more = {}) const {
        std::vector<std::string> words = {"key"};
        words.insert(words.end(), arguments.begin(), arguments.end());
        Environment environment = environment_;
        for (const auto &[name, value] : more) environment[name] = value;
        return cairn(words, environment);
    }
    // The part of a key in `cairn key ls --json`; null: it is not listed.
    nlohmann::json listed(const std::string &name, int exit_code = 0) const {
        const Finished finished = run({"ls", "--json"});
        EXPECT_EQ(finished.exit_code, exit_code) << finished.standard_error;
        const auto json = nlohmann::json::parse(finished.standard_output);
        for (const auto &key : json["keys"]) {
            if (key["name"] == name) return key;
        }
        return nullptr;
    }
    // What the other commands ask about a key, with the environment of this test.
    template <typename Ask>
    auto ask(Ask ask) const {
        for (const auto &[name, value] : environment_) {
            value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
        }
        return ask();
    }
    std::string line_of(const NamedKey &key) const { return cli::encode_key(key); }
    // Somebody else's key.
    NamedKey other(const std::string &name) const { return {name, other_.public_key()}; }
    // An installed pack that this key has signed, or no key.
    std::string install(const std::string &name, const SecretKey *key) const {
        const std::string path = root_ + "/.packs/" + name;
        fs::create_directories(fs::path(path).parent_path());
        const std::string body = "what is in " + name;
        std::ofstream(path, std::ios::binary) << body;
        cli::TrailerBytes trailer = {};
        if (key != nullptr) {
            auto file = Directory::working().open_file(path, Access::read_only);
            trailer = cli::encode_trailer(cli::sign_file(*file, path, body.size(), *key));
        }
        std::ofstream(path, std::ios::binary | std::ios::app)
            .write(reinterpret_cast<const char *>(trailer.data()), trailer.size());
        return path;
    }
    // An installed pack without a signature, which says so of its signers.
    std::string install_merged(const std::string &name, const std::string &about) const {
        const std::string path = root_ + "/.packs/" + name;
        fs::create_directories(fs::path(path).parent_path());
        cairn::testing::write_pack(path, {{.entries = {{"key", "value"}}}}, about);
        return path;
    }
    static std::string signed_by(const SecretKey &key) {
        return "Signed by: " + cli::fingerprint(key.public_key()) + "\n";
    }
    void chmod(const std::string &path, fs::perms permissions) const {
        fs::permissions(path, permissions, fs::perm_options::add);
    }

    const Folder folder_;
    const std::string home_ = folder_ / "home";
    const std::string root_ = folder_ / "root";
    const std::string keys_ = home_ + "/.config/cairn/keys";
    const std::string trusted_ = home_ + "/.config/cairn/trusted";
    const std::string revoked_ = home_ + "/.config/cairn/revoked";
    const SecretKey other_ = SecretKey::make();
    Environment environment_;
};

TEST_F(KeyTest, AKeyThatIsMadeIsSecretAndTrusted) {
    const Finished made = run({"create", "studio"});
    EXPECT_EQ(made.exit_code, 0) << made.standard_error;
    EXPECT_EQ(fs::status(keys_).permissions(), fs::perms::owner_all);
    EXPECT_EQ(fs::status(keys_ + "/studio.secret").permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
    const auto key = listed("studio");
    ASSERT_FALSE(key.is_null());
    EXPECT_TRUE(key["own"]);
    EXPECT_TRUE(key["trusted"]);
    EXPECT_FALSE(key["revoked"]);
    EXPECT_THAT(made.standard_output, HasSubstr(key["fingerprint"].get<std::string>()));
    const Finished exported = run({"export", "studio"});
    EXPECT_EQ(exported.standard_output, key["key"].get<std::string>() + "\n");
    const auto decoded = cli::decode_key(exported.standard_output);
    ASSERT_TRUE(decoded);
    const SecretKey secret = ask([] { return cli::load_secret_key("studio"); });
    EXPECT_EQ(secret.public_key(), decoded->key);
    EXPECT_EQ(ask([&] { return cli::trusted_name(decoded->key); }), "studio");
    EXPECT_EQ(read_file(trusted_ + "/studio.key").find("secret"), std::string::npos);
}

TEST_F(KeyTest, AKeyWithoutANameHasTheUsers) {
    EXPECT_EQ(run({"create"}).exit_code, 0);
    EXPECT_TRUE(fs::exists(keys_ + "/sam.secret"));
    EXPECT_EQ(run({"create"}, {{"USER", ""}}).exit_code, 2);
    EXPECT_EQ(run({"create"}, {{"USER", "../x"}}).exit_code, 2);
}

TEST_F(KeyTest, NoKeyIsOverwritten) {
    EXPECT_EQ(run({"create", "studio"}).exit_code, 0);
    const std::string secret = read_file(keys_ + "/studio.secret");
    EXPECT_EQ(run({"create", "studio"}).exit_code, 1);
    EXPECT_THAT(run({"trust", line_of(other("studio"))}).standard_error,
                HasSubstr("another key has the name `studio`"));
    EXPECT_EQ(read_file(keys_ + "/studio.secret"), secret);
    // Not even one that cannot be read.
    std::ofstream(keys_ + "/damaged.secret") << "x";
    fs::permissions(keys_ + "/damaged.secret", fs::perms::owner_read);
    EXPECT_EQ(run({"create", "damaged"}).exit_code, 1);
    EXPECT_EQ(read_file(keys_ + "/damaged.secret"), "x");
    EXPECT_FALSE(fs::exists(trusted_ + "/damaged.key"));
}

TEST_F(KeyTest, AKeyIsTrustedByItsFileItsTextOrStandardInput) {
    const std::string file = folder_.write("some.key", line_of(other("studio")) + "\n");
    EXPECT_EQ(run({"trust", file}).exit_code, 0);
    EXPECT_TRUE(listed("studio")["trusted"]);
    EXPECT_FALSE(listed("studio")["own"]);
    const Finished again = run({"trust", line_of(other("studio"))});
    EXPECT_EQ(again.exit_code, 0);
    EXPECT_THAT(again.standard_output, HasSubstr("trusted already"));
    const SecretKey third = SecretKey::make();
    EXPECT_EQ(run({"trust", "--name", "games", line_of({"studio", third.public_key()})}).exit_code,
              0);
    EXPECT_TRUE(listed("games")["trusted"]);
    const std::string input =
        folder_.write("input", line_of({"piped", SecretKey::make().public_key()}) + "\n");
    EXPECT_EQ(cairn({"key", "trust", "-"}, environment_, input).exit_code, 0);
    EXPECT_TRUE(listed("piped")["trusted"]);
}

TEST_F(KeyTest, AHostileKeyIsRefusedAndNothingIsWritten) {
    const std::string line = line_of(other("studio"));
    const std::string zeroes = "cairn-key-1 " + cli::base64(cli::PublicKey().bytes) + " studio";
    for (const std::string &text :
         {std::string(), std::string("\0\0\0\0", 4), line.substr(0, 40), line + " more", zeroes,
          "cairn-key-1 " + line.substr(12, 44) + " ../../x", std::string(1 << 20, 'A'),
          line + "\n" + line, std::string("cairn-secret-key-1 a b c")}) {
        const Finished finished = run({"trust", folder_.write("some.key", text)});
        EXPECT_EQ(finished.exit_code, 1) << text.substr(0, 100);
        EXPECT_THAT(finished.standard_error, HasSubstr("is no key"));
    }
    EXPECT_EQ(run({"trust", zeroes}).exit_code, 1);
    EXPECT_EQ(run({"trust", folder_ / "missing"}).exit_code, 1);
    EXPECT_EQ(run({"trust", folder_.path().string()}).exit_code, 1);
    EXPECT_EQ(run({"trust", "/dev/zero"}).exit_code, 1);
    EXPECT_EQ(run({"trust", "--name", "../x", line}).exit_code, 2);
    EXPECT_FALSE(fs::exists(trusted_));
    EXPECT_FALSE(fs::exists(home_ + "/.config/x.key"));
}

TEST_F(KeyTest, ARevokedKeyIsKnownAndNeverTrustedAgain) {
    const NamedKey key = other("studio");
    EXPECT_EQ(run({"trust", line_of(key)}).exit_code, 0);
    const Finished finished = run({"revoke", "studio"});
    EXPECT_EQ(finished.exit_code, 0) << finished.standard_error;
    EXPECT_FALSE(fs::exists(trusted_ + "/studio.key"));
    EXPECT_TRUE(fs::exists(revoked_ + "/studio.key"));
    EXPECT_TRUE(listed("studio")["revoked"]);
    EXPECT_EQ(ask([&] { return cli::trusted_name(key.key); }), std::nullopt);
    EXPECT_EQ(ask([&] { return cli::revoked_name(key.key); }), "studio");
    EXPECT_THAT(run({"trust", "--name", "another", line_of(key)}).standard_error,
                HasSubstr("was revoked, as `studio`"));
    // Nor where somebody puts it back by hand, as a backup does.
    std::ofstream(trusted_ + "/back.key") << line_of(key);
    EXPECT_EQ(ask([&] { return cli::trusted_name(key.key); }), std::nullopt);
    EXPECT_FALSE(listed("back")["trusted"]);
    EXPECT_EQ(run({"revoke", "studio"}).exit_code, 0) << "once more";
    EXPECT_FALSE(fs::exists(trusted_ + "/back.key"));
}

TEST_F(KeyTest, ARevokedKeyOfOnesOwnSignsNoMore) {
    EXPECT_EQ(run({"create", "me"}).exit_code, 0);
    EXPECT_EQ(run({"revoke", "me"}).exit_code, 0);
    EXPECT_THROW(ask([] { return cli::load_secret_key("me"); }), cli::Failure);
    EXPECT_EQ(run({"export", "me"}).exit_code, 1);
    EXPECT_TRUE(listed("me")["revoked"]);
}

TEST_F(KeyTest, ANameCanBeUsedAgainForTheNextKey) {
    const std::vector<SecretKey> keys = [] {
        std::vector<SecretKey> made;
        for (int i = 0; i < 3; ++i) made.push_back(SecretKey::make());
        return made;
    }();
    for (const SecretKey &key : keys) {
        EXPECT_EQ(run({"trust", line_of({"studio", key.public_key()})}).exit_code, 0);
        EXPECT_EQ(run({"revoke", "studio"}).exit_code, 0);
    }
    for (const SecretKey &key : keys) {
        EXPECT_EQ(ask([&] { return cli::revoked_name(key.public_key()); }), "studio");
    }
    EXPECT_THAT(run({"revoke", "studio"}).standard_error, HasSubstr("several keys"));
}

TEST_F(KeyTest, AFingerprintNamesAKeyToo) {
    EXPECT_EQ(run({"trust", line_of(other("studio"))}).exit_code, 0);
    const std::string fingerprint = cli::fingerprint(other_.public_key());
    EXPECT_EQ(run({"export", fingerprint}).standard_output, line_of(other("studio")) + "\n");
    EXPECT_EQ(run({"revoke", fingerprint}).exit_code, 0);
    EXPECT_TRUE(fs::exists(revoked_ + "/studio.key"));
    const Finished slip = run({"revoke", "studoi"});
    EXPECT_EQ(slip.exit_code, 1);
    EXPECT_THAT(slip.standard_error, HasSubstr("did you mean `studio`"));
}

TEST_F(KeyTest, RevokingAKeyRemovesWhatItSigned) {
    const SecretKey kept = SecretKey::make();
    EXPECT_EQ(run({"trust", line_of(other("studio"))}).exit_code, 0);
    const std::vector<std::string> gone = {install("gl-game/a.pack", &other_),
                                           install("gl-game/b.pack", &other_),
                                           install("engine/a.pack", &other_)};
    const std::vector<std::string> stay = {install("gl-game/c.pack", &kept),
                                           install("gl-game/d.pack", nullptr),
                                           install("gl-game/e.pack.bak", &other_)};
    // Damaged elsewhere, it still names the key; cut short it does not, and is no pack for anyone.
    std::fstream(gone[1]) << "damaged";
    std::ofstream(root_ + "/.packs/gl-game/short.pack") << "x";
    std::ofstream(root_ + "/.packs/a-file") << "x";
    fs::create_directory(root_ + "/.packs/gl-game/folder.pack");
    fs::create_symlink("/nowhere", root_ + "/.packs/gl-game/link.pack");
    const Finished finished = run({"revoke", "studio"});
    EXPECT_EQ(finished.exit_code, 0) << finished.standard_error;
    for (const std::string &path : gone) {
        EXPECT_FALSE(fs::exists(path)) << path;
        EXPECT_THAT(finished.standard_output, HasSubstr("Removed " + path));
    }
    for (const std::string &path : stay) EXPECT_TRUE(fs::exists(path)) << path;
    const std::string late = install("gl-game/a.pack", &other_);
    EXPECT_EQ(run({"revoke", "studio"}).exit_code, 0);
    EXPECT_FALSE(fs::exists(late)) << "as after an installation that was going on";
}

TEST_F(KeyTest, RevokingAKeyRemovesWhatWasMergedFromItsPacks) {
    const SecretKey kept = SecretKey::make();
    EXPECT_EQ(run({"trust", line_of(other("studio"))}).exit_code, 0);
    const std::string both = "Of a fleet\n" + signed_by(kept) + signed_by(other_);
    const std::string no_line_end = both.substr(0, both.size() - 1);
    std::string shouted = signed_by(other_);
    std::ranges::transform(shouted, shouted.begin(), ::toupper);
    const std::vector<std::string> gone = {
        install_merged("gl-game/fleet-1.pack", both),
        install_merged("gl-game/fleet-2.pack", signed_by(other_)),
        install_merged("engine/fleet-1.pack", no_line_end),
        install("engine/fleet-2.pack", &other_)};
    const std::vector<std::string> stay = {
        install_merged("gl-game/fleet-3.pack", signed_by(kept)),
        install_merged("gl-game/fleet-4.pack", "Not " + signed_by(other_)),
        install_merged("gl-game/fleet-5.pack", shouted),
        install_merged("gl-game/fleet-6.pack", ""),
        install_merged("gl-game/game.pack", both),
        install_merged("fleet-7/game.pack", both),
        install("gl-game/fleet-8.pack", &kept)};
    const Finished finished = run({"revoke", "studio"});
    EXPECT_EQ(finished.exit_code, 0) << finished.standard_error;
    for (const std::string &path : gone) {
        EXPECT_FALSE(fs::exists(path)) << path;
        EXPECT_THAT(finished.standard_output, HasSubstr("Removed " + path));
    }
    for (const std::string &path : stay) EXPECT_TRUE(fs::exists(path)) << path;
}

TEST_F(KeyTest, AMergedPackWhoseSignersCannotBeReadIsRemovedWithAnyKey) {
    const SecretKey kept = SecretKey::make();
    EXPECT_EQ(run({"trust", line_of(other("studio"))}).exit_code, 0);
    const std::string damaged = install_merged("gl-game/fleet-1.pack", signed_by(kept));
    const std::string newer = install_merged("gl-game/fleet-2.pack", signed_by(kept));
    const std::string none = install_merged("gl-game/fleet-3.pack", signed_by(kept));
    const std::string bytes = read_file(damaged);
    const size_t about = bytes.find(signed_by(kept));
    ASSERT_NE(about, std::string::npos);
    std::fstream(damaged).seekp(static_cast<std::streamoff>(about)) << "Damaged";
    for (size_t at = 0; (at = bytes.find("CAIRNPCK", at)) != std::string::npos; ++at) {
        std::fstream(newer).seekp(static_cast<std::streamoff>(at) + 8) << '\2';
        std::fstream(none).seekp(static_cast<std::streamoff>(at)) << "x";
    }
    EXPECT_EQ(run({"revoke", "studio"}).exit_code, 0);
    EXPECT_FALSE(fs::exists(damaged));
    EXPECT_FALSE(fs::exists(newer)) << "of another format version";
    EXPECT_TRUE(fs::exists(none)) << "no application takes it for a pack";
}

TEST_F(KeyTest, APackThatCannotBeRemovedIsNamedAndTheOthersAreGone) {
    EXPECT_EQ(run({"trust", line_of(other("studio"))}).exit_code, 0);
    const std::string first = install("a/x.pack", &other_);
    const std::string locked = install("b/x.pack", &other_);
    const std::string last = install("c/x.pack", &other_);
    fs::permissions(root_ + "/.packs/b", fs::perms::owner_read | fs::perms::owner_exec);
    if (::access((root_ + "/.packs/b").c_str(), W_OK) == 0) {
        GTEST_SKIP() << "this user may write everywhere";
    }
    const Finished finished = run({"revoke", "studio"});
    EXPECT_EQ(finished.exit_code, 1);
    EXPECT_THAT(finished.standard_error, HasSubstr("cannot remove " + locked));
    EXPECT_FALSE(fs::exists(first));
    EXPECT_FALSE(fs::exists(last));
    EXPECT_TRUE(listed("studio")["revoked"]);
    fs::permissions(root_ + "/.packs/b", fs::perms::owner_all);
    EXPECT_EQ(run({"revoke", "studio"}).exit_code, 0);
    EXPECT_FALSE(fs::exists(locked));
}

TEST_F(KeyTest, AFileThatOthersMayWriteCountsAsNoKey) {
    const NamedKey key = other("studio");
    EXPECT_EQ(run({"trust", line_of(key)}).exit_code, 0);
    for (const std::string &path : {trusted_ + "/studio.key", trusted_, home_ + "/.config/cairn"}) {
        const fs::perms before = fs::status(path).permissions();
        for (const fs::perms more : {kGroupWrites, fs::perms::others_write}) {
            chmod(path, more);
            EXPECT_TRUE(listed("studio", 1).is_null()) << path;
            EXPECT_THAT(run({"ls"}).standard_error,
                        HasSubstr("others may write " + path + ", so it counts as no key"));
            fs::permissions(path, before);
        }
        EXPECT_TRUE(listed("studio")["trusted"]) << path;
    }
    chmod(trusted_, kGroupWrites);
    EXPECT_EQ(ask([&] { return cli::trusted_name(key.key); }), std::nullopt);
    EXPECT_EQ(run({"create", "me"}).exit_code, 1) << "nothing is added where others may write";
    EXPECT_FALSE(fs::exists(keys_ + "/me.secret"));
    EXPECT_EQ(run({"trust", line_of({"more", SecretKey::make().public_key()})}).exit_code, 1);
}

TEST_F(KeyTest, ASecretThatOthersMayReadIsNotUsed) {
    EXPECT_EQ(run({"create", "me"}).exit_code, 0);
    for (const std::string &path : {keys_ + "/me.secret", keys_}) {
        const fs::perms before = fs::status(path).permissions();
        for (const fs::perms more : {fs::perms::group_read, fs::perms::others_read, kGroupWrites}) {
            chmod(path, more);
            EXPECT_THROW(ask([] { return cli::load_secret_key("me"); }), cli::Failure) << path;
            EXPECT_THAT(run({"ls"}).standard_error, HasSubstr(path + ", so it counts as no key"));
            fs::permissions(path, before);
        }
        EXPECT_NO_THROW(ask([] { return cli::load_secret_key("me"); })) << path;
    }
}

TEST_F(KeyTest, LinksAreNoKeys) {
    const NamedKey key = other("studio");
    EXPECT_EQ(run({"trust", line_of(key)}).exit_code, 0);
    const std::string moved = folder_ / "moved.key";
    fs::rename(trusted_ + "/studio.key", moved);
    fs::create_symlink(moved, trusted_ + "/studio.key");
    EXPECT_TRUE(listed("studio", 1).is_null());
    EXPECT_THAT(run({"ls"}).standard_error, HasSubstr("studio.key is a link or no file"));
    fs::remove(trusted_ + "/studio.key");
    ASSERT_EQ(::mkfifo((trusted_ + "/studio.key").c_str(), 0600), 0);
    EXPECT_TRUE(listed("studio", 1).is_null()) << "and nobody waits for a writer";
    fs::remove(trusted_ + "/studio.key");
    fs::rename(moved, trusted_ + "/studio.key");
    fs::rename(trusted_, folder_ / "elsewhere");
    fs::create_symlink(folder_ / "elsewhere", trusted_);
    EXPECT_TRUE(listed("studio", 1).is_null());
    EXPECT_THAT(run({"ls"}).standard_error, HasSubstr("no link to one"));
    // The folder of the whole configuration may be one, as of those who keep it under version control.
    fs::remove(trusted_);
    fs::rename(folder_ / "elsewhere", trusted_);
    fs::rename(home_ + "/.config/cairn", folder_ / "kept");
    fs::create_symlink(folder_ / "kept", home_ + "/.config/cairn");
    EXPECT_TRUE(listed("studio")["trusted"]);
    EXPECT_EQ(run({"create", "me"}).exit_code, 0);
}

TEST_F(KeyTest, DamagedKeysAreNamedAndTheOthersCount) {
    EXPECT_EQ(run({"create", "me"}).exit_code, 0);
    EXPECT_EQ(run({"trust", line_of(other("studio"))}).exit_code, 0);
    std::ofstream(trusted_ + "/damaged.key") << "cairn-key-1 AAAA damaged";
    std::ofstream(trusted_ + "/huge.key") << std::string(1 << 20, 'x');
    std::ofstream(trusted_ + "/empty.key");
    std::ofstream(trusted_ + "/bad name\x1b[2J.key") << line_of(other("x"));
    std::ofstream(trusted_ + "/notes.txt") << "not a key";
    const Finished finished = run({"ls"});
    EXPECT_EQ(finished.exit_code, 1);
    EXPECT_EQ(finished.standard_error.find('\x1b'), std::string::npos);
    for (const char *name : {"damaged.key", "huge.key", "empty.key", "bad name"}) {
        EXPECT_THAT(finished.standard_error, HasSubstr(name));
    }
    EXPECT_THAT(finished.standard_error, ::testing::Not(HasSubstr("notes.txt")));
    EXPECT_TRUE(listed("studio", 1)["trusted"]);
    // A secret whose halves do not belong together.
    std::string secret = read_file(keys_ + "/me.secret");
    const size_t at = secret.find(' ') + 5;
    secret[at] = secret[at] == 'A' ? 'B' : 'A';
    std::ofstream(keys_ + "/me.secret") << secret;
    EXPECT_THROW(ask([] { return cli::load_secret_key("me"); }), cli::Failure);
}

// Or damage to a file would make a key count again.
TEST_F(KeyTest, WhereTheRevokedKeysCannotBeReadNothingIsTrusted) {
    const NamedKey key = other("studio");
    EXPECT_EQ(run({"trust", line_of(key)}).exit_code, 0);
    fs::create_directory(revoked_);
    fs::permissions(revoked_, fs::perms::owner_all);
    std::ofstream(revoked_ + "/old.key") << "damaged";
    EXPECT_THROW(ask([&] { return cli::trusted_name(key.key); }), cli::Failure);
    const Finished finished = run({"trust", line_of({"more", SecretKey::make().public_key()})});
    EXPECT_EQ(finished.exit_code, 1);
    EXPECT_THAT(finished.standard_error, HasSubstr("it is not known which keys were revoked"));
    fs::remove(revoked_ + "/old.key");
    EXPECT_EQ(ask([&] { return cli::trusted_name(key.key); }), "studio");
}

TEST_F(KeyTest, SudoIsRefused) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be made by sudo";
    EXPECT_EQ(run({"create", "me"}, {{"SUDO_UID", "1000"}}).exit_code, 1);
    EXPECT_FALSE(fs::exists(home_ + "/.config"));
}

TEST_F(KeyTest, SeveralAtOnceLoseNothing) {
    std::vector<std::unique_ptr<Program>> programs;
    for (int i = 0; i < 12; ++i) {
        // Two at a time want one name.
        const std::string name = "key-" + std::to_string(i / 2);
        programs.push_back(
            std::make_unique<Program>(cairn_command({"key", "create", name}), environment_));
    }
    const auto made = std::ranges::count_if(programs, [](auto &each) { return each->wait() == 0; });
    EXPECT_EQ(made, 6);
    const Finished finished = run({"ls", "--json"});
    EXPECT_EQ(finished.exit_code, 0);
    const auto json = nlohmann::json::parse(finished.standard_output);
    ASSERT_EQ(json["keys"].size(), 6u);
    for (const auto &key : json["keys"]) EXPECT_TRUE(key["own"] && key["trusted"]) << key;
}

}  // namespace
}  // namespace cairn::cli_test
