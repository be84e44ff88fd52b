// SPDX-License-Identifier: MIT
#include "faults/attempts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "support/long_form.h"
#include "support/temp_directory.h"

namespace cairn_test {

using cairn::testing::FailingCalls;
using cairn::testing::Fault;

namespace {

// Memory behind the files: thousands of caches are made and synced.
const char *fast_directory() {
    return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "";
}

std::string describe(const Fault &fault, const FailingCalls &calls) {
    const auto call = calls.failed_call();
    return std::string(call ? cairn::testing::call_name(*call) : "no call") + ", number " +
           std::to_string(fault.first) +
           (fault.extent == Fault::Extent::once ? "" : " and all that follow");
}

}  // namespace

const int kErrors[8] = {ENOSPC, EDQUOT, EROFS, EACCES, EMFILE, EIO, ENOMEM, EINTR};

std::string error_name(int error) {
    return ::strerrorname_np(error);
}

bool try_fault(FailingCalls &calls, const Fault &fault, Work work) {
    const TempDirectory directory(fast_directory());
    Workload workload(directory / "root");
    calls.arm(fault);
    (workload.*work)();
    calls.disarm();
    const bool met = calls.failures() > 0;
    workload.check();
    for (const std::string &complaint : workload.complaints()) {
        ADD_FAILURE() << describe(fault, calls) << ": " << complaint;
    }
    return met;
}

void try_every_call(Fault fault, std::uint64_t step, Work work) {
    // Odd numbers, so that each kind of call has its turn. Each call fails with some of the errors.
    if (kIsSlow) {
        step = step * 18 + 1;
    } else if (!is_long_form()) {
        step *= 3;
    }
    const auto first = 1 + static_cast<std::uint64_t>(fault.error) % step;
    FailingCalls calls;
    std::uint64_t met = 0;
    for (fault.first = first; try_fault(calls, fault, work); fault.first += step) ++met;
    EXPECT_GT(met, kIsSlow ? 3u : 10u) << "the work makes no calls";
}

}  // namespace cairn_test
