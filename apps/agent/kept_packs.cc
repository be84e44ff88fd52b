// SPDX-License-Identifier: MIT
#include "kept_packs.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "os/file.h"
#include "os/root.h"
#include "os/text_file.h"

namespace cairn::fleet {
namespace {

struct KeptFile {
    std::string name;
    std::uint64_t modified_ns, bytes;
};

}  // namespace

bool KeptPacks::has(const KeptPackName &name) const {
    const auto info = Directory::working().info(path_ + "/" + kept_pack_file(name));
    return info.ok() && info->is_file;
}

std::optional<std::string> KeptPacks::read(const KeptPackName &name, std::uint64_t size_max) const {
    const auto folder = Directory::open(path_);
    if (!folder.ok()) return std::nullopt;
    auto text = read_text_file(folder.value(), kept_pack_file(name),
                               static_cast<std::size_t>(size_max) + 1);
    const bool is_whole = text.ok() && text->size() <= size_max;
    return is_whole ? std::optional(std::move(text.value())) : std::nullopt;
}

bool KeptPacks::keep(const KeptPackName &name, const std::string &file) const {
    const auto root = open_root(root_, Create::no, Log());
    auto fleet = root.ok() ? root->open_directory(".fleet") : root.error();
    if (!fleet.ok()) return false;
    (void)fleet->create_directory("packs");
    const auto packs = fleet->open_directory("packs");
    const auto pack = Directory::working().open_file(file, Access::read_only);
    if (!packs.ok() || !pack.ok()) return false;
    // The name says what is in it, also after a power loss.
    if (!pack->sync_data().ok()) return false;
    const std::string own = kept_pack_file(name);
    // What is there may be damaged since.
    const std::string new_name = own + "." + std::filesystem::path(file).filename().string();
    if (!packs->link_file(pack.value(), new_name).ok()) return false;
    if (!packs->rename(new_name, own).ok()) {
        (void)packs->remove_file(new_name);
        return false;
    }
    tidy();
    return has(name);
}

void KeptPacks::tidy() const {
    const auto folder = Directory::open(path_);
    if (!folder.ok()) return;
    std::vector<KeptFile> files;
    std::uint64_t bytes = 0;
    (void)folder->list([&](const char *name) {
        const auto info = folder->info(name);
        if (!info.ok()) return;
        files.push_back({name, info->modified_ns, info->size_bytes});
        bytes += info->size_bytes;
    });
    std::ranges::sort(files, {}, &KeptFile::modified_ns);
    std::size_t count = files.size();
    for (const KeptFile &each : files) {
        if (count <= files_max_ && bytes <= bytes_max_) return;
        if (!folder->remove_file(each.name).ok()) continue;
        --count;
        bytes -= each.bytes;
    }
}

}  // namespace cairn::fleet
