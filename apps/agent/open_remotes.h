// Opens the remotes that a command names, and says what failed with them.
// SPDX-License-Identifier: MIT
// Thread safety: used by main only.
// Failure: a Failure where a remote's URL or its keys are of no use.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pull.h"
#include "shelf.h"

namespace cairn::fleet {

using OpenRemotes = std::vector<std::unique_ptr<OpenRemote>>;

OpenRemotes open_remotes(const std::vector<RemoteSettings> &settings);

// One line on standard error for each, each once.
void complain_of(const std::vector<RemoteTrouble> &troubles, const cli::Words &problems);

}  // namespace cairn::fleet
