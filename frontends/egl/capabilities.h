// Finds out, in a context that has just become current, whether and how programs can be cached in
// it.
// SPDX-License-Identifier: MIT
//
// It asks only for values that the driver's version and extensions have, so that it makes no GL
// error.
#pragma once

#include "context.h"

namespace cairn::egl {

// REQUIRES: `context` is current on this thread and not prepared.
void prepare(Context &context);

// Finds out what the front end has to know of the context's extensions and state. REQUIRES:
// `context` is current on this thread.
void describe(Context &context);

}  // namespace cairn::egl
