// SPDX-License-Identifier: MIT
// Installing a pack, removing it and revoking its key, while processes are killed, disks are full
// and the power goes.
#include <cairn/cairn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "command.h"
#include "os/file.h"
#include "os/testing/failing_calls.h"
#include "os/testing/power_loss.h"
#include "os/testing/scratch.h"
#include "program.h"
#include "support/cache.h"
#include "support/long_form.h"
#include "support/process.h"
#include "support/random.h"
#include "support/shared.h"
#include "watched_program.h"

namespace cairn::cli_test {
namespace {

namespace fs = std::filesystem;
using cairn::testing::Call;
using cairn::testing::Scratch;
using cairn_test::Child;
using ::testing::HasSubstr;

// The pack is installed for each of them.
const std::vector<std::string> kNames = {"one", "two"};
constexpr int kKeys = 12;
constexpr int kSkip = 77;
// A process is killed, or the power lost, at each of so many system calls.
#ifdef __SANITIZE_ADDRESS__  // each start takes fifty times as long
constexpr std::uint64_t kStep = 29, kPowerStep = 7;
#else
const std::uint64_t kStep = cairn_test::is_long_form() ? 1 : 4, kPowerStep = 1;
#endif

std::string key_of(int i) {
    return "key " + std::to_string(i);
}

// Of a pack's entry; it cannot be compressed.
std::string value_of(const std::string &kind, int i, std::size_t size) {
    cairn_test::ByteVector noise(size);
    cairn_test::Random(cairn_test::mix(kind.size(), static_cast<std::uint64_t>(i))).fill(noise);
    return kind + cairn_test::as_string(noise);
}

// What programs that use the caches meanwhile have found.
struct Sightings {
    std::atomic<std::uint64_t> of_old, of_new, misses;
};

class PackInstallTest : public ::testing::Test {
  protected:
    // `size`: of a value.
    explicit PackInstallTest(std::size_t size = 45'000) : value_size_(size) {
        for (const auto &[name, value] : environment_) ::setenv(name.c_str(), value.c_str(), 1);
        EXPECT_EQ(cairn({"key", "create", "studio", "-q"}, environment_).exit_code, 0);
        for (const char *kind : {"old", "newer"}) {
            make_pack(kind);
        }
    }

