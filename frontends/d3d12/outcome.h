// The outcome of a call on a cache, before it is an HRESULT.
// SPDX-License-Identifier: MIT
#pragma once

namespace cairn::d3d12 {

enum class Outcome {
    ok,
    not_found,
    exists,         // the key is there already
    collision,      // another key of the same hash is there
    full,           // the cache's limit, the disk, or the user's quota
    disabled,       // by ShaderCacheControl
    busy,           // another process is in the middle of something; later it works
    other_version,  // a session of another Version is open
    cannot_open,    // the log line says why
    cannot_write,   // permissions, or a read-only file system
    no_memory,
    failed,
};

}  // namespace cairn::d3d12
