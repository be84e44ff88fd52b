// SPDX-License-Identifier: MIT
// `cairn key`: the keys with which packs are signed, and those whose signatures count.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "command.h"
#include "keys.h"
#include "named_file.h"
#include "os/environment.h"
#include "output.h"
#include "packs.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(A pack holds code that runs as you: `cairn pack install` takes it only if a key that you trust has
signed it. `cairn key COMMAND --help` explains each of the commands.

Examples:
  cairn key create                       a key of your own, to sign packs with
  cairn key export me > me.key           what others need to install what you signed
  cairn key trust studio.key             from now on what the studio signed can be installed
  cairn key revoke studio                never again, and remove what is installed

Exit codes: 0 done, 1 failed, 2 wrong usage.)";

constexpr const char *kCreateFooter =
    R"(The secret key is written to ~/.config/cairn/keys/NAME.secret, where only you can read it. Keep a copy:
there is no other. You trust your own key, until you revoke it. Without NAME it has your user name.

Examples:
  cairn key create
  cairn key create studio

Exit codes: 0 made, 1 there is a key of this name or it cannot be written, 2 wrong usage.)";

constexpr const char *kTrustFooter =
    R"(KEY is a file with the line that `cairn key export` printed, - for standard input, or the line itself.
It goes to ~/.config/cairn/trusted/NAME.key. From then on `cairn pack install` takes what the key's owner has
signed, and what is in a pack runs as you. So compare the fingerprint with the one that its owner tells you.

Examples:
  cairn key trust studio.key
  cairn key trust 'cairn-key-1 7BcrOtVvZ7...Z+K/ studio'
  cairn key trust --name games studio.key     keep it by another name

Exit codes: 0 trusted, also if it was before; 1 it is no key, it was revoked, another key has the name, or it
cannot be written, 2 wrong usage.)";

constexpr const char *kRevokeFooter =
    R"(KEY is a name, or a fingerprint as `cairn key ls` prints it. The key goes to ~/.config/cairn/revoked, and
is never trusted again. All installed packs that it signed, and those that were merged from such, are
removed from the user's packs; programs that run go on with them until they end. Packs in the system's
folders are the system's, and stay. If some could not be removed, repeat the command.

Examples:
  cairn key revoke studio
  cairn key revoke 9f3a-02c4-5d1e-77b0-8a6f-41c9-e2d3-b05c

Exit codes: 0 revoked, also if it was before; 1 there is no such key, or a pack could not be removed,
2 wrong usage.)";

constexpr const char *kLsFooter =
    R"(A line says of a key whether it is your own (you have the secret half), trusted or revoked. Files that count
as no key, such as one that others may write, are named on standard error.

Examples:
  cairn key ls
  cairn key ls --json

Exit codes: 0 listed, 1 something counts as no key, 2 wrong usage.)";

constexpr const char *kExportFooter =
    R"(Prints the public half, one line: `cairn-key-1 BASE64 NAME`. It is no secret. Give it to others together with
a way to compare its fingerprint, which `cairn key ls` prints.

Example:
  cairn key export me > me.key

Exit codes: 0 printed, 1 there is no such key, 2 wrong usage.)";

void require_key_name(const std::string &name) {
    if (is_key_name(name)) return;
    throw Failure(kExitUsage,
                  "`{}` is no name for a key: write at most 64 letters, digits, `.`, `_` or `-`, "
                  "and no dot first",
                  name);
}

// A key, and what it is here.
struct Row {
    NamedKey key;
    bool is_own = false;
    bool is_trusted = false;
    bool is_revoked = false;
};

struct Table {
    std::vector<Row> rows;  // sorted by name
    std::vector<std::string> problems;
};

// One key has one row for each name that it has.
Row &row_of(Table &table, const NamedKey &key) {
    const auto found = std::ranges::find_if(table.rows, [&](const Row &row) {
        return row.key.key == key.key && row.key.name == key.name;
    });
    return found != table.rows.end() ? *found : table.rows.emplace_back(Row{key});
}

void add_revoked(const Keys &revoked, Table &table) {
    for (const NamedKey &key : revoked.keys) row_of(table, key);
    for (Row &row : table.rows) {
        row.is_revoked =
            std::ranges::find(revoked.keys, row.key.key, &NamedKey::key) != revoked.keys.end();
        row.is_trusted = row.is_trusted && !row.is_revoked && revoked.problems.empty();
    }
}

