// SPDX-License-Identifier: MIT
#include "os/system_calls.h"

#include <unistd.h>

#include <cstdio>

namespace cairn {

const SystemCalls kKernel = {
    .openat = [](int directory, const char *path, int flags,
                 mode_t mode) { return ::openat(directory, path, flags, mode); },
    .mkdirat = ::mkdirat,
    .unlinkat = ::unlinkat,
    .linkat =
        [](int old_directory, const char *old_path, int directory, const char *path) {
            return ::linkat(old_directory, old_path, directory, path, 0);
        },
    .renameat = ::renameat,
    .renameat2 = ::renameat2,
    .fstat = ::fstat,
    .fstatat = ::fstatat,
    .fstatfs = ::fstatfs,
    .fallocate = ::fallocate,
    .ftruncate = ::ftruncate,
    .fdatasync = ::fdatasync,
    .fsync = ::fsync,
    .pread = ::pread,
    .preadv = ::preadv,
    .preadv2 = ::preadv2,
    .pwritev = ::pwritev,
    .lock = [](int fd, int command, struct flock *range) { return ::fcntl(fd, command, range); },
    .mmap = ::mmap,
};

const SystemCalls *system_calls = &kKernel;

}  // namespace cairn
