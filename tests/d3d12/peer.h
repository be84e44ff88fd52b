// Another process that has sessions, and does what a test says when it says so.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised. Ownership: a peer that still runs is killed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "d3d12/api.h"
#include "support/process.h"
#include "support/shared.h"

namespace d3d12_test {

// Runs `body` in a process of its own and gives its result; E_FAIL when it did not get so far.
HRESULT in_other_process(const std::function<HRESULT()> &body);

// The same, by a user who may read a cache and not write to it: not even root may.
HRESULT where_reading_only(const std::string &root, const std::string &cache,
                           const std::function<HRESULT()> &body);

class Peer {
  public:
    // `begin` runs at once; `end` when the test calls finish(). The results are those of both.
    Peer(const std::function<HRESULT()> &begin, const std::function<HRESULT()> &end);

    // Waits until `begin` is done; its result.
    HRESULT begun();
    // Has `end` run, waits for the end of the process; its result.
    HRESULT finish();
    void kill() { child_.kill(); }

  private:
    struct State {
        std::atomic<bool> begun = false;
        std::atomic<bool> may_end = false;
        std::atomic<HRESULT> begin_result = 0;
        std::atomic<HRESULT> end_result = 0;
    };
    cairn_test::Shared<State> state_;
    cairn_test::Child child_;
};

}  // namespace d3d12_test
