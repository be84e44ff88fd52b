// Takes in whole requests from connections, before anybody works on them.
// SPDX-License-Identifier: MIT
//
// A connection carries one request, and all of it must have come within some seconds. Who sends slowly, or nothing,
// has only a place in here, and the one who waits longest gives that up when more come than there is room for. So
// nobody keeps the page of the user waiting: a browser sends a request at once.
//
// Thread safety: all methods from any thread.
// Failure: nullopt: the connection is not worth an answer. A status of HTTP where it is.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <optional>
#include <string>

#include "base/mutex.h"

namespace cairn::dashboard {

inline constexpr std::size_t kHeadBytesMax = 16 * 1024;
inline constexpr std::size_t kHeadLinesMax = 64;
inline constexpr std::size_t kBodyBytesMax = 16 * 1024;

// How much of a request is still to come, by what has come.
struct Extent {
    bool is_whole = false;
    int refused = 0;  // a status of HTTP: this request is refused, whatever follows
};
Extent extent_of(const std::string &request);

class Intake {
  public:
    // So many connections may be sending at once, for so long.
    Intake(std::size_t places, std::chrono::milliseconds patience)
        : places_(places), patience_(patience) {}

    struct Taken {
        std::string request;
        int refused = 0;  // see Extent
    };
    std::optional<Taken> take(int connection);

    // How many are sending now.
    std::size_t senders();

    // Writes all, or gives up after as long. False: not all was taken.
    bool give(int connection, const char *data, std::size_t size) const;

  private:
    // Somebody who sends.
    struct Sender {
        int connection;
        bool is_dropped = false;  // and gives up its place soon
    };

    // Constant after construction.
    const std::size_t places_;
    const std::chrono::milliseconds patience_;

    Mutex mutex_;
    std::list<Sender> senders_ GUARDED_BY(mutex_);  // the one who has waited longest first
    std::list<Sender> dropped_ GUARDED_BY(mutex_);
};

}  // namespace cairn::dashboard
