// SPDX-License-Identifier: MIT
// `cairn pack` on real caches.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <functional>
#include <optional>
#include <thread>

#include "pack/pack_format.h"
#include "pack_fixture.h"

namespace cairn::cli_test {
namespace {

using ::testing::HasSubstr;

TEST_F(PackTest, WhatIsCreatedAndInstalledIsFoundAtTheFirstStart) {
    create({"--about", "Programs of a game"});
    const Finished installed = run({"install", "--unsigned", pack_}, other_);
    ASSERT_EQ(installed.exit_code, 0) << installed.standard_error;
    EXPECT_THAT(installed.standard_error, HasSubstr("drivers will run what is in it as you"));
    for (int i = 0; i < 40; ++i) {
        const std::string key = "key " + std::to_string(i);
        EXPECT_EQ(get_program(other_, "driver 1", key), value(i) + "driver 1");
        EXPECT_EQ(get_program(other_, "driver 2", key), value(i) + "driver 2");
    }
    EXPECT_EQ(get_program(other_, "driver 3", "key 1"), "(miss)");
    EXPECT_TRUE(fs::exists(other_ + "/.packs/gl-game/a.pack"));
    EXPECT_TRUE(fs::exists(other_ + "/.packs/plain/a.pack"));
    EXPECT_THAT(run({"ls"}, other_).standard_output, HasSubstr(".packs/gl-game/a.pack"));
    for (const char *name : {"game", "a.pack"}) {
        EXPECT_EQ(run({"remove", name}, other_).exit_code, 0) << name;
    }
    EXPECT_EQ(run({"remove", "game"}, other_).exit_code, 1);
    EXPECT_TRUE(fs::is_empty(other_ + "/.packs"));
    EXPECT_EQ(get_program(other_, "driver 1", "key 1"), "(miss)");
}

TEST_F(PackTest, InspectSaysWhatIsInIt) {
    create({"--about", "Programs of a game"});
    const Json json = inspect();
    EXPECT_EQ(json["about"], "Programs of a game");
    EXPECT_EQ(json["key"], nullptr);
    ASSERT_EQ(json["parts"].size(), 3u);
    EXPECT_EQ(json["parts"][0]["application"], "gl-game");
    EXPECT_EQ(json["parts"][0]["version"], 2);
    EXPECT_EQ(json["parts"][0]["entries"], 40);
    EXPECT_EQ(json["parts"][0]["start_entries"], 40);
    EXPECT_EQ(json["parts"][2]["identifier"], "plain");
    EXPECT_EQ(json["parts"][2]["version"], 7);
    EXPECT_EQ(json["parts"][2]["cost_us"], 123);
    EXPECT_THAT(run_bare({"inspect", pack_}).standard_output, HasSubstr("Programs of a game"));
    EXPECT_THAT(run_bare({"ls", pack_}).standard_output, HasSubstr("6b65792030"));
    EXPECT_EQ(run_bare({"verify", pack_}).exit_code, 0);
}

TEST_F(PackTest, TheSameCachesGiveTheSameBytes) {
    create();
    const std::string first = read_file(pack_);
    fs::remove(pack_);
    // The entries lie elsewhere in the caches.
    ASSERT_EQ(cairn({"compress", "--all", "--dir", root_}, environment_).exit_code, 0);
    create();
    EXPECT_EQ(read_file(pack_), first);
}

TEST_F(PackTest, OnlySelectedCachesArePacked) {
    ASSERT_EQ(run({"create", pack_, "--application", "game"}, root_).exit_code, 0);
    EXPECT_EQ(inspect()["parts"].size(), 2u);
    ASSERT_EQ(run({"create", pack_, "plain"}, root_).exit_code, 0);
    EXPECT_EQ(inspect()["parts"].size(), 1u);
    EXPECT_EQ(run({"create", pack_, "nothing"}, root_).exit_code, 1);
    EXPECT_EQ(run({"create", pack_, "--application", "other"}, root_).exit_code, 1);
    EXPECT_EQ(run({"create", pack_}, root_).exit_code, 2);
    EXPECT_EQ(inspect()["parts"].size(), 1u) << "a failure replaced the pack";
}

TEST_F(PackTest, OnlyWhatTheLastStartsUsedIsPackedWhereThatIsAskedFor) {
    for (const auto &entry : fs::directory_iterator(root_)) {
        std::error_code ignored;
        fs::remove(entry.path() / "order", ignored);
    }
    for (const char *key : {"key 3", "key 4", "key 5", "key 4"}) {
        EXPECT_NE(get_program(root_, "driver 1", key), "(miss)");
    }
    const auto packed = [&](const char *starts) {
        create({"--starts", starts});
        const Json json = inspect();
        EXPECT_EQ(json["parts"].size(), 1u);
        return json["parts"][0]["entries"].get<int>();
    };
    EXPECT_EQ(packed("1"), 1);
    EXPECT_EQ(packed("2"), 2);
    EXPECT_EQ(packed("3"), 2);
    EXPECT_EQ(packed("4"), 3);
    EXPECT_EQ(packed("255"), 3);
    for (const char *starts : {"0", "256", "-1", "2x", ""}) {
        EXPECT_EQ(run({"create", pack_, "--all", "--starts", starts}, root_).exit_code, 2)
            << starts;
    }
}

TEST_F(PackTest, WhatSavesMostForItsBytesIsPackedFirst) {
    const std::string cheap(4000, 'c'), dear(200, 'd');
    cairn_cache *cache = open_program(root_, "driver 9");
    const cairn_put_options little = {sizeof little, 0, 1}, much = {sizeof much, 0, 1'000'000};
    ASSERT_EQ(cairn_put(cache, "cheap", 5, cheap.data(), cheap.size(), &little), CAIRN_OK);
    ASSERT_EQ(cairn_put(cache, "dear", 4, dear.data(), dear.size(), &much), CAIRN_OK);
    const std::string identifier = cairn_program_cache_identifier(cache);
    cairn_close(cache);
    ASSERT_EQ(run({"create", pack_, identifier, "--max-bytes", "1K"}, root_).exit_code, 0);
    EXPECT_EQ(inspect()["parts"][0]["entries"], 1);
    EXPECT_EQ(run({"create", pack_, identifier, "--max-bytes", "many"}, root_).exit_code, 2);
    ASSERT_EQ(run({"install", "--unsigned", pack_}, other_).exit_code, 0);
    EXPECT_EQ(get_program(other_, "driver 9", "dear"), dear);
    EXPECT_EQ(get_program(other_, "driver 9", "cheap"), "(miss)");
}

TEST_F(PackTest, MachineCodeOfDriversCountsAmongTheBytes) {
    const std::string files = root_ + "/.driver/gl-game/mesa_shader_cache/";
    for (int i = 10; i < 30; ++i) {
        fs::create_directories(files + std::to_string(i));
        std::ofstream(files + std::to_string(i) + "/" + std::string(38, 'a'))
            << std::string(1000, 'c');
    }
    for (const char *folder :
         {"/.driver", "/.driver/gl-game", "/.driver/gl-game/mesa_shader_cache"}) {
        fs::permissions(root_ + folder, fs::perms::owner_all);
    }
    note_driver("driver 2");
    const auto packed = [&](const std::string &max_bytes) {
        create({"--max-bytes", max_bytes});
        const Json json = inspect();
        int count = 0;
        for (const Json &part : json["parts"]) {
            if (part["kind"] == "driver files") count += part["entries"].get<int>();
        }
        return count;
    };
    EXPECT_EQ(packed("1G"), 20);
    const int some = packed("10K");
    EXPECT_GT(some, 0);
    EXPECT_LT(some, 10);
    const Json of_second = inspect();
    for (const Json &part : of_second["parts"]) {
        if (part["kind"] != "driver files") continue;
        EXPECT_THAT(part["about"].get<std::string>(), HasSubstr("driver 2"));
    }
    note_driver("driver 3");
    EXPECT_EQ(packed("1G"), 0) << "of a driver that none of the caches is of";
    note_driver("driver 1");
    const std::string merged = folder_ / "merged.pack";
    create();
    ASSERT_EQ(run_bare({"merge", merged, pack_}).exit_code, 0);
    EXPECT_EQ(run_bare({"diff", merged, pack_}).exit_code, 0);
}

TEST_F(PackTest, DamageIsFoundAndNotInstalled) {
    create();
    const std::string whole = read_file(pack_);
    for (const std::size_t at :
         {std::size_t{5}, std::size_t{8200}, whole.size() / 2, whole.size() - 8000}) {
        std::string damaged = whole;
        damaged[at] ^= 1;
        std::ofstream(pack_, std::ios::binary) << damaged;
        const Finished verified = run_bare({"verify", pack_});
        if (verified.exit_code == 0) continue;  // between two sections
        EXPECT_THAT(verified.standard_error, HasSubstr("damaged"));
        EXPECT_EQ(run({"install", "--unsigned", pack_}, other_).exit_code, 1);
    }
    std::ofstream(pack_, std::ios::binary) << whole.substr(0, whole.size() - 1);
    EXPECT_EQ(run_bare({"verify", pack_}).exit_code, 1);
    std::ofstream(pack_, std::ios::binary) << "no pack";
    EXPECT_THAT(run_bare({"inspect", pack_}).standard_error, HasSubstr("it is no pack"));
    EXPECT_FALSE(fs::exists(other_ + "/.packs/gl-game/a.pack"));
}

TEST_F(PackTest, OnlyWhatATrustedKeyHasSignedIsInstalled) {
    create();
    Finished done = run({"install", pack_}, other_);
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.standard_error, HasSubstr("not signed"));

