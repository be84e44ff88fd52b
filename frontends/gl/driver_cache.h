// Where the driver keeps machine code: a directory of the application's own, where a pack has such
// code for it or the user asks for it; see docs/driver_cache.md.
// SPDX-License-Identifier: MIT
//
// Drivers are told by variables of the environment. They read them when they are loaded, when a
// display or a screen is initialised, or, as Mesa's llvmpipe, when the first context is made. The
// variables are there only during such calls, so that children of the application do not inherit
// them.
//
// Thread safety: begin_driver_cache() before anything else of the front end; the others from any
// thread.
// Failure: the driver keeps its code where it always does.
#pragma once

#include <string>

namespace cairn::gl {

void begin_driver_cache();

// Whether the driver is to keep its code in such a directory. Costs a load.
bool has_driver_cache();

// While one lives, drivers find the variables, if there are any.
class TellingDriver {
  public:
    TellingDriver();
    TellingDriver(const TellingDriver &) = delete;
    TellingDriver &operator=(const TellingDriver &) = delete;
    ~TellingDriver();

  private:
    bool is_telling_ = false;
};

// A call to the driver in which it may read them.
template <typename Call>
auto telling_driver(Call call) {
    const TellingDriver telling;
    return call();
}

// The driver of this identity is running: puts what packs have for it in place. Only the first call
// in a process does anything.
void place_driver_files(const std::string &identity);

}  // namespace cairn::gl
