// Reads what manifests list of an application that may ask, and tells its processes and the fetcher.
// SPDX-License-Identifier: MIT
//
// A look at what was looked at before costs each remote a list of names, and this machine to read its copies of the
// manifests.
//
// Thread safety: one thread; the fetcher's works meanwhile.
// Failure: the troubles of remotes that fail. What they had before stays on offer.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fetcher.h"
#include "machine.h"
#include "offers.h"
#include "open_remotes.h"
#include "pull.h"

namespace cairn::fleet {

class Looking {
  public:
    Looking(std::string root, Offers &offers, Fetcher &fetcher)
        : root_(std::move(root)), offers_(offers), fetcher_(fetcher) {}

    // The name's caches for the driver with this text.
    std::vector<RemoteTrouble> look(const OpenRemotes &remotes, const Machine &machine,
                                    const std::string &name, const std::string &driver_text);

  private:
    void offer(const OfferTable &table, const Machine &machine, const std::string &name,
               const std::string &driver_text);

    const std::string root_;
    Offers &offers_;
    Fetcher &fetcher_;
    std::map<std::string, ObjectHash> seen_;  // of NAME/DRIVER: of what there was
};

}  // namespace cairn::fleet
