// Shows an address in the user's browser, and to nobody else.
// SPDX-License-Identifier: MIT
//
// Every user of a machine may see the arguments of all processes. So the browser is not started with the address, which
// has the token in it, but with the path of a file that only its user may read, and which leads there.
//
// Thread safety: externally synchronised.
// Ownership: the file is gone with the object.
// Failure: false: no browser was started.
#pragma once

#include <string>

namespace cairn::dashboard {

class Opening {
  public:
    Opening() = default;
    Opening(const Opening &) = delete;
    Opening &operator=(const Opening &) = delete;
    ~Opening();

    // Below `folder`, where the user has no folder for what runs. False, too, without a display.
    bool open(const std::string &address, const std::string &folder);

  private:
    std::string file_;
};

}  // namespace cairn::dashboard
