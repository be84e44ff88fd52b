// What a call on a remote came to, for tests.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "remotes/remote.h"

namespace cairn_test {

struct Outcome {
    std::optional<cairn::remotes::Trouble> trouble;  // nullopt: it worked
    std::string message;

    bool has(const std::string &text) const { return message.find(text) != std::string::npos; }
};

template <typename Work>
Outcome outcome_of(Work work) {
    try {
        work();
    } catch (const cairn::remotes::RemoteFailure &failure) {
        return {failure.trouble(), failure.what()};
    }
    return {};
}

}  // namespace cairn_test
