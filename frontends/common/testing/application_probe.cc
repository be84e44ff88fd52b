// Writes its name to standard output.
// SPDX-License-Identifier: MIT
//
// Before the name is computed it does what PROBE_TITLE and PROBE_DELETE ask for: it writes a title
// over its arguments, as Chromium does, puts another text in place of the first one, and deletes
// its executable, as an update does.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/application.h"

namespace {

void write_title(const char *title, int count, char **arguments) {
    const char *end = arguments[count - 1] + strlen(arguments[count - 1]) + 1;
    const auto room = static_cast<size_t>(end - arguments[0]);
    memset(arguments[0], 0, room);
    memcpy(arguments[0], title, strnlen(title, room - 1));
}

// The text at the end of memory: there is nothing to be read behind it.
char *alone(const char *text) {
    constexpr size_t kPage = 4096;
    constexpr size_t kRoom = 64;
    void *pages =
        mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) abort();
    char *const behind = static_cast<char *>(pages) + kPage;
    mprotect(behind, kPage, PROT_NONE);
    return strncpy(behind - kRoom, text, kRoom - 1);
}

// The earliest that a program can ask for.
__attribute__((constructor(101))) void prepare(int count, char **arguments) {
    if (const char *title = getenv("PROBE_TITLE")) write_title(title, count, arguments);
    if (const char *text = getenv("PROBE_FIRST")) arguments[0] = alone(text);
    if (const char *path = getenv("PROBE_DELETE")) unlink(path);
}

}  // namespace

int main() {
    puts(cairn::application_name().c_str());
    return 0;
}
