// A thread that belongs to an object, and works when it is woken.
// SPDX-License-Identifier: MIT
//
// Signals are blocked in it: those of the process are the application's to handle, on its own
// threads. Where its body lacks memory, the body ends, and the process goes on.
//
// Thread safety: any thread. The body calls is_stopping() and wait_until() only.
// Ownership: all that the body uses outlives the worker, so a worker is an object's last member. A
// forked child does not have its parent's thread: stop() waits for nothing there, and wake() starts
// a thread of the child's own.
// Failure: wake() says so where the system has no more threads.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/mutex.h"
#include "os/deadline.h"
#include "os/per_process.h"

namespace cairn {

class Worker {
  public:
    // A thread in the background takes the processor from no other when it starts or wakes up.
    enum class Priority { usual, background };

    explicit Worker(std::function<void()> body, Priority priority = Priority::usual)
        : body_(std::move(body)), priority_(priority) {}
    ~Worker() { stop(); }
    Worker(const Worker &) = delete;
    Worker &operator=(const Worker &) = delete;

    // Has the thread call the body, which ends when it has nothing more to do. While the body is at
    // work, one wait_until() of it returns, now or when it begins; a body that does not wait any
    // more is called once more. Of two wakes that the thread has not seen yet, the second adds
    // nothing. False: the system has no more threads, or the worker was stopped.
    bool wake();
    // Whether the body has ended since the last wake().
    bool is_idle() const;
    // Asks the body to end, and waits for that. After a wake() the body is called all the same.
    void stop();

    bool is_stopping() const { return is_stopping_.load(std::memory_order_relaxed); }
    // Until wake(), stop() or the deadline. False: the body is to end.
    bool wait_until(Deadline deadline);

  private:
    struct State {
        Mutex mutex;
        Condition changed;
        bool is_woken GUARDED_BY(mutex) = false;
        bool is_running GUARDED_BY(mutex) = false;
        bool has_thread GUARDED_BY(mutex) = false;  // which is to be joined
        pthread_t thread GUARDED_BY(mutex) = {};
    };

    bool start(State &state) REQUIRES_LOCK(state.mutex);
    // Whether the body is to be called; else the thread ends.
    static bool take_call(State &state);
    static void *run(void *worker);

    const std::function<void()> body_;
    const Priority priority_;
    std::atomic<bool> is_stopping_ = false;
    PerProcess<State> state_;
};

}  // namespace cairn
