// Programs that were linked before: in the display's cache, and below it on disk.
// SPDX-License-Identifier: MIT
//
// What the driver links goes to both; what is found on disk goes to the display's cache, too. What
// the application put into the display's cache (eglProgramCachePopulateANGLE) stays there: it may
// be anything, and is looked at no earlier than here.
//
// Thread safety: as links; the program is locked by the caller. Failure: a miss.
#pragma once

#include <cstdint>
#include <optional>

#include "key.h"
#include "program.h"

namespace cairn::egl {

// Whether there is an entry, whatever it may be worth.
bool has_cached(const Context &context, const ProgramKey &key);

// Gives the driver a binary that it takes, and returns what making that took, in nanoseconds.
// REQUIRES: the program is locked.
std::optional<uint64_t> load_cached(Context &context, Program &program, const ProgramKey &key);

// Takes the entry of a program that the driver has just linked.
void store_linked(Context &context, const ProgramKey &key, const Linked &made, uint64_t cost_ns);

// The right to make this program, as long as it lives, where CAIRN_EGL_LEASE asks for it: while
// another process has it, the constructor waits for what that stores, as long as it says.
class Turn {
  public:
    Turn(const Context &context, const ProgramKey &key);
    ~Turn() { cairn_lease_release(lease_); }
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;

  private:
    cairn_lease *lease_ = nullptr;
};

}  // namespace cairn::egl
