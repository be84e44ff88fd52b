// SPDX-License-Identifier: MIT
#include "crash/ledger.h"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "support/random.h"

namespace cairn_test {

void report(Findings &findings, Counter &kind, const char *format, ...) {
    ++kind;
    constexpr std::uint64_t kPrintedMax = 40;
    if (findings.printed.fetch_add(1) >= kPrintedMax) return;
    char line[512];
    int size = std::snprintf(line, sizeof(line), "%s, process %d: ",
                             &kind == &findings.lost    ? "LOST"
                             : &kind == &findings.wrong ? "WRONG"
                                                        : "FAILED",
                             static_cast<int>(getpid()));
    va_list arguments;
    va_start(arguments, format);
    size += std::vsnprintf(line + size, sizeof(line) - static_cast<std::size_t>(size) - 1, format,
                           arguments);
    va_end(arguments);
    const auto length = std::min(static_cast<std::size_t>(size), sizeof(line) - 2);
    line[length] = '\n';
    // One write call, so that lines of several processes do not mix.
    [[maybe_unused]] const ssize_t done = write(STDERR_FILENO, line, length + 1);
}

bool is_removal(std::uint64_t key, std::uint64_t version) {
    return version == 0 || mix(key, version) % 8 == 0;
}

}  // namespace cairn_test
