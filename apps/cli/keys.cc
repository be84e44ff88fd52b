// SPDX-License-Identifier: MIT
#include "keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "os/configuration.h"
#include "os/environment.h"
#include "os/root.h"
#include "output.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kPublicMark = "cairn-key-1";
constexpr std::string_view kSecretMark = "cairn-secret-key-1";
constexpr std::size_t kFileSizeMax = 4096;  // of lines with 300 bytes at most
constexpr std::size_t kFilesMax = 1024;

// One of the folders, and who may do what with its files.
struct Kind {
    const char *folder;
    std::string_view ending;
    bool is_secret;
};
constexpr Kind kOwn = {"keys", ".secret", true};
constexpr Kind kTrusted = {"trusted", ".key", false};
constexpr Kind kRevoked = {"revoked", ".key", false};

std::string configuration_folder() {
    const auto path = configuration_path();
    if (!path) throw Failure(kExitFailure, "the user has no home directory; set HOME to yours");
    return fs::path(*path).parent_path();
}

std::string path_of(const Kind &kind) {
    return configuration_folder() + "/" + kind.folder;
}

// Why what is at `path` counts for nothing; empty: it counts.
std::string problem_of(const Result<FileInfo> &info, const std::string &path, bool is_secret) {
    constexpr std::uint32_t kOfOthers = 077;
    if (!info.ok()) return fmt::format("cannot read {}: {}", path, error_name(info.error()));
    if (info->owner != effective_user() && info->owner != 0) {
        return fmt::format("{} is another user's, so it counts as no key", path);
    }
    if (info->writable_by_others) {
        return fmt::format(
            "others may write {}, so it counts as no key; `chmod go-w {}` once you "
            "know that nobody has",
            path, path);
    }
    if (is_secret && (info->permissions & kOfOthers) != 0) {
        return fmt::format(
            "others may read {}, so it counts as no key; `chmod go-rwx {}`, and if "
            "others may have read it, `cairn key revoke` it",
            path, path);
    }
    return {};
}

struct Folder {
    Directory directory;
    std::string path;
    std::string problem;  // empty: none
    bool is_there = false;
};

// The folder of the configuration may be a link, as other programs' are; those in it may not.
Folder open_folder(const Kind &kind) {
    Folder folder = {{}, path_of(kind), {}, false};
    const std::string parent = configuration_folder();
    auto outer = Directory::open(parent + "/.");
    if (!outer.ok() && outer.error() == Error::not_found) return folder;
    if (!outer.ok()) {
        folder.problem = fmt::format("cannot read {}: {}", parent, error_name(outer.error()));
        return folder;
    }
    folder.problem = problem_of(outer->info(), parent, /*is_secret=*/false);
    if (!folder.problem.empty()) return folder;
    auto inner = outer->open_directory(kind.folder);
    if (!inner.ok()) {
        if (inner.error() == Error::not_found) return folder;
        folder.problem = fmt::format("cannot read {}: {}; it must be a folder, and no link to one",
                                     folder.path, error_name(inner.error()));
        return folder;
    }
    folder.problem = problem_of(inner->info(), folder.path, kind.is_secret);
    folder.is_there = folder.problem.empty();
    folder.directory = std::move(*inner);
    return folder;
}

// Throws a Failure unless the folder can be used; makes it where it is missing.
Folder folder_to_write(const Kind &kind) {
    Folder folder = open_folder(kind);
    if (folder.problem.empty() && !folder.is_there) {
        const auto outer = Directory::open(configuration_folder() + "/.");
        const Status made = outer.ok() ? outer->create_directory(kind.folder) : outer.error();
        if (!made.ok()) {
            throw Failure(kExitFailure, "cannot make {}: {}", folder.path,
                          error_name(made.error()));
        }
        (void)outer->sync();
        folder = open_folder(kind);
    }
    if (!folder.problem.empty()) throw Failure(kExitFailure, folder.problem);
    return folder;
}

struct Text {
    std::string text;
    std::string problem;  // empty: none
};

Text read_key_text(const Folder &folder, const std::string &name, bool is_secret) {
    const std::string path = folder.path + "/" + name;
    const auto file = folder.directory.open_file(name, Access::read_only);
    if (!file.ok() && file.error() == Error::corrupt) {
        return {{}, path + " is a link or no file, so it counts as no key"};
    }
    if (!file.ok()) return {{}, fmt::format("cannot read {}: {}", path, error_name(file.error()))};
    const auto info = file->info();
    Text read = {{}, problem_of(info, path, is_secret)};
    if (!read.problem.empty()) return read;
    read.text.resize(std::min<std::uint64_t>(info->size_bytes, kFileSizeMax + 1));
    auto size =
        file->read_at(0, {reinterpret_cast<std::byte *>(read.text.data()), read.text.size()});
    if (!size.ok()) {
        wipe(read.text);
        read.problem = fmt::format("cannot read {}: {}", path, error_name(size.error()));
        return read;
    }
    read.text.resize(*size);
    return read;
}

