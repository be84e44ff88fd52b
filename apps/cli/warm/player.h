// SPDX-License-Identifier: MIT
// The program cairn-warm, which makes programs from recipes in a process of its own.
// Thread safety: one thread, which must live as long as the player: it dies with that thread.
// Failure: every call of one that has died or is silent says so; a new one can be started.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <optional>
#include <string>

#include "os/file.h"
#include "recipe/player.h"
#include "text.h"

namespace cairn::cli {

// The program, beside this one or where both are installed; CAIRN_WARM_PLAYER names another one, for
// tests. A Failure where there is none.
std::string find_player();

class Player {
  public:
    // `environment` has NAME=VALUE, the whole of it. `stop` ends every wait. A Failure where no process
    // can be had.
    Player(const std::string &program, const Words &environment, const std::atomic<bool> &stop);
    ~Player();
    Player(const Player &) = delete;
    Player &operator=(const Player &) = delete;

    // nullopt: it has died, is silent for `patience_ms`, or talks nonsense; or we are to stop.
    std::optional<recipe::Ready> open(const recipe::ContextKind &context, unsigned patience_ms);
    std::optional<recipe::Done> work(const recipe::Work &work, unsigned patience_ms);
    // Lets it write what it has made, and end; where we are to stop, it has kStopMs for that. False: it
    // did not come to that.
    bool finish(unsigned patience_ms);

  private:
    static constexpr unsigned kStopMs = 5'000;

    std::optional<std::string> ask(const std::string &message, unsigned patience_ms);
    bool write(std::string_view bytes, uint64_t deadline_ns);
    bool read(MutableBytes bytes, uint64_t deadline_ns);
    bool wait_for(int fd, short events, uint64_t deadline_ns) const;
    void end();

    const std::atomic<bool> &stop_;
    pid_t process_ = -1;
    UniqueFd input_, output_;
};

}  // namespace cairn::cli
