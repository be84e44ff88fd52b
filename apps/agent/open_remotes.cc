// SPDX-License-Identifier: MIT
#include "open_remotes.h"

#include <algorithm>
#include <set>

#include "os/environment.h"
#include "output.h"

namespace cairn::fleet {
namespace {

// That of a remote without a name begins with its URL.
std::string said(const RemoteTrouble &trouble) {
    const bool is_named = trouble.problem.starts_with(trouble.remote);
    return is_named ? trouble.problem : trouble.remote + ": " + trouble.problem;
}

}  // namespace

OpenRemotes open_remotes(const std::vector<RemoteSettings> &settings,
                         std::vector<RemoteTrouble> &troubles) {
    OpenRemotes remotes;
    for (const RemoteSettings &each : settings) {
        try {
            remotes.push_back(std::make_unique<OpenRemote>(each));
        } catch (const remotes::RemoteFailure &failure) {
            troubles.push_back({each.name, failure.what(), true});
        } catch (const cli::Failure &failure) {
            troubles.push_back({each.name, failure.what(), failure.exit_code() == cli::kExitUsage});
        }
    }
    return remotes;
}

OpenRemotes open_chosen(const RemoteOptions &options, RemoteUse use,
                        std::vector<RemoteTrouble> &troubles) {
    OpenRemotes remotes = open_remotes(choose_remotes(options, use), troubles);
    if (!remotes.empty()) return remotes;
    const bool is_usage = std::ranges::all_of(troubles, &RemoteTrouble::is_usage);
    complain_of({troubles.begin(), troubles.end() - 1}, {});
    throw cli::Failure(is_usage ? cli::kExitUsage : cli::kExitFailure, said(troubles.back()));
}

void keep_counts(const Machine &machine, const OpenRemotes &remotes,
                 const std::vector<RemoteTrouble> &troubles) {
    CountsOfRemotes all;
    for (const auto &remote : remotes) {
        RemoteCounts counts = remote->counts();
        const remotes::Traffic traffic = remote->remote().traffic();
        counts.requests = traffic.requests;
        counts.bytes_in = traffic.bytes_in;
        counts.bytes_out = traffic.bytes_out;
        counts.commands = 1;
        const std::string &name = remote->settings().name;
        if (std::ranges::find(troubles, name, &RemoteTrouble::remote) != troubles.end()) {
            counts.commands_failed = 1;
        } else {
            counts.used_at_s = wall_clock_ns() / 1'000'000'000;
        }
        all[name] = counts;
    }
    add_counts(machine, all);
}

template <typename Ask>
void Catalogue::ask(const Ask &ask_one) {
    for (const auto &remote : remotes_) {
        if (remote->is_left_alone()) continue;
        try {
            ask_one(*remote);
        } catch (const remotes::RemoteFailure &failure) {
            remote->leave_alone();
            troubles_.push_back({remote->settings().name, failure.what()});
        }
    }
}

cli::Words Catalogue::names(const std::function<bool(const std::string &name)> &is_wanted) {
    std::set<std::string> names;
    constexpr std::size_t kNamesMax = 1000;  // each may take a player's start
    ask([&](OpenRemote &remote) {
        for (std::string &name : remote.names()) {
            if (is_wanted(name)) names.insert(std::move(name));
        }
    });
    if (names.size() > kNamesMax) {
        throw cli::Failure(cli::kExitFailure,
                           "the remotes have more than {} applications; name those that you want",
                           kNamesMax);
    }
    return {names.begin(), names.end()};
}

cli::Words Catalogue::drivers(const std::string &name) {
    std::set<std::string> drivers;
    ask([&](OpenRemote &remote) {
        for (std::string &driver : remote.drivers(name)) drivers.insert(std::move(driver));
    });
    return {drivers.begin(), drivers.end()};
}

void complain_of(const std::vector<RemoteTrouble> &troubles, const cli::Words &problems) {
    std::set<std::string> told;
    for (const RemoteTrouble &each : troubles) {
        if (told.insert(each.problem).second) cli::complain(said(each));
    }
    for (const std::string &each : problems) {
        if (told.insert(each).second) cli::complain(each);
    }
}

}  // namespace cairn::fleet
