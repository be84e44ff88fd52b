// A cache that the broker has open for its clients, and its files as they are lent.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
#pragma once

#include <cairn/cairn.h>

#include <cstdint>
#include <memory>
#include <string>

#include "cache/broker_files.h"
#include "guards.h"
#include "journal.h"
#include "os/file.h"
#include "settings.h"

namespace cairn::broker {

class SharedCache {
  public:
    // The cairn_result; with CAIRN_OK there is a cache. The guards outlive it.
    static int open(const Settings &settings, const Journal &journal, const std::string &identifier,
                    std::uint64_t version, Guards &guards, std::unique_ptr<SharedCache> &cache);
    ~SharedCache() { cairn_close(handle_); }
    SharedCache(const SharedCache &) = delete;
    SharedCache &operator=(const SharedCache &) = delete;

    cairn_cache *handle() const { return handle_; }
    const std::string &identifier() const { return identifier_; }
    std::uint64_t version() const { return version_; }
    const std::string &path() const { return path_; }

    // What is in the directory, as of the latest refresh().
    const BrokerFiles &files() const { return files_; }
    void refresh();
    // To be lent: open for reading, and guarded from now on.
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
