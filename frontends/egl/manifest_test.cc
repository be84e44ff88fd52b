// SPDX-License-Identifier: MIT
#include "manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace cairn::egl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ManifestTest, TheLibraryIsFoundInManifestsAsTheyAreWritten) {
    EXPECT_EQ(library_path_in(R"({
    "file_format_version" : "1.0.0",
    "ICD" : {
        "library_path" : "libEGL_mesa.so.0"
    }
})"),
              "libEGL_mesa.so.0");
    EXPECT_EQ(library_path_in(R"({"ICD":{"library_path":"/usr/lib/libEGL_x.so"}})"),
              "/usr/lib/libEGL_x.so");
    EXPECT_EQ(library_path_in(R"({"ICD":{"library_path"
        :
        "a b"}})"),
              "a b");
    EXPECT_EQ(library_path_in(R"({"library_path":"\/usr\/lib\\x"})"), "/usr/lib\\x");
}

TEST(ManifestTest, WhatIsNoManifestNamesNoLibrary) {
    for (const char *text :
         {"", "{}", "\"library_path\"", "\"library_path\" \"x\"", "\"library_path\" : 7",
          "\"library_path\" :", "\"library_path\" : \"\"", "\"library_path\" : \"\\u0041\""}) {
        EXPECT_EQ(library_path_in(text), "") << text;
    }
    EXPECT_EQ(library_path_in("\"library_path\" : \"cut"), "cut");
}

class ManifestListTest : public testing::Test {
  protected:
    ManifestListTest() {
        folder_ = std::filesystem::temp_directory_path() / "cairn-manifest-XXXXXX";
        if (mkdtemp(folder_.data()) == nullptr) {
            std::abort();
        }
    }
    ~ManifestListTest() override { std::filesystem::remove_all(folder_); }

    std::string write(const std::string &name, const std::string &library) {
        std::ofstream(folder_ + "/" + name)
            << "{ \"ICD\" : { \"library_path\" : \"" << library << "\" } }";
        return folder_ + "/" + name;
    }

    static std::vector<std::string> libraries(const std::string &files) {
        return vendor_libraries({{}, files, {}}).real;
    }

    std::string folder_;
};

TEST_F(ManifestListTest, AListIsTakenInItsOrderAndEachLibraryOnce) {
    const std::string first = write("9.json", "libfirst.so");
    const std::string second = write("1.json", "libsecond.so");
    const std::string again = write("5.json", "libfirst.so");
    EXPECT_THAT(libraries(first + ":" + second + "::" + again),
                ElementsAre("libfirst.so", "libsecond.so"));
    EXPECT_THAT(libraries(folder_ + "/none.json"), IsEmpty());
    EXPECT_THAT(libraries(""), IsEmpty());
}

TEST_F(ManifestListTest, FoldersAreReadInTheirOrderAndTheirManifestsByName) {
    std::filesystem::create_directory(folder_ + "/b");
    std::filesystem::create_directory(folder_ + "/a");
    write("b/2.json", "libsecond.so");
    write("b/1.json", "libfirst.so");
    write("a/1.json", "libthird.so");
    write("a/readme", "libno.so");
    const std::string folders = folder_ + "/b:" + folder_ + "/none:" + folder_ + "/a";
    EXPECT_THAT(vendor_libraries({{}, {}, folders}).real,
                ElementsAre("libfirst.so", "libsecond.so", "libthird.so"));
    const std::string one = write("one.json", "libone.so");
    EXPECT_THAT(vendor_libraries({{}, one, folders}).real, ElementsAre("libone.so"));
}

TEST_F(ManifestListTest, CairnsOwnLibrariesAreNotAmongThem) {
    const std::string front = write("1.json", "/any/where/" CAIRN_EGL_FRONT_END);
    const std::string real = write("2.json", "libreal.so");
    const std::string last = write("3.json", CAIRN_EGL_LAST);
    EXPECT_THAT(vendor_libraries({{}, {}, folder_}).real, ElementsAre("libreal.so"));
    EXPECT_THAT(libraries(front + ":" + last), IsEmpty());
}

// GLVND loads what it is told of, also beside us. Told of the front end alone, it has no vendors
// but those behind it.
TEST_F(ManifestListTest, TheVendorsAreGlvndsOwnUnlessItWasToldOfUsAlone) {
    const std::string front = write("1.json", CAIRN_EGL_FRONT_END);
    const std::string real = write("2.json", "libreal.so");
    EXPECT_TRUE(vendor_libraries({{}, front + ":" + real, {}}).are_in_glvnd);
    EXPECT_TRUE(vendor_libraries({{}, {}, folder_}).are_in_glvnd);
    EXPECT_TRUE(vendor_libraries({}).are_in_glvnd);
    EXPECT_FALSE(vendor_libraries({{}, front, {}}).are_in_glvnd);
    EXPECT_EQ(libraries(front), vendor_libraries({}).real);
    EXPECT_FALSE(vendor_libraries({real, front, {}}).are_in_glvnd);
    EXPECT_THAT(vendor_libraries({real, front, {}}).real, ElementsAre("libreal.so"));
}

TEST_F(ManifestListTest, APathIsRelativeToItsManifest) {
    EXPECT_THAT(libraries(write("a.json", "./libx.so")), ElementsAre(folder_ + "/./libx.so"));
    EXPECT_THAT(libraries(write("b.json", "/lib/libx.so")), ElementsAre("/lib/libx.so"));
}

}  // namespace
}  // namespace cairn::egl
