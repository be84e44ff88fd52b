// Memory that forked processes share with the process that made it.
// SPDX-License-Identifier: MIT
//
// Thread safety: that of T, which should consist of atomics.
// Ownership: unmapped at the end, in each process for itself. T is not destroyed: it must not need
// to be.
// Failure: aborts when memory cannot be had.
#pragma once

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <type_traits>

namespace cairn_test {

template <typename T>
class Shared {
  public:
    static_assert(std::is_trivially_destructible_v<T>);

    Shared() {
        void *memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            std::perror("mmap");
            std::abort();
        }
        object_ = new (memory) T;
    }
    ~Shared() { munmap(static_cast<void *>(object_), sizeof(T)); }
    Shared(const Shared &) = delete;
    Shared &operator=(const Shared &) = delete;

    T &operator*() const { return *object_; }
    T *operator->() const { return object_; }
    T *get() const { return object_; }

  private:
    T *object_;
};

}  // namespace cairn_test
