// Runs the client as an application would be run: as a process, without Cairn or under it, and
// collects all that it shows.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised. Failure: aborts when a process cannot be had; what the
// client does is a result.
#pragma once

#include <cairn/cairn.h>

#include <map>
#include <string>
#include <vector>

#include "common/run_report.h"
#include "support/temp_directory.h"

namespace gl_test {

using Environment = std::map<std::string, std::string>;

// EGL without windows, or GLX on an X server that all tests of the process share.
enum class WindowSystem { egl, glx };
enum class Client { linked, dlopened };

inline constexpr auto kWindowSystems = {WindowSystem::egl, WindowSystem::glx};
inline constexpr auto kClients = {Client::linked, Client::dlopened};

// Why a test must be skipped; null when it need not.
const char *why_not(WindowSystem window_system);

#define SKIP_WITHOUT(window_system) \
    if (const char *why = gl_test::why_not(window_system)) GTEST_SKIP() << why

// Of the X server that all tests of the process share. Empty: it could not be had.
const std::string &x_display();

// The parameter's part of a test's name.
std::string name_of(WindowSystem window_system);
std::string name_of(Client client);

struct Played {
    std::string transcript;  // standard output
    std::string complaints;  // standard error
    std::string status;      // "" for exit code 0, else how it ended
    cairn::RunReport report = {};
};

// One test's cache directory and what is set around its runs.
class Stage {
  public:
    explicit Stage(WindowSystem window_system, Client client = Client::linked)
        : window_system_(window_system), client_(client) {}

    // Without Cairn.
    Played plain(const std::string &scenario, const std::string &end = "return");
    // Under Cairn, with this stage's cache. Mesa's own cache is empty at each run.
    Played cached(const std::string &scenario, const Environment &more = {},
                  const std::string &end = "return");

    std::string cache_root() const { return directory_ / "cache"; }
    const cairn_test::TempDirectory &directory() const { return directory_; }
    // For both kinds of run.
    Environment extra;
    // Mesa has its cache where it is without any variable, so that Cairn may give it another place:
    // below XDG_CACHE_HOME, which is a new folder at each run unless `extra` has it.
    bool has_usual_driver_cache = false;
    // A command before the client's, such as one that hides files from it. For both kinds of run.
    std::vector<std::string> prefix;

  private:
    Played run(const std::string &scenario, const std::string &end, Environment environment);

    WindowSystem window_system_;
    Client client_;
    cairn_test::TempDirectory directory_;
    int runs_ = 0;
};

// A manifest that names `library`, written to `path`.
void write_manifest(const std::string &path, const std::string &library);

// For runs under Cairn on Mesa as it is, and on one that does as NVIDIA's driver (crashing_vendor.cc).
std::map<std::string, Environment> drivers(const Stage &stage);

}  // namespace gl_test
