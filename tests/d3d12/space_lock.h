// Somebody who is in the middle of taking space in a cache.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace d3d12_test {

// Holds the lock under which the store takes space, as one in the middle of that does.
class SpaceLock {
  public:
    explicit SpaceLock(const std::string &cache)
        : fd_(open((cache + "/format-2/cache.lock").c_str(), O_RDWR | O_CLOEXEC)) {
        struct flock lock = {};
        lock.l_type = F_WRLCK;
        lock.l_start = 1;
        lock.l_len = 1;
        if (fcntl(fd_, F_OFD_SETLK, &lock) != 0) std::abort();
    }
    ~SpaceLock() { close(fd_); }
    SpaceLock(const SpaceLock &) = delete;
    SpaceLock &operator=(const SpaceLock &) = delete;

  private:
    const int fd_;
};

}  // namespace d3d12_test
