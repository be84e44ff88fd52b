// The generations below a root: which there are, and which have to go.
// SPDX-License-Identifier: MIT
//
// A generation that nobody has used for a long time is removed, and so are the least recently used
// ones while all together take more room than they may. Then it is the turn of applications that
// take more than their share: one cannot flush the others. An application that was given a limit of
// its own has that, and is not counted with the others. The latest one of an application is not
// superseded: it loses what was used longest ago. None is touched that somebody has open.
//
// A directory is renamed before its files are deleted: a process that is killed in between leaves
// a directory that nobody takes for a cache, and the next process deletes it.
//
// Thread safety: functions without state; any number of processes may be at it.
// Failure: what cannot be read or removed stays.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "os/file.h"

namespace cairn {

struct KnownGeneration {
    std::string identifier;
    std::string application;
    std::uint64_t used_ns;                     // since 1970, to the hour
    std::uint64_t bytes;                       // on disk
    std::optional<std::uint64_t> limit_bytes;  // that its application was given: see limit.h
};

// `stop` may be null; once it is set, no more are looked at.
std::vector<KnownGeneration> list_generations(const Directory &root,
                                              const std::atomic<bool> *stop = nullptr);

// busy: somebody has it open, or has used it since `used_ns`.
Status remove_generation(const Directory &root, const KnownGeneration &generation);

// Removes a cache with all that is in its directory, also while processes have it open.
Status remove_cache(const Directory &root, const std::string &identifier);

struct Upkeep {
    std::uint64_t unused_max_ns;  // generations that were not used for longer go
    std::uint64_t total_bytes;    // of all generations of applications without a limit of their own
};

// Whether it is time to look: an hour after somebody has. Then it counts as done.
bool is_upkeep_due(const Directory &root);

// Removes what has to go. Ends early when `stop` is set; then it is due again.
void remove_superseded(const std::string &root, const Upkeep &upkeep, const std::atomic<bool> &stop,
                       const Log &log);

}  // namespace cairn
