// Packs made for a test.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "os/file.h"
#include "pack/pack_writer.h"

namespace cairn::testing {

struct PackedPart {
    std::string identifier = "example";
    std::uint64_t version = 1;
    std::string generation = {};
    std::map<std::string, std::string> entries;
    std::vector<std::string> order = {};
    PackKind kind = PackKind::entries;
    PackCompression compression = PackCompression::none;
    std::string dictionary = {};

    PackSubject subject() const { return {kind, identifier, version, generation}; }
};

inline void must(Status status) {
    if (!status.ok()) std::abort();
}

// Writes a pack in place of what has the name. Each entry costs 7 microseconds more than its key has
// bytes.
inline void write_pack(const std::string &path, const std::vector<PackedPart> &parts,
                       std::string_view about = "A pack for a test") {
    const std::string folder = path.substr(0, path.rfind('/'));
    auto directory = Directory::open(folder);
    if (!directory.ok()) std::abort();
    const std::string name = path.substr(folder.size() + 1);
    const std::string unfinished = name + ".unfinished";
    (void)directory->remove_file(unfinished);
    auto file = directory->create_file(unfinished);
    if (!file.ok()) std::abort();
    PackWriter writer(*file);
    for (const PackedPart &part : parts) {
        must(writer.begin_part(part.subject(), part.compression, as_bytes(part.dictionary)));
        for (const auto &[key, value] : part.entries) {
            must(writer.add({as_bytes(key), as_bytes(value),
                             static_cast<std::uint32_t>(key.size() + 7), false}));
        }
        must(writer.end_part(part.order));
    }
    must(writer.finish(about));
    must(directory->rename(unfinished, name));
}

}  // namespace cairn::testing
