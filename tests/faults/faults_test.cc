// Every system call of a cache's life fails once. The application must go on, nothing wrong may be
// read, and nothing that was stored may be lost.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "faults/attempts.h"

namespace cairn_test {
namespace {

using cairn::testing::Fault;

class EachError : public ::testing::TestWithParam<int> {};

TEST_P(EachError, OnceAtEveryCallHarmsNothing) {
    Fault fault;
    fault.error = GetParam();
    try_every_call(fault, 1, &Workload::run);
}

TEST_P(EachError, OnceWhileTheCacheIsEmptiedHarmsNothing) {
    Fault fault;
    fault.error = GetParam();
    try_every_call(fault, 1, &Workload::clear);
}

TEST_P(EachError, OnceWhileTheCacheIsCompressedHarmsNothing) {
    Fault fault;
    fault.error = GetParam();
    try_every_call(fault, 1, &Workload::compress);
}

INSTANTIATE_TEST_SUITE_P(Errno, EachError, ::testing::ValuesIn(kErrors),
                         [](const auto &each) { return error_name(each.param); });

TEST(ShortTransfers, AreCompleted) {
    Fault fault;
    fault.kind = Fault::Kind::short_transfer;
    try_every_call(fault, 1, &Workload::run);
}

}  // namespace
}  // namespace cairn_test
