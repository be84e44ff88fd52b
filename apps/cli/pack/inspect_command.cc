// SPDX-License-Identifier: MIT
// `cairn pack inspect` and `cairn pack ls`: what is in a pack, and which are installed.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "caches.h"
#include "pack/commands.h"
#include "pack/files.h"
#include "signature.h"

namespace cairn::cli {
namespace {

constexpr const char *kInspectFooter =
    R"(Nothing of the entries is verified: `cairn pack verify` does that.

Examples:
  cairn pack inspect game.pack
  cairn pack inspect --json game.pack

Exit codes: 0 printed, 1 FILE is no pack, 2 wrong usage.)";

struct Sums {
    std::uint64_t entries = 0, stored_bytes = 0, raw_bytes = 0, cost_us = 0;
};

Sums sum_up(const PackPart &part) {
    Sums sums;
    for (std::uint32_t slot = 0; slot < part.row().slot_count(); ++slot) {
        const auto entry = part.look_at(slot);
        if (!entry.ok() || !entry.value()) continue;
        ++sums.entries;
        sums.stored_bytes += entry.value()->record.value_size;
        sums.raw_bytes += entry.value()->record.raw_size;
        sums.cost_us += entry.value()->record.cost_us;
    }
    return sums;
}

nlohmann::ordered_json json_of(const OpenPack &pack) {
    const auto trailer = read_trailer(pack.pack->file(), pack.path);
    nlohmann::ordered_json json = {{"file", pack.path},
                                   {"bytes", pack.pack->info().size_bytes},
                                   {"about", pack.pack->about().value_or("")},
                                   {"key", nullptr},
                                   {"parts", nlohmann::ordered_json::array()}};
    if (trailer) json["key"] = fingerprint(trailer->key);
    for (const OpenPart &part : pack.parts) {
        const Sums sums = sum_up(*part.part);
        json["parts"].push_back({{"kind", name_of(part.subject.kind)},
                                 {"identifier", part.subject.identifier},
                                 {"application", part.application},
                                 {"version", part.subject.version},
                                 {"about", part.about()},
                                 {"entries", sums.entries},
                                 {"stored_bytes", sums.stored_bytes},
                                 {"value_bytes", sums.raw_bytes},
                                 {"cost_us", sums.cost_us},
                                 {"start_entries", part.part->row().order_count}});
    }
    return json;
}

void print(const OpenPack &pack) {
    print_line("{}: {}", pack.path, format_bytes(pack.pack->info().size_bytes));
    const std::string about = pack.pack->about().value_or("(damaged)");
    if (!about.empty()) print_line("  {}", about);
    print_line("  {}", signer_text(pack));
    for (const OpenPart &part : pack.parts) {
        const Sums sums = sum_up(*part.part);
        print_line("  {} ({}), version {}", part.subject.identifier, name_of(part.subject.kind),
                   part.subject.version);
        if (!part.about().empty()) print_line("    {}", part.about());
        print_line("    {}, {} of values in {}, saves {}; a start used {}",
                   format_count(sums.entries, "entry", "entries"), format_bytes(sums.raw_bytes),
                   format_bytes(sums.stored_bytes), format_duration_ns(sums.cost_us * 1000),
                   part.part->row().order_count);
    }
}

Run define_inspect(Arguments &take) {
    struct Options {
        std::string file;
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    take.required("FILE", options->file, "A pack");
    take.flag("--json", options->json, "For programs");
    return [options] {
        const OpenPack pack = open_pack(options->file);
        options->json ? print_json(json_of(pack)) : print(pack);
        return kExitOk;
    };
}

constexpr const char *kLsFooter =
    R"(Examples:
  cairn pack ls
  cairn pack ls game.pack

Exit codes: 0 printed, 1 FILE is no pack, 2 wrong usage.)";

void list_entries(const OpenPack &pack) {
    for (const OpenPart &part : pack.parts) {
        print_line("{} ({}):", part.subject.identifier, name_of(part.subject.kind));
        std::vector<std::string> lines;
        for (std::uint32_t slot = 0; slot < part.part->row().slot_count(); ++slot) {
            const auto entry = part.part->look_at(slot);
            if (!entry.ok() || !entry.value()) continue;
            const std::string &key = entry.value()->key;
            constexpr std::size_t kKeyMax = 32;
            lines.push_back(fmt::format(
                "  {:<66} {:>10}  {}",
                part.subject.kind == PackKind::entries ? format_key(key.data(), key.size(), kKeyMax)
                                                       : key,
                format_bytes(entry.value()->record.raw_size),
                format_duration_ns(std::uint64_t{entry.value()->record.cost_us} * 1000)));
        }
        std::sort(lines.begin(), lines.end());
        for (const std::string &line : lines) print_line(line);
    }
}

int list_installed(const std::string &root) {
    std::size_t count = 0;
    for (const std::string &folder : install_folders(root)) {
        for (const std::string &path : installed_packs(folder)) {
            ++count;
            try {
                const OpenPack pack = open_pack(path);
                print_line("{}  {}  {}  {}", path, format_bytes(pack.pack->info().size_bytes),
                           format_count(pack.parts.size(), "part", "parts"), signer_text(pack));
            } catch (const Failure &failure) {
                print_line("{}  ({})", path, failure.what());
            }
        }
    }
    if (count == 0) say("No packs are installed");
    return kExitOk;
}

Run define_ls(Arguments &take) {
    auto file = std::make_shared<std::string>();
    take.value("FILE", *file, "A pack whose entries are listed; without it, installed packs are");
    take.dir();
    return [file] {
        if (file->empty()) return list_installed(resolve_root());
        list_entries(open_pack(*file));
        return kExitOk;
    };
}

}  // namespace

const Command pack_inspect_command = {"inspect", "Say what is in a pack", kInspectFooter,
                                      define_inspect};
const Command pack_ls_command = {"ls", "List installed packs, or the entries of one", kLsFooter,
                                 define_ls};

}  // namespace cairn::cli
