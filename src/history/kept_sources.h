// The file `sources` of a cache: the beginnings of programs' sources, where the user wants them kept.
// Format: docs/formats/history.md.
// SPDX-License-Identifier: MIT
//
// A record is added once, whichever process added it: each process reads what the file has, and then
// only what others have added since.
//
// Thread safety: any thread and any process. A child of fork() reads anew.
// Ownership: the directory outlives it.
// Failure: what cannot be written is not kept. Throws where there is no memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_set>

#include "base/mutex.h"
#include "history/format.h"
#include "os/file.h"
#include "os/per_process.h"

namespace cairn {

// Calls `visit` with each record that is whole, and its text.
void visit_kept_sources(std::string_view bytes,
                        const std::function<void(const SourcesHead &, std::string_view)> &visit);

class KeptSources {
  public:
    // The file never gets larger than `size_max`.
    KeptSources(const Directory &directory, std::uint64_t size_max)
        : directory_(directory), size_max_(size_max) {}

    // `key` is the beginning of the program's.
    void keep(const decltype(SourcesHead::key) &key, std::string_view text);

  private:
    // What this process has read of the file.
    struct Known {
        Mutex mutex;
        File file GUARDED_BY(mutex);              // held, so that no other one gets its number
        FileInfo info GUARDED_BY(mutex) = {};     // of it
        std::uint64_t end GUARDED_BY(mutex) = 0;  // read up to here
        std::unordered_set<std::uint64_t> checks GUARDED_BY(mutex);  // of the records
    };
    Status read_on(Known &known, const File &file, const FileInfo &info) const
        REQUIRES_LOCK(known.mutex);

    const Directory &directory_;
    const std::uint64_t size_max_;
    PerProcess<Known> known_;
};

}  // namespace cairn
