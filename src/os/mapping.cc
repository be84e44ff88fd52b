// SPDX-License-Identifier: MIT
#include "os/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "os/system_calls.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace cairn {

Mapping::~Mapping() {
    if (data_ != nullptr) ::munmap(data_, size_);
}

Result<Mapping> Mapping::file(const File &file, Access access, std::uint64_t offset,
                              std::uint64_t size) {
    if (size > PTRDIFF_MAX) return Error::no_memory;  // in a 32-bit process
    const auto length = static_cast<std::size_t>(size);
    const int protection = access == Access::read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    void *data = system_calls->mmap(nullptr, length, protection, MAP_SHARED, file.fd(),
                                    static_cast<off_t>(offset));
    if (data == MAP_FAILED) return error_from_errno(errno);
    return Mapping(static_cast<std::byte *>(data), length);
}

Result<Mapping> Mapping::wiped_on_fork(std::size_t size) {
    void *data = system_calls->mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return error_from_errno(errno);
    Mapping mapping(static_cast<std::byte *>(data), size);
    if (::madvise(data, size, MADV_WIPEONFORK) != 0) return Error::unsupported;
#ifdef __SANITIZE_ADDRESS__
    __lsan_register_root_region(data,
                                size);  // else memory that only this leads to counts as leaked
#endif
    return mapping;
}

void Mapping::expect_random_access() const {
    ::madvise(data_, size_, MADV_RANDOM);
}

bool Mapping::is_cached(const void *address) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));  // no system call
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(address) & ~(page - 1);
    unsigned char is_there = 0;
    return ::mincore(reinterpret_cast<void *>(begin), 1, &is_there) == 0 && (is_there & 1) != 0;
}

Status Mapping::sync() const {
    if (::msync(data_, size_, MS_SYNC) != 0) return error_from_errno(errno);
    return {};
}

}  // namespace cairn
