// SPDX-License-Identifier: MIT
#include "file_name.h"

#include <charconv>
#include <filesystem>
#include <system_error>

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

int number_of(const std::string &text) {
    int number = -1;
    const char *const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && rest == end ? number : -1;
}

}  // namespace

FileName look_up(const std::string &name, int standard) {
    if (name == "-") {
        return {standard, ""};
    }
    constexpr int kLinksMax = 40;  // as the kernel
    std::error_code error;
    const fs::path own = fs::canonical("/proc/self/fd", error);
    fs::path path = name;
    for (int i = 0; i < kLinksMax && fs::is_symlink(fs::symlink_status(path, error)); ++i) {
        const fs::path folder =
            fs::canonical(path.has_parent_path() ? path.parent_path() : ".", error);
        if (!own.empty() && folder == own) {
            return {number_of(path.filename().string()), ""};
        }
        if (folder.string().starts_with("/proc/")) {
            return {};
        }
        path = folder / fs::read_symlink(path, error);
    }
    return {-1, path.string()};
}

}  // namespace cairn::cli
