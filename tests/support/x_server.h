// An X server without a screen (Debian's package `xvfb`) that serves this machine only and ends
// with the test.
// SPDX-License-Identifier: MIT
//
// Thread safety: immutable after construction. Failure: display() is empty when the server did not
// start.
#pragma once

#include <string>
#include <vector>

#include "support/process.h"

namespace cairn_test {

class XServer {
  public:
    // `program` is Xvfb, or a program like it. The server takes a display number that is free.
    explicit XServer(const std::string &program = "Xvfb",
                     const std::vector<std::string> &options = {});
    ~XServer();
    XServer(const XServer &) = delete;
    XServer &operator=(const XServer &) = delete;

    // For DISPLAY, such as ":7".
    const std::string &display() const { return display_; }

  private:
    Child server_;
    std::string display_;
};

}  // namespace cairn_test