    void make_pack(const std::string &kind) {
        const std::string from = folder_ / (kind + "-root");
        for (const std::string &name : kNames) {
            cairn_test::Cache cache({.root = from, .identifier = name});
            for (int i = 0; i < kKeys; ++i) {
                EXPECT_EQ(cache.put(cairn_test::as_bytes(key_of(i)),
                                    cairn_test::as_bytes(value_of(kind, i, value_size_))),
                          CAIRN_OK);
            }
        }
        fs::create_directory(folder_ / kind);
        const Finished made = cairn({"pack", "create", "--all", "--no-compress", "--sign", "studio",
                                     "--dir", from, pack(kind)},
                                    environment_);
        ASSERT_EQ(made.exit_code, 0) << made.standard_error;
        bytes_[kind] = read_file(pack(kind));
    }
    std::string pack(const std::string &kind) const { return folder_ / (kind + "/game.pack"); }
    static std::string installed(const std::string &root, const std::string &name) {
        return root + "/.packs/" + name + "/game.pack";
    }
    // By a renaming, as programs may be reading meanwhile.
    void put_in_place(const std::string &root, const std::string &kind) const {
        for (const std::string &name : kNames) {
            const std::string path = installed(root, name);
            for (const fs::path &each :
                 {fs::path(root), fs::path(root) / ".packs", fs::path(path).parent_path()}) {
                fs::create_directory(each);
                fs::permissions(each, fs::perms::owner_all);
            }
            fs::copy_file(pack(kind), path + ".copy", fs::copy_options::overwrite_existing);
            fs::rename(path + ".copy", path);
        }
    }
    // Which of the packs is installed for this name, in every byte.
    std::string state(const std::string &root, const std::string &name) const {
        const std::string path = installed(root, name);
        if (!fs::exists(path)) return "none";
        const std::string bytes = read_file(path);
        for (const auto &[kind, expected] : bytes_) {
            if (bytes == expected) return kind;
        }
        return "damaged";
    }
    bool is_state(const std::string &root, const std::string &kind) const {
        return state(root, kNames[0]) == kind && state(root, kNames[1]) == kind;
    }
    // Files below the folder of packs but for those of packs that are installed.
    static std::vector<std::string> unfinished(const std::string &root) {
        std::vector<std::string> files;
        std::error_code error;
        for (const auto &entry : fs::recursive_directory_iterator(root + "/.packs", error)) {
            const std::string name = entry.path().filename();
            if (entry.is_regular_file() && name != "game.pack") files.push_back(name);
        }
        return files;
    }
    // After what should not have harmed: each name has one of the two packs, or none if `may_be_none`,
    // and what is unfinished is no layer.
    void expect_whole(const std::string &root, bool may_be_none) const {
        for (const std::string &name : kNames) {
            const std::string found = state(root, name);
            EXPECT_NE(found, "damaged") << name;
            EXPECT_TRUE(may_be_none || found != "none") << name;
        }
        for (const std::string &file : unfinished(root)) {
            EXPECT_TRUE(file.starts_with(".game.pack-") && file.ends_with(".tmp")) << file;
        }
    }
    // The same as people and programs see it.
    void expect_useful(const std::string &root) const {
        for (const std::string &name : kNames) {
            const std::string kind = state(root, name);
            if (kind != "none") {
                EXPECT_EQ(
                    cairn({"pack", "verify", "-q", installed(root, name)}, environment_).exit_code,
                    0);
            }
            cairn_test::Cache cache({.root = root, .identifier = name});
            for (int i = 0; i < kKeys; ++i) {
                const auto blob = cache.get(cairn_test::as_bytes(key_of(i)));
                EXPECT_EQ(blob.has_value(), kind != "none");
                if (!blob) continue;
                EXPECT_EQ(cairn_test::as_string(blob->bytes()), value_of(kind, i, value_size_));
            }
        }
    }
    // Opens the caches again and again, until it is killed. Ends at a value that nobody packed.
    Child start_reader(const std::string &root, const cairn_test::Shared<Sightings> &seen) const {
        return Child([&root, &seen, this] {
            for (;;) {
                for (const std::string &name : kNames) {
                    cairn_test::Cache cache({.root = root, .identifier = name});
                    const auto blob = cache.get(cairn_test::as_bytes(key_of(3)));
                    if (!blob) {
                        ++seen->misses;
                        continue;
                    }
                    const std::string value = cairn_test::as_string(blob->bytes());
                    const bool is_old = value == value_of("old", 3, value_size_);
                    if (!is_old && value != value_of("newer", 3, value_size_)) return 1;
                    ++(is_old ? seen->of_old : seen->of_new);
                }
                ::usleep(1000);
            }
        });
    }

    // Runs a command in this process, where tests can stand between it and the system. What it
    // complains of; empty where it succeeds.
    static std::string complaint(const std::vector<std::string> &words) {
        try {
            return cli::run_command_line(words) == 0 ? "" : "another exit code";
        } catch (const cli::Failure &failure) {
            EXPECT_EQ(failure.exit_code(), 1);
            EXPECT_STRNE(failure.what(), "");
            return failure.what();
        }
    }
    std::vector<std::string> install(const std::string &root) const {
        return {"pack", "install", "-q", "--dir", root, pack("newer")};
    }
    static std::vector<std::string> remove(const std::string &root) {
        return {"pack", "remove", "-q", "--dir", root, "game.pack"};
    }
    static std::vector<std::string> revoke(const std::string &root) {
        return {"key", "revoke", "-q", "--dir", root, "studio"};
    }
    // Whether the key is revoked, by the configuration in the environment.
    bool is_revoked(const Environment &environment) const {
        return cairn({"pack", "inspect", pack("old")}, environment)
                   .standard_output.find("you revoked") != std::string::npos;
    }

