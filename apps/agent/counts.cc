// SPDX-License-Identifier: MIT
#include "counts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "output.h"

namespace cairn::fleet {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char *kFile = "counts";
constexpr const char *kLock = ".counts";  // no application has such a name
constexpr std::size_t kRemotesMax = 64;

struct Field {
    const char *name;
    std::uint64_t RemoteCounts::*value;
};
constexpr Field kFields[] = {{"requests", &RemoteCounts::requests},
                             {"bytes_in", &RemoteCounts::bytes_in},
                             {"bytes_out", &RemoteCounts::bytes_out},
                             {"packs_pulled", &RemoteCounts::packs_pulled},
                             {"entries_pulled", &RemoteCounts::entries_pulled},
                             {"packs_pushed", &RemoteCounts::packs_pushed},
                             {"entries_pushed", &RemoteCounts::entries_pushed},
                             {"commands", &RemoteCounts::commands},
                             {"commands_failed", &RemoteCounts::commands_failed},
                             {"used_at_s", &RemoteCounts::used_at_s}};

}  // namespace

void RemoteCounts::add(const RemoteCounts &other) {
    const std::uint64_t used_at = std::max(used_at_s, other.used_at_s);
    for (const Field &field : kFields) this->*field.value += other.*field.value;
    used_at_s = used_at;
}

Json json_of(const RemoteCounts &counts) {
    Json json = Json::object();
    for (const Field &field : kFields) json[field.name] = counts.*field.value;
    return json;
}

CountsOfRemotes read_counts(const Machine &machine) {
    CountsOfRemotes all;
    const Json json = Json::parse(machine.read_text(kFile).value_or(""), nullptr, false);
    if (!json.is_object()) return all;
    for (const auto &[remote, counts] : json.items()) {
        if (!counts.is_object() || all.size() == kRemotesMax) continue;
        for (const Field &field : kFields) {
            const auto found = counts.find(field.name);
            if (found == counts.end() || !found->is_number_unsigned()) continue;
            all[remote].*field.value = found->get<std::uint64_t>();
        }
    }
    return all;
}

void add_counts(const Machine &machine, const CountsOfRemotes &more) {
    try {
        const ByteLock lock = machine.lock(kLock);
        CountsOfRemotes all = read_counts(machine);
        for (const auto &[remote, counts] : more) all[remote].add(counts);
        Json json = Json::object();
        for (const auto &[remote, counts] : all) json[remote] = json_of(counts);
        machine.write_text(kFile, json.dump());
    } catch (const cli::Failure &) {
        // They are not worth a failed command.
    }
}

}  // namespace cairn::fleet