// The words of a line of so many; empty: it is none.
std::vector<std::string_view> words_of(std::string_view text, std::size_t count) {
    std::vector<std::string_view> words;
    if (text.size() > kFileSizeMax) return words;
    for (std::size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;
         at = text.find_first_not_of(kBlanks, at)) {
        const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
        words.push_back(text.substr(at, end - at));
        if (words.size() > count) break;
        at = end;
    }
    if (words.size() != count) words.clear();
    return words;
}

std::optional<PublicKey> public_key_of(std::string_view word) {
    const auto bytes = bytes_from_base64<sizeof(PublicKey)>(word);
    if (!bytes || !is_usable({*bytes})) return std::nullopt;
    return PublicKey{*bytes};
}

// The public half stands beside the secret one, so that damage to either shows.
std::optional<SecretKey> decode_secret(std::string_view text) {
    const auto words = words_of(text, 4);
    if (words.empty() || words[0] != kSecretMark) return std::nullopt;
    auto seed = bytes_from_base64<SecretKey::kSeedSize>(words[1]);
    const auto expected = public_key_of(words[2]);
    if (!seed || !expected) return std::nullopt;
    SecretKey key(*seed);
    wipe(MutableBytes(*seed));
    if (key.public_key() != *expected) return std::nullopt;
    return key;
}

// The key in a file of this kind, whose name has this stem. That is the key's name, and the one in the
// line a proposal only; but not of a revoked key, whose file may have had to take another name.
std::optional<NamedKey> decode(const Kind &kind, std::string_view text, const std::string &stem) {
    if (kind.is_secret) {
        const auto secret = decode_secret(text);
        return secret ? std::optional(NamedKey{stem, secret->public_key()}) : std::nullopt;
    }
    auto named = decode_key(text);
    if (named && &kind != &kRevoked) named->name = stem;
    return named;
}

void read_key(const Kind &kind, const Folder &folder, const std::string &name, Keys &found) {
    const std::string stem = name.substr(0, name.size() - kind.ending.size());
    const std::string path = folder.path + "/" + name;
    if (!is_key_name(stem)) {
        found.problems.push_back(path + " does not have the name of a key; rename it");
        return;
    }
    Text read = read_key_text(folder, name, kind.is_secret);
    if (!read.problem.empty()) {
        found.problems.push_back(read.problem);
        return;
    }
    const auto key = decode(kind, read.text, stem);
    if (kind.is_secret) wipe(read.text);
    if (key) {
        found.keys.push_back(*key);
    } else {
        found.problems.push_back(path + " is damaged or no key; remove it, or get it anew");
    }
}

Keys read_keys(const Kind &kind) {
    const Folder folder = open_folder(kind);
    Keys found;
    if (!folder.problem.empty()) found.problems.push_back(folder.problem);
    if (!folder.is_there) return found;
    std::vector<std::string> names;
    const Status listed = folder.directory.list([&](const char *name) {
        const std::string_view text = name;
        const bool is_key = text.ends_with(kind.ending) && text.size() > kind.ending.size();
        if (is_key && names.size() <= kFilesMax) names.emplace_back(text);
    });
    if (!listed.ok()) {
        found.problems.push_back(
            fmt::format("cannot read {}: {}", folder.path, error_name(listed.error())));
    }
    if (names.size() > kFilesMax) {
        found.problems.push_back(fmt::format("{} has more than {} keys, so none of them counts",
                                             folder.path, kFilesMax));
        return found;
    }
    std::ranges::sort(names);
    for (const std::string &name : names) read_key(kind, folder, name, found);
    return found;
}

std::optional<std::string> name_among(const std::vector<NamedKey> &keys, const PublicKey &key) {
    const auto found = std::ranges::find(keys, key, &NamedKey::key);
    return found == keys.end() ? std::nullopt : std::optional(found->name);
}

std::string file_name(const Kind &kind, const std::string &name) {
    return name + std::string(kind.ending);
}

void require_free(const Folder &folder, const std::string &name) {
    if (!folder.directory.info(name).ok()) return;
    throw Failure(kExitFailure, "{}/{} is there already; choose another name, or remove it",
                  folder.path, name);
}

// A file as a whole, that only the user can read. REQUIRES: KeysLock, so that the name stays free.
void write_new(const Folder &folder, const std::string &name, const std::string &text) {
    require_free(folder, name);
    const Status written = folder.directory.replace_file_durably(name, as_bytes(text));
    if (!written.ok()) {
        throw Failure(kExitFailure, "cannot write {}/{}: {}", folder.path, name,
                      error_name(written.error()));
    }
}

// Wiped at its end.
struct SecretText {
    explicit SecretText(std::string from) : text(std::move(from)) {}
    ~SecretText() { wipe(text); }
    SecretText(const SecretText &) = delete;
    SecretText &operator=(const SecretText &) = delete;

