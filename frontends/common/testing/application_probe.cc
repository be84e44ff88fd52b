// Writes its name to standard output. SPDX-License-Identifier: MIT
//
// Before the name is computed it does what PROBE_TITLE and PROBE_DELETE ask for: it writes a title
// over its arguments, as Chromium does, puts another text in place of the first one, and deletes
// its executable, as an update does.
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

// The earliest that a program can ask for.
__attribute__((constructor(101))) void prepare(int count, char **arguments) {
    if (const char *title = getenv("PROBE_TITLE")) write_title(title, count, arguments);
    if (const char *text = getenv("PROBE_FIRST")) {
        static char first[64] = {};
        strncpy(first, text, sizeof first - 1);
        arguments[0] = first;
    }
    if (const char *path = getenv("PROBE_DELETE")) unlink(path);
}

}  // namespace

int main() {
    puts(cairn::application_name().c_str());
    return 0;
}
