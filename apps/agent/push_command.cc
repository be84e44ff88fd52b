// SPDX-License-Identifier: MIT
// `cairn push`: publishes what this machine has compiled.
#include <fmt/format.h>

#include <algorithm>

#include "cache/generations.h"
#include "caches.h"
#include "commands.h"
#include "holdings.h"
#include "open_remotes.h"
#include "output.h"
#include "push.h"

namespace cairn::fleet {
namespace {

using cli::Failure;
using cli::kExitFailure;
using cli::kExitOk;
using cli::kExitUsage;
using cli::Words;

constexpr const char *kFooter =
    R"(What the caches of an application have and no other machine has published goes to each remote that may be written, signed
with a key of yours. Machines that trust the key take it with `cairn pull`. The driver's machine code goes along where the
application has a directory of its own for it: `driver_cache = 1` in ~/.config/cairn/config.

Others see which programs the application used here. Nothing is pushed of applications with `record = 0`.

APPLICATION is a name as `cairn ls` shows it, or the identifier of a cache.

Examples:
  cairn push game                                         to the remotes of ~/.config/cairn/remotes
  cairn push --remote s3://shaders/studio --sign ci game
  cairn push --recipes --remote file:///mnt/share --sign ci game

Exit codes: 0 everything is there, 1 a remote failed, 2 wrong usage.)";

struct Options {
    RemoteOptions remotes;
    Words applications;
    bool all = false, recipes = false;
};

Words chosen_names(const Options &options, const std::string &root) {
    Words known = names_below(root);
    if (options.all) return known;
    if (options.applications.empty()) {
        throw Failure(kExitUsage, "name the applications to push, or say --all");
    }
    Words chosen, people;
    for (const std::string &name : known) people.push_back(cli::application_name(name));
    for (const std::string &given : options.applications) {
        const std::size_t before = chosen.size();
        std::ranges::copy_if(known, std::back_inserter(chosen),
                             [&](const std::string &name) { return is_meant(name, given); });
        if (chosen.size() != before) continue;
        throw Failure(kExitFailure, "no caches of `{}` in {}{}; `cairn ls` shows all", given, root,
                      cli::did_you_mean(given, people));
    }
    return chosen;
}

// Publishes one application at one remote.
void push_to(OpenRemote &remote, const Machine &machine, const std::string &name,
             const Holdings &holdings, std::vector<RemoteTrouble> &troubles) {
    if (remote.is_left_alone()) return;
    Pushed sum;
    try {
        for (const auto &[text, parts] : holdings) {
            const Pushed pushed = push(remote, machine, name, text, parts, remote.settings().sign);
            sum.packs += pushed.packs;
            sum.entries += pushed.entries;
            sum.bytes += pushed.bytes;
            complain_of({}, pushed.problems);
        }
    } catch (const remotes::RemoteFailure &failure) {
        remote.leave_alone();
        troubles.push_back({remote.settings().name, failure.what()});
        return;
    } catch (const Failure &failure) {
        troubles.push_back({cli::application_name(name), failure.what()});
        return;
    }
    const std::string application = cli::application_name(name);
    cli::say(sum.packs == 0
                 ? fmt::format("{}: nothing new for {}", application, remote.settings().name)
                 : fmt::format("{}: pushed {} in {} ({}) to {}", application,
                               cli::format_count(sum.entries, "entry", "entries"),
                               cli::format_count(sum.packs, "pack", "packs"),
                               cli::format_bytes(sum.bytes), remote.settings().name));
}

int run(const Options &options) {
    std::vector<RemoteTrouble> troubles;
    const OpenRemotes remotes = open_chosen(options.remotes, RemoteUse::write, troubles);
    const std::string root = cli::usable_root();
    const Words names = chosen_names(options, root);
    const Machine machine(root);
    bool is_done = true;
    for (const std::string &name : names) {
        if (!wishes_for(name, Log()).records) {
            cli::complain("{}: `record = 0` keeps it from being pushed",
                          cli::application_name(name));
            is_done = is_done && options.all;
            continue;
        }
        const Holdings holdings =
            holdings_of(root, name, options.recipes ? Recipes::yes : Recipes::no);
        for (const auto &remote : remotes) {
            push_to(*remote, machine, name, holdings, troubles);
        }
    }
    complain_of(troubles, {});
    keep_counts(machine, remotes, troubles);
    return is_done && troubles.empty() ? kExitOk : kExitFailure;
}

cli::Run define(cli::Arguments &take) {
    auto options = std::make_shared<Options>();
    take.values("APPLICATION", options->applications, "What to push");
    take.flag("--all", options->all, "All applications that have caches");
    add_remote_options(take, options->remotes, RemoteUse::write);
    take.flag("--recipes", options->recipes,
              "Also recipes, which have the text of shaders (`cairn run --record`)");
    take.dir();
    take.quiet();
    return [options] { return run(*options); };
}

}  // namespace

const cli::Command push_command = {"push", "Publish what this machine has compiled", kFooter,
                                   define};

}  // namespace cairn::fleet
