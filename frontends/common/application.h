// By which names this process is known. SPDX-License-Identifier: MIT
//
// Thread safety: pure functions, but for process_file() and own_application().
#pragma once

#include <string>
#include <vector>

namespace cairn {

// By which Mesa may know the application: it takes what follows the last slash of how it was
// called, or the last backslash (Wine), or the name of its file.
std::vector<std::string> application_names(const std::string &invocation, const std::string &file);

// The application of a program cache: "egl-" and the name behind the last slash or backslash of
// `invocation`, else of `file`, with an underscore for what may not be in an identifier; at most 64
// characters. "egl" where there is no name.
std::string cache_application(const std::string &invocation, const std::string &file);

// The file that this process runs; "" where that cannot be told.
std::string process_file();
// cache_application() of this process, computed once.
const std::string &own_application();

}  // namespace cairn
