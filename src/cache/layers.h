// Finds the packs that lie under a cache, and opens their parts that are of it.
// SPDX-License-Identifier: MIT
//
// The first of these that has an entry answers with it:
//
//  1. packs that the application names (cairn_options.layers),
//  2. `cairn-packs/*.pack` beside its executable,
//  3. the user's: `<root>/.packs/NAME/*.pack`,
//  4. the system's: `NAME/*.pack` in the folders of CAIRN_PACKS, else in /usr/share/cairn/packs and
//     /var/lib/cairn/packs.
//
// NAME is the application of a program cache, else the cache's identifier. A pack is code that
// drivers run: its file and its folder must belong to the user, root or the owner of the executable,
// or be in a folder of the system, and nobody else may write them.
//
// Thread safety: functions without state. They read the environment.
// Failure: what is no pack, or none of this cache, is passed over; the log says what is wrong.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "os/file.h"
#include "pack/pack_reader.h"

namespace cairn {

// A cache as packs know it.
struct LayeredSubject {
    std::string name;  // NAME above
    std::string identifier;
    std::uint64_t version = 0;
    std::string generation;  // the text of its file `generation`; empty: it is no program cache

    PackSubject of_kind(PackKind kind) const { return {kind, identifier, version, generation}; }
};

struct FoundLayer {
    std::unique_ptr<PackPart> part;
    std::string path;
};

inline constexpr std::size_t kLayersMax = 16;  // under one cache

// `paths` are those that the application names.
std::vector<FoundLayer> find_layers(const std::string &root, const LayeredSubject &subject,
                                    const std::vector<std::string> &paths, PackKind kind,
                                    const Log &log);
// The same in these folders, without a look at the environment.
std::vector<FoundLayer> find_layers(const std::vector<std::string> &folders,
                                    const LayeredSubject &subject,
                                    const std::vector<std::string> &paths, PackKind kind,
                                    const Log &log);

// The folders of packs of this name, in the order above, whether they are there or not.
std::vector<std::string> pack_folders(const std::string &root, const std::string &name);

}  // namespace cairn
