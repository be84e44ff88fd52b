// A library that does everything which check_symbols.py is to find: it exports what it should not,
// needs an unusual library and changes the process that loads it.
// SPDX-License-Identifier: MIT
#include <xxhash.h>

#include <csignal>

#define LEAKY_API __attribute__((visibility("default")))

extern "C" LEAKY_API int leaky_export();
extern "C" LEAKY_API int __egl_Main();

int leaky_export() {
    std::signal(SIGTERM, SIG_IGN);
    return static_cast<int>(XXH_versionNumber());
}

int __egl_Main() {
    return 0;
}
