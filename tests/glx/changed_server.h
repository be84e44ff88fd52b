// X servers that say other things of their driver than Xvfb does.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised. Failure: a test failure.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "support/files.h"

namespace gl_test {

// A copy of Xvfb in `folder` with one text changed, of which there is one place only. Its path.
inline std::string changed_server(const std::string &folder, const std::string &text,
                                  const std::string &other) {
    namespace fs = std::filesystem;
    std::string binary;
    std::istringstream places(std::getenv("PATH"));
    for (std::string place; binary.empty() && std::getline(places, place, ':');) {
        if (fs::exists(place + "/Xvfb")) {
            binary = cairn_test::as_string(cairn_test::read_file(place + "/Xvfb"));
        }
    }
    const size_t at = binary.find(text);
    EXPECT_NE(at, std::string::npos) << "the server does not have the text";
    EXPECT_EQ(at, binary.rfind(text));
    if (at != std::string::npos) binary.replace(at, text.size(), other);
    const std::string path = folder + "/Xvfb";
    cairn_test::write_file(path, cairn_test::as_bytes(binary));
    fs::permissions(path, fs::perms::owner_all);
    return path;
}

// A server whose driver has this name, of four letters.
inline std::string server_naming(const std::string &folder, const std::string &driver) {
    const std::string end(1, '\0');
    return changed_server(folder, end + "mesa" + end, end + driver + end);
}

}  // namespace gl_test
