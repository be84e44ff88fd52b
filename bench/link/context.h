// SPDX-License-Identifier: MIT
// A GL context that is current on the calling thread. Everything about the window system is behind
// this header.
// Thread safety: belongs to one thread. Failure: std::runtime_error where there is no such context.
#pragma once

#include "bench/link/family.h"
#include "bench/link/gl.h"

namespace bench {

class Context {
  public:
    explicit Context(Api api);
    // Ends the display, too: Cairn has then stored what it took.
    ~Context();
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;

    FindFunction find_function() const;

  private:
    void *display_;
    void *context_;
};

}  // namespace bench
