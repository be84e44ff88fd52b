// A value that a child of fork() must not share with its parent: a lock, and the data it guards.
// SPDX-License-Identifier: MIT
//
// A thread that the child does not have may have held the lock, and may have changed half of the
// data. So each process has a value of its own, made when it first asks. A child leaves its
// parent's value behind, untouched and never freed.
//
// Thread safety: any thread; the value looks after itself.
// Failure: get() throws where there is no memory.
#pragma once

#include <atomic>
#include <cstdint>

#include "os/environment.h"

namespace cairn {

template <typename Value>
class PerProcess {
  public:
    PerProcess() = default;
    ~PerProcess() {
        if (existing() != nullptr) delete held_.load(std::memory_order_acquire);
    }
    PerProcess(const PerProcess &) = delete;
    PerProcess &operator=(const PerProcess &) = delete;

    Value &get() {
        Held *held = held_.load(std::memory_order_acquire);
        const std::uint64_t process = process_number();
        if (held != nullptr && held->process == process) return held->value;
        auto *made = new Held{process, {}};
        if (held_.compare_exchange_strong(held, made, std::memory_order_acq_rel)) {
            return made->value;
        }
        delete made;  // another thread was as early
        return held->value;
    }

    // Null where get() would make one.
    Value *existing() const {
        Held *held = held_.load(std::memory_order_acquire);
        return held != nullptr && held->process == process_number() ? &held->value : nullptr;
    }

  private:
    struct Held {
        const std::uint64_t process;
        Value value;
    };
    std::atomic<Held *> held_ = nullptr;
};

}  // namespace cairn
