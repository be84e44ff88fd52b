// SPDX-License-Identifier: MIT
#include "setting.h"

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "common/application.h"
#include "os/environment.h"

namespace cairn::d3d12 {
namespace {

std::atomic<KeyHashFunction> hash_in_use = hash_key;

// The smallest size that was ever published.
constexpr size_t kOptionsSizeMin = offsetof(cairn_d3d12_options, application);

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

void Setting::say(Message id) const {
    if (message != nullptr) {
        const MessageRow row = row_of(id);
        message(user, static_cast<int>(id), row.severity, row.text);
    }
}

}  // namespace cairn::d3d12
