// SPDX-License-Identifier: MIT
// The checks of `cairn doctor`, a function for each group of findings. None of them changes anything.
// Thread safety: used by main only.
// Failure: what cannot be found out is a finding, or none.
#pragma once

#include <span>
#include <string>

#include "doctor/elf.h"
#include "doctor/findings.h"
#include "doctor/machine.h"
#include "manifest.h"
#include "os/configuration.h"
#include "session_state.h"

namespace cairn::cli::doctor {

// What several groups go by.
struct Examined {
    // Looks. `application` may be empty.
    Examined(Machine machine, std::string application, bool asks_driver);

    Machine machine;
    std::string application;
    std::string
        name;  // by which caches and the configuration know it; empty: no application is asked for
    bool asks_driver;
    Manifest manifest;          // of the EGL front end that `cairn run` would use
    std::string glx_library;    // beside it
    std::string root;           // empty: there is none
    std::string root_problem;   // why
    Words configuration_lines;  // what the configuration says of itself
    Configuration configuration;
    std::vector<Source> sources;
    Interface egl, glx;
    Elf own;  // of the command: what the machine's usual programs are
    LibrarySearch libraries;

    bool is_enabled() const;  // at the next log-in
};

using Check = void (*)(const Examined &examined, Findings &findings);

void check_installation(const Examined &examined, Findings &findings);
void check_glvnd(const Examined &examined, Findings &findings);
void check_session(const Examined &examined, Findings &findings);
void check_environment(const Examined &examined, Findings &findings);
void check_configuration(const Examined &examined, Findings &findings);
void check_directories(const Examined &examined, Findings &findings);
void check_caches(const Examined &examined, Findings &findings);
void check_limits(const Examined &examined, Findings &findings);
void check_sandbox(const Examined &examined, Findings &findings);
void check_driver(const Examined &examined, Findings &findings);
void check_application(const Examined &examined, Findings &findings);

struct Group {
    const char *name;   // as findings' names begin
    const char *title;  // for people
    Check check;
};
std::span<const Group> groups();

// The name by which caches and the configuration know what a person has named; empty for nothing.
std::string known_name(const std::string &application);

// All of them, in the order of groups().
Findings examine(const Examined &examined);

}  // namespace cairn::cli::doctor
