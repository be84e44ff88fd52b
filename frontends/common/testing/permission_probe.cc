// Writes to standard output whether it is served, whether it logs, and why not. With an argument it
// then dies inside the front end, where it is watched.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>

#include "common/crash_guard.h"
#include "common/permission.h"

int main(int count, char **) {
    const cairn::Permission &own = cairn::own_permission();
    printf("%s%s%s\n", own.is_served ? "served" : "not served: ", own.reason.c_str(),
           own.logs ? " (logs)" : "");
    fflush(stdout);
    const cairn::InsideFrontEnd inside;
    if (count > 1) abort();
    return 0;
}
