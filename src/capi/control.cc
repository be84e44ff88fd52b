// The calls of cairn_control.h: switching kinds of caches off and on, emptying them, and the
// drivers that are told.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_control.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "cache/control_file.h"
#include "cache/driver_files.h"
#include "cache/kinds.h"
#include "capi/cache_handle.h"
#include "os/configuration.h"
#include "os/environment.h"

using namespace cairn;

static_assert(CAIRN_KIND_CACHE_FOR_DRIVER == int{kind_cache_for_driver});
static_assert(CAIRN_KIND_CONVERSIONS == int{kind_conversions});
static_assert(CAIRN_KIND_DRIVER_MANAGED == int{kind_driver_managed});
static_assert(CAIRN_KIND_APPLICATION_MANAGED == int{kind_application_managed});
static_assert(CAIRN_KIND_ALL == kAllKinds);

namespace {

struct Driver {
    std::uint32_t registration;
    cairn_driver_cache cache;
    bool is_told_disabled;
    std::uint64_t clears_told;
};

constexpr unsigned kDriverManagedNumber = 2;
static_assert(1u << kDriverManagedNumber == kind_driver_managed);

constexpr std::uint32_t kFlags = CAIRN_CONTROL_DISABLE | CAIRN_CONTROL_ENABLE | CAIRN_CONTROL_CLEAR;
constexpr std::size_t kOptionsSizeMin = sizeof(cairn_control_options);
constexpr std::size_t kDriverSizeMin = sizeof(cairn_driver_cache);

std::string root_of(const cairn_control_options &options) {
    std::string root = options.root != nullptr ? options.root : default_root().value_or("");
    // With a slash at its end, a symbolic link would be followed.
    while (root.size() > 1 && root.back() == '/') root.pop_back();
    return root;
}

}  // namespace

struct cairn_control {
    explicit cairn_control(const cairn_control_options &options)
        : log(options.log, options.log_user),
          read_only((options.flags & CAIRN_CONTROL_OPEN_READ_ONLY) != 0),
          developer_mode(is_developer_mode(log)),
          folders(driver_folders()),
          file(root_of(options), read_only ? Create::no : Create::yes, log) {}

    // Constant after construction.
    const Log log;
    const bool read_only;
    const bool developer_mode;
    const std::vector<DriverFolder> folders;
    ControlFile file;

    std::atomic<bool> has_driver_cache = false;
    // What drivers were told last, to find out without the mutex that there is nothing to tell.
    std::atomic<bool> told_disabled = false;
    std::atomic<std::uint64_t> told_clears = 0;
    Mutex drivers_mutex;
    std::vector<Driver> drivers GUARDED_BY(drivers_mutex);
    std::uint32_t last_registration GUARDED_BY(drivers_mutex) = 0;
};

