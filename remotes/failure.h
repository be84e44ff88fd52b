// How an engine gives up: with the remote's name before what is wrong and what to do.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions. Failure: it is one.
#pragma once

#include <string>

#include "remotes/remote.h"

namespace cairn::remotes {

// `remote` is Url::shown, which has no secret.
[[noreturn]] inline void fail(Trouble trouble, const std::string &remote, const std::string &what) {
    throw RemoteFailure(trouble, remote + ": " + what);
}

[[noreturn]] inline void fail_too_large(const std::string &remote, const std::string &name,
                                        std::uint64_t size_max) {
    fail(Trouble::too_large, remote,
         name + " has more than " + std::to_string(size_max) + " bytes, so it was not read");
}

[[noreturn]] inline void fail_too_many(const std::string &remote, const std::string &folder,
                                       std::uint64_t listed_max) {
    fail(Trouble::too_large, remote,
         "the folder `" + folder + "` has more than " + std::to_string(listed_max) +
             " names; remove the oldest of them with the storage's own tools");
}

}  // namespace cairn::remotes