    ASSERT_EQ(cairn({"key", "create", "studio"}, environment_).exit_code, 0);
    create({"--sign", "studio"});
    EXPECT_EQ(run_bare({"verify", pack_}).exit_code, 0);
    EXPECT_THAT(run_bare({"inspect", pack_}).standard_output, HasSubstr("signed by studio"));
    done = run({"install", pack_}, other_);
    EXPECT_EQ(done.exit_code, 0) << done.standard_error;
    EXPECT_EQ(done.standard_error, "");

    // On a machine that does not know the key.
    Environment stranger = environment_;
    stranger["XDG_CONFIG_HOME"] = folder_ / "nobody";
    done = cairn({"pack", "install", pack_, "--dir", other_}, stranger);
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.standard_error, HasSubstr("do not trust"));

    // A byte that no check of ours covers.
    std::string changed = read_file(pack_);
    changed[changed.size() - 128 - 8192 - 1] ^= 1;
    std::ofstream(pack_, std::ios::binary) << changed;
    done = run({"install", pack_}, other_);
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.standard_error, HasSubstr("it was changed"));
    EXPECT_EQ(run_bare({"verify", pack_}).exit_code, 1);

    ASSERT_EQ(cairn({"key", "revoke", "studio", "--dir", other_}, environment_).exit_code, 0);
    EXPECT_FALSE(fs::exists(other_ + "/.packs/gl-game/a.pack"));
    EXPECT_EQ(run({"create", pack_, "--all", "--sign", "studio"}, root_).exit_code, 1);
}

