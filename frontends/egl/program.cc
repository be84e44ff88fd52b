// SPDX-License-Identifier: MIT
#include "program.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace cairn::egl {
namespace {

// No sensible program has so many different settings. It bounds the list of an application that
// makes up new ones again and again.
constexpr size_t kSettingsMax = 4096;

bool comes_before(const Call &one, const Call &other) {
    return std::tie(*one.setting, *one.subject) < std::tie(*other.setting, *other.subject);
}

}  // namespace

void Program::add_setting(Call call, Effect effect) {
    std::erase_if(settings, [&](const Call &older) {
        const bool is_replaced = effect != Effect::uncertain && older.setting == call.setting &&
                                 older.target == call.target;
        return is_replaced || older == call;
    });
    if (effect == Effect::resets) {
        return;
    }
    if (settings.size() >= kSettingsMax) {
        is_understood = false;
        return;
    }
    const auto place = std::upper_bound(settings.begin(), settings.end(), call, comes_before);
    settings.insert(place, std::move(call));
}

void Program::forget_cached_link() {
    cached_report.reset();
    cached_hint.reset();
}

}  // namespace cairn::egl
