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

    std::string folder_;
};

TEST_F(ManifestListTest, AListIsTakenInItsOrderAndEachLibraryOnce) {
    const std::string first = write("9.json", "libfirst.so");
    const std::string second = write("1.json", "libsecond.so");
    const std::string again = write("5.json", "libfirst.so");
    EXPECT_THAT(vendor_libraries(first + ":" + second + "::" + again),
                ElementsAre("libfirst.so", "libsecond.so"));
    EXPECT_THAT(vendor_libraries(folder_ + "/none.json"), IsEmpty());
}

TEST_F(ManifestListTest, APathIsRelativeToItsManifest) {
    EXPECT_THAT(vendor_libraries(write("a.json", "./libx.so")),
                ElementsAre(folder_ + "/./libx.so"));
    EXPECT_THAT(vendor_libraries(write("b.json", "/lib/libx.so")), ElementsAre("/lib/libx.so"));
}

}  // namespace
}  // namespace cairn::egl
