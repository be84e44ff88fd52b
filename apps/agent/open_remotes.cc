// SPDX-License-Identifier: MIT
#include "open_remotes.h"

#include <set>

#include "output.h"

namespace cairn::fleet {

OpenRemotes open_remotes(const std::vector<RemoteSettings> &settings) {
    OpenRemotes remotes;
    for (const RemoteSettings &each : settings) {
        try {
            remotes.push_back(std::make_unique<OpenRemote>(each));
        } catch (const remotes::RemoteFailure &failure) {
            throw cli::Failure(cli::kExitUsage, failure.what());
        }
    }
    return remotes;
}

void complain_of(const std::vector<RemoteTrouble> &troubles, const cli::Words &problems) {
    std::set<std::string> said;
    for (const RemoteTrouble &each : troubles) {
        if (said.insert(each.problem).second) cli::complain("{}: {}", each.remote, each.problem);
    }
    for (const std::string &each : problems) {
        if (said.insert(each).second) cli::complain(each);
    }
}

}  // namespace cairn::fleet
