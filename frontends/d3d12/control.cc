// SPDX-License-Identifier: MIT
#include "control.h"

#include "registry.h"

namespace cairn::d3d12 {
namespace {

Result result_of(const Setting &setting, const cairn_control *control, int result) {
    switch (result) {
        case CAIRN_OK:
            return kOk;
        case CAIRN_ERROR_INVALID_ARGUMENT:
            setting.say(Message::control_invalid_flags);
            return kInvalidArgument;
        case CAIRN_ERROR_DENIED:
            if (cairn_control_developer_mode(control) == 0) {
                setting.say(Message::control_developer_mode);
                return kInvalidCall;
            }
            return kAccessDenied;
        case CAIRN_ERROR_READ_ONLY:
            return kAccessDenied;
        case CAIRN_ERROR_NO_MEMORY:
            return kOutOfMemory;
        default:
            return kFail;
    }
}

}  // namespace

Result apply_control(const Setting &setting, cairn_control *control, uint32_t kinds,
                     uint32_t flags) {
    if (control == nullptr) {
        return kOutOfMemory;
    }
    uint32_t unchanged = 0;
    const int result = cairn_control_apply(control, kinds, flags, &unchanged);
    if (result != CAIRN_OK) {
        return result_of(setting, control, result);
    }
    // Sessions in working directories are reached from here only, and the others of this process need
    // not wait until they look.
    if ((flags & CAIRN_CONTROL_CLEAR) != 0 && (kinds & CAIRN_KIND_APPLICATION_MANAGED) != 0 &&
        clear_caches(setting.root) != Outcome::ok) {
        return kFail;
    }
    if (unchanged != 0) {
        setting.say(Message::control_state_already_set);
    }
    return kOk;
}

}  // namespace cairn::d3d12
