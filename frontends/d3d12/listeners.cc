// SPDX-License-Identifier: MIT
#include "listeners.h"

#include <algorithm>

namespace cairn::d3d12 {

std::vector<Listeners::Listener>::iterator Listeners::find(cairn_log_fn log, void *user) {
    return std::ranges::find_if(listeners_, [&](const Listener &listener) {
        return listener.log == log && listener.user == user;
    });
}

void Listeners::add(cairn_log_fn log, void *user) {
    if (log == nullptr) {
        return;
    }
    const std::lock_guard lock(mutex_);
    const auto found = find(log, user);
    if (found == listeners_.end()) {
        listeners_.push_back({log, user, 1});
    } else {
        ++found->sessions;
    }
}

void Listeners::remove(cairn_log_fn log, void *user) {
    const std::lock_guard lock(mutex_);
    const auto found = find(log, user);
    if (found != listeners_.end() && --found->sessions == 0) {
        listeners_.erase(found);
    }
}

void Listeners::receive(void *self, int severity, const char *line) {
    auto &all = *static_cast<Listeners *>(self);
    const std::lock_guard lock(all.mutex_);
    for (const Listener &listener : all.listeners_) {
        listener.log(listener.user, severity, line);
    }
}

}  // namespace cairn::d3d12
