// Who wants the log lines of a cache that several sessions share.
// SPDX-License-Identifier: MIT
//
// Thread safety: internally synchronised; once remove() has returned, the function is not called
// any more. In a child of fork() nobody listens to what its parent has open.
// Failure: add() throws std::bad_alloc.
#pragma once

#include <cairn/cairn.h>

#include <mutex>
#include <vector>

#include "per_process.h"

namespace cairn::d3d12 {

class Listeners {
  public:
    void add(cairn_log_fn log, void *user);
    void remove(cairn_log_fn log, void *user);

    // The cairn_log_fn that the cache is opened with; `self` is a Listeners.
    static void receive(void *self, int severity, const char *line);

  private:
    struct Listener {
        cairn_log_fn log;
        void *user;
        unsigned sessions;
    };
    struct State {
        std::mutex mutex;
        std::vector<Listener> listeners;  // guarded by mutex

        std::vector<Listener>::iterator find(cairn_log_fn log, void *user);
    };
    PerProcess<State> state_;
};

}  // namespace cairn::d3d12
