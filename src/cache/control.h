// Switching kinds of caches off and on, emptying them, and telling the drivers that have their own.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread; asking takes no lock.
// Failure: as their Status. Operations on drivers' own caches are hints: what could not be done has
// a log line.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "cache/control_file.h"
#include "cache/driver_files.h"

namespace cairn {

class Control {
  public:
    // The values of D3D12_SHADER_CACHE_CONTROL_FLAGS.
    enum Flag : std::uint32_t { disable = 0x1, enable = 0x2, clear = 0x4 };
    // Asks a driver to do one thing. Empty: it has no cache. Returns why it does not, or null.
    using Tell = std::function<const char *(Flag flag)>;

    // An empty root: everything is enabled and cannot be changed.
    Control(const std::string &root, Access access, const Log &log);
    Control(const Control &) = delete;
    Control &operator=(const Control &) = delete;

    std::uint32_t disabled() const { return file_.disabled(); }
    std::uint64_t clears(Kind kind) const { return file_.clears(kind); }
    bool is_developer_mode() const { return is_developer_mode_; }

    // Does what `flags` say for `kinds`: disables, then clears, then enables. Returns the kinds
    // that were in the state asked for before. REQUIRES: not both disable and enable. denied: not
    // in developer mode.
    Result<std::uint32_t> apply(std::uint32_t kinds, std::uint32_t flags);

    // Tells the driver at once if its kind is disabled. Returns a number for taking it back. full:
    // there are `count_max`.
    Result<std::uint32_t> add_driver(Tell tell, std::size_t count_max);
    // Waits for a call in progress. False: there is no such one.
    bool remove_driver(std::uint32_t registration);
    bool has_driver_cache() const { return has_driver_cache_; }
    // Tells the drivers what other processes did since. Cheap where that is nothing.
    void tell_news();

  private:
    struct Driver {
        std::uint32_t registration;
        Tell tell;
        bool is_told_disabled;
        std::uint64_t clears_told;
    };

    Status clear_caches(std::uint32_t kinds);
    void tell(const Driver &driver, Flag flag) const;
    void tell_drivers(std::uint32_t flags);
    void update_presence() REQUIRES_LOCK(mutex_);

    const Log log_;
    const Access access_;
    const bool is_developer_mode_;
    const std::vector<DriverFolder> folders_;
    ControlFile file_;

    std::atomic<bool> has_driver_cache_ = false;
    // The last news that drivers were told: without the mutex it shows whether there are others.
    std::atomic<bool> told_disabled_ = false;
    std::atomic<std::uint64_t> told_clears_ = 0;
    Mutex mutex_;  // held while a driver is told
    std::vector<Driver> drivers_ GUARDED_BY(mutex_);
    std::uint32_t last_registration_ GUARDED_BY(mutex_) = 0;
};

}  // namespace cairn