namespace {

// A hint: what a driver answers is for the log.
void tell(const cairn_control &control, const Driver &driver, std::uint32_t flag) {
    const int result = driver.cache.implicit_shader_cache_control(driver.cache.driver, flag);
    if (result == CAIRN_OK) return;
    control.log.write(Severity::warning, "a driver does not %s its cache: %s",
                      flag == CAIRN_CONTROL_CLEAR    ? "clear"
                      : flag == CAIRN_CONTROL_ENABLE ? "enable"
                                                     : "disable",
                      cairn_result_string(result));
}

// Makes each driver follow what the file says, in the order that apply() has. What was asked for
// with `flags` is told also where it changes nothing.
void tell_drivers(cairn_control &control, std::uint32_t flags) {
    const MutexLock lock(control.drivers_mutex);
    const std::uint64_t clears = control.file.clears(kDriverManagedNumber);
    const bool is_disabled = (control.file.disabled() & kind_driver_managed) != 0;
    const bool disables = (flags & CAIRN_CONTROL_DISABLE) != 0;
    const bool enables = (flags & CAIRN_CONTROL_ENABLE) != 0;
    for (Driver &driver : control.drivers) {
        if (driver.cache.driver_managed_shader_cache_present == 0) continue;
        const bool was_disabled = driver.is_told_disabled;
        if (is_disabled && (disables || !was_disabled)) {
            tell(control, driver, CAIRN_CONTROL_DISABLE);
        }
        if (clears != driver.clears_told) tell(control, driver, CAIRN_CONTROL_CLEAR);
        if (!is_disabled && (enables || was_disabled)) tell(control, driver, CAIRN_CONTROL_ENABLE);
        driver.is_told_disabled = is_disabled;
        driver.clears_told = clears;
    }
    control.told_clears = clears;
    control.told_disabled = is_disabled;
}

int clear(cairn_control &control, std::uint32_t kinds) {
    const Status cleared = clear_kinds(control.file.root(), kinds, control.log);
    if ((kinds & kind_driver_managed) != 0) {
        // Hints: what could not be deleted has a log line.
        for (const DriverFolder &folder : control.folders) {
            (void)clear_driver_folder(folder, control.log);
        }
    }
    // Last: who sees it finds nothing any more of what was there before.
    const Status counted = control.file.count_clears(kinds);
    return result_code(cleared.ok() ? counted : cleared);
}

int set(cairn_control &control, std::uint32_t kinds, std::uint32_t flags,
        std::uint32_t &unchanged) {
    const bool disables = (flags & CAIRN_CONTROL_DISABLE) != 0;
    auto done = control.file.set(disables ? kinds : 0, disables ? 0 : kinds);
    if (!done.ok()) return result_code(done.error());
    unchanged = done.value();
    return CAIRN_OK;
}

int apply(cairn_control &control, std::uint32_t kinds, std::uint32_t flags,
          std::uint32_t &unchanged) {
    int result = CAIRN_OK;
    if ((flags & CAIRN_CONTROL_DISABLE) != 0) result = set(control, kinds, flags, unchanged);
    if ((flags & CAIRN_CONTROL_CLEAR) != 0) {
        const int cleared = clear(control, kinds);
        if (result == CAIRN_OK) result = cleared;
    }
    if ((flags & CAIRN_CONTROL_ENABLE) != 0) {
        const int enabled = set(control, kinds, flags, unchanged);
        if (result == CAIRN_OK) result = enabled;
    }
    if ((kinds & kind_driver_managed) != 0) tell_drivers(control, flags);
    return result;
}

bool is_valid(std::uint32_t kinds, std::uint32_t flags) {
    constexpr std::uint32_t kBoth = CAIRN_CONTROL_DISABLE | CAIRN_CONTROL_ENABLE;
    return kinds != 0 && (kinds & ~kAllKinds) == 0 && flags != 0 && (flags & ~kFlags) == 0 &&
           (flags & kBoth) != kBoth;
}

// REQUIRES: the mutex is held.
void update_presence(cairn_control &control) REQUIRES_LOCK(control.drivers_mutex) {
    control.has_driver_cache = std::any_of(
        control.drivers.begin(), control.drivers.end(),
        [](const Driver &driver) { return driver.cache.driver_managed_shader_cache_present != 0; });
}

}  // namespace

uint32_t cairn_kind_of_identifier(const char *identifier) {
    if (identifier == nullptr) return 0;
    return guarded([&] { return std::uint32_t{kind_of_identifier(identifier)}; }, 0u);
}

