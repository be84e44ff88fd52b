// SPDX-License-Identifier: MIT
#include "history/files.h"

#include <array>
#include <cstddef>

#include "history/format.h"

namespace cairn {

void remove_history(const Directory &cache) {
    const auto history = cache.open_file(kHistoryFileName, Access::read_write);
    // If there was none, one that is there by now is new.
    if (history.error() == Error::not_found) return;
    (void)cache.remove_file(kHistoryFileName);
    // Afterwards, so that no process that sees it has made a new file of that name before.
    if (history.ok()) {
        const std::uint64_t is_void = 1;
        const std::array pieces = {std::as_bytes(std::span(&is_void, 1))};
        (void)history->write_at(offsetof(HistoryHeader, is_void), pieces);
    }
}

void forget_history(const Directory &cache) {
    remove_history(cache);
    (void)cache.remove_file(kSourcesFileName);
}

}  // namespace cairn
