// The user's configuration: `cairn/config` in the configuration directory, and the environment.
// SPDX-License-Identifier: MIT
//
// The file has lines `name = value`; `#` begins a comment. A line `[application NAME]` or
// `[d3d12 GUID]` begins a section: the lines below it are about that application, or about the
// D3D12 sessions of that identifier. The last line of a name counts. The file must be the user's
// own or the system's, and not writable by others, and have at most 64 KiB.
//
//     developer_mode = 1
//     enabled = 1                     # front ends serve all applications but those that say 0
//     compress = 1                    # program caches
//     log = 0                         # front ends say on standard error what they do
//     driver_cache = 1                # drivers keep an application's machine code by itself
//     record = 1                      # program caches keep in which order starts use entries
//     recipes = 1                     # front ends for GL keep how programs are made and drawn with
//     share = 1                       # the user's agent publishes and fetches what is compiled
//     ask_ms = 20                     # a miss may wait so long for what the agent has or fetches
//     limit = 4G                      # of each application; bytes, or with K, M, G or T
//     [application chromium]          # all of these but developer_mode
//     limit = 8G
//     enabled = 0
//     [d3d12 6f1c0e9a-4b6c-4f0e-9d50-2f8f3c1de0a7]
//     shared = 1                      # by all programs
//
// Thread safety: const methods at once. Functions read the environment when they are called.
// Failure: a line that cannot be read or understood counts for nothing, and is logged with its
// number, its text and what is wrong with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"

namespace cairn {

// $XDG_CONFIG_HOME/cairn/config or ~/.config/cairn/config; nullopt when the user has no home.
std::optional<std::string> configuration_path();

// A size as people write it: "1048576", "64M", "1.5 GiB"; a power of 1024 for K, M, G and T.
// nullopt: it is none, or does not fit.
std::optional<std::uint64_t> size_from_text(std::string_view text);

class Configuration {
  public:
    static constexpr std::uint64_t kAskMsMax = 1000;

    // Nothing is configured.
    Configuration() = default;
    // Of a file of this text; `name` is the file's, for log lines.
    Configuration(std::string_view text, const char *name, const Log &log);
    // Of the user's file. Reads the environment.
    static Configuration read(const Log &log);

    bool developer_mode() const;
    // Whether front ends serve applications of which nothing else is said; nullopt: nothing is
    // said of all.
    std::optional<bool> enabled() const;
    // What the application's own section says; nullopt: nothing.
    std::optional<bool> enabled(std::string_view application) const;
    // The applications that have a section of their own with a line that counts; each once.
    std::vector<std::string> applications() const;
    // Those that are switched off in it.
    std::vector<std::string> disabled_applications() const;
    // These: by the application's section, else by the line for all; nullopt: by neither.
    std::optional<bool> compress(std::string_view application) const;
    std::optional<bool> record(std::string_view application) const;
    std::optional<bool> recipes(std::string_view application) const;
    std::optional<bool> driver_cache(std::string_view application) const;
    std::optional<bool> share(std::string_view application) const;
    std::optional<bool> log(std::string_view application) const;
    // Milliseconds, kAskMsMax at most.
    std::optional<std::uint64_t> ask_ms(std::string_view application) const;
    // Bytes that the caches of an application may take; nullopt: the default.
    std::optional<std::uint64_t> limit_bytes(std::string_view application) const;
    // Whether all programs share the D3D12 sessions of this identifier: lower-case digits and
    // hyphens, without braces.
    bool is_d3d12_shared(std::string_view guid) const;

  private:
    struct Setting {
        std::string section;  // "", "application NAME" or "d3d12 GUID"
        std::string_view name;
        std::uint64_t value;
    };

    const char *take_line(std::string_view line, std::string &section);
    std::optional<std::uint64_t> find(std::string_view section, std::string_view name) const;
    std::optional<std::uint64_t> find_of(std::string_view application, std::string_view name) const;

    std::vector<Setting> settings_;
};

// Whether this user may control caches: by CAIRN_DEVELOPER_MODE, else by the file.
bool is_developer_mode(const Log &log);

}  // namespace cairn
