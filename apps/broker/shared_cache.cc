// SPDX-License-Identifier: MIT
#include "shared_cache.h"

#include <utility>

#include "os/read_only_view.h"

namespace cairn::broker {
namespace {

// Through a mount that is read-only where the system lets us make one. Where it does not, clients
// get descriptors that are open for reading, which is as much where they cannot open anything.
Result<Directory> open_view(const BrokerSettings &settings, const std::string &path) {
    const Log log(settings.log, nullptr);
    auto view = open_read_only_view(path);
    if (view.ok()) return view;
    if (settings.require_read_only_mount) {
        log.write(Severity::info, "%s: no read-only mount can be made here", path.c_str());
        return view;
    }
    log.write(Severity::info, "%s: no read-only mount can be made here; lending plain descriptors",
              path.c_str());
    return Directory::open(path);
}

}  // namespace

Status Guards::add(const File &lent, Result<File> own, Deleted deleted) {
    if (!own.ok()) {
        const bool nobody_writes = own.error() == Error::read_only || own.error() == Error::denied;
        return nobody_writes ? Status() : Status(own.error());
    }
    TRY_ASSIGN(const FileInfo theirs, lent.info());
    TRY_ASSIGN(const FileInfo ours, own->info());
    if (theirs.inode != ours.inode) return Error::busy;
    files_.try_emplace(ours.inode, Guarded{std::move(own.value()), deleted});
    return {};
}

void Guards::release_deleted() {
    std::erase_if(files_, [](const auto &entry) {
        const Guarded &guarded = entry.second;
        const auto info = guarded.file.info();
        const bool gone = info.ok() && info->links == 0;
        if (gone && guarded.deleted == Deleted::free_blocks) (void)guarded.file.truncate(0);
        return gone;
    });
}

int SharedCache::open(const BrokerSettings &settings, const std::string &identifier,
                      std::uint64_t version, Guards &guards, std::unique_ptr<SharedCache> &cache) {
    std::unique_ptr<SharedCache> opened(
        new SharedCache(identifier, version, settings.root + "/" + identifier, guards));
    cairn_options options = {};
    options.size = sizeof options;
    options.root = settings.root.c_str();
    options.identifier = identifier.c_str();
    options.version = version;
    options.limit_bytes = settings.limit_bytes;
    options.memory_bytes = CAIRN_NONE;  // the broker itself reads nothing twice
    options.log = settings.log;
    const int result = cairn_open(&options, &opened->handle_);
    if (result != CAIRN_OK) return result;
    auto directory = Directory::open(opened->path_);
    auto view = open_view(settings, opened->path_);
    if (!directory.ok() || !view.ok()) return CAIRN_ERROR_DENIED;
    opened->directory_ = std::move(directory.value());
    opened->view_ = std::move(view.value());
    opened->refresh();
    cache = std::move(opened);
    return CAIRN_OK;
}

void SharedCache::refresh() {
    auto files = list_broker_files(view_);
    if (files.ok()) files_ = std::move(files.value());
    guards_.release_deleted();
    stale = false;
}

Result<File> SharedCache::open_index() {
    TRY_ASSIGN(File lent, open_lent_index(view_, Access::read_only));
    TRY(guards_.add(lent, open_lent_index(directory_, Access::read_write),
                    Guards::Deleted::keep_blocks));
    return lent;
}

Result<File> SharedCache::open_segment(std::uint32_t segment) {
    TRY_ASSIGN(File lent, open_lent_segment(view_, segment, Access::read_only));
    TRY(guards_.add(lent, open_lent_segment(directory_, segment, Access::read_write),
                    Guards::Deleted::free_blocks));
    return lent;
}

}  // namespace cairn::broker
