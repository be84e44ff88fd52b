// SPDX-License-Identifier: MIT
// The driver's machine code in a directory of the application's own: what Mesa, which is not told
// otherwise than by its environment, reads and writes there.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "runner.h"
#include "support/files.h"

namespace gl_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Files that Mesa has made, by their names below `folder`, with their contents.
using Files = std::map<std::string, std::string>;

Files files_below(const std::string &folder) {
    Files files;
    if (!fs::exists(folder)) return files;
    for (const auto &entry : fs::recursive_directory_iterator(folder)) {
        const std::string name = fs::relative(entry.path(), folder).string();
        if (!entry.is_regular_file() || name.find("mesa_shader_cache") == name.npos) continue;
        // Mesa's account of its sizes.
        if (entry.path().filename() == "index") continue;
        files[name] = cairn_test::as_string(cairn_test::read_file(entry.path()));
    }
    return files;
}

constexpr const char *kScenario = "switched";
constexpr const char *kEnd = "linger";
constexpr time_t kLongAgo = 1'000'000'000;

// So that the kernel notes when a file is read, also where it does so only once a day.
void mark_unread(const std::string &path) {
    const timespec times[] = {{kLongAgo, 0}, {kLongAgo + 1, 0}};
    EXPECT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0) << path;
}

bool was_read(const std::string &path) {
    struct stat status = {};
    return stat(path.c_str(), &status) == 0 && status.st_atim.tv_sec != kLongAgo;
}

// Not where the file system is mounted with `noatime`.
bool can_tell_what_was_read(const std::string &folder) {
    const std::string path = folder + "/probe";
    cairn_test::write_file(path, cairn_test::as_bytes("probe"));
    mark_unread(path);
    (void)cairn_test::read_file(path);
    return was_read(path);
}

// A home in which neither Cairn nor Mesa has kept anything yet.
class Machine {
  public:
    explicit Machine(WindowSystem window_system) : stage_(window_system) {
        stage_.has_usual_driver_cache = true;
        stage_.extra = {{"XDG_CACHE_HOME", home()}, {"CAIRN_PACKS", file("system")}};
    }

    // Mesa writes what it has made by a thread, and what that has not written at the exit is lost.
    // So the client lingers.
    Played start(const Environment &more = {}, const std::string &end = kEnd) {
        return stage_.cached(kScenario, more, end);
    }
    std::string own() const { return root() + "/.driver/gl-gl_client_linked"; }
    Files in_own() const { return files_below(own()); }
    Files in_usual() const { return files_below(home()); }
    // What Mesa makes without Cairn, once nothing more comes.
    Files make_usual() {
        Files files;
        for (int i = 0; i < 10; ++i) {
            EXPECT_EQ(stage_.plain(kScenario, kEnd).status, "");
            EXPECT_FALSE(in_usual().empty());
            if (in_usual() == files) break;
            files = in_usual();
        }
        return files;
    }
    std::string file(const std::string &name) const { return stage_.directory() / name; }
    // Whether a cache below the root is of a driver that is described so.
    bool has_generation_of(const std::string &line) const {
        for (const auto &entry : fs::directory_iterator(root())) {
            const std::string path = entry.path() / "generation";
            if (fs::exists(path) &&
                cairn_test::as_string(cairn_test::read_file(path)).find(line) != line.npos) {
                return true;
            }
        }
        return false;
    }
    // Runs the command cairn for this machine's root.
    int cairn(const std::string &arguments) const {
        const std::string command = std::string("CAIRN_DIR=") + root() +
                                    " XDG_CONFIG_HOME=" + file("configuration") + " " +
                                    CAIRN_PROGRAM + " " + arguments + " >/dev/null 2>&1";
        return std::system(command.c_str());
    }
    std::string root() const { return stage_.cache_root(); }
    void configure(const std::string &text) const {
        fs::create_directories(file("configuration/cairn"));
        cairn_test::write_file(file("configuration/cairn/config"), cairn_test::as_bytes(text));
    }
    std::string home() const { return file("home"); }

  private:
    Stage stage_;
};

