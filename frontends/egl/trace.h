// Records which entries are looked up, for bench/policy_sim: only when `cairn run --trace` asked.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread and process; a line is appended in one piece.
// Failure: what cannot be written is lost. The file is opened for each line, so that an application
// that closes descriptors it does not know never has ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cairn::egl {

// Adds the line "KEY SIZE_BYTES COST_US", where the cost is what a miss costs.
void trace_entry(std::string_view key, size_t size_bytes, uint64_t cost_ns);

}  // namespace cairn::egl
