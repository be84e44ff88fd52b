// SPDX-License-Identifier: MIT
#include "packs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "caches.h"
#include "os/file.h"
#include "os/root.h"
#include "output.h"
#include "pack/files.h"

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

bool is_signed_by(const std::string &path, const PublicKey &key) {
    auto file = Directory::working().open_file(path, Access::read_only);
    if (!file.ok()) {
        // Applications do not take a link or a folder for a pack.
        if (file.error() == Error::corrupt || file.error() == Error::not_found) return false;
        throw cannot("read", path, file.error());
    }
    const auto trailer = read_trailer(*file, path);
    return trailer && trailer->key == key;
}

// Adds the paths of those that it removed.
void remove_from(const std::string &folder, const PublicKey &key, Words &removed) {
    std::string problem;
    for (const std::string &path : paths_below(folder, kPackEnding)) {
        try {
            if (!is_signed_by(path, key)) continue;
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
    if (!problem.empty()) throw Failure(kExitFailure, problem);
    return removed;
}

}  // namespace cairn::cli
