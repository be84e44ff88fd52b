// SPDX-License-Identifier: MIT
// Applications that the user switches on and off, or limits, by name in the configuration file.
// Thread safety: used by main only.
// Failure: a Failure that says what to do; the file is as it was.
#pragma once

#include <cstdint>
#include <string>

#include "text.h"

namespace cairn::cli {

enum class Switch { off, on };

// The configuration's text with `enabled = 1` or `0` in the application's section: in the line that
// counts, else below the section's header, else in a new section. All else stays byte for byte.
std::string with_switch(const std::string &text, const std::string &application, Switch to);

// Says so in the file for each of these, where it is not so already. Those that are switched on are
// forgiven their crashes. The name of one of its caches stands for an application, too.
void switch_applications(const Words &names, Switch to);

// The configuration's text with `limit = BYTES` in the application's section; as with_switch().
std::string with_limit(const std::string &text, const std::string &application,
                       std::uint64_t limit_bytes);

// Says in the file how much room the application's caches may take, from its next start. A Failure,
// too, where that is less than caches can do with.
void limit_application(const std::string &application, std::uint64_t limit_bytes);

}  // namespace cairn::cli
