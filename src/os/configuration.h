// The user's configuration: `cairn/config` in the configuration directory, and the environment.
// SPDX-License-Identifier: MIT
//
// The file has lines `name = value`; `#` begins a comment. A line `[application NAME]` or
// `[d3d12 GUID]` begins a section: the lines below it are about that application, or about the
// D3D12 sessions of that identifier. The last line of a name counts. The file must be the user's
// own or the system's, and not writable by others, and have at most 64 KiB.
//
//     developer_mode = 1
//     limit = 4G                      # of each application; bytes, or with K, M, G or T
//     [application chromium]
//     limit = 8G
//     [d3d12 6f1c0e9a-4b6c-4f0e-9d50-2f8f3c1de0a7]
//     shared = 1                      # by all programs
//
// Thread safety: const methods at once. Functions read the environment when they are called.
// Failure: a line that cannot be read or understood counts for nothing, and is logged.
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
    // Nothing is configured.
    Configuration() = default;
    // Of a file of this text; `name` is the file's, for log lines.
    Configuration(std::string_view text, const char *name, const Log &log);
    // Of the user's file. Reads the environment.
    static Configuration read(const Log &log);

    bool developer_mode() const;
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

    bool take_line(std::string_view line, std::string &section);
    std::optional<std::uint64_t> find(std::string_view section, std::string_view name) const;

    std::vector<Setting> settings_;
};

// Whether this user may control caches: by CAIRN_DEVELOPER_MODE, else by the file.
bool is_developer_mode(const Log &log);

}  // namespace cairn
