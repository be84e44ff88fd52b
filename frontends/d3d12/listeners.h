// Who wants the log lines of a cache that several sessions share.
// SPDX-License-Identifier: MIT
//
// Thread safety: internally synchronised; once remove() has returned, the function is not called
// any more. Failure: none.
#pragma once

#include <cairn/cairn.h>

#include <mutex>
#include <vector>

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
    std::vector<Listener>::iterator find(cairn_log_fn log, void *user);

    std::mutex mutex_;
    std::vector<Listener> listeners_;  // guarded by mutex_
};

}  // namespace cairn::d3d12
