// SPDX-License-Identifier: MIT
#include "switch.h"

#include <cairn/cairn_control.h>

#include <atomic>

#include "display_cache.h"
#include "log.h"
#include "settings.h"

namespace cairn::egl {
namespace {

constexpr uint32_t kKind = CAIRN_KIND_CACHE_FOR_DRIVER;

struct Switch {
    Switch() {
        cairn_control_options options = {};
        options.size = sizeof options;
        options.flags = settings().persists ? 0u : uint32_t{CAIRN_CONTROL_OPEN_READ_ONLY};
        options.log = log_from_cache;
        if (cairn_control_open(&options, &control) != CAIRN_OK) {
            control = nullptr;
        }
        clears_seen = cairn_control_clears(control, kKind);
        was_on = (cairn_control_disabled(control) & kKind) == 0;
        if (!was_on) {
            log_line("caching is switched off (cairn control --kind cache-for-driver)");
        }
    }

    cairn_control *control = nullptr;  // constant after construction; null: none could be opened
    std::atomic<uint64_t> clears_seen;
    std::atomic<bool> was_on;  // for the log only
};

// Lives for ever, see main.cc. Null until a display is initialised.
std::atomic<Switch *> g_switch = nullptr;

}  // namespace

void open_switch() {
    // A process with a broker may go into a sandbox, where the control file could not be looked at.
    if (settings().has_broker()) return;
    static auto *the_one = new Switch;
    g_switch.store(the_one, std::memory_order_release);
}

bool is_caching_on() {
    Switch *const opened = g_switch.load(std::memory_order_acquire);
    if (opened == nullptr) {
        return true;
    }
    Switch &own = *opened;
    // Noted as seen when it is done: another thread that comes meanwhile does it as well.
    const uint64_t clears = cairn_control_clears(own.control, kKind);
    if (clears != own.clears_seen.load(std::memory_order_acquire)) {
        clear_display_caches();
        own.clears_seen.store(clears, std::memory_order_release);
    }
    const bool is_on = (cairn_control_disabled(own.control) & kKind) == 0;
    if (is_on != own.was_on.load(std::memory_order_relaxed) &&
        own.was_on.exchange(is_on) != is_on) {
        log_line("caching is switched %s", is_on ? "on" : "off");
    }
    return is_on;
}

}  // namespace cairn::egl
