// Packs that were fetched, and stay for a while: `<root>/.fleet/packs/HASH.pack` (docs/formats/agent.md).
// SPDX-License-Identifier: MIT
//
// Applications that ask open them there, and a pull takes them from there. Each was verified before it
// was kept. Who has one open keeps it when it goes.
//
// Thread safety: const methods, from any thread; any number of processes may be at it.
// Failure: what cannot be kept is fetched again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cache/agent_question.h"

namespace cairn::fleet {

class KeptPacks {
  public:
    static constexpr std::uint64_t kBytesMax = 256u << 20;
    static constexpr std::size_t kFilesMax = 1000;

    explicit KeptPacks(const std::string &root, std::uint64_t bytes_max = kBytesMax,
                       std::size_t files_max = kFilesMax)
        : root_(root), path_(kept_packs_path(root)), bytes_max_(bytes_max), files_max_(files_max) {}

    bool has(const KeptPackName &name) const;
    // Its bytes, which nobody has looked at since it was kept.
    std::optional<std::string> read(const KeptPackName &name, std::uint64_t size_max) const;
    // Gives the file of a pack that was verified another name there, in place of one that is there. The
    // oldest go where there are too many. Whether it is there now.
    bool keep(const KeptPackName &name, const std::string &file) const;

  private:
    void tidy() const;

    const std::string root_, path_;
    const std::uint64_t bytes_max_;
    const std::size_t files_max_;
};

}  // namespace cairn::fleet
