// SPDX-License-Identifier: MIT
#include "manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

constexpr const char *kFilenames = "__EGL_VENDOR_LIBRARY_FILENAMES";
constexpr const char *kDirs = "__EGL_VENDOR_LIBRARY_DIRS";

class ManifestTest : public testing::Test {
  protected:
    ManifestTest() {
        std::string name = (fs::temp_directory_path() / "cairn-manifest-XXXXXX").string();
        folder_ = mkdtemp(name.data());
        unsetenv(kFilenames);
        unsetenv(kDirs);
        unsetenv(kManifestEnv);
    }
    ~ManifestTest() override { fs::remove_all(folder_); }

    std::string write(const std::string &name, const std::string &text) const {
        const fs::path path = folder_ / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return path.string();
    }

    fs::path folder_;
};

std::string manifest_of(const std::string &library) {
    return R"({"file_format_version": "1.0.0", "ICD": {"library_path": ")" + library + "\"}}";
}

TEST_F(ManifestTest, ALibraryBesideTheManifestIsLookedForThere) {
    const std::string path = write("a.json", manifest_of("./libx.so.0"));
    EXPECT_THAT(check_manifest(path).problem, HasSubstr("libx.so.0 cannot be read"));
    write("libx.so.0", "");
    EXPECT_EQ(check_manifest(path).path, path);
}

TEST_F(ManifestTest, ABareLibraryNameIsLeftToTheDynamicLinker) {
    const std::string path = write("a.json", manifest_of("libx.so.0"));
    EXPECT_EQ(check_manifest(path).path, path);
}

TEST_F(ManifestTest, DamagedManifestsAreAReasonNotAnError) {
    for (const char *text : {"", "{", "[]", "{\"ICD\": 3}", "{\"ICD\": {\"library_path\": 3}}"}) {
        const Manifest manifest = check_manifest(write("a.json", text));
        EXPECT_EQ(manifest.path, "") << text;
        EXPECT_THAT(manifest.problem, HasSubstr("is not a manifest")) << text;
    }
    EXPECT_THAT(check_manifest((folder_ / "none.json").string()).problem,
                HasSubstr("cannot be read"));
}

TEST_F(ManifestTest, TheEnvironmentReplacesTheSearch) {
    const std::string path = write("mine.json", manifest_of("libx.so.0"));
    setenv(kManifestEnv, path.c_str(), 1);
    EXPECT_EQ(find_manifest("/nowhere/bin/cairn").path, path);
    setenv(kManifestEnv, (folder_ / "none.json").c_str(), 1);
    EXPECT_EQ(find_manifest("/nowhere/bin/cairn").path, "");
}

TEST_F(ManifestTest, NoFrontEndNamesWhatToSet) {
    EXPECT_THAT(find_manifest((folder_ / "bin/cairn").string()).problem, HasSubstr(kManifestEnv));
}

// GLVND would load what else is there.
TEST_F(ManifestTest, OnlyAManifestThatIsAloneInItsFolderIsUsed) {
    const std::string path = write("a.json", manifest_of("libx.so.0"));
    write("last/b.json", "");
    write("readme", "");
    EXPECT_EQ(check_manifest(path).path, path);
    write("b.json", "");
    EXPECT_EQ(check_manifest(path).path, "");
    EXPECT_THAT(check_manifest(path).problem, HasSubstr("not the only file *.json"));
    EXPECT_THAT(check_manifest(write("a:b/a.json", manifest_of("libx.so.0"))).problem,
                HasSubstr("colon"));
    EXPECT_NE(check_manifest(write("c/manifest", manifest_of("libx.so.0"))).problem, "");
}

TEST_F(ManifestTest, TheFrontEndIsBeforeAndAfterTheSystemsFolders) {
    const auto [name, value] = front_end_environment("/c/d.json");
    EXPECT_EQ(name, kDirs);
    EXPECT_THAT(value, StartsWith("/c:"));
    EXPECT_THAT(value, HasSubstr(":/etc/glvnd/egl_vendor.d:"));
    EXPECT_THAT(value, EndsWith(":/usr/share/glvnd/egl_vendor.d:/c/last"));
}

TEST_F(ManifestTest, EarlierFoldersTakeTheirPlace) {
    setenv(kDirs, "/a::/b", 1);
    EXPECT_THAT(front_end_environment("/c/d.json"), Pair(kDirs, "/c:/a:/b:/c/last"));
    setenv(kDirs, "", 1);
    EXPECT_THAT(front_end_environment("/c/d.json"), Pair(kDirs, "/c:/c/last"));
}

TEST_F(ManifestTest, AnEarlierListOfFilesGoesBeforeFolders) {
    setenv(kFilenames, "/a.json::/b.json", 1);
    setenv(kDirs, "/a", 1);
    EXPECT_THAT(front_end_environment("/c/d.json"),
                Pair(kFilenames, "/c/d.json:/a.json:/b.json:/c/last/cairn_egl_last.json"));
    setenv(kFilenames, "", 1);
    EXPECT_THAT(front_end_environment("/c/d.json"),
                Pair(kFilenames, "/c/d.json:/c/last/cairn_egl_last.json"));
}

