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

int SharedCache::open(std::uint64_t version) {
    cairn_options options = {};
    options.size = sizeof options;
    options.root = settings_.root.c_str();
    options.identifier = identifier_.c_str();
    options.version = version;
    options.limit_bytes = settings_.limit_bytes;
    options.memory_bytes = CAIRN_NONE;  // the broker itself reads nothing twice
    options.log = settings_.log;
    const int result = cairn_open(&options, &handle_);
    if (result != CAIRN_OK) return result;
    if (!open_files().ok()) {
        close();
        return CAIRN_ERROR_DENIED;
    }
    version_ = version;
    refresh();
    return CAIRN_OK;
}

Status SharedCache::open_files() {
    const std::string path = settings_.root + "/" + identifier_;
    TRY_ASSIGN(const Directory cache, Directory::open(path));
    TRY_ASSIGN(LentDirectory files, find_lent_directory(cache));
    TRY_ASSIGN(view_, open_view(settings_, path + "/" + files.folder));
    directory_ = std::move(files.directory);
    path_ = path + "/" + files.folder;
    is_watched = false;
    return {};
}

void SharedCache::close() {
    cairn_close(handle_);
    handle_ = nullptr;
    directory_ = {};
    view_ = {};
    files_ = {};
}

void SharedCache::refresh() {
    if (is_open()) {
        // Somebody may have deleted the directory, and a store has made another one.
        const auto info = directory_.info();
        if (info.ok() && info->links == 0) (void)open_files();
        auto files = list_broker_files(view_);
        if (files.ok()) files_ = std::move(files.value());
    }
    std::erase_if(guarded_, [](const auto &entry) {
        const Guarded &guarded = entry.second;
        const auto info = guarded.file.info();
        const bool gone = info.ok() && info->links == 0;
        if (gone && guarded.deleted == Deleted::free_blocks) (void)guarded.file.truncate(0);
        return gone;
    });
    stale = false;
}

Status SharedCache::guard(const File &lent, Result<File> own, Deleted deleted) {
    if (!own.ok()) {
        const bool nobody_writes = own.error() == Error::read_only || own.error() == Error::denied;
        return nobody_writes ? Status() : Status(own.error());
    }
    TRY_ASSIGN(const FileInfo theirs, lent.info());
    TRY_ASSIGN(const FileInfo ours, own->info());
    if (theirs.inode != ours.inode) return Error::busy;
    guarded_.try_emplace(ours.inode, Guarded{std::move(own.value()), deleted});
    return {};
}

Result<File> SharedCache::open_index() {
    TRY_ASSIGN(File lent, open_lent_index(view_, Access::read_only));
    TRY(guard(lent, open_lent_index(directory_, Access::read_write), Deleted::keep_blocks));
    return lent;
}

Result<File> SharedCache::open_segment(std::uint32_t segment) {
    TRY_ASSIGN(File lent, open_lent_segment(view_, segment, Access::read_only));
    TRY(guard(lent, open_lent_segment(directory_, segment, Access::read_write),
              Deleted::free_blocks));
    return lent;
}

}  // namespace cairn::broker
