// SPDX-License-Identifier: MIT
// Whether work that nobody waits for should rest: on battery, and where memory is short.
// Thread safety: a pure function of the system. Failure: what the system does not tell is no reason.
#pragma once

#include <string>

namespace cairn::cli {

// Why to rest, in words; "": there is no reason. `sys` and `proc` are the system's folders of these
// names.
std::string reason_to_rest(const std::string &sys = "/sys", const std::string &proc = "/proc");

}  // namespace cairn::cli
