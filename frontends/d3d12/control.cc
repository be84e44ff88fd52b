// SPDX-License-Identifier: MIT
#include "control.h"

#include "registry.h"

namespace cairn::d3d12 {
namespace {

// All sessions of this process that obey the root: those in working directories are reached from
// here only, and others need not wait until they look.
Outcome clear_sessions(const std::string &root) {
    Outcome worst = Outcome::ok;
    for_each_cache([&](SessionCache &cache) {
        if (cache.control_root() == root) {
            const Outcome outcome = cache.clear();
            worst = outcome == Outcome::ok ? worst : outcome;
        }
    });
    return worst;
}

}  // namespace

CacheKinds::CacheKinds(const Setting &setting) : setting_(setting) {
    cairn_control_options open = {};
    open.size = sizeof open;
    open.root = setting.root.empty() ? nullptr : setting.root.c_str();
    open.log = setting.log;
    open.log_user = setting.user;
    (void)cairn_control_open(&open, &control_);
}

CacheKinds::~CacheKinds() {
    cairn_control_close(control_);
}

bool CacheKinds::register_driver(const cairn_driver_cache &driver) {
    uint32_t registration = 0;  // given back with the control
    return control_ != nullptr &&
           cairn_control_register_driver(control_, &driver, &registration) == CAIRN_OK;
}

bool CacheKinds::driver_cache_present() const {
    return control_ != nullptr && cairn_control_driver_cache_present(control_) != 0;
}

Result CacheKinds::result_of(int result) const {
    switch (result) {
        case CAIRN_OK:
            return kOk;
        case CAIRN_ERROR_INVALID_ARGUMENT:
            setting_.say(Message::control_invalid_flags);
            return kInvalidArgument;
        case CAIRN_ERROR_DENIED:
            if (cairn_control_developer_mode(control_) == 0) {
                setting_.say(Message::control_developer_mode);
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

Result CacheKinds::apply(uint32_t kinds, uint32_t flags) {
    if (control_ == nullptr) {
        return kOutOfMemory;
    }
    uint32_t unchanged = 0;
    const int result = cairn_control_apply(control_, kinds, flags, &unchanged);
    if (result != CAIRN_OK) {
        return result_of(result);
    }
    if ((flags & CAIRN_CONTROL_CLEAR) != 0 && (kinds & CAIRN_KIND_APPLICATION_MANAGED) != 0 &&
        clear_sessions(setting_.root) != Outcome::ok) {
        return kFail;
    }
    if (unchanged != 0) {
        setting_.say(Message::control_state_already_set);
    }
    return kOk;
}

}  // namespace cairn::d3d12
