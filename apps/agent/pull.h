// Fetches what a fleet has of an application and this machine lacks, and merges it into one pack for each driver.
// SPDX-License-Identifier: MIT
//
// Thread safety: used by main only.
// Failure: a remote that fails is noted in the result, and the others go on. A Failure where the pack cannot be
// written; then the old one stays.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "machine.h"
#include "shelf.h"
#include "text.h"

namespace cairn::fleet {

struct RemoteTrouble {
    std::string remote;
    std::string problem;
    bool is_usage = false;  // its settings are wrong
};

struct Pulled {
    std::uint64_t packs = 0, entries = 0, bytes = 0;  // that came
    std::uint64_t listed = 0;                         // entries that manifests list
    std::vector<RemoteTrouble> troubles;
    cli::Words problems;  // why something did not count

    void add(Pulled other);
};

struct PullLimits {
    std::uint64_t bytes_max = std::uint64_t{1} << 30;  // of the merged pack
    bool keeps = false;  // what comes, for applications that run and ask (kept_packs.h)
};

// What the remotes have of NAME for a driver: `driver` is DRIVER, and `text` what it is the hash of, where that is
// known. A later remote is asked for what the earlier ones lack.
Pulled pull(const std::vector<std::unique_ptr<OpenRemote>> &remotes, const Machine &machine,
            const std::string &name, const std::string &driver,
            const std::optional<std::string> &text, const PullLimits &limits);

}  // namespace cairn::fleet
