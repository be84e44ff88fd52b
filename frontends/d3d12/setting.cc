// SPDX-License-Identifier: MIT
#include "setting.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>

#include "common/application.h"
#include "os/environment.h"

namespace cairn::d3d12 {
namespace {

std::atomic<KeyHashFunction> hash_in_use = hash_key;

// The smallest size that was ever published.
constexpr size_t kOptionsSizeMin = offsetof(cairn_d3d12_options, application);

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

// Whether a name may stand in the identifier of a cache; "" may be left out.
bool is_name(const std::string &name) {
    constexpr const char *kAllowed =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    return name.size() <= kApplicationNameMax && !name.starts_with('.') &&
           name.find_first_not_of(kAllowed) == std::string::npos;
}

// One spelling for each directory, as paths are compared: no slash at the end or twice, no ".".
std::string normalised(const std::string &path) {
    std::string result;
    for (size_t begin = 0; begin < path.size();) {
        const size_t end = std::min(path.find('/', begin), path.size());
        const std::string part = path.substr(begin, end - begin);
        if (!part.empty() && part != ".") {
            result += "/" + part;
        }
        begin = end + 1;
    }
    return result.empty() ? "/" : result;
}

}  // namespace

void set_hash_for_tests(KeyHashFunction hash) {
    hash_in_use = hash == nullptr ? hash_key : hash;
}

SettingRef read_setting(const cairn_d3d12_options *options, void *device) {
    auto setting = std::make_shared<Setting>();
    setting->hash = hash_in_use.load(std::memory_order_relaxed);
    cairn_d3d12_options none = {};
    none.size = kOptionsSizeMin;
    const cairn_d3d12_options &given = options == nullptr ? none : *options;
    if (given.size < kOptionsSizeMin || (given.root != nullptr && given.root[0] != '/')) {
        return nullptr;
    }
    const bool has_application = given.size >= kOptionsSizeMin + sizeof given.application;
    if (has_application && given.application != nullptr) {
        setting->application = given.application;
        if (!is_name(*setting->application)) return nullptr;
    }
    if (given.adapter == nullptr || given.driver_version == nullptr) {
        setting->names = ask_device(device);
    }
    if (given.adapter != nullptr) {
        setting->names.adapter = given.adapter;
    }
    if (given.driver_version != nullptr) {
        setting->names.driver_version = given.driver_version;
    }
    setting->message = given.message;
    setting->log = given.log;
    setting->user = given.user;
    const std::string root = given.root != nullptr ? given.root : default_root().value_or("");
    setting->root = root.empty() ? root : normalised(root);
    return setting;
}

MessageRow row_of(Message id) {
    const auto *row = std::ranges::find(kRows, id, &MessageRow::id);
    return row == std::end(kRows) ? MessageRow{id, CAIRN_LOG_INFO, ""} : *row;
}

void Setting::say(Message id) const {
    if (message != nullptr) {
        const MessageRow row = row_of(id);
        message(user, static_cast<int>(id), row.severity, row.text);
    }
}

}  // namespace cairn::d3d12
