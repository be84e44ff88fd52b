// Notices to the agent (docs/formats/agent.md): what is accepted is what is sent.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "cache/agent_notice.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const auto input = std::as_bytes(std::span(data, size));
    const auto notice = cairn::decode_agent_notice(input);
    if (!notice) return 0;
    const auto again = cairn::encode_agent_notice(notice->root, notice->identifier);
    if (!again || !std::ranges::equal(*again, input)) std::abort();
    return 0;
}
