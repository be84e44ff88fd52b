// SPDX-License-Identifier: MIT
// An application sees the same EGL under `cairn run` as without, whatever it can see of Cairn and
// of the system: in containers, Flatpaks, and as another machine's program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "program.h"

namespace cairn::cli_test {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Words = std::vector<std::string>;

constexpr const char *kFilenames = "__EGL_VENDOR_LIBRARY_FILENAMES";
constexpr const char *kFolders = "__EGL_VENDOR_LIBRARY_DIRS";
constexpr const char *kSystemFolder = "/usr/share/glvnd/egl_vendor.d";

Words operator+(Words one, const Words &other) {
    one.insert(one.end(), other.begin(), other.end());
    return one;
}

struct View {
    std::string text;
    uint64_t links;  // that the front end saw
    uint64_t hits;
};

class ViewTest : public testing::Test {
  protected:
    ViewTest() {
        environment_ = {{"CAIRN_DIR", folder_ / "root"},
                        {"EGL_PLATFORM", "surfaceless"},
                        {"LIBGL_ALWAYS_SOFTWARE", "1"}};
    }

    std::string without(const Words &container) const {
        Program program(container + Words{CLI_VIEW_CLIENT}, environment_);
        EXPECT_EQ(program.wait(), 0) << program.standard_error();
        return program.standard_output();
    }

    View with(const Words &container) const {
        const std::string json = folder_ / "out.json";
        const Finished finished =
            cairn(Words{"run", "-q", "--json", json, "--"} + container + Words{CLI_VIEW_CLIENT},
                  environment_);
        EXPECT_EQ(finished.exit_code, 0) << finished.standard_error;
        const auto report = nlohmann::json::parse(read_file(json))["report"];
        return {finished.standard_output, report["link_calls"], report["hits"]};
    }

    // The same, and all programs from the cache when it is full.
    void expect_same_and_cached(const Words &container) const {
        const std::string plain = without(container);
        EXPECT_THAT(plain, HasSubstr("renderer"));
        EXPECT_EQ(with(container).text, plain);
        const View warm = with(container);
        EXPECT_EQ(warm.text, plain);
        EXPECT_EQ(warm.links, 2u) << "one of the default display, one of the device's";
        EXPECT_EQ(warm.hits, 2u);
    }

    void expect_same_and_uncached(const Words &container) const {
        const std::string plain = without(container);
        const View view = with(container);
        EXPECT_EQ(view.text, plain);
        EXPECT_EQ(view.links, 0u);
    }

    Folder folder_;
    Environment environment_;
};

class ContainerTest : public ViewTest {
  protected:
    void SetUp() override {
        Program probe({"bwrap", "--dev-bind", "/", "/", "true"}, {});
        if (probe.wait() != 0) {
            GTEST_SKIP() << "bwrap (the package bubblewrap) cannot make a container here: "
                         << probe.standard_error();
        }
    }

    // This machine, and what is changed about it.
    static Words bwrap(const Words &changes) {
        return Words{"bwrap", "--dev-bind", "/", "/"} + changes + Words{"--"};
    }

