// SPDX-License-Identifier: MIT
#include "fetching.h"

#include <algorithm>

#include "cache/driver_cache.h"
#include "output.h"
#include "pack/files.h"

namespace cairn::fleet {
namespace {

bool is_of(const cli::OpenPart &part, const std::string &name, const std::string &driver_text) {
    const std::string generation(part.subject.generation);
    const bool is_of_driver = part.subject.kind == PackKind::driver_files || generation.empty()
                                  ? generation == driver_text
                                  : driver_subject(name, generation).generation == driver_text;
    return part.name() == name && is_of_driver;
}

}  // namespace

std::optional<TemporaryPack> fetch_pack(Shelf &shelf, const ListedPack &pack,
                                        const cli::PublicKey &signer, const std::string &name,
                                        const std::string &driver_text) {
    auto file = shelf.fetch(pack, signer);
    if (!file) return std::nullopt;
    const cli::OpenPack opened = cli::open_pack(file->path());
    cli::require_known(opened);
    if (!std::ranges::all_of(opened.parts, [&](const cli::OpenPart &part) {
            return is_of(part, name, driver_text);
        })) {
        throw cli::Failure(cli::kExitFailure, "a pack has parts of something else");
    }
    return file;
}

}  // namespace cairn::fleet
