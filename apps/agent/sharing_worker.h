// What the agent does with remotes: pulls, pushes and looks at one application, with all remotes of the configuration.
// SPDX-License-Identifier: MIT
//
// Each job reads the configuration and the keys anew, so that a change counts at once.
//
// Thread safety: jobs by one thread, stop() by any.
// Failure: a remote that fails is in the result; a Failure where this machine's files or its configuration do.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "agent.h"
#include "base/log.h"
#include "looking.h"
#include "open_remotes.h"
#include "pull.h"

namespace cairn::fleet {

class SharingWorker final : public agent::Worker {
  public:
    SharingWorker(std::string root, Offers &offers, Fetcher &fetcher, const Log &log)
        : root_(std::move(root)), log_(log), looking_(root_, offers, fetcher) {}

    agent::JobResult pull(const std::string &name, const agent::Remotes &left_alone) override;
    agent::JobResult push(const std::string &name, const agent::Remotes &left_alone) override;
    agent::JobResult look(const std::string &name, const agent::Remotes &left_alone) override;
    void stop() override { stops_.store(true); }

  private:
    OpenRemotes remotes_for(RemoteUse use, const agent::Remotes &left_alone,
                            agent::JobResult &result) const;
    void note(const std::vector<RemoteTrouble> &troubles, agent::JobResult &result) const;

    const std::string root_;
    const Log log_;
    Looking looking_;
    std::atomic<bool> stops_ = false;
};

}  // namespace cairn::fleet