TEST_F(PackTest, SystemPacksAreInstalledForAllUsers) {
    create();
    ASSERT_EQ(run({"install", "--unsigned", "--system", pack_}, other_).exit_code, 0);
    const std::string installed = (folder_ / "system") + "/gl-game/a.pack";
    struct stat info = {};
    ASSERT_EQ(::stat(installed.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0644u);
    ::setenv("CAIRN_PACKS", (folder_ / "system").c_str(), 1);
    EXPECT_EQ(get_program(other_, "driver 1", "key 1"), value(1) + "driver 1");
    ::unsetenv("CAIRN_PACKS");
}

TEST_F(PackTest, WhatIsClearedStaysAway) {
    create();
    ASSERT_EQ(run({"install", "--unsigned", pack_}, other_).exit_code, 0);
    EXPECT_EQ(get_program(other_, "driver 1", "key 1"), value(1) + "driver 1");
    ASSERT_EQ(cairn({"clear", "--application", "game", "--dir", other_}, environment_).exit_code,
              0);
    EXPECT_EQ(get_program(other_, "driver 1", "key 1"), "(miss)");
    EXPECT_EQ(get_program(other_, "driver 2", "key 1"), value(1) + "driver 2")
        << "this cache was not there to be cleared";
}

// As an application does that ships its pack: no tool would find it.
TEST_F(PackTest, AnEntryOfAPackThatAnApplicationNamesCanBeRemoved) {
    create();
    const auto found = [&] {
        const char *const layers[] = {pack_.c_str()};
        cairn_options options = {};
        options.size = sizeof options;
        options.root = other_.c_str();
        options.identifier = "plain";
        options.version = 7;
        options.layers = layers;
        options.layer_count = 1;
        cairn_cache *cache = nullptr;
        EXPECT_EQ(cairn_open(&options, &cache), CAIRN_OK);
        const int result = cairn_contains(cache, "a", 1);
        cairn_close(cache);
        return result;
    };
    EXPECT_EQ(found(), CAIRN_OK);
    const Finished beginning = cairn({"rm", "plain/6", "--dir", other_}, environment_);
    EXPECT_EQ(beginning.exit_code, 1);
    const Finished removed = cairn({"rm", "plain/61", "--dir", other_}, environment_);
    EXPECT_EQ(removed.exit_code, 0) << removed.standard_error;
    EXPECT_EQ(found(), CAIRN_MISS);
}

TEST_F(PackTest, NothingIsLeftWhereThePackCannotBeWritten) {
    fs::create_directory(folder_ / "b.pack");
    EXPECT_EQ(run({"create", folder_ / "b.pack", "--all"}, root_).exit_code, 1);
    EXPECT_EQ(run({"create", folder_ / "none/b.pack", "--all"}, root_).exit_code, 1);
    for (const auto &entry : fs::directory_iterator(folder_.path())) {
        EXPECT_FALSE(entry.path().filename().string().ends_with(".tmp"));
    }
}

// What is wrong with the header and the slots of a pack, with checks that fit.
void forge(const std::string &path, const std::function<void(PackHeader &, MutableBytes)> &change) {
    std::string bytes = read_file(path);
    const auto file = std::as_writable_bytes(std::span(bytes.data(), bytes.size()));
    auto header = decode_pack_header(file.first(kPackHeaderSize));
    ASSERT_TRUE(header.has_value());
    change(*header, file);
    const PackHeaderBytes first = encode_pack_header(*header);
    std::copy(first.begin(), first.end(), file.begin());
    std::ofstream(path, std::ios::binary) << bytes;
}

TEST_F(PackTest, ManyEntriesInOnePlaceTakeNoMemory) {
    create({"--no-compress"});
    forge(pack_, [](const PackHeader &header, MutableBytes file) {
        const PackRow &row = header.rows[0];
        const MutableBytes index = file.subspan(row.index_offset, row.index_size());
        std::optional<PackSlot> first;
        for (std::uint32_t i = 0; i < row.slot_count(); ++i) {
            const MutableBytes place = index.subspan(i * kPackSlotSize, kPackSlotSize);
            if (!first) first = decode_pack_slot(place, i);
            if (!first) continue;
            const PackSlotBytes slot = encode_pack_slot(*first, i);
            std::copy(slot.begin(), slot.end(), place.begin());
        }
    });
    const Finished merged = run_bare({"merge", folder_ / "merged.pack", pack_});
    EXPECT_EQ(merged.exit_code, 1);
    EXPECT_THAT(merged.standard_error, HasSubstr("several of its entries are in one place"));
    EXPECT_EQ(run_bare({"diff", pack_, pack_}).exit_code, 2);
    EXPECT_EQ(run_bare({"verify", pack_}).exit_code, 1);
}

TEST_F(PackTest, APackWithPartsThatNobodyKnowsIsNotInstalled) {
    create();
    forge(pack_, [](PackHeader &header, MutableBytes) { header.rows[0].kind = PackKind(9); });
    for (const std::vector<std::string> &command :
         {std::vector<std::string>{"verify", pack_},
          {"merge", folder_ / "merged.pack", pack_},
          {"install", "--unsigned", "--dir", other_, pack_}}) {
        const Finished done = run_bare(command);
        EXPECT_EQ(done.exit_code, 1) << command[0];
        EXPECT_THAT(done.standard_error, HasSubstr("does not know")) << command[0];
    }
    forge(pack_, [](PackHeader &header, MutableBytes) { header.rows.clear(); });
    EXPECT_EQ(run({"install", "--unsigned", pack_}, other_).exit_code, 1);
    EXPECT_FALSE(fs::exists(other_ + "/.packs"));
}

TEST_F(PackTest, FoldersOfTheSystemStayAsTheyAre) {
    create();
    const auto install = [&](const std::string &folders) {
        Environment environment = environment_;
        environment["CAIRN_PACKS"] = folders;
        return cairn({"pack", "install", "--system", "--unsigned", pack_}, environment).exit_code;
    };
    for (const char *nowhere : {":", "relative"}) EXPECT_EQ(install(nowhere), 2) << nowhere;
    const std::string folder = folder_ / "shared";
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms(02755));
    EXPECT_EQ(install(folder + "/"), 0);
    EXPECT_EQ(fs::status(folder).permissions(), fs::perms(02755));
    EXPECT_TRUE(fs::exists(folder + "/plain/a.pack"));
    fs::permissions(folder, fs::perms(01777));
    EXPECT_EQ(install(folder), 1) << "others may write it";
    EXPECT_EQ(fs::status(folder).permissions(), fs::perms(01777));
}

