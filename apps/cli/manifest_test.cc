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
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

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
        unsetenv(kVendorsEnv);
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

TEST_F(ManifestTest, WithoutEarlierSettingsTheFrontEndFindsItsVendors) {
    EXPECT_THAT(front_end_environment("/c.json"), ElementsAre(Pair(kFilenames, "/c.json")));
}

TEST_F(ManifestTest, AnEarlierListOfFilesIsPassedOn) {
    setenv(kFilenames, "/a.json::/b.json", 1);
    setenv(kDirs, folder_.c_str(), 1);
    EXPECT_THAT(front_end_environment("/c.json"),
                ElementsAre(Pair(kFilenames, "/c.json"), Pair(kVendorsEnv, "/a.json:/b.json")));
}

TEST_F(ManifestTest, EarlierFoldersArePassedOnAsTheirManifestsInOrder) {
    const std::string b = write("one/50_b.json", "");
    const std::string a = write("one/10_a.json", "");
    const std::string c = write("two/05_c.json", "");
    write("two/readme.txt", "");
    setenv(kDirs, ((folder_ / "one").string() + ":" + (folder_ / "two").string()).c_str(), 1);
    EXPECT_THAT(front_end_environment("/c.json"),
                Contains(Pair(kVendorsEnv, a + ":" + b + ":" + c)));
}

TEST_F(ManifestTest, ARunWithinARunDoesNotPutTheFrontEndInFrontOfItself) {
    const std::string ours = write("ours.json", "");
    setenv(kFilenames, (ours + ":/b.json").c_str(), 1);
    EXPECT_THAT(front_end_environment(ours),
                ElementsAre(Pair(kFilenames, ours), Pair(kVendorsEnv, "/b.json")));
    setenv(kFilenames, ours.c_str(), 1);
    EXPECT_THAT(front_end_environment(ours), ElementsAre(Pair(kFilenames, ours)));
}

}  // namespace
}  // namespace cairn::cli