    const std::size_t value_size_;
    const Scratch folder_{Scratch::Place::memory};  // each installation waits for its disk
    const std::string root_ = folder_ / "root";
    const Environment environment_ = {{"XDG_CONFIG_HOME", folder_ / "config"},
                                      {"HOME", folder_ / "home"},
                                      {"CAIRN_PACKS", folder_ / "system"}};
    std::map<std::string, std::string> bytes_;  // of the packs
};

// ------------------------------------------------------------------------------------------------
// Killed at each system call.

class KilledPackTest : public PackInstallTest {
  protected:
    void SetUp() override {
        if (!can_watch()) GTEST_SKIP() << "system calls of other processes cannot be watched here";
    }
};

TEST_F(KilledPackTest, InstallingLeavesTheWholeOldPackOrTheWholeNewOne) {
    put_in_place(root_, "old");
    const cairn_test::Shared<Sightings> seen;
    const Child reader = start_reader(root_, seen);
    std::uint64_t kills = 0, left = 0;
    for (std::uint64_t number = 1;; number += kStep) {
        put_in_place(root_, "old");
        if (!is_killed_at(number, install(root_), environment_)) break;
        ++kills;
        SCOPED_TRACE("call " + std::to_string(number));
        expect_whole(root_, /*may_be_none=*/false);
        left += unfinished(root_).size();
        if (kills % 8 == 0) expect_useful(root_);
        ASSERT_EQ(cairn(install(root_), environment_).exit_code, 0);
        ASSERT_TRUE(is_state(root_, "newer"));
        ASSERT_TRUE(unfinished(root_).empty()) << "what was left by the killed one is still there";
        ASSERT_FALSE(reader.ended()) << "a reader found a wrong value";
    }
    expect_useful(root_);
    EXPECT_GE(kills * kStep, 200u);
    EXPECT_GT(left, 0u);
    EXPECT_GT(seen->of_old, 0u);
    EXPECT_GT(seen->of_new, 0u);
    EXPECT_EQ(seen->misses, 0u) << "a replaced pack was away for a moment";
    RecordProperty("kills", static_cast<int>(kills));
}

TEST_F(KilledPackTest, InstallingTheFirstLeavesItWholeOrNothing) {
    const cairn_test::Shared<Sightings> seen;
    const Child reader = start_reader(root_, seen);
    std::uint64_t kills = 0;
    for (std::uint64_t number = 1;; number += kStep) {
        fs::remove_all(root_ + "/.packs");
        if (!is_killed_at(number, install(root_), environment_)) break;
        ++kills;
        SCOPED_TRACE("call " + std::to_string(number));
        expect_whole(root_, /*may_be_none=*/true);
        if (kills % 8 == 0) expect_useful(root_);
        ASSERT_EQ(cairn(install(root_), environment_).exit_code, 0);
        ASSERT_TRUE(is_state(root_, "newer"));
        ASSERT_TRUE(unfinished(root_).empty());
        ASSERT_FALSE(reader.ended()) << "a reader found a wrong value";
    }
    EXPECT_GE(kills * kStep, 200u);
    EXPECT_GT(seen->misses, 0u);
    EXPECT_EQ(seen->of_old, 0u);
    RecordProperty("kills", static_cast<int>(kills));
}

TEST_F(KilledPackTest, RemovingLeavesEachWholeOrAway) {
    std::uint64_t kills = 0;
    for (std::uint64_t number = 1;; number += kStep) {
        put_in_place(root_, "old");
        // What a killed installation has left goes with the pack.
        std::ofstream(fs::path(installed(root_, "one")).parent_path() / ".game.pack-12.tmp") << "x";
        if (!is_killed_at(number, remove(root_), environment_)) break;
        ++kills;
        SCOPED_TRACE("call " + std::to_string(number));
        expect_whole(root_, /*may_be_none=*/true);
        expect_useful(root_);
        const bool is_away = is_state(root_, "none");
        EXPECT_EQ(cairn(remove(root_), environment_).exit_code, is_away ? 1 : 0);
        EXPECT_TRUE(is_state(root_, "none"));
        ASSERT_EQ(cairn(install(root_), environment_).exit_code, 0);
        ASSERT_TRUE(is_state(root_, "newer"));
        ASSERT_TRUE(unfinished(root_).empty());
    }
    EXPECT_TRUE(is_state(root_, "none"));
    EXPECT_TRUE(fs::is_empty(root_ + "/.packs"));
    EXPECT_GT(kills, 1u);
    RecordProperty("kills", static_cast<int>(kills));
}

TEST_F(KilledPackTest, RevokingLeavesNoPackOfARevokedKeyThatIsNotRemovedByTheNext) {
    std::uint64_t kills = 0;
    for (std::uint64_t number = 1;; number += kStep) {
        put_in_place(root_, "old");
        const Folder config;
        fs::copy(folder_ / "config", config.path(), fs::copy_options::recursive);
        Environment environment = environment_;
        environment["XDG_CONFIG_HOME"] = config.path();
        const bool is_killed = is_killed_at(number, revoke(root_), environment);
        kills += is_killed ? 1u : 0u;
        SCOPED_TRACE("call " + std::to_string(number));
        expect_whole(root_, /*may_be_none=*/true);
        expect_useful(root_);
        const bool was_revoked = is_revoked(environment);
        EXPECT_TRUE(was_revoked || is_state(root_, "old")) << "removed before it was noted";
        EXPECT_EQ(cairn(install(root_), environment).exit_code, was_revoked ? 1 : 0);
        EXPECT_EQ(cairn(revoke(root_), environment).exit_code, 0);
        EXPECT_TRUE(is_state(root_, "none"));
        EXPECT_EQ(cairn(install(root_), environment).exit_code, 1);
        EXPECT_TRUE(is_state(root_, "none"));
        if (!is_killed) break;
    }
    EXPECT_GE(kills * kStep, 100u);
    RecordProperty("kills", static_cast<int>(kills));
}

TEST_F(PackInstallTest, WhatARunningInstallationWritesStays) {
    put_in_place(root_, "old");
    const std::string folder = fs::path(installed(root_, "one")).parent_path();
    const auto directory = Directory::open(folder);
    ASSERT_TRUE(directory.ok());
    for (const char *name : {"notes.tmp", ".game.pack-notes.tmp", ".other.pack-7.tmp"}) {
        ASSERT_TRUE(directory->create_file(name).ok());
    }
    {
        const auto file = directory->create_file(".game.pack-7.tmp");
        ASSERT_TRUE(file.ok());
        auto lock = file->try_lock(0, LockKind::exclusive);
        ASSERT_TRUE(lock.ok() && *lock);
        EXPECT_EQ(complaint(install(root_)), "");
        EXPECT_EQ(unfinished(root_).size(), 4u);
    }
    EXPECT_EQ(complaint(install(root_)), "");
    EXPECT_EQ(unfinished(root_).size(), 3u);
    EXPECT_FALSE(fs::exists(folder + "/.game.pack-7.tmp"));
}

// ------------------------------------------------------------------------------------------------
// Full disks.

TEST_F(PackInstallTest, OnAFullDiskTheOldPackStaysAndNothingIsLeft) {
    const std::string end = cairn_test::run_in_child(120, [&] {
        if (::unshare(CLONE_NEWNS) != 0 ||
            ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
            return kSkip;
        }
        const std::size_t size = bytes_["old"].size();
        unsigned refusals = 0;
        for (const char *before : {"old", "none"}) {
            // From room for what is there on to room for all.
            std::size_t room = std::string(before) == "old" ? 2 * size + 65'536 : 65'536;
            for (;; room += size / 7) {
                fs::create_directory(root_);
                const std::string options = "mode=0700,size=" + std::to_string(room);
                if (::mount("packs", root_.c_str(), "tmpfs", 0, options.c_str()) != 0) return kSkip;
                if (std::string(before) == "old") put_in_place(root_, "old");
                const Finished done = cairn(install(root_), environment_);
                const bool is_done = done.exit_code == 0;
                EXPECT_TRUE(is_state(root_, is_done ? "newer" : before)) << room;
                EXPECT_TRUE(unfinished(root_).empty()) << room;
                if (!is_done) {
                    ++refusals;
                    EXPECT_EQ(done.exit_code, 1);
                    EXPECT_THAT(done.standard_error, HasSubstr("cairn: cannot write " + root_));
                    EXPECT_THAT(done.standard_error, HasSubstr("no space left"));
                    EXPECT_EQ(fs::exists(root_ + "/.packs/one"), std::string(before) == "old");
                }
                expect_useful(root_);
                ::umount2(root_.c_str(), MNT_DETACH);
                if (is_done || ::testing::Test::HasFailure()) break;
            }
        }
        EXPECT_GE(refusals, 20u);
        return ::testing::Test::HasFailure() ? 1 : 0;
    });
    if (end == "exit code " + std::to_string(kSkip)) GTEST_SKIP() << "not permitted here";
    EXPECT_EQ(end, "");
}

class SmallPackTest : public PackInstallTest {
  protected:
    SmallPackTest() : PackInstallTest(500) {}

