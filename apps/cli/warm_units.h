// SPDX-License-Identifier: MIT
// The units of systemd by which a user's sessions run `cairn warm` by themselves (docs/recipes.md), and
// the links in the user's home that enable them, as those of `systemctl --user enable`.
//
// A unit, or a link of its name, that does not lead to a unit of this name is the user's, and stays: a
// link to /dev/null is how a user masks it.
//
// Thread safety: used by main only.
// Failure: a Failure that says what to do; some of the links may be made or removed then.
#pragma once

#include <string>

namespace cairn::cli {

class WarmUnits {
  public:
    // Those of the user with this home, and of the Cairn that `executable` was installed with.
    WarmUnits(const std::string &home, const std::string &executable);

    // The folder in which the links are made, or above it.
    const std::string &folder() const { return folder_; }

    // Why they cannot be enabled; empty: they can.
    std::string obstacle() const;
    // Why they are not enabled, for the next log-in; empty: they are.
    std::string why_off() const;

    // Whether something was changed. REQUIRES: obstacle() is empty.
    bool enable() const;
    // The same; also where there is an obstacle.
    bool disable() const;

  private:
    std::string folder_;
    std::string installed_;
};

}  // namespace cairn::cli
