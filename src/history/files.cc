// SPDX-License-Identifier: MIT
#include "history/files.h"

#include <array>
#include <cstddef>
#include <optional>

#include "history/format.h"
#include "os/byte_lock.h"

namespace cairn {
namespace {

constexpr std::uint64_t kPatienceUs = 20'000;
constexpr unsigned kAttempts = 3;

}  // namespace

void remove_history(const Directory &cache) {
    for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
        const auto history = cache.open_file(kHistoryFileName, Access::read_write);
        // If there was none, one that is there by now is new.
        if (history.error() == Error::not_found) return;
        std::optional<Result<ByteLock>> alone;
        if (history.ok()) {
            // Else enlarge_history() could put back what is forgotten here.
            alone.emplace(ByteLock::acquire(history.value(), kHistoryChangeByte, kPatienceUs));
            const bool is_last = attempt + 1 == kAttempts;
            if (!is_last && !is_history(cache, history->info())) continue;
        }
        (void)cache.remove_file(kHistoryFileName);
        // Afterwards, so that no process that sees it has made a new file of that name before.
        if (history.ok()) make_void(history.value());
        return;
    }
}

bool is_history(const Directory &cache, const Result<FileInfo> &info) {
    const auto named = cache.info(kHistoryFileName);
    return info.ok() && named.ok() && named->inode == info->inode && named->device == info->device;
}

void make_void(const File &history) {
    const std::uint64_t is_void = 1;
    const std::array pieces = {std::as_bytes(std::span(&is_void, 1))};
    (void)history.write_at(offsetof(HistoryHeader, is_void), pieces);
}

void forget_history(const Directory &cache) {
    remove_history(cache);
    (void)cache.remove_file(kSourcesFileName);
}

}  // namespace cairn
