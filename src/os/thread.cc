// SPDX-License-Identifier: MIT
#include "os/thread.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

namespace cairn {

Status Thread::start(void *(*run)(void *), void *argument) {
    assert(process_ == 0);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int result = pthread_create(&thread_, nullptr, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (result != 0) return Error::no_memory;
    process_ = getpid();
    return {};
}

void Thread::join() {
    if (process_ != 0 && process_ == getpid()) pthread_join(thread_, nullptr);
    process_ = 0;
}

// A failure costs others some microseconds.
void Thread::stay_in_background() {
    const sched_param none = {};
    (void)pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
}

}  // namespace cairn
