// SPDX-License-Identifier: MIT
#include "journal.h"

#include <cstdarg>
#include <cstdio>

namespace cairn::broker {

void Journal::line(const char *format, ...) const {
    if (!on_) return;
    char text[600];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    std::fprintf(stderr, "cairnd: %s\n", text);
}

void Journal::receive(void *self, int, const char *line) {
    static_cast<const Journal *>(self)->line("%s", line);
}

}  // namespace cairn::broker