Table read_table() {
    Table table;
    const Keys own = own_keys();
    const Keys trusted = trusted_keys();
    const Keys revoked = revoked_keys();
    for (const NamedKey &key : own.keys) row_of(table, key).is_own = true;
    for (const NamedKey &key : trusted.keys) row_of(table, key).is_trusted = true;
    add_revoked(revoked, table);
    for (const Keys *keys : {&own, &trusted, &revoked}) {
        for (const std::string &problem : keys->problems) {
            const bool is_known =
                std::ranges::find(table.problems, problem) != table.problems.end();
            if (!is_known) table.problems.push_back(problem);
        }
    }
    std::ranges::stable_sort(table.rows, {}, [](const Row &row) { return row.key.name; });
    return table;
}

// The keys that a word means: all of one name, or the one of a fingerprint.
std::vector<Row> find_rows(const Table &table, const std::string &word) {
    std::vector<Row> found;
    std::ranges::copy_if(table.rows, std::back_inserter(found), [&](const Row &row) {
        return row.key.name == word || is_fingerprint_of(word, row.key.key);
    });
    return found;
}

Failure no_such_key(const Table &table, const std::string &word) {
    for (const std::string &problem : table.problems) complain(problem);
    Words names;
    for (const Row &row : table.rows) names.push_back(row.key.name);
    return {kExitFailure, "there is no key `{}`{}; `cairn key ls` prints those that there are",
            word, did_you_mean(word, names)};
}

int create(std::string name) {
    if (name.empty()) name = environment_variable("USER").value_or("");
    if (name.empty()) throw Failure(kExitUsage, "USER is not set; give the key a name");
    require_key_name(name);
    const KeysLock lock(KeysUse::change);
    const Table table = read_table();
    if (!find_rows(table, name).empty()) {
        throw Failure(kExitFailure, "there is a key `{}` already; choose another name", name);
    }
    const SecretKey secret = SecretKey::make();
    const NamedKey key = {name, secret.public_key()};
    store_own_key(name, secret);
    say(fmt::format("Made the key {}, fingerprint {}", name, fingerprint(key.key)));
    say(fmt::format("Others need what `cairn key export {}` prints to trust it.", name));
    return kExitOk;
}

// Of a file or the text itself.
NamedKey read_named_key(const std::string &word) {
    std::string text = word;
    if (!is_key_text(word)) {
        constexpr size_t kTextMax = 4096;
        InputFile file(word);
        text.clear();
        while (text.size() <= kTextMax && file.append_to(text)) {
        }
    }
    const auto key = decode_key(text);
    if (!key) {
        throw Failure(kExitFailure,
                      "{} is no key; a key is the line `cairn-key-1 BASE64 NAME`, as `cairn key "
                      "export` prints it",
                      is_key_text(word) ? "the text" : word);
    }
    return *key;
}

int trust(const std::string &word, const std::optional<std::string> &name) {
    NamedKey key = read_named_key(word);
    if (name) key.name = *name;
    require_key_name(key.name);
    const KeysLock lock(KeysUse::change);
    const Table table = read_table();
    for (const Row &row : table.rows) {
        if (row.key.key == key.key && row.is_trusted) {
            say(fmt::format("{} is trusted already, fingerprint {}", row.key.name,
                            fingerprint(key.key)));
            return kExitOk;
        }
        const bool is_in_use = row.is_own || row.is_trusted;
        if (row.key.key != key.key && row.key.name == key.name && is_in_use) {
            throw Failure(kExitFailure,
                          "another key has the name `{}`; choose one with --name, or revoke that "
                          "key first",
                          key.name);
        }
    }
    store_trusted_key(key);
    say(fmt::format("Trusted {}, fingerprint {}", key.name, fingerprint(key.key)));
    say("Compare it with its owner's: what this key signs can be installed, and runs as you.");
    return kExitOk;
}

// A name may be that of keys that were revoked earlier, besides the one in use.
NamedKey find_to_revoke(const Table &table, const std::string &word) {
    std::vector<Row> found = find_rows(table, word);
    if (found.empty()) throw no_such_key(table, word);
    const auto is_in_use = [](const Row &row) { return !row.is_revoked; };
    if (std::ranges::any_of(found, is_in_use)) {
        std::erase_if(found, [&](const Row &row) { return !is_in_use(row); });
    }
    const PublicKey &first = found.front().key.key;
    if (std::ranges::any_of(found, [&](const Row &row) { return row.key.key != first; })) {
        throw Failure(kExitFailure, "there are several keys `{}`; name one by its fingerprint",
                      word);
    }
    return found.front().key;
}

