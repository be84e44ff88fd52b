// SPDX-License-Identifier: MIT
// `cairn remote status`: whether remotes can be reached, and what they have for this machine.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "caches.h"
#include "commands.h"
#include "holdings.h"
#include "open_remotes.h"
#include "os/environment.h"
#include "output.h"

namespace cairn::fleet {
namespace {

using cli::kExitFailure;
using cli::kExitOk;
using cli::Words;
using Json = nlohmann::ordered_json;

constexpr const char *kFooter =
    R"(For each remote: whether it answers, how long that takes, and, for each application that it has, how many machines have
published how much for the drivers with which the application runs here, and how much of that is not here yet.

Examples:
  cairn remote status
  cairn remote status --remote s3://shaders/studio game --json

Exit codes: 0 all remotes answer, 1 one does not, 2 wrong usage.)";

struct Options {
    RemoteOptions remotes;
    Words applications;
    bool json = false;
};

bool is_wanted(const Options &options, const std::string &name) {
    return options.applications.empty() ||
           std::ranges::any_of(options.applications,
                               [&](const auto &given) { return is_meant(name, given); });
}

Json of_driver(OpenRemote &remote, const Machine &machine, const std::string &name,
               const std::string &text) {
    Shelf shelf(remote, machine, name, driver_name(text));
    const std::vector<ReadManifest> manifests = shelf.read_manifests();
    const std::vector<std::uint64_t> here = entries_here(machine.root(), name, text);
    std::set<std::uint64_t> machines;
    std::uint64_t packs = 0, bytes = 0;
    for (const ReadManifest &each : manifests) {
        machines.insert(each.manifest.machine);
        for (const ListedPack &pack : each.manifest.packs) {
            ++packs;
            bytes += pack.size_bytes;
        }
    }
    const std::vector<std::uint64_t> entries = entries_of(manifests);
    const auto missing = std::ranges::count_if(
        entries, [&](std::uint64_t entry) { return !has_entry(here, entry); });
    return {{"driver", driver_name(text)},
            {"machines", machines.size()},
            {"packs", packs},
            {"bytes", bytes},
            {"entries", entries.size()},
            {"entries_not_here", missing},
            {"problems", shelf.problems()}};
}

Json of_application(OpenRemote &remote, const Machine &machine, const std::string &name) {
    const Words there = remote.drivers(name);
    Json json = {{"application", cli::application_name(name)},
                 {"drivers", there.size()},
                 {"for_this_machine", Json::array()}};
    for (const std::string &text : drivers_in_caches(machine.root(), name)) {
        if (std::ranges::find(there, driver_name(text)) == there.end()) continue;
        json["for_this_machine"].push_back(of_driver(remote, machine, name, text));
    }
    return json;
}

// Of one that does not answer.
Json of_unusable(const RemoteSettings &settings, const std::string &problem,
                 const Machine &machine) {
    return {{"remote", settings.name},
            {"url", settings.url},
            {"namespace", settings.name_space},
            {"reachable", false},
            {"problem", problem},
            {"so_far", json_of(read_counts(machine)[settings.name])}};
}

Json of_remote(OpenRemote &remote, const Machine &machine, const Options &options) {
    Json json = of_unusable(remote.settings(), "", machine);
    json.erase("problem");
    try {
        const std::uint64_t begin = monotonic_ns();
        const Words names = remote.names();
        const std::uint64_t latency_us = (monotonic_ns() - begin) / 1000;
        json["latency_ms"] = static_cast<double>(latency_us) / 1000.0;
        json["reachable"] = true;
        json["applications"] = Json::array();
        for (const std::string &name : names) {
            if (!is_wanted(options, name)) continue;
            json["applications"].push_back(of_application(remote, machine, name));
        }
    } catch (const remotes::RemoteFailure &failure) {
        json["reachable"] = false;
        json["problem"] = failure.what();
    }
    return json;
}

void print_counts(const Json &counts) {
    if (counts["commands"] == 0) return;
    cli::print_line("  so far: {} pulled and {} pushed; {} in and {} out by {}; {} of {} failed",
                    cli::format_count(counts["entries_pulled"], "entry", "entries"),
                    counts["entries_pushed"].get<std::uint64_t>(),
                    cli::format_bytes(counts["bytes_in"]), cli::format_bytes(counts["bytes_out"]),
                    cli::format_count(counts["requests"], "request", "requests"),
                    counts["commands_failed"].get<std::uint64_t>(),
                    cli::format_count(counts["commands"], "command", "commands"));
}

void print(const Json &json) {
    const std::string name = json["remote"];
    if (!json["reachable"].get<bool>()) {
        cli::print_line("{}: cannot be used: {}", name, json["problem"].get<std::string>());
        return print_counts(json["so_far"]);
    }
    cli::print_line("{}: answers in {:.1f} ms", name, json["latency_ms"].get<double>());
    print_counts(json["so_far"]);
    for (const Json &application : json["applications"]) {
        cli::print_line("  {}: published for {}", application["application"].get<std::string>(),
                        cli::format_count(application["drivers"], "driver", "drivers"));
        if (application["for_this_machine"].empty()) {
            cli::print_line("    nothing for the drivers that this machine has used");
        }
        for (const Json &each : application["for_this_machine"]) {
            cli::print_line("    for this machine: {} of {}, in {} ({}); {} not here yet",
                            cli::format_count(each["entries"], "entry", "entries"),
                            cli::format_count(each["machines"], "machine", "machines"),
                            cli::format_count(each["packs"], "pack", "packs"),
                            cli::format_bytes(each["bytes"]),
                            each["entries_not_here"].get<std::uint64_t>());
            for (const Json &problem : each["problems"]) {
                cli::print_line("    {}", problem.get<std::string>());
            }
        }
    }
}

int run(const Options &options) {
    const Machine machine(cli::usable_root());
    Json all = {{"remotes", Json::array()}};
    bool is_done = true;
    for (const RemoteSettings &each : choose_remotes(options.remotes, RemoteUse::any)) {
        std::vector<RemoteTrouble> troubles;
        const OpenRemotes remotes = open_remotes({each}, troubles);
        Json json = remotes.empty() ? of_unusable(each, troubles.front().problem, machine)
                                    : of_remote(*remotes.front(), machine, options);
        is_done = is_done && json["reachable"].get<bool>();
        if (!options.json) print(json);
        all["remotes"].push_back(std::move(json));
    }
    if (options.json) cli::print_json(all);
    return is_done ? kExitOk : kExitFailure;
}

cli::Run define(cli::Arguments &take) {
    auto options = std::make_shared<Options>();
    take.values("APPLICATION", options->applications, "Only these");
    add_remote_options(take, options->remotes, RemoteUse::any);
    take.flag("--json", options->json, "Print JSON");
    take.dir();
    return [options] { return run(*options); };
}

}  // namespace

const cli::Command status_command = {"status", "Say what remotes have for this machine", kFooter,
                                     define};

}  // namespace cairn::fleet