class DriverCacheTest : public testing::TestWithParam<WindowSystem> {
  protected:
    void SetUp() override { SKIP_WITHOUT(GetParam()); }
    // What Mesa makes in a start that is recorded, and in others until nothing more comes.
    Files record(Machine &machine) const {
        Files files;
        for (int i = 0; i < 10; ++i) {
            const Played recorded = machine.start({{"CAIRN_RECORD", "first"}});
            EXPECT_EQ(recorded.status, "");
            EXPECT_FALSE(machine.in_own().empty()) << recorded.complaints;
            if (machine.in_own() == files) break;
            files = machine.in_own();
        }
        return files;
    }
};

TEST_P(DriverCacheTest, WithoutAWishMesaKeepsItsCodeWhereItAlwaysDoes) {
    Machine machine(GetParam());
    EXPECT_EQ(machine.start().status, "");
    EXPECT_THAT(machine.in_usual(), Not(IsEmpty()));
    EXPECT_FALSE(fs::exists(machine.own()));
}

TEST_P(DriverCacheTest, ARecordedStartMakesAllFilesInTheApplicationsDirectory) {
    Machine machine(GetParam());
    const Files usual = machine.make_usual();
    const Files recorded = record(machine);
    EXPECT_EQ(machine.in_usual(), usual) << "Mesa has not been told in time";
    for (const auto &[name, content] : usual) {
        EXPECT_EQ(recorded.count(name), 1u) << name << " was not recorded";
    }
}

// Mesa's drivers for hardware make their cache with the screen, as does its OpenGL on Vulkan, which
// needs no hardware. The software driver makes it with the first context.
TEST_P(DriverCacheTest, ADriverThatMakesItsCacheBeforeAnyContextIsToldInTime) {
    Machine machine(GetParam());
    const Played run = machine.start({{"CAIRN_RECORD", "first"},
                                      {"GALLIUM_DRIVER", "zink"},
                                      {"MESA_LOADER_DRIVER_OVERRIDE", "zink"},
                                      {"LIBGL_KOPPER_DRI2", "1"}});
    if (run.status != "" || !machine.has_generation_of("GL_RENDERER: zink")) {
        GTEST_SKIP() << "Mesa's OpenGL on Vulkan does not run here (mesa-vulkan-drivers)";
    }
    EXPECT_THAT(machine.in_own(), Not(IsEmpty()));
    EXPECT_THAT(machine.in_usual(), IsEmpty());
}

TEST_P(DriverCacheTest, ANewRecordingHasAllThatItsStartMakes) {
    Machine machine(GetParam());
    const Files recorded = record(machine);
    EXPECT_EQ(machine.start({{"CAIRN_RECORD", "second"}}).status, "");
    // The programs come from Cairn's cache, and the machine code is made when they draw.
    const Files again = machine.in_own();
    EXPECT_THAT(again, Not(IsEmpty()));
    for (const auto &[name, content] : again) EXPECT_EQ(recorded.count(name), 1u) << name;
}

TEST_P(DriverCacheTest, WithTheRecordedFilesInPlaceANewMachineCompilesNothing) {
    Machine first(GetParam());
    const Files recorded = record(first);
    Machine second(GetParam());
    fs::create_directories(second.own());
    fs::permissions(second.root(), fs::perms::owner_all);
    fs::permissions(second.root() + "/.driver", fs::perms::owner_all);
    fs::permissions(second.own(), fs::perms::owner_all);
    fs::copy(first.own() + "/mesa_shader_cache", second.own() + "/mesa_shader_cache",
             fs::copy_options::recursive);
    fs::remove(second.own() + "/mesa_shader_cache/index");
    for (const auto &[name, content] : recorded) mark_unread(second.own() + "/" + name);
    EXPECT_EQ(second.start().status, "");
    if (can_tell_what_was_read(second.root())) {
        for (const auto &[name, content] : recorded) {
            EXPECT_TRUE(was_read(second.own() + "/" + name)) << name << " was compiled instead";
        }
    }
    EXPECT_EQ(second.in_own(), recorded) << "Mesa has made something";
    EXPECT_THAT(second.in_usual(), IsEmpty());
}

