// SPDX-License-Identifier: MIT
#include "cache/layers.h"

#include <algorithm>
#include <string_view>

#include "os/environment.h"
#include "os/root.h"
#include "os/text_file.h"

namespace cairn {
namespace {

constexpr const char *kVariable = "CAIRN_PACKS";
constexpr const char *kSystemFolders = "/usr/share/cairn/packs:/var/lib/cairn/packs";
constexpr std::string_view kEnding = ".pack";
// Looked at in one folder.
constexpr std::size_t kPacksMax = 64;

std::string_view folder_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// Whose files the process takes for packs, besides the user's and the system's.
std::uint32_t owner_of_executable() {
    const auto info = file_info(executable_path());
    return info.ok() ? info->owner : effective_user();
}

// Who may own a pack. The system's folders are the system's by whatever number a container shows it.
bool is_trusted(const Result<FileInfo> &info, const std::string &path) {
    if (!info.ok() || info->writable_by_others) return false;
    const std::uint32_t owner = info->owner;
    for (const char *folder : {"/usr/share/cairn/packs/", "/var/lib/cairn/packs/"}) {
        if (path.starts_with(folder)) return true;
    }
    return owner == 0 || owner == effective_user() || owner == owner_of_executable();
}

class Search {
  public:
    Search(const PackIdentity &identity, const Log &log) : identity_(identity), log_(log) {}

    void look_in(const std::string &folder) {
        std::vector<std::string> paths = paths_in(folder, kEnding);
        if (paths.empty() || !is_safe(folder)) return;
        paths.resize(std::min(paths.size(), kPacksMax));
        for (const std::string &path : paths) look_at_file(path);
    }

    void look_at(const std::string &path) {
        if (is_safe(std::string(folder_of(path)))) look_at_file(path);
    }

    std::vector<FoundLayer> take() { return std::move(found_); }

  private:
    bool is_safe(const std::string &folder) const {
        if (is_trusted(file_info(folder), folder)) return true;
        refuse(folder, "belongs to another user, or others may write it");
        return false;
    }

    void refuse(const std::string &path, const char *why) const {
        log_.write(Severity::warning, "no packs are taken from %s: it %s", path.c_str(), why);
    }

    void look_at_file(const std::string &path) {
        if (found_.size() == kLayersMax) return;
        auto file = Directory::working().open_file(path, Access::read_only);
        auto pack = file.ok() ? Pack::open(std::move(file.value())) : file.error();
        if (!pack.ok()) {
            log_.write(Severity::warning, "the pack %s cannot be used: %s", path.c_str(),
                       error_name(pack.error()));
            return;
        }
        if (!is_trusted((*pack)->info(), path)) {
            refuse(path, "belongs to another user, or others may write it");
            return;
        }
        if (const auto number = (*pack)->find_part(identity_)) {
            auto part = std::make_unique<PackPart>(*pack, *number);
            found_.push_back({std::move(part), path});
        }
    }

    const PackIdentity identity_;
    const Log &log_;
    std::vector<FoundLayer> found_;
};

}  // namespace

std::vector<std::string> pack_folders(const std::string &root, const std::string &name) {
    std::vector<std::string> folders;
    const std::string executable = executable_path();
    if (!executable.empty()) {
        folders.push_back(std::string(folder_of(executable)) + "/cairn-packs");
    }
    folders.push_back(root + "/.packs/" + name);
    const std::string list = environment_variable(kVariable).value_or(kSystemFolders);
    for (std::string_view rest = list; !rest.empty();) {
        const std::size_t size = std::min(rest.find(':'), rest.size());
        if (rest.front() == '/') {
            folders.push_back(std::string(rest.substr(0, size)) + "/" + name);
        }
        rest.remove_prefix(std::min(size + 1, rest.size()));
    }
    return folders;
}

std::vector<FoundLayer> find_layers(const std::string &root, const LayeredSubject &subject,
                                    const std::vector<std::string> &paths, PackKind kind,
                                    const Log &log) {
    return find_layers(pack_folders(root, subject.name), subject, paths, kind, log);
}

std::vector<FoundLayer> find_layers(const std::vector<std::string> &folders,
                                    const LayeredSubject &subject,
                                    const std::vector<std::string> &paths, PackKind kind,
                                    const Log &log) {
    Search search(identity_of(subject.of_kind(kind)), log);
    for (const std::string &path : paths) search.look_at(path);
    for (const std::string &folder : folders) search.look_in(folder);
    return search.take();
}

}  // namespace cairn
