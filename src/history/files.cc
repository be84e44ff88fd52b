// SPDX-License-Identifier: MIT
#include "history/files.h"

#include <array>
#include <cstddef>

#include "history/format.h"

namespace cairn {

void remove_history(const Directory &cache) {
    const auto history = cache.open_file(kHistoryFileName, Access::read_write);
    if (history.ok()) {
        const std::uint64_t is_void = 1;
        const std::array pieces = {std::as_bytes(std::span(&is_void, 1))};
        (void)history->write_at(offsetof(HistoryHeader, is_void), pieces);
    }
    (void)cache.remove_file(kHistoryFileName);
}

void forget_history(const Directory &cache) {
    remove_history(cache);
    (void)cache.remove_file(kSourcesFileName);
}

}  // namespace cairn