    const Words without_cairn_ = {"--tmpfs", CLI_FRONT_END_FOLDER};
};

TEST_F(ViewTest, ByDefault) {
    expect_same_and_cached({});
}

TEST_F(ViewTest, WithinAnotherRun) {
    const std::string plain = without({});
    const View inner = with({CAIRN_PROGRAM, "run", "-q", "--"});
    EXPECT_EQ(inner.text, plain);
}

TEST_F(ViewTest, WithAListOfManifests) {
    environment_[kFilenames] = std::string(kSystemFolder) + "/50_mesa.json";
    expect_same_and_cached({});
}

TEST_F(ViewTest, WithAListOfFolders) {
    environment_[kFolders] = "/no/such/folder:" + std::string(kSystemFolder);
    expect_same_and_cached({});
}

// A list of no driver at all is not completed by the system's.
TEST_F(ViewTest, WithoutAnyDriver) {
    environment_[kFolders] = "/no/such/folder";
    EXPECT_THAT(without({}), HasSubstr("default: no display"));
    expect_same_and_uncached({});
    environment_[kFilenames] = "/no/such/file";
    expect_same_and_uncached({});
}

TEST_F(ContainerTest, ThatSeesEverything) {
    expect_same_and_cached(bwrap({}));
}

TEST_F(ContainerTest, ThatDoesNotSeeCairn) {
    EXPECT_THAT(without(bwrap(without_cairn_)), HasSubstr("renderer"));
    expect_same_and_uncached(bwrap(without_cairn_));
}

TEST_F(ContainerTest, ThatSeesNeitherCairnNorTheSystemsDrivers) {
    expect_same_and_uncached(bwrap(without_cairn_ + Words{"--tmpfs", "/usr/share/glvnd"}));
}

TEST_F(ContainerTest, ThatSeesTheDriversInAnotherOfTheSystemsFolders) {
    expect_same_and_uncached(
        bwrap(without_cairn_ + Words{"--tmpfs", "/etc/glvnd", "--bind", kSystemFolder,
                                     "/etc/glvnd/egl_vendor.d", "--tmpfs", "/usr/share/glvnd"}));
}

// The library folder of a Flatpak runtime has the drivers' manifests in it, where Debian's libEGL
// does not look; that of the runtime does, for which a variable stands here.
class FlatpakTest : public ContainerTest {
  protected:
    void SetUp() override {
        ContainerTest::SetUp();
        if (!fs::exists(libraries_ + "/ld-linux-x86-64.so.2")) {
            GTEST_SKIP() << "no machine whose libraries are in " << libraries_;
        }
        fs::create_directory(folder_ / "lib");
    }
    Words runtime() const {
        const std::string moved = folder_ / "lib";
        const std::string loader = libraries_ + "/ld-linux-x86-64.so.2";
        return {"--bind",
                libraries_,
                moved,
                "--tmpfs",
                libraries_,
                "--ro-bind",
                loader,
                loader,
                "--bind",
                kSystemFolder,
                drivers_,
                "--tmpfs",
                "/usr/share/glvnd",
                "--setenv",
                "LD_LIBRARY_PATH",
                moved,
                "--setenv",
                "LIBGL_DRIVERS_PATH",
                moved + "/dri"};
    }

    const std::string libraries_ = "/usr/lib/" CLI_LIBRARY_ARCHITECTURE;
    const std::string drivers_ = libraries_ + "/GL/glvnd/egl_vendor.d";
};

TEST_F(FlatpakTest, ThatDoesNotSeeCairn) {
    const Words container = without_cairn_ + runtime();
    const std::string plain = without(bwrap(container + Words{"--setenv", kFolders, drivers_}));
    EXPECT_THAT(plain, HasSubstr("renderer"));
    const View view = with(bwrap(container));
    EXPECT_EQ(view.text, plain);
    EXPECT_EQ(view.links, 0u);
}

// As after the override that docs/cli.md names; `make test-flatpak` has Flatpak itself.
TEST_F(FlatpakTest, ThatIsShownCairn) {
    const std::string plain = without(bwrap(runtime() + Words{"--setenv", kFolders, drivers_}));
    EXPECT_THAT(plain, HasSubstr("renderer"));
    EXPECT_EQ(with(bwrap(runtime())).text, plain);
    const View warm = with(bwrap(runtime()));
    EXPECT_EQ(warm.text, plain);
    EXPECT_EQ(warm.links, 2u);
    EXPECT_EQ(warm.hits, 2u);
}

// Steam's container has an own /usr, into which it takes the drivers that it finds by the variables
// outside. It names their manifests anew, and sets LD_LIBRARY_PATH anew.
class SteamTest : public ContainerTest {
  protected:
    // The container with these manifests' libraries taken over.
    Words container(const Words &libraries) const {
        Words words = {"--tmpfs", CLI_FRONT_END_FOLDER, "--unsetenv", kFolders};
        std::string manifests;
        for (const std::string &library : libraries) {
            const std::string taken = folder_ / fs::path(library).filename();
            if (library.starts_with('/'))
                fs::copy_file(library, taken, fs::copy_options::skip_existing);
            const std::string text =
                nlohmann::json{
                    {"file_format_version", "1.0.0"},
                    {"ICD", {{"library_path", library.starts_with('/') ? taken : library}}}}
                    .dump();
            manifests += folder_.write(fs::path(library).filename().string() + ".json", text) + ":";
        }
        return words + Words{"--setenv", kFilenames,        manifests,
                             "--setenv", "LD_LIBRARY_PATH", folder_ / ""};
    }

