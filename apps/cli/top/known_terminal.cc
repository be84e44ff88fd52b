// SPDX-License-Identifier: MIT
// Apart from all else: <term.h> has macros of common names.
#include "top/known_terminal.h"

#include <curses.h>
#include <term.h>
#include <unistd.h>

namespace cairn::cli {

bool is_known_terminal() {
    int known = 0;
    const bool is_known = setupterm(nullptr, STDOUT_FILENO, &known) == OK;
    if (cur_term != nullptr) del_curterm(cur_term);
    return is_known;
}

}  // namespace cairn::cli
