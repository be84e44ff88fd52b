// SPDX-License-Identifier: MIT
#include "doctor/checks.h"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "caches.h"
#include "output.h"

namespace cairn::cli::doctor {
namespace {

constexpr std::array kGroups = {Group{"installation", "Installation", check_installation},
                                Group{"glvnd", "GLVND", check_glvnd},
                                Group{"session", "Session", check_session},
                                Group{"environment", "Environment", check_environment},
                                Group{"configuration", "Configuration", check_configuration},
                                Group{"directories", "Directories", check_directories},
                                Group{"caches", "Caches", check_caches},
                                Group{"limits", "Limits", check_limits},
                                Group{"sandbox", "Sandbox", check_sandbox},
                                Group{"driver", "Driver", check_driver},
                                Group{"application", "Application", check_application}};

void keep_line(void *user, int, const char *line) {
    static_cast<Words *>(user)->emplace_back(line);
}

}  // namespace

Examined::Examined(Machine the_machine, std::string the_application, bool asks)
    : machine(std::move(the_machine)),
      application(std::move(the_application)),
      name(known_name(application)),
      asks_driver(asks),
      manifest(find_manifest(machine.executable)),
      configuration(Configuration::read(Log(keep_line, &configuration_lines))),
      sources(find_sources()),
      egl(find_egl()),
      glx(find_glx()),
      own(read_elf(machine.executable).value_or(Elf())),
      libraries(machine, own) {
    if (!manifest.path.empty()) glx_library = glx_library_of(manifest.path);
    try {
        root = resolve_root();
    } catch (const Failure &failure) {
        root_problem = failure.what();
    }
}

bool Examined::is_enabled() const {
    return std::ranges::any_of(sources, &Source::is_on);
}

std::span<const Group> groups() {
    return kGroups;
}

Findings examine(const Examined &examined) {
    Findings findings;
    for (const Group &group : kGroups) group.check(examined, findings);
    return findings;
}

}  // namespace cairn::cli::doctor
