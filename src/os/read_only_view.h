// A directory as seen through a mount that no process can write through.
// SPDX-License-Identifier: MIT
//
// A process that is handed a descriptor can open the file anew by /proc/self/fd, with all rights of
// its user. A file that was opened below such a view stays read-only all the same: the kernel uses
// the descriptor's mount, too, and answers "read-only file system".
//
// The mount is made in a mount namespace of a short-lived child (and a user namespace, where the
// process may not mount). It is in no file tree, and lives as long as descriptors of it do.
//
// Thread safety: any thread. In the child only system calls are made.
// Failure: unsupported when the kernel or the system's policy allows no such mount.
#pragma once

#include <string>

#include "base/result.h"
#include "os/file.h"

namespace cairn {

Result<Directory> open_read_only_view(const std::string &path);

}  // namespace cairn
