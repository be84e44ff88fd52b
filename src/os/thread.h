// A thread that belongs to an object.
// SPDX-License-Identifier: MIT
//
// Signals are blocked in it: those of the process are the application's to handle, on its own
// threads.
//
// What its body lacks memory for ends it, and not the process.
//
// Thread safety: externally synchronised.
// Ownership: join before destruction. In a forked child the thread does not exist, and join does
// nothing.
// Failure: no_memory when the system has no more threads.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include "base/result.h"

namespace cairn {

class Thread {
  public:
    Thread() = default;
    Thread(const Thread &) = delete;
    Thread &operator=(const Thread &) = delete;
    ~Thread() { join(); }

    // `run(argument)` in a thread of its own. REQUIRES: none was started before.
    Status start(void *(*run)(void *), void *argument);
    // The same for one that takes the processor from nobody when it starts or wakes up.
    Status start_in_background(void *(*run)(void *), void *argument);
    void join();

  private:
    static void *run_guarded(void *thread);

    void *(*run_)(void *) = nullptr;
    void *argument_ = nullptr;
    pthread_t thread_ = {};
    pid_t process_ = 0;  // that started it; 0: none to join
};

}  // namespace cairn
