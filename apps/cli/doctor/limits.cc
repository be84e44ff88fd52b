// SPDX-License-Identifier: MIT
// Whether the system's limits for a process leave room for caches.
#include <sys/resource.h>

#include "doctor/checks.h"
#include "output.h"

namespace cairn::cli::doctor {
namespace {

constexpr rlim_t kFilesLeast = 256;
constexpr rlim_t kFileSizeLeast = rlim_t{64} << 20;  // a cache's files of a gigabyte are as large
constexpr rlim_t kAddressesLeast = rlim_t{2} << 30;

// No limit, where there is none.
rlim_t limit_of(__rlimit_resource_t resource) {
    struct rlimit limit = {};
    return ::getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

}  // namespace

void check_limits(const Examined &, Findings &findings) {
    if (const rlim_t files = limit_of(RLIMIT_NOFILE); files < kFilesLeast) {
        findings.add(Id::few_files,
                     fmt::format("a process may have {} descriptors", uint64_t{files}),
                     "ulimit -n 1024, before programs are started");
    }
    if (const rlim_t size = limit_of(RLIMIT_FSIZE); size < kFileSizeLeast) {
        findings.add(Id::file_size, fmt::format("a file may have {} at most", format_bytes(size)),
                     "ulimit -f unlimited, before programs are started");
    }
    if (const rlim_t size = limit_of(RLIMIT_AS); size < kAddressesLeast) {
        findings.add(Id::address_space,
                     fmt::format("a process may map {} at most", format_bytes(size)),
                     "ulimit -v unlimited, before programs are started");
    }
}

}  // namespace cairn::cli::doctor
