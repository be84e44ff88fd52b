// The settings of the environment, read once when a front end is loaded; docs/egl.md lists the
// variables.
// SPDX-License-Identifier: MIT
//
// Thread safety: written by load_settings() before anything else of the library runs, constant
// after that.
// Failure: a variable that is not set, or empty, has its default.
#pragma once

#include <string>
#include <string_view>

#include "base/log.h"

namespace cairn::gl {

struct Settings {
    bool disabled = false;  // see permission.h: the real drivers are passed through untouched
    bool persists = true;   // CAIRN_EGL_PERSIST=0: programs are kept in memory only
    int lease_ms = 0;       // CAIRN_EGL_LEASE: how long a link waits for another process that makes
                            // the same program; 0: not at all
    int broker_fd = -1;     // CAIRN_BROKER_FD: an inherited connection to a broker; -1: none
    bool connects = false;  // CAIRN_EGL_BROKER=1: the process connects to a broker by itself
    Log log = {};      // to standard error where the user wants it, each line behind "cairn-NAME: "
    std::string home;  // HOME and
    std::string drirc_folder;  // DRIRC_CONFIGDIR: where Mesa looks for its configuration
    std::string report;        // CAIRN_REPORT: where the launcher wants the counters
    std::string trace;         // CAIRN_TRACE: an existing file that look-ups are noted in
    // Where the caches are that remember what became of look-ups; empty: none does.
    std::string history_root;
    bool keeps_sources = false;     // CAIRN_KEEP_SOURCES: the first lines of those that missed
    bool records_recipes = false;   // of programs and draws: docs/recipes.md
    bool replaces_sources = false;  // MESA_SHADER_READ_PATH: what Mesa compiles is in files
    std::string driver_options;     // variables that change what drivers compile, as "NAME=value"
                                    // lines in order of name

    // Programs are kept behind a broker, and no file is opened for them.
    bool has_broker() const { return broker_fd >= 0 || connects; }
};

// Whether a variable of this name can change compiled programs, and so belongs to the driver's
// identity.
bool changes_compiling(std::string_view variable);

// `name` is that of the front end, a literal, for the log.
void load_settings(const char *name);
const Settings &settings();
inline const Log &log() {
    return settings().log;
}

}  // namespace cairn::gl
