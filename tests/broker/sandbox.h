// A sandbox that kills the process for opening, connecting or executing anything, in all threads.
// SPDX-License-Identifier: MIT
#pragma once

namespace cairn_test {

// False: it could not be entered.
bool forbid_system_calls();

}  // namespace cairn_test
