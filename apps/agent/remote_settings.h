// Which remotes there are, and what each is for: `~/.config/cairn/remotes`, and options.
// SPDX-License-Identifier: MIT
//
//     [studio]                             # its name
//     url = s3://shaders/game?region=eu-central-1
//     namespace = game                     # keeps projects apart; default: cairn
//     use = read write                     # default: read
//     trust = ci farm                      # names of trusted keys; default: all of them
//     sign = ci                            # the key of one's own that signs what is pushed
//     limit = 20G                          # what `cairn remote gc` leaves there
//
// `#` begins a comment. The file decides what drivers run, so it counts only where it belongs to the user or the
// system and nobody else may write it. The order of the sections is that in which remotes are asked.
//
// Thread safety: used by main only. They read the environment.
// Failure: a Failure that names the file, the line and what is wrong with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"
#include "text.h"

namespace cairn::fleet {

struct RemoteSettings {
    std::string name;  // for people: of the section, else the URL
    std::string url;
    std::string name_space = "cairn";
    bool reads = true, writes = false;
    cli::Words trust;
    std::string sign;
    std::optional<std::uint64_t> limit_bytes;
};

std::vector<RemoteSettings> remotes_in(std::string_view text, const std::string &path);
// Those of the user's file; none where there is no file.
std::vector<RemoteSettings> configured_remotes();

// What commands are told of remotes.
struct RemoteOptions {
    cli::Words remotes;  // names in the file, or URLs; empty: all of the file
    std::optional<std::string> name_space;
    cli::Words trust;
    std::string sign;
};
enum class RemoteUse { read, write, any };
void add_remote_options(cli::Arguments &take, RemoteOptions &options, RemoteUse use);

// Those that are meant and may be used so. A Failure where there are none.
std::vector<RemoteSettings> choose_remotes(const RemoteOptions &options, RemoteUse use);

}  // namespace cairn::fleet
