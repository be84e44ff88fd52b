// SPDX-License-Identifier: MIT
#include "common/shared_sessions.h"

#include "os/configuration.h"

namespace cairn {

bool are_sessions_shared(std::string_view guid, cairn_log_fn log, void *user) {
    return Configuration::read(Log(log, user)).is_d3d12_shared(guid);
}

}  // namespace cairn
