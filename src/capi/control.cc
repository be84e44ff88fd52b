// The calls of cairn_control.h.
// SPDX-License-Identifier: MIT
#include "cache/control.h"

#include <cairn/cairn_control.h>

#include <bit>

#include "capi/cache_handle.h"

using namespace cairn;

static_assert(CAIRN_KIND_CACHE_FOR_DRIVER == int{kind_cache_for_driver});
static_assert(CAIRN_KIND_CONVERSIONS == int{kind_conversions});
static_assert(CAIRN_KIND_DRIVER_MANAGED == int{kind_driver_managed});
static_assert(CAIRN_KIND_APPLICATION_MANAGED == int{kind_application_managed});
static_assert(CAIRN_KIND_ALL == kAllKinds);
static_assert(CAIRN_CONTROL_DISABLE == int{Control::disable});
static_assert(CAIRN_CONTROL_ENABLE == int{Control::enable});
static_assert(CAIRN_CONTROL_CLEAR == int{Control::clear});

struct cairn_control {
    Control control;
};

namespace {

constexpr std::uint32_t kFlags = CAIRN_CONTROL_DISABLE | CAIRN_CONTROL_ENABLE | CAIRN_CONTROL_CLEAR;
constexpr std::size_t kOptionsSizeMin = sizeof(cairn_control_options);
constexpr std::size_t kDriverSizeMin = sizeof(cairn_driver_cache);

bool is_valid(std::uint32_t kinds, std::uint32_t flags) {
    constexpr std::uint32_t kBoth = CAIRN_CONTROL_DISABLE | CAIRN_CONTROL_ENABLE;
    return kinds != 0 && (kinds & ~kAllKinds) == 0 && flags != 0 && (flags & ~kFlags) == 0 &&
           (flags & kBoth) != kBoth;
}

bool is_valid(const cairn_control_options *options) {
    return options != nullptr && options->size >= kOptionsSizeMin &&
           (options->flags & ~std::uint32_t{CAIRN_CONTROL_OPEN_READ_ONLY}) == 0 &&
           (options->root == nullptr || options->root[0] == '/');
}

Control::Tell to_tell(const cairn_driver_cache &driver) {
    if (driver.driver_managed_shader_cache_present == 0) return {};
    return [tell = driver.implicit_shader_cache_control,
            user = driver.driver](Control::Flag flag) -> const char * {
        const int result = tell(user, flag);
        return result == CAIRN_OK ? nullptr : cairn_result_string(result);
    };
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
        if (!is_valid(options)) return CAIRN_ERROR_INVALID_ARGUMENT;
        const bool is_read_only = (options->flags & CAIRN_CONTROL_OPEN_READ_ONLY) != 0;
        std::string root;
        if (find_root(options->root, root) != CAIRN_OK) root.clear();
        *control =
            new cairn_control{Control(root, is_read_only ? Access::read_only : Access::read_write,
                                      Log(options->log, options->log_user))};
        return CAIRN_OK;
    });
}

void cairn_control_close(cairn_control *control) {
    delete control;
}

uint32_t cairn_control_disabled(const cairn_control *control) {
    if (control == nullptr) return 0;
    return guarded([&] { return control->control.disabled(); }, 0u);
}

uint64_t cairn_control_clears(const cairn_control *control, uint32_t kind) {
    if (control == nullptr || !std::has_single_bit(kind & kAllKinds) || kind > kAllKinds) return 0;
    return guarded([&] { return control->control.clears(Kind{kind}); }, std::uint64_t{0});
}

int cairn_control_developer_mode(const cairn_control *control) {
    return control != nullptr && control->control.is_developer_mode() ? 1 : 0;
}

int cairn_control_apply(cairn_control *control, uint32_t kinds, uint32_t flags,
                        uint32_t *unchanged_kinds) {
    return result_of([&]() -> int {
        if (control == nullptr || !is_valid(kinds, flags)) return CAIRN_ERROR_INVALID_ARGUMENT;
        const auto unchanged = control->control.apply(kinds, flags);
        if (!unchanged.ok()) return result_code(unchanged.error());
        if (unchanged_kinds != nullptr) *unchanged_kinds = unchanged.value();
        return CAIRN_OK;
    });
}

int cairn_control_register_driver(cairn_control *control, const cairn_driver_cache *driver,
                                  uint32_t *registration) {
    return result_of([&]() -> int {
        if (control == nullptr || driver == nullptr || registration == nullptr ||
            driver->size < kDriverSizeMin ||
            (driver->driver_managed_shader_cache_present != 0 &&
             driver->implicit_shader_cache_control == nullptr)) {
            return CAIRN_ERROR_INVALID_ARGUMENT;
        }
        const auto added = control->control.add_driver(to_tell(*driver), CAIRN_CONTROL_DRIVERS_MAX);
        if (!added.ok()) return result_code(added.error());
        *registration = added.value();
        return CAIRN_OK;
    });
}

int cairn_control_unregister_driver(cairn_control *control, uint32_t registration) {
    return result_of([&]() -> int {
        if (control == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        return control->control.remove_driver(registration) ? CAIRN_OK : CAIRN_MISS;
    });
}

int cairn_control_driver_cache_present(const cairn_control *control) {
    return control != nullptr && control->control.has_driver_cache() ? 1 : 0;
}

void cairn_control_tell_drivers(cairn_control *control) {
    if (control == nullptr) return;
    (void)guarded([&]() -> Status {
        control->control.tell_news();
        return {};
    });
}
