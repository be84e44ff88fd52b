// SPDX-License-Identifier: MIT
#include "os/testing/scratch.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace cairn::testing {
namespace {

// Also where permissions have been taken away.
void remove_tree(const std::filesystem::path &path) {
    namespace fs = std::filesystem;
    std::error_code error;
    if (fs::is_directory(fs::symlink_status(path, error))) {
        ::chmod(path.c_str(), 0700);
        for (fs::directory_iterator it(path, error), end; !error && it != end;
             it.increment(error)) {
            if (it->is_directory(error) && !it->is_symlink(error)) remove_tree(it->path());
        }
    }
    fs::remove_all(path, error);
}

std::string parent_of(Scratch::Place place) {
    constexpr const char *kMemory = "/dev/shm";
    if (place == Scratch::Place::memory && ::access(kMemory, W_OK) == 0) return kMemory;
    const char *chosen = std::getenv("TMPDIR");
    return chosen != nullptr && chosen[0] == '/' ? chosen : "/tmp";
}

}  // namespace

Scratch::Scratch(Place place) : owner_(::getpid()) {
    path_ = parent_of(place) + "/cairn-test-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) {
        std::perror(path_.c_str());
        std::abort();
    }
}

Scratch::~Scratch() {
    if (::getpid() == owner_) remove_tree(path_);
}

}  // namespace cairn::testing
