// Every system call that may fail for reasons outside of us, in one table, so that tests can make
// each of them fail.
// SPDX-License-Identifier: MIT
//
// Thread safety: the table in use is constant but for tests, which replace it while no other thread
// is in the library.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include <cerrno>

namespace cairn {

// Members behave as the system call of their name: -1 (MAP_FAILED) and errno.
struct SystemCalls {
    int (*openat)(int directory, const char *path, int flags, mode_t mode);
    int (*mkdirat)(int directory, const char *path, mode_t mode);
    int (*unlinkat)(int directory, const char *path, int flags);
    int (*linkat)(int old_directory, const char *old_path, int directory, const char *path);
    int (*renameat)(int old_directory, const char *old_path, int directory, const char *path);
    int (*renameat2)(int old_directory, const char *old_path, int directory, const char *path,
                     unsigned flags);
    int (*fstat)(int fd, struct stat *out);
    int (*fstatat)(int directory, const char *path, struct stat *out, int flags);
    int (*fstatfs)(int fd, struct statfs *out);
    int (*fallocate)(int fd, int mode, off_t offset, off_t size);
    int (*ftruncate)(int fd, off_t size);
    int (*fdatasync)(int fd);
    int (*fsync)(int fd);
    ssize_t (*pread)(int fd, void *data, size_t size, off_t offset);
    ssize_t (*preadv)(int fd, const iovec *pieces, int count, off_t offset);
    ssize_t (*preadv2)(int fd, const iovec *pieces, int count, off_t offset, int flags);
    ssize_t (*pwritev)(int fd, const iovec *pieces, int count, off_t offset);
    int (*lock)(int fd, int command, struct flock *range);  // fcntl with a command for locks
    void *(*mmap)(void *address, size_t size, int protection, int flags, int fd, off_t offset);
};

extern const SystemCalls kKernel;        // the real ones
extern const SystemCalls *system_calls;  // those in use

// Repeats a call that a signal interrupted.
template <typename Call>
auto retry(Call call) {
    for (;;) {
        const auto result = call();
        if (result != -1 || errno != EINTR) return result;
    }
}

}  // namespace cairn
