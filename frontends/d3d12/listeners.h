// The functions that get the log lines of a cache that several sessions share.
// SPDX-License-Identifier: MIT
//
// Thread safety: internally synchronised; once remove() has returned, the function is not called
// any more. In a child of fork() none is called for its parent's caches.
// Failure: add() throws std::bad_alloc.
#pragma once

#include <cairn/cairn.h>

#include <vector>

#include "base/mutex.h"
#include "os/per_process.h"

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
        Mutex mutex;
        std::vector<Listener> listeners;  // guarded by mutex

        std::vector<Listener>::iterator find(cairn_log_fn log, void *user);
    };
    PerProcess<State> state_;
};

}  // namespace cairn::d3d12
