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
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace cairn {

// Members behave as the system call of their name: -1 (MAP_FAILED) and errno.
struct SystemCalls {
    int (*openat)(int directory, const char *path, int flags,
                  mode_t mode) = [](int directory, const char *path, int flags, mode_t mode) {
        return ::openat(directory, path, flags, mode);
    };
    int (*mkdirat)(int directory, const char *path, mode_t mode) = ::mkdirat;
    int (*unlinkat)(int directory, const char *path, int flags) = ::unlinkat;
    int (*linkat)(int old_directory, const char *old_path, int directory, const char *path) =
        [](int old_directory, const char *old_path, int directory, const char *path) {
            return ::linkat(old_directory, old_path, directory, path, 0);
        };
    int (*renameat)(int old_directory, const char *old_path, int directory,
                    const char *path) = ::renameat;
    int (*renameat2)(int old_directory, const char *old_path, int directory, const char *path,
                     unsigned flags) = ::renameat2;
    int (*fstat)(int fd, struct stat *out) = ::fstat;
    int (*fstatat)(int directory, const char *path, struct stat *out, int flags) = ::fstatat;
    int (*fstatfs)(int fd, struct statfs *out) = ::fstatfs;
    int (*fallocate)(int fd, int mode, off_t offset, off_t size) = ::fallocate;
    int (*ftruncate)(int fd, off_t size) = ::ftruncate;
    off_t (*lseek)(int fd, off_t offset, int whence) = ::lseek;
    int (*fdatasync)(int fd) = ::fdatasync;
    int (*fsync)(int fd) = ::fsync;
    ssize_t (*pread)(int fd, void *data, size_t size, off_t offset) = ::pread;
    ssize_t (*preadv)(int fd, const iovec *pieces, int count, off_t offset) = ::preadv;
    ssize_t (*preadv2)(int fd, const iovec *pieces, int count, off_t offset, int flags) = ::preadv2;
    ssize_t (*pwritev)(int fd, const iovec *pieces, int count, off_t offset) = ::pwritev;
    // fcntl with a command for locks
    int (*lock)(int fd, int command, struct flock *range) =
        [](int fd, int command, struct flock *range) { return ::fcntl(fd, command, range); };
    void *(*mmap)(void *address, size_t size, int protection, int flags, int fd,
                  off_t offset) = ::mmap;
};

inline constexpr SystemCalls kKernel;               // the real ones
inline const SystemCalls *system_calls = &kKernel;  // those in use

// Repeats a call that a signal interrupted.
template <typename Call>
auto retry(Call call) {
    for (;;) {
        const auto result = call();
        if (result != -1 || errno != EINTR) return result;
    }
}

}  // namespace cairn