    // What is below the folder of packs, and each file's bytes.
    static std::map<std::string, std::string> tree(const std::string &root) {
        std::map<std::string, std::string> all;
        std::error_code error;
        for (const auto &entry : fs::recursive_directory_iterator(root + "/.packs", error)) {
            all[entry.path()] = entry.is_regular_file() ? read_file(entry.path()) : "";
        }
        return all;
    }
};

// Each call that may need space fails from the N-th on, for each N.
TEST_F(SmallPackTest, WhicheverCallFindsTheDiskFullTheOldPackStaysAndNothingIsLeft) {
    cairn::testing::FailingCalls calls;
    for (const Call call : {Call::pwritev, Call::fdatasync, Call::mkdirat, Call::renameat}) {
        for (const bool is_first : {false, true}) {
            unsigned refusals = 0;
            for (std::uint64_t first = 1;; ++first) {
                fs::remove_all(root_);
                fs::create_directory(root_);
                fs::permissions(root_, fs::perms::owner_all);
                if (is_first) fs::create_directory(root_ + "/.packs");
                if (!is_first) put_in_place(root_, "old");
                const auto before = tree(root_);
                cairn::testing::Fault fault;
                fault.error = ENOSPC;
                fault.extent = cairn::testing::Fault::Extent::from_then_on;
                fault.only = call;
                fault.first = first;
                calls.arm(fault);
                const std::string problem = complaint(install(root_));
                const bool is_met = calls.failures() != 0;
                calls.disarm();
                SCOPED_TRACE(cairn::testing::call_name(call) + (" " + std::to_string(first)));
                if (problem.empty()) {
                    EXPECT_TRUE(is_state(root_, "newer"));
                    EXPECT_TRUE(unfinished(root_).empty());
                    if (!is_met) break;
                    continue;  // the folders are there: they need not be made
                }
                ++refusals;
                EXPECT_THAT(problem, HasSubstr("no space left"));
                if (call == Call::renameat && first > 1) {
                    // The first name has its pack already.
                    expect_whole(root_, is_first);
                    EXPECT_TRUE(unfinished(root_).empty());
                    continue;
                }
                EXPECT_TRUE(tree(root_) == before);
            }
            EXPECT_TRUE(refusals > 0 || (call == Call::mkdirat && !is_first));
        }
    }
}

// ------------------------------------------------------------------------------------------------
// The power goes.

class PowerLossPackTest : public SmallPackTest {
  protected:
    // Runs the command that `prepare` gives below a disk that it fills, and loses the power before
    // each of its calls, and once it is done. `check` looks at what the next start of the system finds.
    template <typename Prepare, typename Check>
    void lose_power(const Prepare &prepare, const Check &check) const {
        bool was_done = false;
        for (std::uint64_t number = 1; !was_done && !HasFailure(); number += kPowerStep) {
            const Scratch scratch(Scratch::Place::memory);
            const std::string disk = scratch / "disk";
            fs::create_directory(disk);
            const std::vector<std::string> command = prepare(disk);
            cairn::testing::PowerLoss loss(disk);
            loss.capture_at(number, [] {});
            EXPECT_EQ(complaint(command), "");
            was_done = !loss.captured();
            if (was_done) loss.capture();
            for (std::uint64_t seed = 0; seed < 6; ++seed) {
                const std::string next = scratch / ("next" + std::to_string(seed));
                loss.materialise(next, number * 100 + seed);
                SCOPED_TRACE("call " + std::to_string(number) + ", seed " + std::to_string(seed));
                check(next, was_done);
            }
            EXPECT_LT(number, 1000u);
        }
    }
};

TEST_F(PowerLossPackTest, WhatIsSaidToBeInstalledOutlastsIt) {
    for (const char *before : {"old", "none"}) {
        unsigned left = 0;
        lose_power(
            [&](const std::string &disk) {
                if (std::string(before) == "old") put_in_place(disk + "/root", "old");
                return install(disk + "/root");
            },
            [&](const std::string &next, bool was_done) {
                const std::string root = next + "/root";
                if (was_done) {
                    EXPECT_TRUE(is_state(root, "newer"));
                    EXPECT_TRUE(unfinished(root).empty());
                }
                expect_whole(root, /*may_be_none=*/std::string(before) == "none");
                left += unfinished(root).empty() ? 0u : 1u;
                if (was_done) return;
                // The next one works, and cleans up.
                EXPECT_EQ(complaint(install(root)), "");
                EXPECT_TRUE(is_state(root, "newer"));
                EXPECT_TRUE(unfinished(root).empty());
            });
        EXPECT_GT(left, 0u);
    }
}

TEST_F(PowerLossPackTest, WhatIsSaidToBeRemovedStaysAway) {
    lose_power(
        [&](const std::string &disk) {
            put_in_place(disk + "/root", "old");
            return remove(disk + "/root");
        },
        [&](const std::string &next, bool was_done) {
            expect_whole(next + "/root", /*may_be_none=*/true);
            EXPECT_TRUE(!was_done || is_state(next + "/root", "none"));
        });
}

TEST_F(PowerLossPackTest, AKeyThatIsSaidToBeRevokedIsAndItsPacksStayAway) {
    const auto use = [](const std::string &disk) {
        ::setenv("XDG_CONFIG_HOME", (disk + "/config").c_str(), 1);
    };
    lose_power(
        [&](const std::string &disk) {
            put_in_place(disk + "/root", "old");
            fs::copy(folder_ / "config", disk + "/config", fs::copy_options::recursive);
            use(disk);
            return revoke(disk + "/root");
        },
        [&](const std::string &next, bool was_done) {
            const std::string root = next + "/root";
            Environment environment = environment_;
            environment["XDG_CONFIG_HOME"] = next + "/config";
            const bool was_revoked = is_revoked(environment);
            EXPECT_TRUE(!was_done || was_revoked);
            EXPECT_TRUE(!was_done || is_state(root, "none"));
            expect_whole(root, /*may_be_none=*/true);
            // A pack is away only where the note is there, on whatever disk.
            EXPECT_TRUE(was_revoked || is_state(root, "old"));
        });
    use(folder_.path());
}

}  // namespace
}  // namespace cairn::cli_test
