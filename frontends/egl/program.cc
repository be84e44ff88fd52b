// SPDX-License-Identifier: MIT
#include "program.h"

#include <algorithm>

namespace cairn::egl {
namespace {

// No sensible program has so many different settings; an application that makes up new ones for
// ever is not followed.
constexpr size_t kSettingsMax = 4096;

}  // namespace

void Program::add_setting(Setting setting, std::string arguments) {
    Call call{setting, std::move(arguments)};
    std::erase(settings, call);
    if (settings.size() >= kSettingsMax) {
        is_understood = false;
        return;
    }
    settings.push_back(std::move(call));
}

void Program::forget_cached_link() {
    has_cached_log = false;
    has_cached_hint = false;
}

}  // namespace cairn::egl
