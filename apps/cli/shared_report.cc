// SPDX-License-Identifier: MIT
#include "shared_report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "failure.h"

namespace cairn::cli {
namespace {

static_assert(sizeof(cairn_report) % sizeof(uint64_t) == 0);
static_assert(sizeof(cairn_report) <= 4096, "fits the one page that memory is had in");

[[noreturn]] void fail(const char *what, int error_number) {
    throw Failure(kExitRunFailed, fmt::format("cannot count what is saved: {}: {}", what,
                                              error_text(error_number)));
}

}  // namespace

SharedReport SharedReport::create() {
    const int fd = memfd_create("cairn-report", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) {
        fail("memfd_create", errno);
    }
    const auto give_up = [fd](const char *what) {
        const int error_number = errno;
        close(fd);
        fail(what, error_number);
    };
    if (ftruncate(fd, sizeof(cairn_report)) != 0) {
        give_up("ftruncate");
    }
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        give_up("sealing");
    }
    void *memory = mmap(nullptr, sizeof(cairn_report), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        give_up("mmap");
    }
    auto *report = static_cast<cairn_report *>(memory);
    report->layout = CAIRN_REPORT_LAYOUT;
    return SharedReport(fd, report);
}

SharedReport::SharedReport(SharedReport &&other) noexcept
    : fd_(std::exchange(other.fd_, -1)), report_(std::exchange(other.report_, nullptr)) {}

SharedReport::~SharedReport() {
    if (report_ != nullptr) {
        munmap(report_, sizeof(cairn_report));
        close(fd_);
    }
}

std::string SharedReport::path() const {
    return fmt::format("/proc/{}/fd/{}", getpid(), fd_);
}

cairn_report SharedReport::read() const {
    // Others may still be counting, so each number is read in one piece.
    cairn_report copy = {};
    auto *from = reinterpret_cast<uint64_t *>(report_);
    auto *to = reinterpret_cast<uint64_t *>(&copy);
    for (size_t i = 0; i < sizeof(cairn_report) / sizeof(uint64_t); ++i) {
        to[i] = std::atomic_ref<uint64_t>(from[i]).load(std::memory_order_relaxed);
    }
    return copy;
}

}  // namespace cairn::cli
