// Opens the remotes that a command names, and says what failed with them.
// SPDX-License-Identifier: MIT
// Thread safety: used by main only.
// Failure: as said at each.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pull.h"
#include "shelf.h"

namespace cairn::fleet {

using OpenRemotes = std::vector<std::unique_ptr<OpenRemote>>;

// Those whose URL and keys are of use; of the others, `troubles` has what is wrong with them.
OpenRemotes open_remotes(const std::vector<RemoteSettings> &settings,
                         std::vector<RemoteTrouble> &troubles);
// The same of those that a command is to use. A Failure where there is none.
OpenRemotes open_chosen(const RemoteOptions &options, RemoteUse use,
                        std::vector<RemoteTrouble> &troubles);

// Notes what a command has done with them: see counts.h.
void keep_counts(const Machine &machine, const OpenRemotes &remotes,
                 const std::vector<RemoteTrouble> &troubles);

// What remotes have. One that fails is not asked again.
class Catalogue {
  public:
    explicit Catalogue(const OpenRemotes &remotes) : remotes_(remotes) {}

    // NAMEs that are wanted, and the DRIVERs of one; sorted.
    cli::Words names(const std::function<bool(const std::string &name)> &is_wanted);
    cli::Words drivers(const std::string &name);
    const std::vector<RemoteTrouble> &troubles() const { return troubles_; }

  private:
    template <typename Ask>
    void ask(const Ask &ask_one);

    const OpenRemotes &remotes_;
    std::vector<RemoteTrouble> troubles_;
};

// One line on standard error for each, each once.
void complain_of(const std::vector<RemoteTrouble> &troubles, const cli::Words &problems);

}  // namespace cairn::fleet
