// Lines for people on standard error, only when CAIRN_LOG=1 asked for them.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread; a line is written in one piece. Failure: what cannot be written is
// lost.
#pragma once

namespace cairn::egl {

// Writes "cairn-egl: " and the formatted text as one line; at most 1,000 characters.
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The cairn_log_fn that the caches are opened with.
void log_from_cache(void *user, int severity, const char *line);

}  // namespace cairn::egl
