// A cache of the broker's clients, and its files as they are lent.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
#pragma once

#include <cairn/cairn.h>

#include <cstdint>
#include <map>
#include <string>

#include "cache/broker_files.h"
#include "os/file.h"
#include "settings.h"

namespace cairn::broker {

class SharedCache {
  public:
    SharedCache(const BrokerSettings &settings, const std::string &identifier)
        : settings_(settings), identifier_(identifier) {}
    ~SharedCache() { close(); }
    SharedCache(const SharedCache &) = delete;
    SharedCache &operator=(const SharedCache &) = delete;

    // For its first client. The cairn_result.
    int open(std::uint64_t version);
    // No client uses it any more. Files that were lent stay guarded.
    void close();
    bool is_open() const { return handle_ != nullptr; }

    cairn_cache *handle() const { return handle_; }
    const std::string &identifier() const { return identifier_; }
    std::uint64_t version() const { return version_; }
    const std::string &path() const { return path_; }

    // The files in the directory, as of the latest refresh().
    const BrokerFiles &files() const { return files_; }
    // Also lets go of guarded files that were deleted.
    void refresh();
    // A file to be lent: open for reading, and guarded from now on. busy: somebody has a lease on
    // it, or another file has taken its name.
    Result<File> open_index();
    Result<File> open_segment(std::uint32_t segment);
    bool has_guarded() const { return !guarded_.empty(); }

    // Something in the directory may have changed.
    bool stale = true;
    bool is_watched = false;  // the directory, if there is a watch
    int watch = -1;  // of inotify; -1: none, changes of others are seen with the next store

  private:
    // Processes map the index and may still read it, so a deleted index keeps its blocks until they
    // have let go of it. Nobody maps a segment, so a deleted segment gives its blocks back.
    enum class Deleted { keep_blocks, free_blocks };
    struct Guarded {
        File file;
        Deleted deleted;
    };

    // Opens the directory of the files that are there now.
    Status open_files();
    // `lent` is open for reading. `own` is the same file opened for writing, or the reason why it
    // cannot be; where nobody may write, there is nothing to guard.
    Status guard(const File &lent, Result<File> own, Deleted deleted);

    // Constant after construction.
    const BrokerSettings &settings_;
    const std::string identifier_;
    std::string path_;  // of the directory of its files, once it is open

    cairn_cache *handle_ = nullptr;
    std::uint64_t version_ = 0;
    Directory directory_;
    Directory view_;  // the same, through which nobody can write
    BrokerFiles files_;
    // Files that were lent, open for writing for as long as they exist; by inode.
    //
    // A client could take a lease on a descriptor that it was lent. Nobody could open the file for
    // writing then, as removing, clearing and evicting do. The kernel grants no lease on a file
    // that is open for writing. These stay open even when no client is connected, since a client
    // may have handed its descriptor on. A client that has a deleted segment open would keep its
    // blocks allocated, so they are given back here.
    std::map<std::uint64_t, Guarded> guarded_;
};

}  // namespace cairn::broker
