// A mutex that Clang's thread-safety analysis understands, and the annotations for what it guards.
// SPDX-License-Identifier: MIT
//
// The all-zero state is an unlocked mutex (as glibc's PTHREAD_MUTEX_INITIALIZER is), which the
// store relies on: memory that the kernel wipes in a forked child holds an unlocked mutex there.
#pragma once

#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstdint>

#if defined(__clang__)
#define CAIRN_ANNOTATION(x) __attribute__((x))
#else
#define CAIRN_ANNOTATION(x)
#endif
#define CAPABILITY(x) CAIRN_ANNOTATION(capability(x))
#define SCOPED_CAPABILITY CAIRN_ANNOTATION(scoped_lockable)
#define GUARDED_BY(x) CAIRN_ANNOTATION(guarded_by(x))
#define REQUIRES_LOCK(...) CAIRN_ANNOTATION(requires_capability(__VA_ARGS__))
#define ACQUIRES(...) CAIRN_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RELEASES(...) CAIRN_ANNOTATION(release_capability(__VA_ARGS__))
#define TRY_ACQUIRES(...) CAIRN_ANNOTATION(try_acquire_capability(__VA_ARGS__))

namespace cairn {

class CAPABILITY("mutex") Mutex {
  public:
    Mutex() = default;
    Mutex(const Mutex &) = delete;
    Mutex &operator=(const Mutex &) = delete;

    void lock() ACQUIRES() { pthread_mutex_lock(&mutex_); }
    void unlock() RELEASES() { pthread_mutex_unlock(&mutex_); }
    bool try_lock() TRY_ACQUIRES(true) { return pthread_mutex_trylock(&mutex_) == 0; }

  private:
    friend class Condition;
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

// The same for a thread that may lock it again while it holds it. Trivially destructible, too.
class RecursiveMutex {
  public:
    RecursiveMutex() = default;
    RecursiveMutex(const RecursiveMutex &) = delete;
    RecursiveMutex &operator=(const RecursiveMutex &) = delete;

    void lock() { pthread_mutex_lock(&mutex_); }
    void unlock() { pthread_mutex_unlock(&mutex_); }

  private:
    pthread_mutex_t mutex_ = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
};

// Threads wait for a condition with a Mutex held, which they release meanwhile. They may wake up
// without a reason.
class Condition {
  public:
    Condition() = default;
    Condition(const Condition &) = delete;
    Condition &operator=(const Condition &) = delete;

    void wait(Mutex &mutex) REQUIRES_LOCK(mutex) { pthread_cond_wait(&condition_, &mutex.mutex_); }
    // Until `deadline_ns` by monotonic_ns() at the latest; false when that has come.
    bool wait_until(Mutex &mutex, std::uint64_t deadline_ns) REQUIRES_LOCK(mutex) {
        timespec deadline = {};
        deadline.tv_sec = static_cast<time_t>(deadline_ns / 1'000'000'000u);
        deadline.tv_nsec = static_cast<long>(deadline_ns % 1'000'000'000u);
        return pthread_cond_clockwait(&condition_, &mutex.mutex_, CLOCK_MONOTONIC, &deadline) == 0;
    }
    void wake_one() { pthread_cond_signal(&condition_); }
    void wake_all() { pthread_cond_broadcast(&condition_); }

  private:
    pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

// For threads that never wait, and do something else when it is locked. Faster than a Mutex, and
// safe in a forked child, where the thread that held it does not exist.
class CAPABILITY("mutex") TryMutex {
  public:
    TryMutex() = default;
    TryMutex(const TryMutex &) = delete;
    TryMutex &operator=(const TryMutex &) = delete;

    bool try_lock() TRY_ACQUIRES(true) {
        return !locked_.exchange(true, std::memory_order_acquire);
    }
    void unlock() RELEASES() { locked_.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> locked_ = false;
};

// Unlocks what try_lock() has locked.
template <typename AnyMutex>
class SCOPED_CAPABILITY AdoptedLock {
  public:
    explicit AdoptedLock(AnyMutex &mutex) REQUIRES_LOCK(mutex) : mutex_(mutex) {}
    ~AdoptedLock() RELEASES() { mutex_.unlock(); }
    AdoptedLock(const AdoptedLock &) = delete;
    AdoptedLock &operator=(const AdoptedLock &) = delete;

  private:
    AnyMutex &mutex_;
};

// Holds a Mutex, or a RecursiveMutex.
template <typename AnyMutex>
class SCOPED_CAPABILITY MutexLock {
  public:
    explicit MutexLock(AnyMutex &mutex) ACQUIRES(mutex) : mutex_(mutex) { mutex_.lock(); }
    ~MutexLock() RELEASES() { mutex_.unlock(); }
    MutexLock(const MutexLock &) = delete;
    MutexLock &operator=(const MutexLock &) = delete;

  private:
    AnyMutex &mutex_;
};

}  // namespace cairn
