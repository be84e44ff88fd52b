// Where the packs of an application are installed, as strict as a cache's root.
// SPDX-License-Identifier: MIT
//
// Who changes what is in TOP holds a FolderLock of it (session.h) for longer than an InstallFolder.
//
// Thread safety: used by main only.
// Failure: a Failure where the folder cannot be made, is a link, or others may write it.
#pragma once

#include <string>

namespace cairn::cli {

enum class InstallFor { user, system };

// Makes a folder of packs where it is missing, so that it outlasts a power loss.
void make_pack_folder(const std::string &path, InstallFor whom);

// The folder `TOP/NAME`, which is made where it is missing, and gone where it holds nothing at the end.
class InstallFolder {
  public:
    InstallFolder(const std::string &top, const std::string &name, InstallFor whom);
    ~InstallFolder();
    InstallFolder(const InstallFolder &) = delete;
    InstallFolder &operator=(const InstallFolder &) = delete;

    const std::string &path() const { return path_; }

  private:
    const std::string path_;
};

}  // namespace cairn::cli
