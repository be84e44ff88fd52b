// A cache that the broker has open for its clients, and its files as they are lent.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
#pragma once

#include <cairn/cairn.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "cache/broker_files.h"
#include "os/file.h"
#include "settings.h"

namespace cairn::broker {

// Files that were lent, open for writing for as long as they exist.
//
// A client could take a lease on a descriptor that it was lent. Nobody could open the file for
// writing then, as removing, clearing and evicting do. The kernel grants no lease on a file that is
// open for writing. Guards keep a file open even when no client is connected, since a client may
// have handed its descriptor on; they let go of deleted files only. A client that has a deleted
// segment open would keep its blocks allocated, so they are given back here.
//
// Failure: busy: somebody has a lease on the file, or another file has taken its name.
class Guards {
  public:
    // Processes map the index and may still read it, so a deleted index keeps its blocks until they
    // have let go of it. Nobody maps a segment, so a deleted segment gives its blocks back.
    enum class Deleted { keep_blocks, free_blocks };

    // `lent` is open for reading. `own` is the same file opened for writing, or the reason why it
    // cannot be; where nobody may write, there is nothing to guard.
    Status add(const File &lent, Result<File> own, Deleted deleted);
    // Lets go of files that were deleted.
    void release_deleted();
    bool empty() const { return files_.empty(); }

  private:
    struct Guarded {
        File file;
        Deleted deleted;
    };
    std::map<std::uint64_t, Guarded> files_;  // by inode
};

class SharedCache {
  public:
    // The cairn_result; with CAIRN_OK there is a cache. The guards outlive it.
    static int open(const BrokerSettings &settings, const std::string &identifier,
                    std::uint64_t version, Guards &guards, std::unique_ptr<SharedCache> &cache);
    ~SharedCache() { cairn_close(handle_); }
    SharedCache(const SharedCache &) = delete;
    SharedCache &operator=(const SharedCache &) = delete;

    cairn_cache *handle() const { return handle_; }
    const std::string &identifier() const { return identifier_; }
    std::uint64_t version() const { return version_; }
    const std::string &path() const { return path_; }

    // The files in the directory, as of the latest refresh().
    const BrokerFiles &files() const { return files_; }
    void refresh();
    // A file to be lent: open for reading, and guarded from now on.
    Result<File> open_index();
    Result<File> open_segment(std::uint32_t segment);

    // Something in the directory may have changed.
    bool stale = true;

  private:
    SharedCache(std::string identifier, std::uint64_t version, std::string path, Guards &guards)
        : identifier_(std::move(identifier)),
          version_(version),
          path_(std::move(path)),
          guards_(guards) {}

    const std::string identifier_;
    const std::uint64_t version_;
    const std::string path_;
    Guards &guards_;
    cairn_cache *handle_ = nullptr;
    Directory directory_;
    Directory view_;  // the same, through which nobody can write
    BrokerFiles files_;
};

}  // namespace cairn::broker
