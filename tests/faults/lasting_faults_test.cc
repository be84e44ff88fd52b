// System calls fail from one moment on, until somebody mends the system: a full disk, a table of
// descriptors that is used up, a file system that turned read-only.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cerrno>

#include "faults/attempts.h"

namespace cairn_test {
namespace {

using cairn::testing::Call;
using cairn::testing::FailingCalls;
using cairn::testing::Fault;

class EachError : public ::testing::TestWithParam<int> {
  protected:
    static Fault lasting(int error) {
        Fault fault;
        fault.error = error;
        fault.extent = Fault::Extent::from_then_on;
        // To a lock, EACCES means that somebody else holds it: it is waited for, each time.
        if (error == EACCES) fault.except = Call::lock;
        return fault;
    }
};

TEST_P(EachError, FromAnyCallOnHarmsNothing) {
    try_every_call(lasting(GetParam()), 2, &Workload::run);
}

TEST_P(EachError, FromAnyCallOnWhileTheCacheIsEmptiedHarmsNothing) {
    try_every_call(lasting(GetParam()), 1, &Workload::clear);
    try_every_call(lasting(GetParam()), 1, &Workload::compress);
}

TEST_P(EachError, OfOneKindOfCallHarmsNothing) {
    FailingCalls calls;
    for (unsigned kind = 0; kind < cairn::testing::kCallKinds; ++kind) {
        Fault fault = lasting(GetParam());
        fault.only = static_cast<Call>(kind);
        for (const unsigned first : {1u, 2u, 5u, 20u}) {
            fault.first = first;
            try_fault(calls, fault, &Workload::run);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Errno, EachError, ::testing::ValuesIn(kErrors),
                         [](const auto &each) { return error_name(each.param); });

TEST(LocksThatSomebodyHolds, HarmNothing) {
    Fault fault;
    fault.error = EACCES;
    fault.extent = Fault::Extent::from_then_on;
    fault.only = Call::lock;
    FailingCalls calls;
    try_fault(calls, fault, &Workload::run);
}

TEST(LastingShortTransfers, AreCompleted) {
    Fault fault;
    fault.kind = Fault::Kind::short_transfer;
    fault.extent = Fault::Extent::from_then_on;
    fault.first = 1;
    FailingCalls calls;
    EXPECT_TRUE(try_fault(calls, fault, &Workload::clear));
}

}  // namespace
}  // namespace cairn_test
