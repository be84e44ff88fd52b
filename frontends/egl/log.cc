// SPDX-License-Identifier: MIT
#include "log.h"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "os/file.h"
#include "settings.h"

namespace cairn::egl {

void log_line(const char *format, ...) {
    if (!settings().log) return;
    const int saved_errno = errno;
    char line[1024] = "cairn-egl: ";
    constexpr int kPrefix = 11;
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(line + kPrefix, sizeof line - kPrefix - 1, format, arguments);
    va_end(arguments);
    const int end = kPrefix + std::clamp(size, 0, static_cast<int>(sizeof line) - kPrefix - 2);
    line[end] = '\n';
    write_to_standard_error({line, static_cast<size_t>(end) + 1});
    errno = saved_errno;
}

void log_from_cache(void *, int, const char *line) {
    log_line("%s", line);
}

}  // namespace cairn::egl