TEST_P(DriverCacheTest, WithAPackANewMachineCompilesAndLinksNothing) {
    Machine first(GetParam());
    const Files recorded = record(first);
    const std::string pack = first.file("client.pack");
    ASSERT_EQ(first.cairn("pack create " + pack + " --application gl_client_linked"), 0);
    Machine second(GetParam());
    ASSERT_EQ(second.cairn("pack install --unsigned " + pack), 0);
    const Played warm = second.start({{"CAIRN_LOG", "1"}});
    EXPECT_EQ(warm.status, "");
    EXPECT_THAT(warm.complaints, HasSubstr("files of machine code were put in place"));
    EXPECT_EQ(warm.report.hits, warm.report.link_calls);
    EXPECT_EQ(second.in_own(), recorded) << "Mesa has made something";
    EXPECT_THAT(second.in_usual(), IsEmpty());
}

TEST_P(DriverCacheTest, AProcessThatTheApplicationStartsIsNotTold) {
    Machine machine(GetParam());
    const std::string seen = machine.file("seen");
    const Played run =
        machine.start({{"CAIRN_RECORD", "first"}, {"CLIENT_AFTER_0", "env >" + seen}});
    EXPECT_EQ(run.status, "");
    EXPECT_THAT(machine.in_own(), Not(IsEmpty()));
    const std::string text = cairn_test::as_string(cairn_test::read_file(seen));
    EXPECT_THAT(text, HasSubstr("CAIRN_RECORD=first\n"));
    for (const char *name : {"MESA_", "__GL_SHADER", "CAIRN_DRIVER_CACHE"}) {
        EXPECT_THAT(text, Not(HasSubstr(name)));
    }
}

TEST_P(DriverCacheTest, WhereTheUserSaysWhereMesasCacheIsItStaysThere) {
    Machine machine(GetParam());
    const Played run = machine.start(
        {{"CAIRN_RECORD", "first"}, {"CAIRN_LOG", "1"}, {"MESA_SHADER_CACHE_DIR", machine.home()}});
    EXPECT_EQ(run.status, "");
    EXPECT_THAT(run.complaints,
                HasSubstr("machine code stays where it is: MESA_SHADER_CACHE_DIR is set"));
    EXPECT_FALSE(fs::exists(machine.own()));
    EXPECT_THAT(machine.in_usual(), Not(IsEmpty()));
}

// It begins with what is there already, so that no start gets colder.
TEST_P(DriverCacheTest, TheConfigurationGivesAnApplicationADirectoryThatIsWarm) {
    Machine machine(GetParam());
    const Files usual = machine.make_usual();
    machine.configure("[application gl_client_linked]\ndriver_cache = 1\n");
    EXPECT_EQ(machine.start().status, "");
    EXPECT_EQ(machine.in_usual(), usual);
    for (const auto &[name, content] : usual) EXPECT_EQ(machine.in_own().at(name), content);
    EXPECT_EQ(machine.in_own().size(), usual.size()) << "Mesa has compiled again";
}

// What tells the driver is no setting that changes how it compiles.
TEST_P(DriverCacheTest, ProgramsAreTheSameWithADirectoryAndWithout) {
    Machine machine(GetParam());
    EXPECT_EQ(machine.start({}, "return").status, "");
    const Played recorded = machine.start({{"CAIRN_RECORD", "first"}}, "return");
    EXPECT_EQ(recorded.report.hits, recorded.report.link_calls);
}

TEST_P(DriverCacheTest, ClearedAndRemovedWithTheApplicationsCaches) {
    Machine machine(GetParam());
    (void)machine.start({{"CAIRN_RECORD", "first"}}, "return");
    EXPECT_TRUE(fs::exists(machine.own()));
    EXPECT_EQ(machine.cairn("clear --application gl_client_linked"), 0);
    EXPECT_THAT(machine.in_own(), IsEmpty());
    (void)machine.start({{"CAIRN_RECORD", "first"}}, "return");
    EXPECT_TRUE(fs::exists(machine.own()));
    EXPECT_EQ(machine.cairn("rm --application gl_client_linked"), 0);
    EXPECT_FALSE(fs::exists(machine.own()));
}

INSTANTIATE_TEST_SUITE_P(Both, DriverCacheTest, testing::ValuesIn(kWindowSystems),
                         [](const auto &played) { return name_of(played.param); });

}  // namespace
}  // namespace gl_test
