// Creates, opens and replaces the index file of a cache.
// SPDX-License-Identifier: MIT
//
// An index is built under another name and then linked or renamed to its own, so that no process
// ever sees half of one.
//
// Thread safety: functions without state; any number of processes at once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/file.h"
#include "store/index.h"
#include "store/space.h"

namespace cairn {

enum class Replace { yes, no };

// Puts an empty index in place. Replace::no fails with `exists` when there is one.
Status create_index_file(const Directory &directory, const CacheIdentity &identity,
                         Replace replace);

// An index under another name, which nobody else uses. Its file is locked while it is open.
struct IndexUnderConstruction {
    std::string name;  // of its file
    std::unique_ptr<Index> index;
};
Result<IndexUnderConstruction> construct_index(const Directory &directory,
                                               const CacheIdentity &identity);
// Whether a file of this name is one.
bool is_under_construction(std::string_view name);
// Removes those whose builders died.
void remove_abandoned_indexes(const Directory &directory, const DiskUse &use);

// Reads the header. corrupt: both copies are damaged or belong to a cache of another name;
// unsupported: another format version.
Result<CacheIdentity> read_index_identity(const File &file, std::string_view name);

// The identity that most segments have, for a cache without an index. Without `version`, of any. From
// format 2 on it counts what the records of a segment say, where its header does not, and the version
// is known.
std::optional<CacheIdentity> identity_of_segments(const Directory &directory, std::uint32_t format,
                                                  std::optional<std::uint64_t> version,
                                                  std::string_view name);
// The same; if no segment tells one, a new identity.
CacheIdentity identity_for_new_index(const Directory &directory, std::uint32_t format,
                                     std::uint64_t version, std::string_view name);

}  // namespace cairn
