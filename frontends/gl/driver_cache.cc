// SPDX-License-Identifier: MIT
#include "driver_cache.h"

#include <cairn/internal/front_end.h>

#include <array>
#include <atomic>
#include <climits>
#include <string_view>
#include <utility>
#include <vector>

#include "caches.h"
#include "common/application.h"
#include "common/permission.h"
#include "common/run_report.h"
#include "common/words.h"
#include "hook.h"
#include "os/environment.h"
#include "settings.h"

namespace cairn::gl {
namespace {

// The user, or a launcher, has said where the driver keeps what, or how: that holds.
constexpr std::string_view kUsers[] = {
    "MESA_SHADER_CACHE_DIR",      "MESA_SHADER_CACHE_DISABLE", "MESA_DISK_CACHE_SINGLE_FILE",
    "MESA_DISK_CACHE_MULTI_FILE", "MESA_DISK_CACHE_DATABASE",  "MESA_DISK_CACHE_READ_ONLY_FOZ_DBS",
    "MESA_GLSL_CACHE_",           "__GL_SHADER_DISK_CACHE"};

// Set where all of these are ours, for a process that is started while the driver is told, and
// inherits them.
constexpr const char *kOurs = "CAIRN_DRIVER_CACHE";

std::string_view users_variable() {
    if (environment_variable(kOurs)) return {};
    for (const std::string_view text : environment_variables()) {
        if (starts_with_any(text, kUsers)) return text.substr(0, text.find('='));
    }
    return {};
}

// Lives for ever. Null: the driver is told nothing.
std::atomic<TemporaryVariables *> g_variables = nullptr;
std::atomic<bool> g_is_placed = false;
// A recording has what the start makes, and nothing else.
std::atomic<bool> g_is_recording = false;

// NVIDIA's driver would else delete at its start what is more than it keeps by itself.
void tell_driver(const std::string &path) {
    std::vector<std::string> variables = {
        std::string(kOurs) + "=" + path,         "MESA_SHADER_CACHE_DIR=" + path,
        "MESA_DISK_CACHE_MULTI_FILE=true",       "__GL_SHADER_DISK_CACHE_PATH=" + path,
        "__GL_SHADER_DISK_CACHE_SKIP_CLEANUP=1",
    };
    constexpr const char *kSize = "MESA_SHADER_CACHE_MAX_SIZE";
    if (!environment_variable(kSize)) variables.push_back(std::string(kSize) + "=256M");
    g_variables = new TemporaryVariables(std::move(variables));
}

void hear(void *, int severity, const char *line) {
    log().write(static_cast<Severity>(severity), "%s", line);
}

// The directory; empty: there is none. With `looks`, nothing is made.
std::string find_directory(const std::string &recording, bool looks) {
    uint32_t flags = own_permission().has_own_driver_cache ? uint32_t{CAIRN_DRIVER_CACHE_OWN} : 0u;
    if (looks) flags |= CAIRN_DRIVER_CACHE_LOOK;
    std::array<char, PATH_MAX> path;
    const std::string name = cache_name();
    const int found = cairn_driver_cache_open(name.c_str(), flags, recording.c_str(), path.data(),
                                              path.size(), hear, nullptr);
    return found == CAIRN_OK ? path.data() : "";
}

}  // namespace

void begin_driver_cache() {
    // In a sandbox, files could not be put in place.
    if (settings().disabled || !settings().persists || settings().has_broker()) return;
    const std::string recording = environment_variable(kRecordVariable).value_or("");
    const std::string_view users = users_variable();
    const std::string path = find_directory(recording, !users.empty());
    if (path.empty()) return;
    if (!users.empty()) {
        log().write(Severity::info, "the driver's machine code stays where it is: %.*s is set",
                    static_cast<int>(users.size()), users.data());
        return;
    }
    tell_driver(path);
    g_is_recording = !recording.empty();
    log().write(Severity::info, "the driver's machine code is in %s", path.c_str());
}

bool has_driver_cache() {
    return g_variables.load(std::memory_order_acquire) != nullptr;
}

TellingDriver::TellingDriver() {
    if (!has_driver_cache()) return;
    attempt([this] {
        g_variables.load()->enter();
        is_telling_ = true;
    });
}

TellingDriver::~TellingDriver() {
    if (is_telling_) attempt([] { g_variables.load()->leave(); });
}

void place_driver_files(const std::string &identity) {
    if (!has_driver_cache() || g_is_placed.exchange(true)) return;
    const std::string name = cache_name();
    cairn_program_cache_options options = options_of(name, identity);
    if (g_is_recording) options.flags |= CAIRN_OPEN_NO_LAYERS;
    uint64_t placed = 0;
    (void)cairn_driver_cache_place(&options, &placed);
}

}  // namespace cairn::gl