    std::string text;
};

}  // namespace

bool is_key_name(std::string_view name) {
    constexpr std::size_t kNameMax = 64;
    return name.size() <= kNameMax && valid_identifier(name);
}

std::string encode_key(const NamedKey &key) {
    return fmt::format("{} {} {}", kPublicMark, base64(key.key.bytes), key.name);
}

std::optional<NamedKey> decode_key(std::string_view text) {
    const auto words = words_of(text, 3);
    if (words.empty() || words[0] != kPublicMark || !is_key_name(words[2])) return std::nullopt;
    const auto key = public_key_of(words[1]);
    if (!key) return std::nullopt;
    return NamedKey{std::string(words[2]), *key};
}

bool is_key_text(std::string_view text) {
    return text.starts_with(kPublicMark) && text.find_first_of(kBlanks) == kPublicMark.size();
}

KeysLock::KeysLock(KeysUse use) {
    const std::string folder = configuration_folder();
    if (use == KeysUse::change) {
        if (!path_from_environment("XDG_CONFIG_HOME")) (void)own_home();
        require_own(folder);
    }
    std::error_code error;
    if (use == KeysUse::change || fs::is_directory(folder, error)) lock_.emplace(folder);
}

Keys own_keys() {
    return read_keys(kOwn);
}

Keys trusted_keys() {
    return read_keys(kTrusted);
}

Keys revoked_keys() {
    return read_keys(kRevoked);
}

std::optional<std::string> trusted_name(const PublicKey &signer) {
    if (revoked_name(signer)) return std::nullopt;
    const Keys trusted = trusted_keys();
    auto name = name_among(trusted.keys, signer);
    if (!name) {
        for (const std::string &problem : trusted.problems) complain(problem);
    }
    return name;
}

std::optional<std::string> revoked_name(const PublicKey &signer) {
    const Keys revoked = revoked_keys();
    if (!revoked.problems.empty()) {
        throw Failure(kExitFailure, "{}; until then it is not known which keys were revoked",
                      revoked.problems.front());
    }
    return name_among(revoked.keys, signer);
}

SecretKey load_secret_key(const std::string &name) {
    if (!is_key_name(name)) throw Failure(kExitUsage, "`{}` is no key's name", name);
    const Folder folder = open_folder(kOwn);
    if (!folder.problem.empty()) throw Failure(kExitFailure, folder.problem);
    const std::string file = file_name(kOwn, name);
    if (!folder.is_there || !folder.directory.info(file).ok()) {
        throw Failure(kExitFailure,
                      "there is no key `{}` to sign with; `cairn key create {}` makes one", name,
                      name);
    }
    Text read = read_key_text(folder, file, kOwn.is_secret);
    if (!read.problem.empty()) throw Failure(kExitFailure, read.problem);
    auto key = decode_secret(read.text);
    wipe(read.text);
    if (!key) throw Failure(kExitFailure, "{}/{} is damaged or no key", folder.path, file);
    if (revoked_name(key->public_key())) {
        throw Failure(kExitFailure, "the key `{}` was revoked; `cairn key create` makes a new one",
                      name);
    }
    return std::move(*key);
}

void store_own_key(const std::string &name, const SecretKey &key) {
    const Folder folder = folder_to_write(kOwn);
    const std::string file = file_name(kOwn, name);
    require_free(folder, file);
    // If the secret half does not come to be, a key is trusted that nobody has.
    store_trusted_key({name, key.public_key()});
    const SecretText seed(base64(key.seed()));
    const SecretText text(
        fmt::format("{} {} {} {}\n", kSecretMark, seed.text, base64(key.public_key().bytes), name));
    write_new(folder, file, text.text);
}

void store_trusted_key(const NamedKey &key) {
    if (const auto name = revoked_name(key.key)) {
        throw Failure(kExitFailure, "this key was revoked, as `{}`; ask its owner for a new one",
                      *name);
    }
    write_new(folder_to_write(kTrusted), file_name(kTrusted, key.name), encode_key(key) + "\n");
}

void store_revocation(const NamedKey &key) {
    const Folder revoked = folder_to_write(kRevoked);
    if (!revoked_name(key.key)) {
        // Another key of this name may have been revoked before.
        std::string file = file_name(kRevoked, key.name);
        if (revoked.directory.info(file).ok()) {
            file = file_name(kRevoked, fingerprint(key.key));
        }
        write_new(revoked, file, encode_key(key) + "\n");
    }
    const Folder trusted = open_folder(kTrusted);
    for (const NamedKey &each : trusted_keys().keys) {
        if (each.key != key.key) continue;
        const std::string file = file_name(kTrusted, each.name);
        const Status removed = trusted.directory.remove_file(file);
        if (!removed.ok()) {
            complain("{}/{} cannot be removed: {}; it counts no more", trusted.path, file,
                     error_name(removed.error()));
        }
    }
}

}  // namespace cairn::cli
