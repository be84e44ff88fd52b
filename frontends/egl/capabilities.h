// Finds out, in a context that has just become current, whether and how programs can be cached in
// it.
// SPDX-License-Identifier: MIT
//
// Asks the driver only what its version and extensions say can be asked, so that no GL error is
// made.
#pragma once

#include "context.h"

namespace cairn::egl {

// REQUIRES: `context` is current on this thread and not prepared.
void prepare(Context &context);

// What of the context's extensions and state concerns the front end. REQUIRES: `context` is current
// on this thread.
void describe(Context &context);

}  // namespace cairn::egl
