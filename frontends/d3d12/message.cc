// SPDX-License-Identifier: MIT
#include "message.h"

#include <cairn/cairn.h>

namespace cairn::d3d12 {

int message_severity(Message id) {
    switch (id) {
        case Message::create_invalid_arguments:
        case Message::control_developer_mode:
        case Message::control_invalid_flags:
        case Message::corrupt:
            return CAIRN_LOG_ERROR;
        case Message::create_disabled:
        case Message::create_already_open:
        case Message::hash_collision:
        case Message::store_cache_full:
        case Message::disabled:
        case Message::delete_not_supported:
            return CAIRN_LOG_WARNING;
        default:
            return CAIRN_LOG_INFO;
    }
}

const char *message_text(Message id) {
    switch (id) {
        case Message::session_created:
            return "CreateShaderCacheSession: a session was created";
        case Message::session_destroyed:
            return "a shader cache session was destroyed";
        case Message::create_invalid_arguments:
            return "CreateShaderCacheSession: an argument is invalid";
        case Message::create_disabled:
            return "CreateShaderCacheSession: application-managed caches are disabled; "
                   "ShaderCacheControl or `cairn control` enables them";
        case Message::create_already_open:
            return "CreateShaderCacheSession: a session of another Version is open, in this or "
                   "another process; release it first";
        case Message::control_developer_mode:
            return "ShaderCacheControl: for developer mode only; set CAIRN_DEVELOPER_MODE=1, or "
                   "write `developer_mode = 1` to cairn/config in $XDG_CONFIG_HOME or ~/.config";
        case Message::control_invalid_flags:
            return "ShaderCacheControl: needs a kind and a flag, and not DISABLE with ENABLE";
        case Message::control_state_already_set:
            return "ShaderCacheControl: a kind was in this state already";
        case Message::store_already_present:
            return "StoreValue: the key is present already; its value stays";
        case Message::hash_collision:
            return "another key of the same hash is present; this one cannot be stored";
        case Message::store_cache_full:
            return "StoreValue: the cache is full (MaximumValueFileSizeBytes, the disk, or the "
                   "user's quota)";
        case Message::find_not_found:
            return "FindValue: the key is not present";
        case Message::corrupt:
            return "a shader cache cannot be opened or reset; the log line says why";
        case Message::disabled:
            return "application-managed caches are disabled; ShaderCacheControl or `cairn "
                   "control` enables them";
        case Message::delete_not_supported:
            return "SetDeleteOnDestroy: the cache may not be written, and will stay";
    }
    return "";
}

}  // namespace cairn::d3d12
