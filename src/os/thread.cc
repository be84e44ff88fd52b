// SPDX-License-Identifier: MIT
#include "os/thread.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "base/guarded.h"

namespace cairn {

void *Thread::run_guarded(void *thread) {
    const Thread &own = *static_cast<const Thread *>(thread);
    return guarded([&] { return own.run_(own.argument_); }, nullptr);
}

Status Thread::start(void *(*run)(void *), void *argument) {
    assert(process_ == 0);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    run_ = run;
    argument_ = argument;
    const int result = pthread_create(&thread_, nullptr, run_guarded, this);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (result != 0) return Error::no_memory;
    process_ = getpid();
    return {};
}

void Thread::join() {
    if (process_ != 0 && process_ == getpid()) pthread_join(thread_, nullptr);
    process_ = 0;
}

// A thread is born with the policy of the one that makes it; set by itself, it would have taken the
// processor already. Where that policy is not the usual one, it is left alone.
Status Thread::start_in_background(void *(*run)(void *), void *argument) {
    int policy = 0;
    sched_param parameters = {};
    const pthread_t self = pthread_self();
    const bool is_usual =
        pthread_getschedparam(self, &policy, &parameters) == 0 && policy == SCHED_OTHER;
    const bool is_set = is_usual && pthread_setschedparam(self, SCHED_BATCH, &parameters) == 0;
    const Status started = start(run, argument);
    if (is_set) (void)pthread_setschedparam(self, SCHED_OTHER, &parameters);
    return started;
}

}  // namespace cairn
