// SPDX-License-Identifier: MIT
#include "support/temp_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

namespace cairn_test {
namespace {

std::string temporary_root() {
    const char *name = std::getenv("TMPDIR");
    return name != nullptr && name[0] == '/' ? name : "/tmp";
}

}  // namespace

TempDirectory::TempDirectory(const std::string &parent) : owner_(getpid()) {
    std::string name = (parent.empty() ? temporary_root() : parent) + "/cairn-test-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
        std::perror(name.c_str());
        std::abort();
    }
    path_ = name;
}

TempDirectory::~TempDirectory() {
    if (getpid() != owner_) return;
    if (std::getenv("CAIRN_TEST_KEEP") != nullptr) {
        std::fprintf(stderr, "kept: %s\n", path_.c_str());
        return;
    }
    remove_tree(path_);
}

void remove_tree(const std::string &path) {
    namespace fs = std::filesystem;
    std::error_code error;
    const auto status = fs::symlink_status(path, error);
    if (error) return;
    if (fs::is_directory(status)) {
        chmod(path.c_str(), 0700);
        std::vector<fs::path> children;
        for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
            children.push_back(it->path());
        for (const auto &child : children) remove_tree(child.string());
    }
    fs::remove(path, error);
}

}  // namespace cairn_test
