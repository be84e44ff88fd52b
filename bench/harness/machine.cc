// SPDX-License-Identifier: MIT
#include "bench/harness/machine.h"

#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

#include "bench/engines/engine.h"
#include "bench/harness/child.h"
#include "bench/harness/folders.h"
#include "bench/harness/stats.h"

namespace bench {
namespace {

constexpr double kQuiet = 0.5;  // load average of a machine that does nothing else

std::string first_line_with(const char *file, const std::string &label) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with(label)) {
            std::string value = line.substr(line.find_first_not_of("\t :=\"", label.size()));
            return value.substr(0, value.find('"'));
        }
    }
    return "unknown";
}

std::string file_system(const std::filesystem::path &dir) {
    struct statfs info;
    if (::statfs(dir.c_str(), &info) != 0) {
        return "unknown";
    }
    switch (static_cast<unsigned long>(info.f_type)) {
        case 0xef53:
            return "ext4";
        case 0x01021994:
            return "tmpfs";
        case 0x58465342:
            return "xfs";
        case 0x9123683e:
            return "btrfs";
        case 0x794c7630:
            return "overlayfs";
    }
    char text[24];
    std::snprintf(text, sizeof(text), "type 0x%lx", static_cast<unsigned long>(info.f_type));
    return text;
}

}  // namespace

void print_machine(const std::filesystem::path &dir) {
    utsname system{};
    ::uname(&system);
    char day[16];
    std::time_t now = std::time(nullptr);
    std::strftime(day, sizeof(day), "%Y-%m-%d", std::gmtime(&now));
    const auto memory = static_cast<unsigned long>(::sysconf(_SC_PHYS_PAGES)) *
                        static_cast<unsigned long>(::sysconf(_SC_PAGESIZE));
    std::printf("- machine: %u x %s, %lu GiB\n", processor_count(),
                first_line_with("/proc/cpuinfo", "model name").c_str(), memory >> 30);
    std::printf("- system: %s, Linux %s, %s\n",
                first_line_with("/etc/os-release", "PRETTY_NAME").c_str(), system.release,
                file_system(dir).c_str());
    std::printf("- build: %s, %s, %s\n", BENCH_COMPILER, BENCH_BUILD_TYPE, day);
    double load = 0;
    if (::getloadavg(&load, 1) == 1) {
        std::printf("- load: %.1f before the start%s\n", load,
                    load > kQuiet ? ", so that other programs disturb what is measured here" : "");
    }
    std::printf("- clock: %.0f ns in every single-operation figure\n", tick_overhead_ns());
    if (!can_drop_caches()) {
        std::printf("- note: not root: `cold` drops file contents only, not names and inodes\n");
    }
    for (const EngineKind &kind : engine_kinds()) {
        std::printf("- engine `%s`: %s\n", kind.name.c_str(), kind.about.c_str());
    }
    std::fflush(stdout);
}

}  // namespace bench
