// SPDX-License-Identifier: MIT
#include "setting.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include "common/application.h"

namespace cairn::d3d12 {
namespace {

std::atomic<KeyHashFunction> hash_for_tests = nullptr;

std::string default_root() {
    std::vector<char> buffer(4096);
    return cairn_root_resolve(buffer.data(), buffer.size()) == CAIRN_OK ? buffer.data() : "";
}

// The smallest size that was ever published.
constexpr size_t kOptionsSizeMin = offsetof(cairn_d3d12_options, application);

const char *application_in(const cairn_d3d12_options &options) {
    return options.size < kOptionsSizeMin + sizeof options.application ? nullptr
                                                                       : options.application;
}

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
    hash_for_tests = hash;
}

SettingRef read_setting(const cairn_d3d12_options *options) {
    auto setting = std::make_shared<Setting>();
    const KeyHashFunction hash = hash_for_tests.load(std::memory_order_relaxed);
    if (hash != nullptr) {
        setting->hash = hash;
    }
    if (options != nullptr) {
        if (options->size < kOptionsSizeMin ||
            (options->root != nullptr && options->root[0] != '/')) {
            return nullptr;
        }
        if (const char *application = application_in(*options)) {
            setting->application = application;
            if (!is_name(*setting->application)) {
                return nullptr;
            }
        }
        if (options->adapter != nullptr) {
            setting->adapter = options->adapter;
        }
        if (options->driver_version != nullptr) {
            setting->driver_version = options->driver_version;
        }
        setting->message = options->message;
        setting->log = options->log;
        setting->user = options->user;
    }
    const bool has_root = options != nullptr && options->root != nullptr;
    const std::string root = has_root ? options->root : default_root();
    setting->root = root.empty() ? root : normalised(root);
    return setting;
}

AdapterNames names_for(const Setting &setting, void *device) {
    AdapterNames names;
    if (!setting.adapter || !setting.driver_version) {
        names = ask_device(device);
    }
    names.adapter = setting.adapter.value_or(names.adapter);
    names.driver_version = setting.driver_version.value_or(names.driver_version);
    return names;
}

void Setting::say(Message id, const char *text) const {
    if (message != nullptr) {
        message(user, static_cast<int>(id), message_severity(id), text);
    }
}

}  // namespace cairn::d3d12
