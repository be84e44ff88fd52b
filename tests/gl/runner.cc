// SPDX-License-Identifier: MIT
#include "runner.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "support/files.h"
#include "support/process.h"
#include "support/run_report.h"
#include "support/x_server.h"

namespace gl_test {
namespace {

bool is_ours(std::string_view variable) {
    constexpr std::string_view kPrefixes[] = {"CAIRN_",
                                              "MESA_",
                                              "__EGL_",
                                              "EGL_",
                                              "__GL",
                                              "LIBGL_",
                                              "DISPLAY",
                                              "XDG_CACHE_HOME",
                                              "XDG_CONFIG_HOME",
                                              "LD_LIBRARY_PATH",
                                              "LD_PRELOAD"};
    return std::ranges::any_of(kPrefixes,
                               [&](auto prefix) { return variable.starts_with(prefix); });
}

std::vector<std::string> variables(const Environment &environment) {
    std::vector<std::string> all;
    for (char **variable = environ; *variable != nullptr; ++variable) {
        if (!is_ours(*variable)) {
            all.emplace_back(*variable);
        }
    }
    for (const auto &[name, value] : environment) {
        all.push_back(name + "=" + value);
    }
    return all;
}

std::vector<char *> pointers(std::vector<std::string> &texts) {
    std::vector<char *> all;
    all.reserve(texts.size() + 1);
    for (std::string &text : texts) {
        all.push_back(text.data());
    }
    all.push_back(nullptr);
    return all;
}

// In the child. Never returns.
int become(std::vector<std::string> command, std::vector<std::string> environment,
           const std::string &output, const std::string &error) {
    const int out = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int err = open(error.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int in = open("/dev/null", O_RDONLY);
    if (dup2(in, 0) != 0 || dup2(out, 1) != 1 || dup2(err, 2) != 2) {
        return 97;
    }
    execvpe(command[0].c_str(), pointers(command).data(), pointers(environment).data());
    return 96;
}

const char *program_of(WindowSystem window_system, Client client) {
    if (window_system == WindowSystem::egl) {
        return client == Client::linked ? EGL_CLIENT_LINKED : EGL_CLIENT_DLOPENED;
    }
    return client == Client::linked ? GLX_CLIENT_LINKED : GLX_CLIENT_DLOPENED;
}

// The vendor of the machine's own driver, such as "nvidia", to play on that; "": on Mesa's software
// driver.
std::string vendor_of_machine() {
    const char *vendor = std::getenv("GL_TEST_VENDOR");
    return vendor == nullptr ? "" : vendor;
}

// Of that vendor's library for EGL; libglvnd might take another one.
std::string manifest_of(const std::string &vendor) {
    for (const char *folder : {"/etc/glvnd/egl_vendor.d", "/usr/share/glvnd/egl_vendor.d"}) {
        std::error_code error;
        for (const auto &entry : std::filesystem::directory_iterator(folder, error)) {
            if (entry.path().filename().string().find(vendor) != std::string::npos) {
                return entry.path();
            }
        }
    }
    std::fprintf(stderr, "GL_TEST_VENDOR: no manifest has %s in its name\n", vendor.c_str());
    std::abort();
}

std::string text_of(const std::string &path) {
    return cairn_test::as_string(cairn_test::read_file(path));
}

}  // namespace

const std::string &x_display() {
    // `+iglx`: it draws for clients that ask for indirect contexts.
    static const cairn_test::XServer server("Xvfb", {"+iglx"});
    return server.display();
}

const char *why_not(WindowSystem window_system) {
    return window_system == WindowSystem::glx && x_display().empty()
               ? "no X server: Debian's package xvfb is missing"
               : nullptr;
}

std::string name_of(WindowSystem window_system) {
    return window_system == WindowSystem::egl ? "Egl" : "Glx";
}

std::string name_of(Client client) {
    return client == Client::linked ? "Linked" : "Dlopened";
}

Played Stage::run(const std::string &scenario, const std::string &end, Environment environment) {
    const std::string here = directory_ / std::to_string(++runs_);
    const cairn_test::RunReport report;
    environment.insert(extra.begin(), extra.end());
    // The driver's own, in both cases new, unless the test has said where.
    if (has_usual_driver_cache) {
        const auto usual = environment.try_emplace("XDG_CACHE_HOME", here + ".mesa").first;
        std::filesystem::create_directories(usual->second);
    } else {
        environment["MESA_SHADER_CACHE_DIR"] = here + ".mesa";
        environment["__GL_SHADER_DISK_CACHE_PATH"] = here + ".nvidia";
        std::filesystem::create_directories(here + ".nvidia");
    }
    const std::string vendor = vendor_of_machine();
    if (vendor.empty()) {
        environment["LIBGL_ALWAYS_SOFTWARE"] = "1";
    } else if (window_system_ == WindowSystem::egl) {
        const std::string manifest = manifest_of(vendor);
        // This is Cairn's where that runs.
        environment.try_emplace("__EGL_VENDOR_LIBRARY_FILENAMES", manifest);
        environment.try_emplace("CAIRN_EGL_VENDORS", manifest);
    } else {
        environment.try_emplace("__GLX_VENDOR_LIBRARY_NAME", vendor);
        environment.try_emplace("CAIRN_GLX_VENDOR", vendor);
    }
    // Keeps the configuration of the user who runs the test out.
    environment["XDG_CONFIG_HOME"] = directory_ / "configuration";
    environment["CAIRN_REPORT"] = report.path();
    if (window_system_ == WindowSystem::glx) {
        environment.try_emplace("DISPLAY", x_display());
    }
    std::vector<std::string> command = prefix;
    command.insert(command.end(), {program_of(window_system_, client_), scenario, end});
    cairn_test::Child child([&] {
        alarm(100);
        return become(command, variables(environment), here + ".out", here + ".err");
    });
    Played result;
    result.status = cairn_test::describe_status(child.wait());
    result.transcript = text_of(here + ".out");
    result.complaints = text_of(here + ".err");
    result.report = report.read();
    return result;
}

Played Stage::plain(const std::string &scenario, const std::string &end) {
    return run(scenario, end, {});
}

Played Stage::cached(const std::string &scenario, const Environment &more, const std::string &end) {
    Environment environment = {{"CAIRN_DIR", cache_root()}};
    if (window_system_ == WindowSystem::egl) {
        environment["__EGL_VENDOR_LIBRARY_FILENAMES"] = CAIRN_EGL_TEST_MANIFEST;
    } else {
        environment["__GLX_VENDOR_LIBRARY_NAME"] = "cairn";
        environment["LD_LIBRARY_PATH"] = CAIRN_GLX_TEST_FOLDERS;
    }
    for (const auto &[name, value] : more) {
        environment[name] = value;
    }
    return run(scenario, end, environment);
}

void write_manifest(const std::string &path, const std::string &library) {
    const std::string text =
        R"({ "file_format_version" : "1.0.0", "ICD" : { "library_path" : ")" + library + "\" } }\n";
    cairn_test::write_file(path, cairn_test::as_bytes(text));
}

std::map<std::string, Environment> drivers(const Stage &stage) {
    const std::string manifest = stage.directory() / "nvidia.json";
    write_manifest(manifest, CRASHING_VENDOR);
    return {{"mesa", {}},
            {"nvidia",
             {{"CRASHING_HOW", "nvidia"},
              {"CAIRN_EGL_VENDORS", manifest},
              {"CAIRN_GLX_VENDOR", "crashing"}}}};
}

}  // namespace gl_test
