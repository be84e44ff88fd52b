// SPDX-License-Identifier: MIT
#include "os/testing/failing_calls.h"

#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <type_traits>

#include "os/system_calls.h"

namespace cairn::testing {
namespace {

const SystemCalls *behind = nullptr;  // the table that was in use before

// The fault in force. Its parts are atomics of their own: a thread that meets a fault while it is
// being changed may see a mixture of both, which is as good as either.
std::atomic<bool> armed = false;
std::atomic<Fault::Kind> fault_kind = Fault::Kind::error;
std::atomic<int> fault_error = 0;
std::atomic<Fault::Extent> fault_extent = Fault::Extent::once;
std::atomic<int> fault_only = -1;
std::atomic<int> fault_except = -1;
std::atomic<std::uint64_t> fault_first = 1;

std::atomic<std::uint64_t> call_count = 0;
std::atomic<std::uint64_t> failure_count = 0;
std::atomic<int> first_failed = -1;

bool transfers(Call call) {
    return call == Call::pread || call == Call::preadv || call == Call::pwritev;
}

// Counts a call; whether it is to fail.
bool fails(Call call) {
    if (!armed.load()) return false;
    const int only = fault_only.load();
    if (only >= 0 && only != static_cast<int>(call)) return false;
    if (fault_except.load() == static_cast<int>(call)) return false;
    const bool shortens = fault_kind.load() == Fault::Kind::short_transfer;
    if (shortens && !transfers(call)) return false;
    const std::uint64_t number = call_count.fetch_add(1) + 1;
    const std::uint64_t first = fault_first.load();
    if (number < first) return false;
    if (fault_extent.load() == Fault::Extent::once && number > first) return false;
    if (!shortens && fault_error.load() == EINTR && (number - first) % 2 != 0) return false;
    failure_count.fetch_add(1);
    int none = -1;
    first_failed.compare_exchange_strong(none, static_cast<int>(call));
    return true;
}

template <typename Result>
Result failed() {
    errno = fault_error.load();
    if constexpr (std::is_pointer_v<Result>) {
        return MAP_FAILED;
    } else {
        return -1;
    }
}

// A function for the table that passes on to the member of the same name.
template <Call kCall, auto kMember>
struct Passing;
template <Call kCall, typename Result, typename... Arguments,
          Result (*SystemCalls::*kMember)(Arguments...)>
struct Passing<kCall, kMember> {
    static Result call(Arguments... arguments) {
        if (fails(kCall)) return failed<Result>();
        return (behind->*kMember)(arguments...);
    }
};

bool shortens() {
    return fault_kind.load() == Fault::Kind::short_transfer;
}

ssize_t pread_one(int fd, void *data, size_t size, off_t offset) {
    if (!fails(Call::pread)) return behind->pread(fd, data, size, offset);
    if (!shortens()) return failed<ssize_t>();
    return behind->pread(fd, data, size < 1 ? size : 1, offset);
}

// The first piece that is not empty, cut to one byte.
iovec one_byte_of(const iovec *pieces, int count) {
    for (int i = 0; i < count; ++i) {
        if (pieces[i].iov_len > 0) return {pieces[i].iov_base, 1};
    }
    return {nullptr, 0};
}

ssize_t preadv_one(int fd, const iovec *pieces, int count, off_t offset) {
    if (!fails(Call::preadv)) return behind->preadv(fd, pieces, count, offset);
    if (!shortens()) return failed<ssize_t>();
    const iovec piece = one_byte_of(pieces, count);
    return behind->preadv(fd, &piece, 1, offset);
}

ssize_t pwritev_one(int fd, const iovec *pieces, int count, off_t offset) {
    if (!fails(Call::pwritev)) return behind->pwritev(fd, pieces, count, offset);
    if (!shortens()) return failed<ssize_t>();
    const iovec piece = one_byte_of(pieces, count);
    return behind->pwritev(fd, &piece, 1, offset);
}

SystemCalls failing;  // the table in use

// A call that is not wrapped here passes; failing_calls_test.cc finds it.
void fill_table() {
    failing = *behind;
    failing.openat = Passing<Call::openat, &SystemCalls::openat>::call;
    failing.mkdirat = Passing<Call::mkdirat, &SystemCalls::mkdirat>::call;
    failing.unlinkat = Passing<Call::unlinkat, &SystemCalls::unlinkat>::call;
    failing.linkat = Passing<Call::linkat, &SystemCalls::linkat>::call;
    failing.renameat = Passing<Call::renameat, &SystemCalls::renameat>::call;
    failing.renameat2 = Passing<Call::renameat2, &SystemCalls::renameat2>::call;
    failing.fstat = Passing<Call::fstat, &SystemCalls::fstat>::call;
    failing.fstatat = Passing<Call::fstatat, &SystemCalls::fstatat>::call;
    failing.fstatfs = Passing<Call::fstatfs, &SystemCalls::fstatfs>::call;
    failing.fallocate = Passing<Call::fallocate, &SystemCalls::fallocate>::call;
    failing.ftruncate = Passing<Call::ftruncate, &SystemCalls::ftruncate>::call;
    failing.lseek = Passing<Call::lseek, &SystemCalls::lseek>::call;
    failing.fdatasync = Passing<Call::fdatasync, &SystemCalls::fdatasync>::call;
    failing.fsync = Passing<Call::fsync, &SystemCalls::fsync>::call;
    failing.pread = pread_one;
    failing.preadv = preadv_one;
    failing.preadv2 = Passing<Call::preadv2, &SystemCalls::preadv2>::call;
    failing.pwritev = pwritev_one;
    failing.lock = Passing<Call::lock, &SystemCalls::lock>::call;
    failing.mmap = Passing<Call::mmap, &SystemCalls::mmap>::call;
}

}  // namespace

const char *call_name(Call call) {
    static constexpr std::array<const char *, kCallKinds> kNames = {
        "openat",  "mkdirat", "unlinkat",  "linkat",    "renameat", "renameat2", "fstat",
        "fstatat", "fstatfs", "fallocate", "ftruncate", "lseek",    "fdatasync", "fsync",
        "pread",   "preadv",  "preadv2",   "pwritev",   "lock",     "mmap"};
    return kNames[static_cast<unsigned>(call)];
}

FailingCalls::FailingCalls() {
    assert(behind == nullptr);
    disarm();
    behind = system_calls;
    fill_table();
    system_calls = &failing;
}

FailingCalls::~FailingCalls() {
    assert(system_calls == &failing);
    disarm();
    system_calls = behind;
    behind = nullptr;
}

void FailingCalls::arm(const Fault &fault) {
    armed.store(false);
    fault_kind.store(fault.kind);
    fault_error.store(fault.error);
    fault_extent.store(fault.extent);
    fault_only.store(fault.only ? static_cast<int>(*fault.only) : -1);
    fault_except.store(fault.except ? static_cast<int>(*fault.except) : -1);
    fault_first.store(fault.first);
    call_count.store(0);
    failure_count.store(0);
    first_failed.store(-1);
    armed.store(true);
}

void FailingCalls::disarm() {
    armed.store(false);
}

std::uint64_t FailingCalls::calls() const {
    return call_count.load();
}

std::uint64_t FailingCalls::failures() const {
    return failure_count.load();
}

std::optional<Call> FailingCalls::failed_call() const {
    const int call = first_failed.load();
    if (call < 0) return std::nullopt;
    return static_cast<Call>(call);
}

}  // namespace cairn::testing
