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
#include "journal.h"
#include "os/file.h"
#include "settings.h"

namespace cairn::broker {

class SharedCache {
  public:
    // The cairn_result; with CAIRN_OK there is a cache.
    static int open(const Settings &settings, const Journal &journal, const std::string &identifier,
                    std::uint64_t version, std::unique_ptr<SharedCache> &cache);
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
    Result<File> open_index() const { return open_index_to_lend(view_); }
    Result<File> open_segment(std::uint32_t segment) const {
        return open_segment_to_lend(view_, segment);
    }

    // Something in the directory may have changed.
    bool stale = true;

  private:
    SharedCache(std::string identifier, std::uint64_t version, std::string path)
        : identifier_(std::move(identifier)), version_(version), path_(std::move(path)) {}

    const std::string identifier_;
    const std::uint64_t version_;
    const std::string path_;
    cairn_cache *handle_ = nullptr;
    Directory view_;
    BrokerFiles files_;
};

}  // namespace cairn::broker
