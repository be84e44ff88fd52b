// SPDX-License-Identifier: MIT
#include "sharing_worker.h"

#include <algorithm>

#include "holdings.h"
#include "names.h"
#include "open_remotes.h"
#include "pull.h"
#include "push.h"

namespace cairn::fleet {
namespace {

// All that did not fail were served. `failed`: for which something failed that is no trouble of theirs.
agent::JobResult end(const Machine &machine, const OpenRemotes &remotes, agent::JobResult result,
                     const agent::Remotes &failed = {}) {
    std::vector<RemoteTrouble> troubles;
    for (const std::string &name : result.troubled) troubles.push_back({name, ""});
    for (const std::string &name : failed) troubles.push_back({name, ""});
    keep_counts(machine, remotes, troubles);
    for (const auto &remote : remotes) {
        const std::string &name = remote->settings().name;
        if (std::ranges::find(troubles, name, &RemoteTrouble::remote) == troubles.end()) {
            result.served.push_back(name);
        }
    }
    return result;
}

}  // namespace

void SharingWorker::note(const std::vector<RemoteTrouble> &troubles,
                         agent::JobResult &result) const {
    for (const RemoteTrouble &each : troubles) {
        log_.write(Severity::warning, "%s: %s", each.remote.c_str(), each.problem.c_str());
        result.troubled.push_back(each.remote);
    }
}

// The remotes that are to be used so now; the others are in the result as skipped, or in trouble.
OpenRemotes SharingWorker::remotes_for(RemoteUse use, const agent::Remotes &left_alone,
                                       agent::JobResult &result) const {
    std::vector<RemoteSettings> usable;
    for (const RemoteSettings &each : configured_remotes()) {
        if (use == RemoteUse::read ? !each.reads : !each.writes || each.sign.empty()) continue;
        if (std::ranges::find(left_alone, each.name) != left_alone.end()) {
            result.skipped.push_back(each.name);
        } else {
            usable.push_back(each);
        }
    }
    std::vector<RemoteTrouble> troubles;
    OpenRemotes remotes = open_remotes(usable, troubles);
    note(troubles, result);
    return remotes;
}

agent::JobResult SharingWorker::pull(const std::string &name, const agent::Remotes &left_alone) {
    agent::JobResult result;
    const OpenRemotes remotes = remotes_for(RemoteUse::read, left_alone, result);
    if (remotes.empty()) return result;
    const Machine machine(root_);
    PullLimits limits;
    limits.keeps = agent::asks(name);
    Catalogue catalogue(remotes);
    const cli::Words there = catalogue.drivers(name);
    note(catalogue.troubles(), result);
    // The start that this pull is for has made a cache, which says what its driver is.
    for (const std::string &text : drivers_in_caches(root_, name)) {
        const std::string driver = driver_name(text);
        if (std::ranges::find(there, driver) == there.end()) continue;
        if (stops_.load()) return result;
        const Pulled pulled = fleet::pull(remotes, machine, name, driver, text, limits);
        note(pulled.troubles, result);
        for (const std::string &each : pulled.problems) {
            log_.write(Severity::warning, "%s", each.c_str());
        }
        if (pulled.packs != 0) {
            log_.write(Severity::info, "%s: pulled %zu entries", name.c_str(),
                       static_cast<std::size_t>(pulled.entries));
        }
    }
    return end(machine, remotes, std::move(result));
}

agent::JobResult SharingWorker::look(const std::string &name, const agent::Remotes &left_alone) {
    agent::JobResult result;
    const OpenRemotes remotes = remotes_for(RemoteUse::read, left_alone, result);
    if (remotes.empty()) return result;
    const Machine machine(root_);
    for (const std::string &text : drivers_in_caches(root_, name)) {
        if (stops_.load()) return result;
        const std::vector<RemoteTrouble> troubles = looking_.look(remotes, machine, name, text);
        note(troubles, result);
        if (!troubles.empty()) break;  // it would be waited for again
    }
    return end(machine, remotes, std::move(result));
}

agent::JobResult SharingWorker::push(const std::string &name, const agent::Remotes &left_alone) {
    agent::JobResult result;
    const OpenRemotes remotes = remotes_for(RemoteUse::write, left_alone, result);
    if (remotes.empty()) return result;
    const Machine machine(root_);
    agent::Remotes failed;
    const Holdings holdings = holdings_of(root_, name, Recipes::no);
    for (const auto &remote : remotes) {
        const std::string &remote_name = remote->settings().name;
        try {
            for (const auto &[text, parts] : holdings) {
                if (stops_.load()) return result;
                const Pushed pushed =
                    fleet::push(*remote, machine, name, text, parts, remote->settings().sign);
                if (pushed.packs != 0) {
                    result.has_published = true;
                    log_.write(Severity::info, "%s: pushed %zu entries to %s", name.c_str(),
                               static_cast<std::size_t>(pushed.entries), remote_name.c_str());
                }
            }
        } catch (const remotes::RemoteFailure &failure) {
            note({{remote_name, failure.what()}}, result);
        } catch (const cli::Failure &failure) {  // the key, or this machine's disk
            log_.write(Severity::warning, "%s: %s", remote_name.c_str(), failure.what());
            failed.push_back(remote_name);
        }
    }
    return end(machine, remotes, std::move(result), failed);
}

}  // namespace cairn::fleet
