// SPDX-License-Identifier: MIT
#include "packs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "caches.h"
#include "os/file.h"
#include "os/root.h"
#include "output.h"
#include "pack/files.h"
#include "pack/pack_reader.h"

namespace cairn::cli {
namespace {

constexpr const char *kPacksFolder = "/.packs";
constexpr std::string_view kPackEnding = ".pack";

Failure cannot(const char *what, const std::string &path, Error error) {
    return {kExitFailure, "cannot {} {}: {}", what, path, error_name(error)};
}

// Paths of what is in a folder with this ending, sorted. Links to folders are followed, as
// applications follow them. Empty where there is no such folder.
Words paths_below(const std::string &folder, std::string_view ending) {
    const auto info = file_info(folder);
    if (info.ok() ? info->is_file : info.error() == Error::not_found) return {};
    const auto directory = Directory::open(folder + "/.");
    if (!directory.ok()) throw cannot("read", folder, directory.error());
    Words paths;
    const Status listed = directory->list([&](const char *name) {
        if (std::string_view(name).ends_with(ending)) paths.push_back(folder + "/" + name);
    });
    if (!listed.ok()) throw cannot("read", folder, listed.error());
    std::ranges::sort(paths);
    return paths;
}

bool has_line(std::string_view text, std::string_view line) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (text.substr(0, end) == line) return true;
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return false;
}

// A pack that names its signers in its text. Where the text cannot be read, nobody knows whose it is: then
// it is taken for this key's, too, since the next pull makes it anew.
bool is_merged_from(File file, const std::string &path, const PublicKey &key) {
    const auto pack = Pack::open(std::move(file));
    // Applications take no damaged header for a pack.
    if (pack.error() == Error::corrupt) return false;
    if (pack.error() == Error::unsupported) return true;
    if (!pack.ok()) throw cannot("read", path, pack.error());
    const auto about = pack.value()->about();
    return !about || has_line(*about, std::string(kSignedByLine) + fingerprint(key));
}

bool is_of_key(const std::string &path, const PublicKey &key) {
    auto file = Directory::working().open_file(path, Access::read_only);
    if (!file.ok()) {
        // Applications do not take a link or a folder for a pack.
        if (file.error() == Error::corrupt || file.error() == Error::not_found) return false;
        throw cannot("read", path, file.error());
    }
    const auto trailer = read_trailer(*file, path);
    if (trailer && trailer->key == key) return true;
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    return name.starts_with(kFleetPackBeginning) &&
           is_merged_from(std::move(file.value()), path, key);
}

// Adds the paths of those that it removed.
void remove_from(const std::string &folder, const PublicKey &key, Words &removed) {
    std::string problem;
    for (const std::string &path : paths_below(folder, kPackEnding)) {
        try {
            if (!is_of_key(path, key)) continue;
            remove_pack(path);
            removed.push_back(path);
        } catch (const Failure &failure) {
            problem = failure.what();
        }
    }
    if (!problem.empty()) throw Failure(kExitFailure, problem);
}

}  // namespace

void remove_pack(const std::string &path) {
    const std::size_t slash = path.rfind('/');
    const std::string name = path.substr(slash + 1);
    const auto folder = Directory::open(path.substr(0, slash) + "/.");
    const Status done = folder.ok() ? folder->remove_file(name) : folder.error();
    if (!done.ok() && done.error() != Error::not_found) throw cannot("remove", path, done.error());
    if (!folder.ok()) return;
    remove_unfinished(folder.value(), name);
    (void)folder->sync();  // where a file system cannot, it does so in time
}

Words remove_packs_signed_by(const PublicKey &key) {
    Words removed;
    std::string problem;
    for (const std::string &folder : paths_below(resolve_root() + kPacksFolder, "")) {
        try {
            remove_from(folder, key, removed);
        } catch (const Failure &failure) {
            problem = failure.what();
        }
    }
    // What the agent keeps for questions has no say of its own: it is fetched again from whom is trusted.
    for (const char *folder : {"/.fleet/packs", "/.fleet/wanted"}) {
        std::error_code error;
        std::filesystem::remove_all(resolve_root() + folder, error);
        if (error) problem = fmt::format("cannot remove {}: {}", folder, error.message());
    }
    if (!problem.empty()) throw Failure(kExitFailure, problem);
    return removed;
}

}  // namespace cairn::cli
