// GL entry points that go to the driver of the thread's current context, for when there are several
// drivers.
// SPDX-License-Identifier: MIT
//
// GLVND asks a vendor for the address of each GL function once, by name, and we are one vendor.
// With several drivers behind us, each name gets a slot: a few instructions that jump through the
// current driver's table. The slots are fixed code, so that no memory has to be made executable.
// Machines other than x86-64 and i386 have no slots; there GL calls go to the first driver.
//
// Thread safety: internally synchronised; tables only ever gain entries.
// Failure: when the slots run out, further functions are reported as not supported.
#pragma once

#include "functions.h"

namespace cairn::gl {

#if defined(__x86_64__) || defined(__i386__)
inline constexpr bool kHasSlots = true;
#else
inline constexpr bool kHasSlots = false;
#endif

// From now on the slots can lead to this driver. The first one gets the calls of threads on which
// nothing was current yet. False when there are 8 already.
bool add_to_slots(Driver &driver);

// The slot for a function of this name, whether or not a driver has it: calls that reach a driver
// without it do nothing and return 0. Null when no slot is left.
void *slot_of(const char *name);

// From now on this thread's slots go to this driver.
void use_slots_of(const Driver &driver);

}  // namespace cairn::gl
