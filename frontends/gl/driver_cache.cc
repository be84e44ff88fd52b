// SPDX-License-Identifier: MIT
#include "driver_cache.h"

#include <cairn/internal/front_end.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <string_view>
#include <vector>

#include "caches.h"
#include "common/application.h"
#include "common/permission.h"
#include "common/words.h"
#include "os/environment.h"
#include "settings.h"

namespace cairn::gl {
namespace {

// The user, or a launcher, has said where the driver keeps what, or how: that holds.
constexpr std::string_view kUsers[] = {
    "MESA_SHADER_CACHE_DIR",    "MESA_SHADER_CACHE_DISABLE",         "MESA_DISK_CACHE_SINGLE_FILE",
    "MESA_DISK_CACHE_DATABASE", "MESA_DISK_CACHE_READ_ONLY_FOZ_DBS", "MESA_GLSL_CACHE_",
    "__GL_SHADER_DISK_CACHE"};

bool is_on(const char *name) {
    const auto value = environment_variable(name);
    return value && !value->empty() && *value != "0";
}

// Ours of a parent that started this process at once count for nothing.
std::string_view users_variable(std::string_view own_folders) {
    for (const std::string_view text : environment_variables()) {
        const std::string_view value = text.substr(std::min(text.find('=') + 1, text.size()));
        if (starts_with_any(text, kUsers) && !value.starts_with(own_folders)) return text;
    }
    return {};
}

std::atomic<ChangedEnvironment *> g_changed = nullptr;

void tell_driver(const std::string &path) {
    std::vector<std::string> variables = {"MESA_SHADER_CACHE_DIR=" + path,
                                          "MESA_DISK_CACHE_MULTI_FILE=true",
                                          "__GL_SHADER_DISK_CACHE_PATH=" + path};
    constexpr const char *kSize = "MESA_SHADER_CACHE_MAX_SIZE";
    if (!environment_variable(kSize)) variables.push_back(std::string(kSize) + "=256M");
    g_changed = change_environment(variables);
}

void hear(void *, int severity, const char *line) {
    log().write(static_cast<Severity>(severity), "%s", line);
}

uint32_t wishes() {
    if (is_on("CAIRN_RECORD")) return CAIRN_DRIVER_CACHE_RECORDING;
    return own_permission().has_own_driver_cache ? uint32_t{CAIRN_DRIVER_CACHE_OWN} : 0u;
}

}  // namespace

void begin_driver_cache() {
    // In a sandbox, files could not be put in place.
    if (settings().disabled || !settings().persists || settings().has_broker()) return;
    std::array<char, PATH_MAX> path;
    const std::string name = cache_name();
    if (cairn_driver_cache_open(name.c_str(), wishes(), path.data(), path.size(), hear, nullptr) !=
        CAIRN_OK) {
        return;
    }
    const std::string_view found = path.data();
    const std::string_view users = users_variable(found.substr(0, found.rfind('/') + 1));
    if (!users.empty()) {
        log().write(Severity::info, "the driver's machine code stays where it is: %.*s is set",
                    static_cast<int>(users.find('=')), users.data());
        return;
    }
    tell_driver(std::string(found));
    log().write(Severity::info, "the driver's machine code is in %s", path.data());
}

bool has_driver_cache() {
    return g_changed.load(std::memory_order_relaxed) != nullptr;
}

void place_driver_files(const std::string &identity) {
    if (g_changed.load(std::memory_order_relaxed) == nullptr) return;
    ChangedEnvironment *const changed = g_changed.exchange(nullptr);
    if (changed == nullptr) return;
    const std::string name = cache_name();
    const cairn_program_cache_options options = options_of(name, identity);
    uint64_t placed = 0;
    (void)cairn_driver_cache_place(&options, &placed);
    restore_environment(changed);
}

}  // namespace cairn::gl
