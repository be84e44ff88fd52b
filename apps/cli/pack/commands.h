// The commands of `cairn pack`.
// SPDX-License-Identifier: MIT
#pragma once

#include "command.h"

namespace cairn::cli {

// In the order of `cairn pack --help`.
#define CAIRN_PACK_COMMANDS(X) \
    X(create)                  \
    X(inspect)                 \
    X(verify)                  \
    X(merge)                   \
    X(diff)                    \
    X(install)                 \
    X(remove)                  \
    X(ls)

#define CAIRN_DECLARE_PACK_COMMAND(name) extern const Command pack_##name##_command;
CAIRN_PACK_COMMANDS(CAIRN_DECLARE_PACK_COMMAND)
#undef CAIRN_DECLARE_PACK_COMMAND

}  // namespace cairn::cli
