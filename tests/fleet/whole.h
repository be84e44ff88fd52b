// What must be so at each moment at a remote: all that a manifest lists is there, in every byte.
// SPDX-License-Identifier: MIT
// Thread safety: externally synchronised. Failure: a failed test.
#pragma once

#include <string>

#include "remotes/remote.h"

namespace cairn::fleet_test {

struct Whole {
    unsigned manifests = 0, packs = 0;  // that were looked at; a pack of two manifests counts twice
};

// All of the namespace `cairn`. A manifest that goes away meanwhile is passed over, so that others may push.
Whole expect_whole(remotes::Remote &remote);
// With the remote of this URL.
Whole expect_whole(const std::string &url);

}  // namespace cairn::fleet_test
