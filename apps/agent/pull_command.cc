// SPDX-License-Identifier: MIT
// `cairn pull`: fetches what other machines have made.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "caches.h"
#include "commands.h"
#include "holdings.h"
#include "open_remotes.h"
#include "os/configuration.h"
#include "output.h"
#include "pull.h"
#include "warm/environment.h"

namespace cairn::fleet {
namespace {

using cli::Failure;
using cli::kExitFailure;
using cli::kExitOk;
using cli::kExitUsage;
using cli::Words;

constexpr const char *kFooter =
    R"(What is pulled is what other machines have published with `cairn push`, for the drivers of this machine, and signed with
a key that you trust. It lies in a pack below DIR/.packs from then on, and starts find it there. A remote that cannot be
reached costs some seconds; the others are asked all the same.

APPLICATION is a name as `cairn ls` shows it, or the identifier of a cache.

Examples:
  cairn pull game                                         from the remotes of ~/.config/cairn/remotes
  cairn pull --remote s3://shaders/studio --trust ci game
  cairn pull --all                                        all applications that the remotes have
  cairn pull --all-drivers --all                          for an image that many machines will use

Exit codes: 0 everything that counts for this machine is here, 1 a remote failed, nothing that it has counts (as you trust no
key that signed it), or the pack cannot be written, 2 wrong usage.)";

struct Options {
    RemoteOptions remotes;
    Words applications;
    std::string max_bytes;
    std::string executable;
    bool all = false, all_drivers = false;
};

PullLimits limits_of(const Options &options) {
    PullLimits limits;
    if (options.max_bytes.empty()) return limits;
    const auto size = size_from_text(options.max_bytes);
    if (!size)
        throw Failure(kExitUsage, "--max-bytes `{}`: no such size; write 64M", options.max_bytes);
    limits.bytes_max = *size;
    return limits;
}

// The drivers for which NAME is pulled: DRIVER, and the text where it is known.
std::map<std::string, std::optional<std::string>> wanted_drivers(const Options &options,
                                                                 const Machine &machine,
                                                                 const std::string &name,
                                                                 const Words &there) {
    std::map<std::string, std::optional<std::string>> wanted;
    if (there.empty()) return wanted;
    if (options.all_drivers) {
        for (const std::string &driver : there) wanted[driver] = std::nullopt;
        return wanted;
    }
    Words texts = drivers_in_caches(machine.root(), name);
    auto met =
        driver_of_context(machine.root(), name, machine.new_folder_path(), options.executable);
    if (met) texts.push_back(std::move(*met));
    for (std::string &text : texts) {
        const std::string driver = driver_name(text);
        if (std::ranges::find(there, driver) != there.end()) wanted[driver] = std::move(text);
    }
    return wanted;
}

void say_of(const std::string &name, const Pulled &pulled, std::size_t drivers,
            std::size_t drivers_there) {
    const std::string application = cli::application_name(name);
    if (pulled.packs != 0) {
        cli::say(fmt::format("{}: pulled {} in {} ({})", application,
                             cli::format_count(pulled.entries, "entry", "entries"),
                             cli::format_count(pulled.packs, "pack", "packs"),
                             cli::format_bytes(pulled.bytes)));
    } else if (drivers == 0) {
        cli::say(
            fmt::format("{}: there is something for {}, and nothing for this machine's, as far as "
                        "it is known before the first start (see --executable, --all-drivers)",
                        application, cli::format_count(drivers_there, "driver", "drivers")));
    } else if (pulled.listed != 0) {
        cli::say(fmt::format("{}: all of {} there is here", application,
                             cli::format_count(pulled.listed, "entry", "entries")));
    }
}

int run(const Options &options) {
    if (options.applications.empty() && !options.all) {
        throw Failure(kExitUsage, "name the applications to pull, or say --all");
    }
    if (!options.executable.empty() && !cli::is_program(options.executable)) {
        throw Failure(kExitUsage, "--executable `{}`: that is no program", options.executable);
    }
    const PullLimits limits = limits_of(options);
    Pulled sum;
    const OpenRemotes remotes = open_chosen(options.remotes, RemoteUse::read, sum.troubles);
    const Machine machine(cli::usable_root());
    Catalogue catalogue(remotes);
    const Words names = catalogue.names([&](const std::string &name) {
        return options.all || std::ranges::any_of(options.applications, [&](const auto &given) {
                   return is_meant(name, given);
               });
    });
    for (const std::string &name : names) {
        const Words there = catalogue.drivers(name);
        const auto drivers = wanted_drivers(options, machine, name, there);
        Pulled of_name;
        for (const auto &[driver, text] : drivers) {
            of_name.add(pull(remotes, machine, name, driver, text, limits));
        }
        if (of_name.troubles.empty()) say_of(name, of_name, drivers.size(), there.size());
        sum.add(std::move(of_name));
    }
    if (names.empty() && catalogue.troubles().empty()) {
        cli::say("the remotes have nothing of this");
    }
    // All that is there was refused: people take that for a fleet that works, if nobody tells them.
    const bool is_refused = sum.listed == 0 && !sum.problems.empty();
    std::ranges::copy(catalogue.troubles(), std::back_inserter(sum.troubles));
    complain_of(sum.troubles, sum.problems);
    keep_counts(machine, remotes, sum.troubles);
    return sum.troubles.empty() && !is_refused ? kExitOk : kExitFailure;
}

cli::Run define(cli::Arguments &take) {
    auto options = std::make_shared<Options>();
    take.values("APPLICATION", options->applications, "What to pull");
    take.flag("--all", options->all, "All applications that the remotes have");
    add_remote_options(take, options->remotes, RemoteUse::read);
    take.flag("--all-drivers", options->all_drivers, "For all drivers, not only this machine's");
    take.value(
        "--executable", options->executable,
        "The application's program, where a driver has settings for it and it was never started",
        "FILE");
    take.value("--max-bytes", options->max_bytes,
               "Of what is kept for an application and a driver; default 1G", "SIZE");
    take.dir();
    take.quiet();
    return [options] { return run(*options); };
}

}  // namespace

const cli::Command pull_command = {"pull", "Fetch what other machines have compiled", kFooter,
                                   define};

}  // namespace cairn::fleet
