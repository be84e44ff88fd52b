// Whether the front ends serve this process, or pass everything through, and why.
// SPDX-License-Identifier: MIT
//
// Use, where a front end is loaded:
//     settings.disabled = !own_permission().is_served;
//     if (own_permission().logs) settings.log = Log(write_line, nullptr);
//
// Thread safety: any thread.
// Failure: a configuration that cannot be read says nothing.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "os/configuration.h"

namespace cairn {

struct Circumstances {
    std::string_view application;       // as application_name() calls it
    bool has_other_rights = false;      // it runs set-user-id, or the like
    bool is_disabled = false;           // CAIRN_DISABLE=1
    bool is_cairn_run = false;          // `cairn run` started it
    bool is_off_after_crashes = false;  // crash_guard.h
    bool is_recording = false;          // CAIRN_RECORD is set
};

struct Permission {
    bool is_served = true;
    bool logs = false;  // on standard error: by CAIRN_LOG, else by the configuration
    bool has_own_driver_cache = false;  // the user wants the driver's code by application
    bool records_recipes = false;       // how programs are made, and where they draw
    std::string reason;                 // why it is not served
    // The root below which it is remembered what becomes of look-ups; empty: it is not to be.
    std::string history_root;
};

// The decision itself. `logs` is that of the configuration.
Permission permission_for(const Circumstances &own, const Configuration &configuration);

// The same for this process. The first call reads the environment and the configuration, and joins
// the crash guard; it comes before the process goes into a sandbox.
const Permission &own_permission();

// Whether it may be remembered what becomes of this process's look-ups, where it uses a library of
// ours by itself: not where `cairn` would not serve it, or its record is not wanted, by its own name or by
// that which it gives the library. Reads the configuration and the environment.
bool own_lookups_are_remembered(const std::string &application);

// An application that is not served unless the configuration has `enabled = 1` in its section, or
// `cairn run` starts it.
struct DeniedByDefault {
    const char *application;
    const char *reason;
};
std::span<const DeniedByDefault> denied_by_default();

}  // namespace cairn
