// SPDX-License-Identifier: MIT
#include "pack/install_folder.h"

#include <filesystem>

#include "os/file.h"
#include "os/root.h"
#include "output.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

void make_folder_of_mode(const fs::path &path, fs::perms mode) {
    std::error_code error;
    const fs::path above = path.parent_path();
    if (!fs::is_directory(above, error)) make_folder_of_mode(above, mode);
    const auto directory = Directory::open(above.string() + "/.");
    const Status made =
        directory.ok() ? directory->create_directory(path.filename()) : directory.error();
    if (!made.ok() && made.error() != Error::exists) {
        throw Failure(kExitFailure, "cannot make {}: {}", path.string(), error_name(made.error()));
    }
    if (fs::is_symlink(path, error)) {
        throw Failure(kExitFailure, "{} is a symbolic link", path.string());
    }
    if (made.ok()) {
        fs::permissions(path, mode, error);
    } else if (const auto info = file_info(path.string()); info.ok() && info->writable_by_others) {
        throw Failure(kExitFailure, "others may write {}, so that no packs would be taken from it",
                      path.string());
    }
    // Also where it was there: who made it may have been killed.
    if (directory.ok()) (void)directory->sync();
}

}  // namespace

void make_pack_folder(const std::string &path, InstallFor whom) {
    make_folder_of_mode(path, fs::perms(whom == InstallFor::system ? 0755 : 0700));
}

InstallFolder::InstallFolder(const std::string &top, const std::string &name, InstallFor whom)
    : path_(top + "/" + name) {
    make_pack_folder(path_, whom);
}

InstallFolder::~InstallFolder() {
    (void)Directory::working().remove_directory(path_);
}

}  // namespace cairn::cli
