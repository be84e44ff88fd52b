// The identity of a driver: its own words, the build-ids of its libraries, and the options that it
// was started with.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions of the driver and of what is loaded in the process.
#pragma once

#include <string>

#include "vendors.h"

namespace cairn::egl {

struct DriverNames {
    std::string vendor;
    std::string renderer;
    std::string version;
    std::string language;
};

// Readable lines. Two drivers with the same identity make the same of every program.
// REQUIRES: a context of the vendor has been current, so that all parts of its driver are loaded.
std::string driver_identity(const Vendor &vendor, const DriverNames &names);

}  // namespace cairn::egl
