// Wakes a thread by another thread's signal, at a time, or when the kernel says so by a descriptor.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread may signal; one waits.
// Ownership: owns its descriptor. A forked child shares it: it makes an Event of its own.
// Failure: make() fails where there are no more descriptors; nothing else does.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "os/file.h"

namespace cairn {

class Event {
  public:
    // Another descriptor to wait for.
    struct Other {
        enum class Kind {
            urgent,   // a trigger of open_trigger() fired
            changed,  // a file of a cgroup is another than when it was last read
            readable  // something to read, which is taken from it (eight bytes)
        };
        int fd = -1;
        Kind kind = Kind::urgent;
        bool happened = false;
        bool ended = false;  // will never happen again
    };

    static Result<Event> make();

    // One wait ends, now or when it begins.
    void signal() const;
    // Until a signal, one of `others` or `deadline_ns` by monotonic_ns(); UINT64_MAX: no time.
    void wait_until(std::uint64_t deadline_ns, std::span<Other> others) const;

  private:
    explicit Event(UniqueFd fd) : fd_(std::move(fd)) {}
    UniqueFd fd_;
};

// A file of the kernel's, to which `text` is written and which is waited for as Kind::urgent then.
Result<UniqueFd> open_trigger(const std::string &path, const std::string &text);

}  // namespace cairn
