// SPDX-License-Identifier: MIT
#include "os/worker.h"

#include <sched.h>
#include <signal.h>

#include <utility>

#include "base/guarded.h"

namespace cairn {
namespace {

// Makes a thread with all signals blocked, but for the one by which the sandbox of a process answers a
// system call: a thread that blocks it dies of that.
bool make_thread(pthread_t &thread, void *(*run)(void *), void *argument) {
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSYS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int result = pthread_create(&thread, nullptr, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return result == 0;
}

// A thread is born with the policy of the one that makes it; set by itself, it would have taken the
// processor already. Where that policy is not the usual one, it is left alone.
bool make_background_thread(pthread_t &thread, void *(*run)(void *), void *argument) {
    int policy = 0;
    sched_param parameters = {};
    const pthread_t self = pthread_self();
    const bool is_usual =
        pthread_getschedparam(self, &policy, &parameters) == 0 && policy == SCHED_OTHER;
    const bool is_set = is_usual && pthread_setschedparam(self, SCHED_BATCH, &parameters) == 0;
    const bool is_made = make_thread(thread, run, argument);
    if (is_set) (void)pthread_setschedparam(self, SCHED_OTHER, &parameters);
    return is_made;
}

}  // namespace

bool Worker::wake() {
    return guarded(
        [this] {
            State &state = state_.get();
            const MutexLock lock(state.mutex);
            if (is_stopping()) return false;
            state.is_woken = true;
            state.changed.wake_one();
            return state.is_running || start(state);
        },
        false);
}

// The thread before has nothing left to do but to return.
bool Worker::start(State &state) {
    if (state.has_thread) pthread_join(state.thread, nullptr);
    const auto make = priority_ == Priority::usual ? make_thread : make_background_thread;
    state.has_thread = state.is_running = state.is_woken = make(state.thread, run, this);
    return state.is_running;
}

bool Worker::take_call(State &state) {
    const MutexLock lock(state.mutex);
    state.is_running = state.is_woken;
    return std::exchange(state.is_woken, false);
}

void *Worker::run(void *worker) {
    auto &own = *static_cast<Worker *>(worker);
    State &state = *own.state_.existing();
    while (take_call(state)) {
        const auto call = [&own] {
            own.body_();
            return true;
        };
        (void)guarded(call, false);
    }
    return nullptr;
}

bool Worker::is_idle() const {
    State *state = state_.existing();
    if (state == nullptr) return true;
    const MutexLock lock(state->mutex);
    return !state->is_running;
}

bool Worker::wait_until(Deadline deadline) {
    State &state = *state_.existing();
    const MutexLock lock(state.mutex);
    while (!state.is_woken && !is_stopping() &&
           state.changed.wait_until(state.mutex, deadline.ns())) {
    }
    state.is_woken = false;
    return !is_stopping();
}

void Worker::stop() {
    is_stopping_.store(true);
    State *state = state_.existing();
    if (state == nullptr) return;
    bool has_thread = false;
    pthread_t thread = {};
    {
        const MutexLock lock(state->mutex);
        state->changed.wake_one();
        has_thread = std::exchange(state->has_thread, false);
        thread = state->thread;
    }
    if (has_thread) pthread_join(thread, nullptr);
}

}  // namespace cairn
