// SPDX-License-Identifier: MIT
// Asks drivers, in processes of their own: what they offer, and whether a program is kept.
// Thread safety: used by main only.
// Failure: an answer says how far it came.
#pragma once

#include <map>
#include <string>

#include "doctor/checks.h"

namespace cairn::cli::doctor {

struct DriverAnswer {
    Ended ended;
    std::map<std::string, std::string> said;  // see driver_client.h

    bool is_done() const { return said.contains("done"); }
    bool has_context() const { return said.contains("renderer"); }
    std::string word(const std::string &name) const {
        const auto found = said.find(name);
        return found == said.end() ? "" : found->second;
    }
};
DriverAnswer answer_of(Ended ended);

// Of "egl" or "glx": the driver alone; and the front end before it, twice, in an empty folder of caches.
struct DriverTrial {
    bool was_asked = false;  // there is a folder for that
    bool was_tried = false;  // with the front end
    std::string problem;     // why not
    DriverAnswer alone, first, second;
    uint64_t hits = 0;  // of both runs with the front end
};
DriverTrial try_driver(const Examined &examined, const std::string &api);

// What follows from it. check_driver() passes on what it has asked.
void judge_egl(const DriverTrial &trial, Findings &findings);
void judge_glx(const DriverTrial &trial, Findings &findings);
// What the environment says of drivers' own caches.
void check_own_caches(Findings &findings);

}  // namespace cairn::cli::doctor
