// A tier behind the disk, for tests: entries of somebody else, which can be away or slow.
// SPDX-License-Identifier: MIT
//
// Thread safety: internally synchronised.
#pragma once

#include <atomic>
#include <map>
#include <string>

#include "base/mutex.h"
#include "cache/cache.h"
#include "os/environment.h"

namespace cairn::testing {

class RemoteCache final : public Cache {
  public:
    Result<BlobRef> get(Bytes key) override {
        ++asked;
        while (is_slow) sleep_us(100);
        if (is_away) return Error::io;
        const MutexLock lock(mutex_);
        const auto found = entries_.find(std::string(as_text(key)));
        if (found == entries_.end()) return BlobRef();
        return Blob::copy(key, as_bytes(found->second), 7);
    }
    void offer(const std::string &key, const std::string &value) {
        const MutexLock lock(mutex_);
        entries_[key] = value;
    }

    std::atomic<int> asked = 0;
    std::atomic<bool> is_away = false, is_slow = false;

  private:
    Mutex mutex_;
    std::map<std::string, std::string> entries_ GUARDED_BY(mutex_);
};

}  // namespace cairn::testing
