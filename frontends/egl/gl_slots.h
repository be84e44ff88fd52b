// GL entry points that go to the vendor of the thread's current context, for when there are several
// vendors.
// SPDX-License-Identifier: MIT
//
// GLVND asks a vendor for the address of each GL function once, by name, and we are one vendor.
// With several vendors behind us, each name gets a slot: a few instructions that jump through the
// current vendor's table. The slots are fixed code, so that no memory has to be made executable.
// Machines other than x86-64 and i386 have no slots; there GL calls go to the first vendor.
//
// Thread safety: internally synchronised; tables only ever gain entries.
// Failure: when the slots run out, further functions are reported as not supported.
#pragma once

#include "vendors.h"

namespace cairn::egl {

// The slot for a "gl..." function; null when no vendor has the function or no slot is left.
void *gl_slot(const char *name);

// From now on this thread's slots go to this vendor.
void use_gl_slots_of(const Vendor &vendor);

}  // namespace cairn::egl
