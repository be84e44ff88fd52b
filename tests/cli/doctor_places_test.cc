// SPDX-License-Identifier: MIT
// `cairn doctor` on environments, configurations, folders, caches and sandboxes that keep Cairn from its work.
#include <cairn/cairn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "doctor_support.h"

namespace cairn::cli_test {
namespace {

using testing::HasSubstr;

class DoctorPlacesTest : public DoctorTest {
  protected:
    // As if `game` had died twice within a minute: docs/formats/guard.md.
    void switch_off_by_crashes() const {
        std::string guard(4096, '\0');
        guard.replace(0, 8, "CNGUARD1");
        guard[8] = 2;
        const uint64_t since_ns = 1'790'000'000'000'000'000u;
        memcpy(guard.data() + 16, &since_ns, sizeof since_ns);
        write(root_ + "/.guard-game", guard);
        fs::permissions(root_ + "/.guard-game", fs::perms::owner_read | fs::perms::owner_write);
    }
    void make_cache(const std::string &root, const char *identifier) const {
        cairn_options options = {};
        options.size = sizeof options;
        options.root = root.c_str();
        options.identifier = identifier;
        cairn_cache *cache = nullptr;
        ASSERT_EQ(cairn_open(&options, &cache), CAIRN_OK);
        ASSERT_EQ(cairn_put(cache, "key", 3, "value", 5, nullptr), CAIRN_OK);
        cairn_close(cache);
    }
    void disk(doctor::Machine::Disk found) {
        machine_.disk_of = [found](const std::string &) { return std::optional(found); };
    }
    static constexpr uint64_t kMuch = uint64_t{100} << 30;
};

TEST_F(DoctorPlacesTest, VariablesOfCairns) {
    set("CAIRN_DISBLE", "1");
    EXPECT_FINDS(look(), "environment.unknown", "did you mean `CAIRN_DISABLE`?");
    set("CAIRN_LOG", "no");
    EXPECT_FINDS(look(), "environment.value", "CAIRN_LOG is `no`, which counts as 1");
    set("CAIRN_LIMIT", "lots");
    EXPECT_FINDS(look(), "environment.value", "CAIRN_LIMIT is `lots`");
    set("CAIRN_LIMIT", "1K");
    EXPECT_FINDS(look(), "environment.value", "counts as 4.0 MiB");
    set("CAIRN_DEVELOPER_MODE", "maybe");
    EXPECT_FINDS(look(), "environment.value", "CAIRN_DEVELOPER_MODE is `maybe`");
    set("CAIRN_DISABLE", "1");
    EXPECT_FINDS(look(), "environment.disabled");
    set("CAIRN_EGL_PERSIST", "0");
    EXPECT_FINDS(look(), "environment.memory-only");
    set("CAIRN_PACKS", "packs:/gone");
    EXPECT_FINDS(look(), "environment.packs-missing", "`packs`, which is no absolute path");
    EXPECT_FINDS(look(), "environment.packs-missing", "`/gone`, which is no folder");
}

TEST_F(DoctorPlacesTest, Brokers) {
    set("CAIRN_BROKER", folder_ / "broker.sock");
    EXPECT_FINDS(look(), "environment.no-broker", "no broker listens at");
    unset("CAIRN_BROKER");
    set("CAIRN_EGL_BROKER", "1");
    EXPECT_FINDS(look(), "environment.no-broker", "no XDG_RUNTIME_DIR");
    unset("CAIRN_EGL_BROKER");
    set("CAIRN_BROKER_FD", "999");
    EXPECT_FINDS(look(), "environment.no-broker", "no open descriptor");
}

TEST_F(DoctorPlacesTest, Configurations) {
    configure("limt = 4G\nlimit = 5M\nrecord = 0\n");
    EXPECT_FINDS(look(), "configuration.mistake", ":1: `limt = 4G`");
    EXPECT_FINDS(look(), "configuration.limit-small", "5.0 MiB");
    EXPECT_FINDS(look(), "configuration.record-off");
    configure("enabled = 0\n");
    EXPECT_FINDS(look(), "configuration.all-off");
    configure("enabled = 0\n[application game]\nenabled = 1\n");
    EXPECT_FINDS(look(), "configuration.only-allowed");
    EXPECT_FALSE(look().has(doctor::Id::all_off));
    configure("enabled = 0\n[ application\tgame ]\nenabled = 1\n");
    EXPECT_FINDS(look(), "configuration.only-allowed");
    configure("[application game]\nlimit = 5M\n");
    EXPECT_FINDS(look("game"), "configuration.limit-small");
    EXPECT_FALSE(look("other").has(doctor::Id::limit_small));
    write(programs_ + "/game", "#!/bin/sh\n");
    fs::permissions(programs_ + "/game", fs::perms::all);
    EXPECT_TRUE(look(programs_ + "/game").has(doctor::Id::limit_small)) << "by its path, too";
    fs::permissions(config_, fs::perms::all);
    EXPECT_FINDS(look(), "configuration.refused", "is not followed");
    EXPECT_FINDS(look(), "configuration.refused", "-> chmod go-w");
    fs::remove(config_);
    configure(std::string(65'537, '\n'));
    EXPECT_FINDS(look(), "configuration.refused", "-> write at most 64 KiB");
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown(config_.c_str(), 1, 1), 0);
        EXPECT_FINDS(look(), "configuration.refused", "-> mv ");
    } else {
        fs::permissions(config_, fs::perms::none);
        EXPECT_FINDS(look(), "configuration.refused", "-> chmod u+r ");
    }
    fs::remove(config_);
    fs::create_directory(config_);
    EXPECT_FINDS(look(), "configuration.refused", "-> mv ");
    fs::remove(config_);
    ASSERT_EQ(::mkfifo(config_.c_str(), 0600), 0);
    EXPECT_FINDS(look(), "configuration.refused", "-> mv ");
    fs::remove(config_);
    fs::create_symlink(config_, config_);
    EXPECT_FINDS(look(), "configuration.refused", "-> ls -ld ");
}

TEST_F(DoctorPlacesTest, RootsThatCannotBeUsed) {
    set("CAIRN_DIR", "caches");
    EXPECT_FINDS(look(), "environment.relative-root", "`caches`");
    EXPECT_FALSE(look().has(doctor::Id::no_place)) << "once is enough";
    set("CAIRN_DIR", root_);
    fs::permissions(root_, fs::perms::all);
    EXPECT_FINDS(look(), "directories.refused", "chmod go-w");
    EXPECT_THAT(all_of(look()), HasSubstr("-> chmod go-w '" + root_ + "'\n"));
    fs::permissions(root_, fs::perms::owner_all);
    fs::create_directory_symlink(root_, folder_ / "link");
    set("CAIRN_DIR", folder_ / "link");
    EXPECT_FINDS(look(), "directories.refused", "symbolic link");
    write(folder_ / "file", "");
    set("CAIRN_DIR", folder_ / "file");
    EXPECT_FINDS(look(), "directories.refused");
    machine_ = doctor::this_machine();
    set("CAIRN_DIR", "/proc/caches");
    const doctor::Findings in_proc = look();
    EXPECT_FALSE(in_proc.has(doctor::Id::disk_full)) << all_of(in_proc);
    EXPECT_FINDS(in_proc, "directories.cannot-make", "/proc");
}

TEST_F(DoctorPlacesTest, DisksThatTakeNothing) {
    disk({.free_bytes = kMuch, .is_read_only = true});
    EXPECT_FINDS(look(), "directories.not-writable", "read-only");
    EXPECT_FINDS(look(), "sandbox.read-only-home", home_);
    set("CAIRN_DIR", folder_ / "new/caches");
    EXPECT_FINDS(look(), "directories.cannot-make", "read-only");
    set("CAIRN_DIR", root_);
    disk({.free_bytes = 5 << 20});
    EXPECT_FINDS(look(), "directories.full", "5.0 MiB free");
    disk({.free_bytes = 500 << 20});
    EXPECT_FINDS(look(), "directories.little-space", "caches may take 1.0 GiB");
    configure("limit = 100M\n");
    EXPECT_FALSE(look().has(doctor::Id::little_space));
    disk({.free_bytes = kMuch, .files = 1000, .free_files = 3});
    EXPECT_FINDS(look(), "directories.no-inodes", "3 more files");
    disk({.free_bytes = kMuch, .is_in_memory = true});
    EXPECT_FINDS(look(), "directories.temporary");
    machine_.try_folder = [](const std::string &) {
        return doctor::FolderTrial{true, "it has no locks", true};
    };
    EXPECT_FINDS(look(), "directories.no-locks", "it has no locks");
    disk({.free_bytes = kMuch});
    machine_.try_folder = [](const std::string &) { return doctor::FolderTrial{true, "", false}; };
    EXPECT_FINDS(look(), "directories.full", "quota");
}

TEST_F(DoctorPlacesTest, AFolderIsTriedAndLeftAsItWas) {
    const doctor::FolderTrial trial = doctor::this_machine().try_folder(root_);
    EXPECT_EQ(trial.locks, "");
    EXPECT_TRUE(trial.has_room);
    EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(DoctorPlacesTest, WithoutAHomeThereMayBeNoPlace) {
    set("CAIRN_DIR", "");
    set("HOME", "relative");
    doctor::Examined examined(machine_, "", false);
    examined.root.clear();
    examined.root_problem = "there is no place for caches";
    doctor::Findings findings;
    doctor::check_directories(examined, findings);
    EXPECT_FINDS(findings, "directories.no-place", "no place for caches");
}

TEST_F(DoctorPlacesTest, CachesInAnotherPlace) {
    make_cache(home_ + "/.cache/cairn", "old");
    EXPECT_FINDS(look(), "directories.other-root", "has 1 cache");
    unset("CAIRN_DIR");
    EXPECT_FALSE(look().has(doctor::Id::other_root));
}

TEST_F(DoctorPlacesTest, CachesThatAreOffOrDamaged) {
    make_cache(root_, "plain");
    EXPECT_FALSE(look().has(doctor::Id::cache_damaged));
    ASSERT_EQ(
        run({"control", "--kind", "all", "--disable"}, {{"CAIRN_DEVELOPER_MODE", "1"}}).exit_code,
        0);
    EXPECT_FINDS(look(), "caches.switched-off", "cache-for-driver");
    EXPECT_FINDS(look(), "caches.kinds-off", "application-managed");
    switch_off_by_crashes();
    EXPECT_FINDS(look(), "caches.crashed", "game died twice");
    for (const auto &entry : fs::recursive_directory_iterator(root_ + "/plain")) {
        if (entry.path().filename() == "cache.idx") fs::resize_file(entry.path(), 100);
    }
    EXPECT_FINDS(look(), "caches.damaged", "plain");
}

TEST_F(DoctorPlacesTest, Packs) {
    // The folder of the application, as front ends call it.
    const std::string folder = root_ + "/.packs/gl-cli_view_client";
    write(folder + "/a.pack", "no pack");
    EXPECT_FINDS(look(), "caches.pack-refused", "a.pack");
    fs::permissions(folder, fs::perms::all);
    EXPECT_FINDS(look(), "caches.pack-refused", "others may write it");
    fs::permissions(folder, fs::perms::owner_all);
    fs::remove(folder + "/a.pack");

    // A whole one, of another cache than the application has here.
    make_cache(root_, "other");
    ASSERT_EQ(run({"key", "create", "me"}).exit_code, 0);
    const std::string pack = folder_ / "b.pack";
    ASSERT_EQ(run({"pack", "create", "--sign", "me", pack, "other"}).exit_code, 0);
    fs::copy_file(pack, folder + "/b.pack");
    ASSERT_EQ(run({"run", "-q", "--", CLI_VIEW_CLIENT}).exit_code, 0);
    const doctor::Findings signed_once = look();
    EXPECT_FALSE(signed_once.has(doctor::Id::pack_refused)) << all_of(signed_once);
    EXPECT_FALSE(signed_once.has(doctor::Id::pack_untrusted));
    EXPECT_FINDS(signed_once, "caches.pack-other-driver", "cli_view_client");
    ASSERT_EQ(run({"key", "revoke", "me"}).exit_code, 0);
    fs::create_directories(folder);
    fs::copy_file(pack, folder + "/b.pack", fs::copy_options::overwrite_existing);
    EXPECT_FINDS(look(), "caches.pack-untrusted", "b.pack");
}

TEST_F(DoctorPlacesTest, LimitsOfProcesses) {
    const auto under = [&](const std::string &limit) {
        Program program({"sh", "-c", "ulimit " + limit + "; exec \"$0\" doctor --no-driver --json",
                         CAIRN_PROGRAM},
                        {});
        (void)program.wait();
        return program.standard_output();
    };
    for (const auto &[limit, name] :
         {std::pair("-n 100", "limits.files"), std::pair("-f 1000", "limits.file-size"),
          std::pair("-v 1000000", "limits.memory")}) {
#ifdef __SANITIZE_ADDRESS__
        // Sanitizers map more than that.
        if (std::string(name) == "limits.memory") {
            claimed_findings().insert(name);
            continue;
        }
#endif
        claimed_findings().insert(name);
        EXPECT_THAT(under(limit), HasSubstr(name)) << limit;
    }
}

TEST_F(DoctorPlacesTest, SandboxesAndContainers) {
    system_file("/.dockerenv", "");
    EXPECT_FINDS(look(), "sandbox.container", "docker");
    fs::remove(system_ + "/.dockerenv");
    system_file("/run/systemd/container", "lxc\n");
    EXPECT_FINDS(look(), "sandbox.container", "(lxc)");
    system_file("/run/.containerenv", "");
    EXPECT_FINDS(look(), "sandbox.container", "podman");
    system_file("/.flatpak-info", "[Application]\n");
    EXPECT_FINDS(look(), "sandbox.flatpak");
    set("SNAP", "/snap/game/1");
    set("SNAP_NAME", "game");
    EXPECT_FINDS(look(), "sandbox.snap", "game");
    system_file("/proc/1/comm", "bwrap\n");
    EXPECT_FINDS(look(), "sandbox.other-tree", "bubblewrap");
    system_file("/run/pressure-vessel/x", "");
    EXPECT_FINDS(look(), "sandbox.other-tree", "Steam");
    system_file("/proc/self/status", "Name:\tx\nSeccomp:\t2\nNext:\t0\n");
    EXPECT_FINDS(look(), "sandbox.seccomp");
    fs::remove(system_ + "/proc/self/status");
    EXPECT_FINDS(look(), "sandbox.no-proc");
    system_file("/proc/sys/user/max_user_namespaces", "0\n");
    EXPECT_FINDS(look(), "sandbox.no-user-namespaces", "max_user_namespaces");
    system_file("/proc/sys/kernel/osrelease", "5.15.1-microsoft-standard-WSL2\n");
    EXPECT_FINDS(look(), "sandbox.wsl");
}

TEST_F(DoctorPlacesTest, Devices) {
    const std::string node = system_ + "/dev/dri/renderD128";
    fs::remove(node);
    EXPECT_FINDS(look(), "sandbox.no-gpu");
    system_file("/sys/class/drm/renderD128", "");
    EXPECT_FINDS(look(), "sandbox.no-device");
    // Root may open all but what is not there; a node that leads nowhere may be opened by nobody.
    fs::create_symlink("/dev/nothing_of_this_name", node);
    EXPECT_FINDS(look(), "sandbox.device-denied", "renderD128");
}

}  // namespace
}  // namespace cairn::cli_test
