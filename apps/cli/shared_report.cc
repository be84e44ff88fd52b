// SPDX-License-Identifier: MIT
#include "shared_report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "failure.h"
#include "os/environment.h"
#include "store/root.h"

namespace cairn::cli {
namespace {

static_assert(sizeof(RunReport) % sizeof(uint64_t) == 0);
static_assert(sizeof(RunReport) <= 4096, "fits the one page that memory is had in");

constexpr std::string_view kPrefix = ".report-";
// The launcher that made the report has a lock on it.
constexpr uint64_t kOwnerByte = 0;

[[noreturn]] void fail(const char *what, int error_number) {
    throw Failure(kExitRunFailed, "cannot count what is saved: {}: {}", what,
                  error_text(error_number));
}

// Those of launchers that were killed.
void remove_left(const Directory &root) {
    std::vector<std::string> names;
    (void)root.list([&](const char *name) {
        if (std::string_view(name).starts_with(kPrefix)) names.emplace_back(name);
    });
    for (const std::string &name : names) {
        const auto file = root.open_file(name, Access::read_write);
        if (!file.ok()) continue;
        const auto is_left = file->try_lock(kOwnerByte, LockKind::exclusive);
        if (is_left.ok() && is_left.value()) (void)root.remove_file(name);
    }
}

std::string new_name() {
    std::array<std::byte, 8> chance = {};
    random_bytes(chance);
    return std::string(kPrefix) + hexadecimal(chance);
}

// A file with blocks behind it, so that nothing that counts can fail. It is locked before it is
// written to, and another launcher that had it in its hands meanwhile has removed it.
Result<File> create_file(const Directory &root, const std::string &name) {
    if (root.on_network()) return Error::unsupported;
    TRY_ASSIGN(File file, root.create_file(name));
    const auto is_locked = file.try_lock(kOwnerByte, LockKind::exclusive);
    const Status extended = file.extend(sizeof(RunReport));
    const auto info = file.info();
    if (is_locked.ok() && is_locked.value() && extended.ok() && info.ok() && info->links != 0) {
        return file;
    }
    (void)root.remove_file(name);
    return Error::io;
}

// It cannot be resized by anybody: a mapping of it never faults.
File create_memory() {
    File file(UniqueFd(memfd_create("cairn-report", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
    if (!file.valid()) fail("memfd_create", errno);
    if (!file.truncate(sizeof(RunReport)).ok()) fail("ftruncate", errno);
    if (fcntl(file.fd(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        fail("sealing", errno);
    }
    return file;
}

}  // namespace

SharedReport::SharedReport(File file, std::string path, Directory directory, std::string name)
    : file_(std::move(file)),
      path_(std::move(path)),
      directory_(std::move(directory)),
      name_(std::move(name)) {
    auto mapping = Mapping::file(file_, Access::read_write, 0, sizeof(RunReport));
    if (!mapping.ok()) fail("mmap", errno);
    mapping_ = std::move(mapping.value());
    reinterpret_cast<RunReport *>(mapping_.data())->layout = kRunReportLayout;
}

SharedReport SharedReport::create(const std::string &root) {
    auto directory = open_root(root, Create::yes, Log());
    if (directory.ok()) {
        remove_left(directory.value());
        const std::string name = new_name();
        auto file = create_file(directory.value(), name);
        if (file.ok()) {
            return SharedReport(std::move(file.value()), root + "/" + name,
                                std::move(directory.value()), name);
        }
    }
    File file = create_memory();
    std::string path = fmt::format("/proc/{}/fd/{}", getpid(), file.fd());
    return SharedReport(std::move(file), std::move(path), Directory(), "");
}

SharedReport::~SharedReport() {
    if (directory_.valid()) (void)directory_.remove_file(name_);
}

RunReport SharedReport::read() const {
    // Others may still be counting, so each number is read in one piece.
    RunReport copy = {};
    auto *from = reinterpret_cast<uint64_t *>(mapping_.data());
    auto *to = reinterpret_cast<uint64_t *>(&copy);
    for (size_t i = 0; i < sizeof(RunReport) / sizeof(uint64_t); ++i) {
        to[i] = std::atomic_ref<uint64_t>(from[i]).load(std::memory_order_relaxed);
    }
    return copy;
}

}  // namespace cairn::cli
