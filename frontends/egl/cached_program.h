// Programs that were linked before: in the display's cache, and below it on disk.
// SPDX-License-Identifier: MIT
//
// A new binary goes to both; a binary that is found on disk goes to the display's cache, too. An
// entry that the application put into the display's cache (eglProgramCachePopulateANGLE) stays
// there. It may be anything: only a link looks at it.
//
// Thread safety: as links; the program is locked by the caller. Failure: a miss.
#pragma once

#include <cstdint>
#include <optional>

#include "key.h"
#include "program.h"

namespace cairn::egl {

// Whether there is an entry, be it usable or not.
bool has_cached(const Context &context, const ProgramKey &key);

// Gives the driver a binary that it takes. Returns the time that it took to make the binary, in
// nanoseconds.
// REQUIRES: the program is locked.
std::optional<uint64_t> load_cached(Context &context, Program &program, const ProgramKey &key);

// Takes the entry of a program that the driver has just linked.
void store_linked(Context &context, const ProgramKey &key, const Linked &made, uint64_t cost_ns);

// The right to make this program, as long as it lives, if CAIRN_EGL_LEASE is set: while another
// process has the right, the constructor waits for its result, at most as long as that variable
// says.
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