TEST_F(ManifestTest, ARunWithinARunChangesNothing) {
    const std::string ours = write("ours.json", "");
    for (const char *variable : {kDirs, kFilenames}) {
        setenv(variable, "/a:/b", 1);
        const auto outer = front_end_environment(ours);
        setenv(variable, outer.second.c_str(), 1);
        EXPECT_EQ(front_end_environment(ours), outer);
    }
}

TEST_F(ManifestTest, AnotherCairnLeavesTheList) {
    const std::string other = write("o/cairn_egl.json", manifest_of("/opt/o/libEGL_cairn.so.0"));
    const std::string last = write("l/x.json", manifest_of("libEGL_cairn_last.so.0"));
    const std::string driver = write("d/mesa.json", manifest_of("libEGL_mesa.so.0"));
    const std::string both = write("b/a.json", manifest_of("libEGL_cairn.so.0"));
    write("b/mesa.json", manifest_of("libEGL_mesa.so.0"));
    const std::string f = folder_;
    setenv(kDirs, (f + "/o:" + f + "/d:" + f + "/b:" + f + "/l:/gone").c_str(), 1);
    EXPECT_THAT(front_end_environment("/c/d.json"),
                Pair(kDirs, "/c:" + f + "/d:" + f + "/b:/gone:/c/last"));
    setenv(kFilenames, (other + ":" + driver + ":" + last).c_str(), 1);
    EXPECT_THAT(front_end_environment("/c/d.json"),
                Pair(kFilenames, "/c/d.json:" + driver + ":/c/last/cairn_egl_last.json"));
}

// LD_LIBRARY_PATH is split at `;` too, and the loader takes `$` for the beginning of a name.
TEST_F(ManifestTest, ALibraryWhoseFolderTheLoaderWouldMisreadIsNotNamed) {
    for (const char *name : {"good", "a;b", "a$b", "a:b"}) {
        const std::string library = write(std::string(name) + "/libEGL_cairn.so.0", "");
        const std::string glx = write(std::string(name) + "/cairn/" + kGlxLibrary, "");
        const std::string path = write(std::string(name) + "/m/a.json", manifest_of(library));
        EXPECT_EQ(glx_library_of(path), name == std::string("good") ? glx : "") << name;
    }
}

// The front end for 32-bit programs is behind that for 64-bit ones: each loader passes over the other.
TEST_F(ManifestTest, TheFrontEndFor32BitProgramsIsNamedWhereItIsInstalled) {
    const std::string f = folder_;
    const std::string ours = write("c/a.json", manifest_of(f + "/lib/libEGL_cairn.so.0"));
    write("lib/libEGL_cairn.so.0", "");
    write("lib/cairn/" + std::string(kGlxLibrary), "");
    const std::string other =
        write("c/i386/cairn_egl.json", manifest_of(f + "/lib32/libEGL_cairn.so.0"));
    setenv(kDirs, "/a", 1);
    unsetenv("LD_LIBRARY_PATH");
    const auto without = front_end_environment(ours);
    EXPECT_THAT(without, Pair(kDirs, f + "/c:/a:" + f + "/c/last")) << "its library is missing";
    EXPECT_THAT(glx_environment(ours), Contains(Pair("LD_LIBRARY_PATH", f + "/lib/cairn")));

    write("lib32/libEGL_cairn.so.0", "");
    write("lib32/cairn/" + std::string(kGlxLibrary), "");
    const auto with = front_end_environment(ours);
    EXPECT_THAT(with,
                Pair(kDirs, f + "/c:" + f + "/c/i386:/a:" + f + "/c/last:" + f + "/c/i386/last"));
    const std::string paths = f + "/lib/cairn:" + f + "/lib32/cairn";
    EXPECT_THAT(glx_environment(ours), Contains(Pair("LD_LIBRARY_PATH", paths)));
    setenv("LD_LIBRARY_PATH", (paths + ":/b").c_str(), 1);
    EXPECT_THAT(glx_environment(ours), Contains(Pair("LD_LIBRARY_PATH", paths + ":/b")));
    unsetenv("LD_LIBRARY_PATH");
    setenv(kDirs, with.second.c_str(), 1);
    EXPECT_EQ(front_end_environment(ours), with) << "a run within a run";
    setenv(kFilenames, "/a.json", 1);
    EXPECT_THAT(
        front_end_environment(ours),
        Pair(kFilenames, ours + ":" + other + ":/a.json:" + f + "/c/last/cairn_egl_last.json:" + f +
                             "/c/i386/last/cairn_egl_last.json"));
}

}  // namespace
}  // namespace cairn::cli
