// Makes system calls fail on purpose: the N-th one, or all from the N-th on, with a chosen errno;
// or lets reads and writes move fewer bytes than they were asked to.
// SPDX-License-Identifier: MIT
//
// A test loops: N = 1, 2, 3, ... until a run ends in which no call failed. Then every single call
// of the work has failed once, and nothing was left to chance.
//
// Thread safety: arm, disarm and the counters may be used from any thread while others are in the
// library. Construction and destruction change the table and may not.
// Ownership: one at a time; it stands in front of the table that it found, which comes back at the
// end. A forked child inherits it as it is at the fork.
#pragma once

#include <cstdint>
#include <optional>

namespace cairn::testing {

enum class Call : unsigned {
    openat,
    mkdirat,
    unlinkat,
    linkat,
    renameat,
    renameat2,
    fstat,
    fstatat,
    fstatfs,
    fallocate,
    ftruncate,
    lseek,
    fdatasync,
    fsync,
    pread,
    preadv,
    preadv2,
    pwritev,
    lock,
    mmap,
};
inline constexpr unsigned kCallKinds = static_cast<unsigned>(Call::mmap) + 1;
const char *call_name(Call call);

struct Fault {
    enum class Kind {
        error,          // the call does nothing and says `error`
        short_transfer  // reads and writes move one byte; other calls are not concerned
    };
    enum class Extent { once, from_then_on };

    Kind kind = Kind::error;
    // With EINTR and from_then_on, only every other call fails: to repeat the call must help.
    int error = 0;
    Extent extent = Extent::once;
    std::optional<Call> only;    // one kind of call; nullopt: all kinds
    std::optional<Call> except;  // a kind that neither fails nor counts
    std::uint64_t first = 1;     // the number, from 1, of the first call that fails
};

class FailingCalls {
  public:
    // Calls pass until arm().
    FailingCalls();
    ~FailingCalls();
    FailingCalls(const FailingCalls &) = delete;
    FailingCalls &operator=(const FailingCalls &) = delete;

    // From now on calls are counted, from 1, and fail as the fault says.
    void arm(const Fault &fault);
    // From now on calls pass.
    void disarm();

    // Since arm(): calls of the kind in question, and how many of them failed.
    std::uint64_t calls() const;
    std::uint64_t failures() const;
    // The kind of the call that failed first.
    std::optional<Call> failed_call() const;
};

}  // namespace cairn::testing
