// SPDX-License-Identifier: MIT
#include "trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "settings.h"

namespace cairn::egl {

void trace_entry(std::string_view key, size_t size_bytes, uint64_t cost_ns) {
    const std::string &path = settings().trace;
    if (path.empty()) {
        return;
    }
    const int saved_errno = errno;
    constexpr size_t kKeySizeMax = 32;
    char line[2 * kKeySizeMax + 48];
    char *end = line;
    for (const char byte : key.substr(0, kKeySizeMax)) {
        end += snprintf(end, 3, "%02x", static_cast<unsigned char>(byte));
    }
    end += snprintf(end, static_cast<size_t>(line + sizeof line - end), " %zu %llu\n", size_bytes,
                    static_cast<unsigned long long>(cost_ns / 1000));
    const int fd = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0) {
        [[maybe_unused]] const ssize_t written = write(fd, line, static_cast<size_t>(end - line));
        close(fd);
    }
    errno = saved_errno;
}

}  // namespace cairn::egl
