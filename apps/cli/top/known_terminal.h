// SPDX-License-Identifier: MIT
// Whether ncurses knows the terminal of standard output, by TERM.
// Thread safety: used by main only.
#pragma once

namespace cairn::cli {

bool is_known_terminal();

}  // namespace cairn::cli