TEST_F(PackTest, InstallingAndRemovingAtOneMomentWaitForOneAnother) {
    create();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 5; ++round) {
                const Finished done = run({"install", "-q", "--unsigned", pack_}, other_);
                EXPECT_EQ(done.exit_code, 0) << done.standard_error;
                (void)run({"remove", "-q", "a.pack"}, other_);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
}

TEST_F(PackTest, WhoMayReadANewPackIsForTheUmaskToSay) {
    const mode_t before = ::umask(077);
    create();
    ::umask(before);
    EXPECT_EQ(fs::status(pack_).permissions(), fs::perms(0600));
    ASSERT_EQ(run({"install", "--unsigned", pack_}, other_).exit_code, 0);
    EXPECT_EQ(fs::status(other_ + "/.packs/plain/a.pack").permissions(), fs::perms(0644));
}

TEST_F(PackTest, EachCommandHasItsHelp) {
    for (const char *name :
         {"create", "inspect", "verify", "merge", "diff", "install", "remove", "ls"}) {
        const Finished help = cairn({"help", "pack", name});
        EXPECT_EQ(help.exit_code, 0);
        EXPECT_THAT(help.standard_output, HasSubstr("Exit codes:")) << name;
    }
    const Finished wrong = cairn({"pack", "creat"});
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_THAT(wrong.standard_error, HasSubstr("did you mean `create`"));
}

}  // namespace
}  // namespace cairn::cli_test
