// Which entries of a pack's part a cache has hidden: a byte for each slot, in a file of the cache's
// directory.
// SPDX-License-Identifier: MIT
//
// The layout is in docs/formats/pack.md, "Layer files". The file is made, with its disk blocks,
// before the layer is used, so that hiding an entry needs no space. Nothing is mapped, and no two
// processes write more than a byte each: there is no lock.
//
// Thread safety: all methods, from any thread.
// Failure: a file that is not whole hides everything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/file.h"
#include "pack/pack_format.h"

namespace cairn {

class LayerFile {
  public:
    // Of the part with this row, in the pack at `path` whose file was last changed at `added_ns`.
    // Makes the file where it is missing and may be written. not_found: it is missing; no_space, ...
    static Result<LayerFile> open(const Directory &cache, const PackRow &row, std::string_view path,
                                  std::uint64_t added_ns, Access access);

    bool is_hidden(std::uint32_t slot) const;
    // Whether it was not hidden before.
    Result<bool> hide(std::uint32_t slot) const;

  private:
    explicit LayerFile(File file) : file_(std::move(file)) {}

    File file_;
};

// Hide the entries of all layers that the cache in this directory has ever had, whether they are
// open or not: of those whose packs were added from begin_ns until before end_ns. Returns how many
// were not hidden before. After an error some may still be seen.
Result<std::uint64_t> hide_layers(const Directory &cache, std::uint64_t begin_ns,
                                  std::uint64_t end_ns);

// Where the packs lay that were layers of the cache in this directory, as far as that can be read.
std::vector<std::string> layer_paths(const Directory &cache);

}  // namespace cairn
