// SPDX-License-Identifier: MIT
#include "message.h"

#include <cairn/cairn.h>

#include <algorithm>
#include <iterator>

namespace cairn::d3d12 {
namespace {

constexpr MessageRow kRows[] = {
    {Message::session_created, CAIRN_LOG_INFO, "CreateShaderCacheSession: a session was created"},
    {Message::session_destroyed, CAIRN_LOG_INFO, "a shader cache session was destroyed"},
    {Message::create_invalid_arguments, CAIRN_LOG_ERROR,
     "CreateShaderCacheSession: an argument is invalid"},
    {Message::create_disabled, CAIRN_LOG_WARNING,
     "CreateShaderCacheSession: application-managed caches are disabled; "
     "ShaderCacheControl or `cairn control` enables them"},
    {Message::create_already_open, CAIRN_LOG_WARNING,
     "CreateShaderCacheSession: a session of another Version is open, in this or "
     "another process; release it first"},
    {Message::control_developer_mode, CAIRN_LOG_ERROR,
     "ShaderCacheControl: for developer mode only; set CAIRN_DEVELOPER_MODE=1, or "
     "write `developer_mode = 1` to cairn/config in $XDG_CONFIG_HOME or ~/.config"},
    {Message::control_invalid_flags, CAIRN_LOG_ERROR,
     "ShaderCacheControl: needs a kind and a flag, and not DISABLE with ENABLE"},
    {Message::control_state_already_set, CAIRN_LOG_INFO,
     "ShaderCacheControl: a kind was in this state already"},
    {Message::store_already_present, CAIRN_LOG_INFO,
     "StoreValue: the key is present already; its value stays"},
    {Message::hash_collision, CAIRN_LOG_WARNING,
     "another key of the same hash is present; this one cannot be stored"},
    {Message::store_cache_full, CAIRN_LOG_WARNING,
     "StoreValue: the cache is full (MaximumValueFileSizeBytes, the disk, or the "
     "user's quota)"},
    {Message::find_not_found, CAIRN_LOG_INFO, "FindValue: the key is not present"},
    {Message::corrupt, CAIRN_LOG_ERROR,
     "a shader cache cannot be opened or reset; the log line says why"},
    {Message::disabled, CAIRN_LOG_WARNING,
     "application-managed caches are disabled; ShaderCacheControl or `cairn "
     "control` enables them"},
    {Message::delete_not_supported, CAIRN_LOG_WARNING,
     "SetDeleteOnDestroy: the cache may not be written, and will stay"},
};

}  // namespace

MessageRow row_of(Message id) {
    const auto *row = std::ranges::find(kRows, id, &MessageRow::id);
    return row == std::end(kRows) ? MessageRow{id, CAIRN_LOG_INFO, ""} : *row;
}

}  // namespace cairn::d3d12
