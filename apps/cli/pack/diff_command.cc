// SPDX-License-Identifier: MIT
// `cairn pack diff`: what is in one pack and not in another.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "cache/cache.h"
#include "output.h"
#include "pack/commands.h"
#include "pack/files.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(Entries are compared by their keys and values, however they are compressed. Costs, pins and signatures are not compared.
A part is of one application and one driver. With --keys: `-` an entry that only A has, `+` only B, `~` with another value.

Examples:
  cairn pack diff game-1.1.pack game-1.2.pack
  cairn pack diff --keys old.pack new.pack

Exit codes: 0 the same, 1 they differ, 2 wrong usage, or a pack cannot be read.)";

struct Options {
    std::string a, b;
    bool keys = false;
    bool json = false;
};

// The slots of a part in ascending order of their keys.
using Keys = std::map<std::string, std::uint32_t>;

// `damaged` grows by those that are said to be there and are not.
Keys keys_of(const OpenPart *part, std::uint64_t &damaged) {
    Keys keys;
    if (part == nullptr) return keys;
    damaged += visit_entries(*part, [&](std::uint32_t slot, PackPart::Entry entry) {
        keys.emplace(std::move(entry.key), slot);
    });
    return keys;
}

// What one part has in two packs.
struct Difference {
    const OpenPart *a = nullptr, *b = nullptr;  // null: that pack has no such part
    Words only_a, only_b, changed;              // keys
    std::uint64_t same = 0;
    std::uint64_t damaged = 0;  // entries that cannot be read in one of them
    bool has_other_order = false;

    const OpenPart &part() const { return a != nullptr ? *a : *b; }
    bool is_none() const {
        return a != nullptr && b != nullptr && only_a.empty() && only_b.empty() &&
               changed.empty() && damaged == 0 && !has_other_order;
    }
};

void compare_values(const std::string &key, std::uint32_t slot_a, std::uint32_t slot_b,
                    Difference &difference) {
    const auto a = difference.a->part->read(slot_a);
    const auto b = difference.b->part->read(slot_b);
    if (!a.ok() || !b.ok() || !a.value() || !b.value()) {
        ++difference.damaged;
    } else if (same_bytes(a.value()->value(), b.value()->value())) {
        ++difference.same;
    } else {
        difference.changed.push_back(key);
    }
}

Difference compare(const OpenPart *a, const OpenPart *b) {
    Difference difference;
    difference.a = a;
    difference.b = b;
    const Keys keys_a = keys_of(a, difference.damaged), keys_b = keys_of(b, difference.damaged);
    for (const auto &[key, slot] : keys_a) {
        const auto other = keys_b.find(key);
        if (other == keys_b.end()) {
            difference.only_a.push_back(key);
        } else {
            compare_values(key, slot, other->second, difference);
        }
    }
    for (const auto &[key, slot] : keys_b) {
        if (!keys_a.contains(key)) difference.only_b.push_back(key);
    }
    if (a != nullptr && b != nullptr)
        difference.has_other_order = order_of(*a->part) != order_of(*b->part);
    return difference;
}

const OpenPart *find(const OpenPack &pack, const PackIdentity &identity) {
    const auto found = std::ranges::find_if(
        pack.parts, [&](const OpenPart &part) { return part.part->row().identity == identity; });
    return found == pack.parts.end() ? nullptr : &*found;
}

// In A's order, and then those that only B has.
std::vector<Difference> compare(const OpenPack &a, const OpenPack &b) {
    std::vector<Difference> differences;
    for (const OpenPart &part : a.parts) {
        differences.push_back(compare(&part, find(b, part.part->row().identity)));
    }
    for (const OpenPart &part : b.parts) {
        if (find(a, part.part->row().identity) == nullptr) {
            differences.push_back(compare(nullptr, &part));
        }
    }
    return differences;
}

std::string shown(const OpenPart &part, const std::string &key) {
    return part.subject.kind == PackKind::entries ? format_key(key.data(), key.size(), SIZE_MAX)
                                                  : key;
}

