// SPDX-License-Identifier: MIT
#include "listeners.h"

#include <algorithm>

namespace cairn::d3d12 {

std::vector<Listeners::Listener>::iterator Listeners::State::find(cairn_log_fn log, void *user) {
    return std::ranges::find_if(listeners, [&](const Listener &listener) {
        return listener.log == log && listener.user == user;
    });
}

void Listeners::add(cairn_log_fn log, void *user) {
    State &state = state_.get();  // made now: remove() and receive() find it
    if (log == nullptr) {
        return;
    }
    const MutexLock lock(state.mutex);
    const auto found = state.find(log, user);
    if (found == state.listeners.end()) {
        state.listeners.push_back({log, user, 1});
    } else {
        ++found->sessions;
    }
}

void Listeners::remove(cairn_log_fn log, void *user) {
    State &state = state_.get();
    const MutexLock lock(state.mutex);
    const auto found = state.find(log, user);
    if (found != state.listeners.end() && --found->sessions == 0) {
        state.listeners.erase(found);
    }
}

void Listeners::receive(void *self, int severity, const char *line) {
    State *state = static_cast<Listeners *>(self)->state_.existing();
    if (state == nullptr) {
        return;
    }
    const MutexLock lock(state->mutex);
    for (const Listener &listener : state->listeners) {
        listener.log(listener.user, severity, line);
    }
}

}  // namespace cairn::d3d12