int cairn_control_open(const cairn_control_options *options, cairn_control **control) {
    return result_of([&]() -> int {
        if (control == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        *control = nullptr;
        if (options == nullptr || options->size < kOptionsSizeMin)
            return CAIRN_ERROR_INVALID_ARGUMENT;
        if ((options->flags & ~std::uint32_t{CAIRN_CONTROL_OPEN_READ_ONLY}) != 0) {
            return CAIRN_ERROR_INVALID_ARGUMENT;
        }
        if (options->root != nullptr && options->root[0] != '/')
            return CAIRN_ERROR_INVALID_ARGUMENT;
        *control = new (std::nothrow) cairn_control(*options);
        return *control != nullptr ? CAIRN_OK : CAIRN_ERROR_NO_MEMORY;
    });
}

void cairn_control_close(cairn_control *control) {
    delete control;
}

uint32_t cairn_control_disabled(const cairn_control *control) {
    if (control == nullptr) return 0;
    return guarded([&] { return control->file.disabled(); }, 0u);
}

uint64_t cairn_control_clears(const cairn_control *control, uint32_t kind) {
    if (control == nullptr) return 0;
    for (unsigned number = 0; number < kKindCount; ++number) {
        const auto clears = [&] { return control->file.clears(number); };
        if (kind == 1u << number) return guarded(clears, std::uint64_t{0});
    }
    return 0;
}

int cairn_control_developer_mode(const cairn_control *control) {
    return control != nullptr && control->developer_mode ? 1 : 0;
}

int cairn_control_apply(cairn_control *control, uint32_t kinds, uint32_t flags,
                        uint32_t *unchanged_kinds) {
    return result_of([&]() -> int {
        if (control == nullptr || !is_valid(kinds, flags)) return CAIRN_ERROR_INVALID_ARGUMENT;
        if (!control->developer_mode) {
            control->log.write(Severity::error,
                               "caches are controlled in developer mode only: set "
                               "CAIRN_DEVELOPER_MODE=1, or write `developer_mode = 1` to %s",
                               configuration_path().value_or("~/.config/cairn/config").c_str());
            return CAIRN_ERROR_DENIED;
        }
        if (control->read_only) return CAIRN_ERROR_READ_ONLY;
        if (control->file.root().empty()) return CAIRN_ERROR_NOT_FOUND;
        std::uint32_t unchanged = 0;
        const int result = apply(*control, kinds, flags, unchanged);
        if (result == CAIRN_OK && unchanged_kinds != nullptr) *unchanged_kinds = unchanged;
        return result;
    });
}

int cairn_control_register_driver(cairn_control *control, const cairn_driver_cache *driver,
                                  uint32_t *registration) {
    return result_of([&]() -> int {
        if (control == nullptr || driver == nullptr || registration == nullptr ||
            driver->size < kDriverSizeMin) {
            return CAIRN_ERROR_INVALID_ARGUMENT;
        }
        const bool has_cache = driver->driver_managed_shader_cache_present != 0;
        if (has_cache && driver->implicit_shader_cache_control == nullptr) {
            return CAIRN_ERROR_INVALID_ARGUMENT;
        }
        // What was cleared before is no news for it.
        const std::uint64_t clears = control->file.clears(kDriverManagedNumber);
        {
            const MutexLock lock(control->drivers_mutex);
            if (control->drivers.size() >= CAIRN_CONTROL_DRIVERS_MAX) return CAIRN_ERROR_FULL;
            *registration = ++control->last_registration;
            control->drivers.push_back({*registration, *driver, false, clears});
            update_presence(*control);
        }
        tell_drivers(*control, 0);
        return CAIRN_OK;
    });
}

int cairn_control_unregister_driver(cairn_control *control, uint32_t registration) {
    return result_of([&]() -> int {
        if (control == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        const MutexLock lock(control->drivers_mutex);
        const auto is_it = [&](const Driver &driver) {
            return driver.registration == registration;
        };
        const bool found = std::erase_if(control->drivers, is_it) != 0;
        update_presence(*control);
        return found ? CAIRN_OK : CAIRN_MISS;
    });
}

int cairn_control_driver_cache_present(const cairn_control *control) {
    return control != nullptr && control->has_driver_cache ? 1 : 0;
}

void cairn_control_tell_drivers(cairn_control *control) {
    if (control == nullptr || !control->has_driver_cache) return;
    (void)guarded([&]() -> Status {
        const bool is_disabled = (control->file.disabled() & kind_driver_managed) != 0;
        const bool is_news = is_disabled != control->told_disabled ||
                             control->file.clears(kDriverManagedNumber) != control->told_clears;
        if (is_news) tell_drivers(*control, 0);
        return {};
    });
}