nlohmann::ordered_json json_of(const Difference &each, bool keys) {
    const OpenPart &part = each.part();
    nlohmann::ordered_json json = {{"kind", name_of(part.subject.kind)},
                                   {"identifier", part.subject.identifier},
                                   {"application", part.application},
                                   {"version", part.subject.version},
                                   {"about", part.about()},
                                   {"in", each.a == nullptr   ? "b"
                                          : each.b == nullptr ? "a"
                                                              : "both"},
                                   {"same", each.same},
                                   {"only_a", each.only_a.size()},
                                   {"only_b", each.only_b.size()},
                                   {"changed", each.changed.size()},
                                   {"damaged", each.damaged},
                                   {"other_order", each.has_other_order}};
    if (!keys) return json;
    const auto list = [&](const char *name, const Words &all) {
        auto &array = json["keys"][name] = nlohmann::ordered_json::array();
        for (const std::string &key : all) array.push_back(shown(part, key));
    };
    list("only_a", each.only_a);
    list("only_b", each.only_b);
    list("changed", each.changed);
    return json;
}

void print_counts(const Difference &each) {
    std::string line =
        fmt::format("    {} the same, {} only in A, {} only in B, {} with another value", each.same,
                    each.only_a.size(), each.only_b.size(), each.changed.size());
    if (each.damaged != 0) line += fmt::format(", {} damaged", each.damaged);
    if (each.has_other_order) line += "; another order of a start";
    print_line(line);
}

void print(const Difference &each, bool keys) {
    const OpenPart &part = each.part();
    print_line("{} {} ({}), version {}",
               each.a == nullptr   ? '+'
               : each.b == nullptr ? '-'
                                   : '~',
               part.subject.identifier, name_of(part.subject.kind), part.subject.version);
    if (!part.about().empty()) print_line("    {}", part.about());
    if (each.a == nullptr || each.b == nullptr) {
        print_line("    {}", format_count(part.part->row().entry_count, "entry", "entries"));
    } else {
        print_counts(each);
    }
    const auto list = [&](char sign, const Words &all) {
        for (const std::string &key : all) print_line("    {} {}", sign, shown(part, key));
    };
    if (!keys) return;
    list('-', each.only_a);
    list('+', each.only_b);
    list('~', each.changed);
}

OpenPack open(const std::string &path) {
    OpenPack pack = open_pack(path);
    require_known(pack);
    return pack;
}

int diff(const Options &options) {
    const OpenPack a = open(options.a), b = open(options.b);
    const std::vector<Difference> all = compare(a, b);
    const bool is_same =
        std::ranges::all_of(all, [](const Difference &each) { return each.is_none(); }) &&
        a.pack->about() == b.pack->about();
    if (options.json) {
        nlohmann::ordered_json json = {{"a", a.path},
                                       {"b", b.path},
                                       {"same", is_same},
                                       {"same_about", a.pack->about() == b.pack->about()},
                                       {"parts", nlohmann::ordered_json::array()}};
        for (const Difference &each : all) json["parts"].push_back(json_of(each, options.keys));
        print_json(json);
    } else if (!is_same) {
        if (a.pack->about() != b.pack->about()) print_line("~ what the packs say that they are");
        for (const Difference &each : all) {
            if (!each.is_none()) print(each, options.keys);
        }
    }
    return is_same ? kExitOk : kExitFailure;
}

Run define(Arguments &take) {
    auto options = std::make_shared<Options>();
    take.required("A", options->a, "A pack");
    take.required("B", options->b, "Another one");
    take.flag("--keys", options->keys, "Say which entries differ");
    take.flag("--json", options->json, "For programs");
    return [options] {
        try {
            return diff(*options);
        } catch (const Failure &failure) {
            throw Failure(kExitUsage, "{}", failure.what());  // 1 says that they differ
        }
    };
}

}  // namespace

const Command pack_diff_command = {"diff", "Say what one pack has and another has not", kFooter,
                                   define};

}  // namespace cairn::cli
