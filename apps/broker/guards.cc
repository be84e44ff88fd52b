// SPDX-License-Identifier: MIT
#include "guards.h"

#include <utility>

namespace cairn::broker {

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

}  // namespace cairn::broker
