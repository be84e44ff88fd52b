// SPDX-License-Identifier: MIT
#include "base/log.h"

#include <cerrno>
#include <cstdio>

namespace cairn {

void Log::write(Severity severity, const char *format, ...) const {
    if (function_ == nullptr) return;
    const int saved_errno = errno;
    char line[501];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    function_(user_, static_cast<int>(severity), line);
    errno = saved_errno;
}

}  // namespace cairn