int revoke(const std::string &word) {
    const KeysLock lock(KeysUse::change);
    const NamedKey key = find_to_revoke(read_table(), word);
    // First the note: nothing that the key signed can be installed from here on. What is removed
    // afterwards is all there is, and where that fails it is repeated.
    store_revocation(key);
    say(fmt::format("Revoked {}, fingerprint {}", key.name, fingerprint(key.key)));
    for (const std::string &path : remove_packs_signed_by(key.key)) {
        say(fmt::format("Removed {}", path));
    }
    return kExitOk;
}

std::string state_of(const Row &row) {
    Words states;
    if (row.is_own) states.emplace_back("own");
    if (row.is_trusted) states.emplace_back("trusted");
    if (row.is_revoked) states.emplace_back("revoked");
    return fmt::format("{}", fmt::join(states, ", "));
}

nlohmann::ordered_json json_of(const Table &table) {
    nlohmann::ordered_json json = {{"keys", nlohmann::ordered_json::array()},
                                   {"problems", table.problems}};
    for (const Row &row : table.rows) {
        json["keys"].push_back({{"name", row.key.name},
                                {"fingerprint", fingerprint(row.key.key)},
                                {"key", encode_key(row.key)},
                                {"own", row.is_own},
                                {"trusted", row.is_trusted},
                                {"revoked", row.is_revoked}});
    }
    return json;
}

int list(bool is_json) {
    const Table table = read_table();
    if (is_json) {
        print_json(json_of(table));
    } else {
        size_t width = std::string_view("KEY").size();
        for (const Row &row : table.rows) width = std::max(width, row.key.name.size());
        const size_t digits = fingerprint({}).size();
        if (!table.rows.empty()) {
            print_line("{:<{}}  {:<{}}  {}", "KEY", width, "FINGERPRINT", digits, "IS");
        }
        for (const Row &row : table.rows) {
            print_line("{:<{}}  {}  {}", row.key.name, width, fingerprint(row.key.key),
                       state_of(row));
        }
        for (const std::string &problem : table.problems) complain(problem);
    }
    return table.problems.empty() ? kExitOk : kExitFailure;
}

int print_key(const std::string &name) {
    const Table table = read_table();
    const std::vector<Row> found = find_rows(table, name);
    const auto row = std::ranges::find_if(found, [](const Row &each) { return !each.is_revoked; });
    if (row == found.end() && !found.empty()) {
        throw Failure(kExitFailure, "the key `{}` was revoked", name);
    }
    if (row == found.end()) throw no_such_key(table, name);
    print_text(encode_key(row->key) + "\n");
    return kExitOk;
}

Run define_create(Arguments &take) {
    auto name = std::make_shared<std::string>();
    take.value("NAME", *name, "Its name; letters, digits, `.`, `_` and `-`");
    take.quiet();
    return [name] { return create(*name); };
}

Run define_trust(Arguments &take) {
    struct Options {
        std::string key;
        std::optional<std::string> name;
    };
    auto options = std::make_shared<Options>();
    take.required("KEY", options->key, "A file with a public key, or its text");
    take.value("--name", options->name, "Keep it by this name", "NAME");
    take.quiet();
    return [options] { return trust(options->key, options->name); };
}

Run define_revoke(Arguments &take) {
    auto word = std::make_shared<std::string>();
    take.required("KEY", *word, "The name of a key, or its fingerprint");
    take.dir();
    take.quiet();
    return [word] { return revoke(*word); };
}

Run define_ls(Arguments &take) {
    auto json = std::make_shared<bool>(false);
    take.flag("--json", *json, "Print JSON");
    return [json] { return list(*json); };
}

Run define_export(Arguments &take) {
    auto name = std::make_shared<std::string>();
    take.required("NAME", *name, "The name of a key, or its fingerprint");
    return [name] { return print_key(*name); };
}

constexpr Command kCreate = {"create", "Make a key of your own", kCreateFooter, define_create};
constexpr Command kTrust = {"trust", "Let what a key signed be installed", kTrustFooter,
                            define_trust};
constexpr Command kRevoke = {"revoke", "Trust a key no more, and remove what it signed",
                             kRevokeFooter, define_revoke};
constexpr Command kLs = {"ls", "List the keys", kLsFooter, define_ls};
constexpr Command kExport = {"export", "Print a public key", kExportFooter, define_export};
constexpr const Command *kCommands[] = {&kCreate, &kTrust, &kRevoke, &kLs, &kExport};

constexpr const char *kSummary = "Keys that sign packs, and those that you trust";

Run define(Arguments &take) {
    const Words &words = take.foreign();
    return [&words] {
        return run_command_group({"cairn key", kSummary, kFooter, kCommands}, words);
    };
}

}  // namespace

const Command key_command = {"key", kSummary, kFooter, define, Foreign::all};

}  // namespace cairn::cli