    const std::string front_end_ = fs::path(CLI_FRONT_END).parent_path() / "libEGL_cairn.so.0";
    const std::string last_ = fs::path(CLI_FRONT_END_LAST).parent_path() / "libEGL_cairn_last.so.0";
    const std::string mesa_ = "libEGL_mesa.so.0";
};

TEST_F(SteamTest, ThatTakesNothingOfCairn) {
    const Words steam = bwrap(container({mesa_}));
    const std::string plain = without(steam);
    EXPECT_THAT(plain, HasSubstr("renderer"));
    const View view = with(steam);
    EXPECT_EQ(view.text, plain);
    EXPECT_EQ(view.links, 0u);
}

TEST_F(SteamTest, ThatTakesCairnWithTheDrivers) {
    const std::string plain = without(bwrap(container({mesa_})));
    const Words steam = bwrap(container({front_end_, mesa_, last_}));
    EXPECT_EQ(with(steam).text, plain);
    const View warm = with(steam);
    EXPECT_EQ(warm.text, plain);
    EXPECT_EQ(warm.links, 2u);
    EXPECT_EQ(warm.hits, 2u);
}

// A program of 32 bits cannot load the library of 64 that it finds at the path of the front end.
TEST_F(ContainerTest, ThatSeesALibraryOfAnotherClass) {
    std::string library = read_file(CLI_FRONT_END);
    constexpr size_t kClass = 4;  // in the head of an ELF file
    const char own_class = sizeof(void *) == 8 ? 2 : 1;
    ASSERT_EQ(library.at(kClass), own_class);
    library[kClass] = static_cast<char>(3 - own_class);
    const std::string other = folder_.write("other.so", library);
    expect_same_and_uncached(bwrap({"--ro-bind", other, fs::canonical(CLI_FRONT_END).string()}));
}

TEST_F(ViewTest, ADisplayWithoutAContextIsToldOf) {
    EXPECT_EQ(cairn({"run", "--", CLI_VIEW_CLIENT, "display"}, environment_).standard_error,
              "cairn: no GL program passed through: EGL was used, but no context was created\n");
}

// The report's last line, and that there are no more than three.
std::string last_line(const std::string &report) {
    EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 3) << report;
    const size_t begin = report.rfind('\n', report.size() - 2) + 1;
    return report.substr(begin);
}

TEST_F(ViewTest, AHomeWhereNothingCanBeKeptIsToldOfOnce) {
    environment_["CAIRN_DIR"] = "";
    environment_["HOME"] = "/proc/nowhere";
    const Finished finished = cairn({"run", "--", CLI_VIEW_CLIENT}, environment_);
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_EQ(finished.standard_output, without({}));
    EXPECT_THAT(last_line(finished.standard_error),
                StartsWith("cairn: the cache could not be used: cannot use "
                           "/proc/nowhere/.cache/cairn: "));
}

TEST_F(ContainerTest, WhoseCachesCanOnlyBeReadSaysSoOnce) {
    const std::string root = folder_ / "root";
    const Words application = {CAIRN_PROGRAM, "run", "--", CLI_VIEW_CLIENT};
    fs::create_directory(root);
    fs::permissions(root, fs::perms::owner_all);
    Program empty(bwrap({"--ro-bind", root, root}) + application, environment_);
    EXPECT_EQ(empty.wait(), 0);
    EXPECT_THAT(last_line(empty.standard_error()),
                AllOf(StartsWith("cairn: the cache could not be used: "), HasSubstr("read-only")));
    // The program uses the entries that are there, and says nothing.
    (void)with({});
    Program full(bwrap({"--ro-bind", root, root}) + application, environment_);
    EXPECT_EQ(full.wait(), 0);
    EXPECT_THAT(full.standard_error(), StartsWith("cairn: 2 of 2 programs from the cache\n"));
    EXPECT_THAT(full.standard_error(), Not(HasSubstr("could not")));
}

// The front end is there, and what comes after all others is not.
TEST_F(ContainerTest, ThatDoesNotSeeTheLastVendor) {
    const Words container = bwrap({"--tmpfs", std::string(CLI_FRONT_END_FOLDER) + "/last"});
    const std::string plain = without(container);
    const View view = with(container);
    EXPECT_EQ(view.text, plain);
    EXPECT_EQ(view.links, 1u) << "of the default display";
}

}  // namespace
}  // namespace cairn::cli_test
