// SPDX-License-Identifier: MIT
#include "cache/control.h"

#include <algorithm>

#include "cache/disk_cache.h"
#include "cache/driver_cache.h"
#include "os/configuration.h"
#include "store/formats.h"
#include "store/store.h"

namespace cairn {
namespace {

void log_failure(const Log &log, const std::string &identifier, Error error) {
    log.write(Severity::error, "cannot clear the cache %s: %s", identifier.c_str(),
              error_name(error));
}

// Opening a cache for writing sets its limit, so the present limit must be given.
std::uint64_t limit_of(StoreOptions options, std::uint64_t otherwise) {
    options.access = Access::read_only;
    options.create = Create::no;
    options.log = Log();
    auto store = Store::open(options);
    return store.ok() ? store.value()->limit_bytes() : otherwise;
}

Status clear_cache(const std::string &root, const std::string &identifier, const Log &log) {
    constexpr std::uint64_t kLimitDefault = 1u << 30;
    StoreOptions options;
    options.root = root;
    options.identifier = identifier;
    options.any_version = true;
    options.log = log;
    options.limit_bytes = limit_of(options, kLimitDefault);
    auto cache = DiskCache::open(options);
    const Status status = cache.ok() ? cache.value()->clear() : Status(cache.error());
    if (!status.ok()) log_failure(log, identifier, status.error());
    return status;
}

// A directory with a cache's files in it; files and links are none.
Result<bool> is_cache(const Directory &root, const std::string &name) {
    const auto directory = root.open_directory(name);
    if (directory.error() == Error::not_found || directory.error() == Error::denied) return false;
    if (!directory.ok()) return directory.error();
    TRY_ASSIGN(const auto formats, list_formats(directory.value()));
    return !formats.empty();
}

// Empties the caches directly below the root that are of one of these kinds, as far as it can.
// Returns the first error. A root that is not there holds no caches.
Status clear_kinds(const std::string &path, std::uint32_t kinds, const Log &log) {
    const auto root = open_root(path, Create::no, log);
    if (!root.ok()) return root.error() == Error::not_found ? Status() : Status(root.error());
    std::vector<std::string> identifiers;
    TRY(root.value().list([&](const char *name) {
        const bool is_meant = (kind_of_identifier(name) & kinds) != 0 && valid_identifier(name);
        if (is_meant) identifiers.emplace_back(name);
    }));
    Status first;
    for (const std::string &identifier : identifiers) {
        const auto known = is_cache(root.value(), identifier);
        if (known.ok() && !known.value()) continue;
        if (!known.ok()) log_failure(log, identifier, known.error());
        const Status status =
            known.ok() ? clear_cache(path, identifier, log) : Status(known.error());
        if (first.ok()) first = status;
    }
    return first;
}

}  // namespace

Control::Control(const std::string &root, Access access, const Log &log)
    : log_(log),
      access_(access),
      is_developer_mode_(cairn::is_developer_mode(log)),
      folders_(driver_folders()),
      file_(root, access == Access::read_only ? Create::no : Create::yes, log) {}

// A hint: what a driver answers is for the log.
void Control::tell(const Driver &driver, Flag flag) const {
    const char *const problem = driver.tell(flag);
    if (problem == nullptr) return;
    log_.write(Severity::warning, "a driver does not %s its cache: %s",
               flag == clear    ? "clear"
               : flag == enable ? "enable"
                                : "disable",
               problem);
}

// Makes each driver follow the file, in the order that apply() has. Requests in `flags` are told
// also where they change nothing.
void Control::tell_drivers(std::uint32_t flags) {
    const MutexLock lock(mutex_);
    const std::uint64_t clears = file_.clears(kind_driver_managed);
    const bool is_disabled = (file_.disabled() & kind_driver_managed) != 0;
    for (Driver &driver : drivers_) {
        if (!driver.tell) continue;
        const bool was_disabled = driver.is_told_disabled;
        if (is_disabled && ((flags & disable) != 0 || !was_disabled)) tell(driver, disable);
        if (clears != driver.clears_told) tell(driver, clear);
        if (!is_disabled && ((flags & enable) != 0 || was_disabled)) tell(driver, enable);
        driver.is_told_disabled = is_disabled;
        driver.clears_told = clears;
    }
    told_clears_ = clears;
    told_disabled_ = is_disabled;
}

Status Control::clear_caches(std::uint32_t kinds) {
    const Status cleared = clear_kinds(file_.root(), kinds, log_);
    if ((kinds & kind_driver_managed) != 0) {
        // Hints: what could not be deleted has a log line.
        for (const DriverFolder &folder : folders_) (void)clear_driver_folder(folder, log_);
        (void)clear_driver_caches(file_.root(), "", log_);
    }
    // Last: those who see it find nothing any more of what was there before.
    const Status counted = file_.count_clears(kinds);
    return cleared.ok() ? counted : cleared;
}

Result<std::uint32_t> Control::apply(std::uint32_t kinds, std::uint32_t flags) {
    if (!is_developer_mode_) {
        log_.write(Severity::error,
                   "caches are controlled in developer mode only: set CAIRN_DEVELOPER_MODE=1, or "
                   "write `developer_mode = 1` to %s",
                   configuration_path().value_or("~/.config/cairn/config").c_str());
        return Error::denied;
    }
    if (access_ == Access::read_only) return Error::read_only;
    if (file_.root().empty()) return Error::not_found;
    std::uint32_t unchanged = 0;
    Status first;
    const auto set = [&](std::uint32_t disabled, std::uint32_t enabled) {
        auto done = file_.set(disabled, enabled);
        if (done.ok()) unchanged = done.value();
        if (first.ok()) first = done.error();
    };
    if ((flags & disable) != 0) set(kinds, 0);
    if ((flags & clear) != 0) {
        const Status cleared = clear_caches(kinds);
        if (first.ok()) first = cleared;
    }
    if ((flags & enable) != 0) set(0, kinds);
    if ((kinds & kind_driver_managed) != 0) tell_drivers(flags);
    if (!first.ok()) return first.error();
    return unchanged;
}

void Control::update_presence() {
    has_driver_cache_ = std::any_of(drivers_.begin(), drivers_.end(), [](const Driver &driver) {
        return static_cast<bool>(driver.tell);
    });
}

Result<std::uint32_t> Control::add_driver(Tell tell, std::size_t count_max) {
    // Earlier clears are no news for it.
    const std::uint64_t clears = file_.clears(kind_driver_managed);
    std::uint32_t registration = 0;
    {
        const MutexLock lock(mutex_);
        if (drivers_.size() >= count_max) return Error::full;
        registration = ++last_registration_;
        drivers_.push_back({registration, std::move(tell), false, clears});
        update_presence();
    }
    tell_drivers(0);
    return registration;
}

bool Control::remove_driver(std::uint32_t registration) {
    const MutexLock lock(mutex_);
    const bool found = std::erase_if(drivers_, [&](const Driver &driver) {
                           return driver.registration == registration;
                       }) != 0;
    update_presence();
    return found;
}

void Control::tell_news() {
    if (!has_driver_cache_) return;
    const bool is_disabled = (file_.disabled() & kind_driver_managed) != 0;
    const bool is_news =
        is_disabled != told_disabled_ || file_.clears(kind_driver_managed) != told_clears_;
    if (is_news) tell_drivers(0);
}

}  // namespace cairn
