// SPDX-License-Identifier: MIT
// A command asks, and shows its progress, only where a person sits at a terminal.
// Thread safety: used by main only; Progress has a thread of its own.
// Failure: none; without a terminal nothing is asked or shown.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "os/worker.h"

namespace cairn::cli {

// Asks on standard error for a yes on standard input. Where one of them is no terminal nobody can
// be asked, and that counts as a yes, so that scripts go on.
bool is_confirmed(const std::string &question);

enum class Quiet { no, yes };

// One line on standard error about work that takes longer than a second, rewritten while it lives
// and gone afterwards. Nothing else may be printed meanwhile.
class Progress {
  public:
    // Of so many parts; 0: it is not known how many.
    Progress(const std::string &what, Quiet quiet, uint64_t total = 0);
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    void add(uint64_t parts) { done_.fetch_add(parts, std::memory_order_relaxed); }

  private:
    void show();
    std::string line() const;

    // Constant after construction.
    const std::string what_;
    const uint64_t total_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();

    std::atomic<uint64_t> done_ = 0;
    Worker worker_{[this] { show(); }};  // never woken where nothing is shown
};

}  // namespace cairn::cli
