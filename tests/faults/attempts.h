// Runs a workload with one fault at a time.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
#pragma once

#include <cstdint>

#include "faults/workload.h"
#include "os/testing/failing_calls.h"

namespace cairn_test {

using Work = void (Workload::*)();

// Runs `work` on a cache of its own with the fault in force, and reports what was wrong as failures
// of the test. False when no call met the fault.
bool try_fault(cairn::testing::FailingCalls &calls, const cairn::testing::Fault &fault, Work work);

// The same for each number of the call, in steps, until there is no such call. The short form takes a third.
void try_every_call(cairn::testing::Fault fault, std::uint64_t step, Work work);

// For INSTANTIATE_TEST_SUITE_P: what a system may answer, and the name of each.
extern const int kErrors[8];
std::string error_name(int error);

}  // namespace cairn_test
