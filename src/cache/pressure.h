// Whether memory is short, as Linux tells it: pressure stall information (PSI) of the system or of
// the process's cgroup, and the limits of that cgroup (version 2).
// SPDX-License-Identifier: MIT
//
// To close a trigger takes the kernel ten milliseconds, also when a process ends: so there is one,
// not one for each degree, and short-lived processes should have none.
//
// Nothing is polled for: the kernel wakes who waits for sources(). Where it offers nothing, or not
// to this user, there are none. A limit of a cgroup above one's own is felt as pressure only.
//
// Thread safety: externally synchronised.
// Ownership: owns the descriptors that it waits for, stand-ins excepted.
// Failure: what cannot be opened or read is not there.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "os/event.h"

namespace cairn {

enum class Pressure {
    none,
    moderate,  // some have waited for memory for a tenth of two seconds
    critical   // all have for a twentieth of ten, too, or the cgroup is at its limit
};

struct PressureOptions {
    bool watch = true;
    // For tests: where /proc and /sys are, and descriptors that stand for the trigger and the file
    // of events.
    std::string root;
    int trigger_stand_in = -1, events_stand_in = -1;
};

class PressureWatch {
  public:
    // Opens what there is; takes some system calls.
    void open(const PressureOptions &options);
    // What to wait for.
    std::span<Event::Other> sources() { return std::span(sources_).first(count_); }
    // What the latest wait has told. To be asked after each.
    Pressure look();

  private:
    enum class Says : std::uint8_t { look_at_stalls, look_at_group };

    void add(File file, Says says, int stand_in);
    bool open_stalls(const std::string &path, const PressureOptions &options);
    Pressure pressure_of_stalls() const;
    Pressure pressure_of_group() const;
    std::optional<std::uint64_t> number_of(const char *file) const;

    static constexpr std::size_t kSourcesMax = 2;
    std::array<Event::Other, kSourcesMax> sources_;
    std::array<Says, kSourcesMax> says_ = {};
    std::array<File, kSourcesMax> files_;
    std::size_t count_ = 0;
    std::string group_;   // its directory; empty: none is known
    std::string stalls_;  // the file with the trigger
};

}  // namespace cairn
