// SPDX-License-Identifier: MIT
#include "history/enlarge.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "history/files.h"
#include "history/format.h"
#include "os/byte_lock.h"

namespace cairn {
namespace {

constexpr std::uint64_t kPatienceUs = 20'000;

std::size_t levels_of(std::uint64_t size) {
    std::size_t levels = 0;
    while (levels < kLevelsMax && programs_offset(kLinksSmall, levels + 1) <= size) ++levels;
    return levels;
}

// A link's place follows from its number. What is not whole stays away.
void place_links(MutableBytes large, Bytes small) {
    for (std::size_t i = 0; i < kLinksSmall; ++i) {
        LinkRecord link = {};
        std::memcpy(&link, small.data() + kLinksOffset + i * sizeof link, sizeof link);
        if (link.number == 0 || link.check != check_of(link)) continue;
        const auto place = static_cast<std::size_t>(link.number % kLinksLarge);
        std::memcpy(large.data() + kLinksOffset + place * sizeof link, &link, sizeof link);
    }
}

// The same contexts, runs, links and programs. Where a bucket is follows from its level alone.
std::vector<std::byte> enlarged(Bytes small, std::size_t levels) {
    const std::size_t programs = programs_offset(kLinksSmall, 0);
    std::vector<std::byte> large(programs_offset(kLinksLarge, levels));
    std::memcpy(large.data(), small.data(), kLinksOffset);
    put_le(MutableBytes(large), offsetof(HistoryHeader, magic), kHistoryMagicLarge);
    place_links(large, small);
    std::memcpy(large.data() + programs_offset(kLinksLarge, 0), small.data() + programs,
                small.size() - programs);
    return large;
}

}  // namespace

// Under the lock that runs begin with, so that none begins in a file that is left.
Status enlarge_history(const Directory &cache, const File &small, const FileInfo &info,
                       std::uint64_t size_max) {
    TRY_ASSIGN(const ByteLock alone, ByteLock::acquire(small, kHistoryChangeByte, kPatienceUs));
    if (!is_history(cache, info)) return {};
    TRY_ASSIGN(const FileInfo now, small.info());
    const std::size_t levels = std::max<std::size_t>(levels_of(now.size_bytes), 1);
    if (programs_offset(kLinksLarge, levels) > size_max) return Error::too_large;
    std::vector<std::byte> bytes(programs_offset(kLinksSmall, levels));
    TRY_ASSIGN(const std::size_t got, small.read_at(0, bytes));
    if (got < sizeof(HistoryHeader)) return Error::corrupt;
    TRY(cache.replace_file(kHistoryFileName, enlarged(bytes, levels)));
    // If we were stopped for long, the cache may have been cleared meanwhile.
    HistoryHeader header = {};
    const auto read = small.read_at(0, std::as_writable_bytes(std::span(&header, 1)));
    if (read.ok() && header.is_void != 0) remove_history(cache);
    make_void(small);
    return {};
}

}  // namespace cairn
