// The name of a Unix socket that one process serves: its folder, and the lock that says who does.
// SPDX-License-Identifier: MIT
//
// The process that serves PATH holds a lock on PATH.lock, which the kernel releases with the
// process. The lock tells a socket that a killed process left behind from one that is in use, and
// keeps two processes that start at the same time from taking the socket from one another.
//
// Thread safety: externally synchronised.
// Failure: busy: another process serves it. denied: others could put another socket in its place.
// invalid_argument: it is no absolute path in a folder. Others: of making the folder and the lock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "os/byte_lock.h"
#include "os/file.h"

namespace cairn {

// The one descriptor that systemd's socket activation hands over; it is not valid where there is
// none. invalid_argument: there are several. Reads and clears the variables LISTEN_PID and
// LISTEN_FDS.
Result<UniqueFd> inherited_descriptor();

class SocketPlace {
  public:
    // For a socket that this process makes there afterwards. Makes the folder where it is missing
    // (0700), and removes a socket that was left behind; anything else of that name stays.
    static Result<SocketPlace> take(const std::string &path, std::uint64_t patience_us);
    // For a socket that is there already, as systemd has made it. It stays.
    static Result<SocketPlace> join(const std::string &path, std::uint64_t patience_us);
    // Removes the socket's file after take().
    ~SocketPlace();
    SocketPlace(SocketPlace &&other) noexcept
        : path_(std::exchange(other.path_, {})),
          lock_(std::move(other.lock_)),
          removes_(other.removes_) {}
    SocketPlace &operator=(SocketPlace &&) = delete;

    const std::string &path() const { return path_; }

    // What is wrong, for people. `server`: what serves it, such as "broker".
    static std::string problem(Error error, const std::string &path, std::string_view server);

  private:
    SocketPlace(std::string path, ByteLock lock, bool removes)
        : path_(std::move(path)), lock_(std::move(lock)), removes_(removes) {}
    static Result<ByteLock> lock(const std::string &path, std::uint64_t patience_us);

    std::string path_;  // "": moved from
    ByteLock lock_;
    bool removes_;
};

}  // namespace cairn
