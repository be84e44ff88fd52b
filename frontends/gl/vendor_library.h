// How GLVND starts a vendor library, and how a front end starts the real ones behind it.
// SPDX-License-Identifier: MIT
//
// Thread safety: one thread at a time. Ownership: vendors live as long as the process; their
// libraries are never closed. Failure: null, with a log line.
#pragma once

#include <memory>
#include <string>

#include "functions.h"
#include "record/functions.h"
#include "settings.h"

namespace cairn::gl {

// The arguments of a vendor library's entry point, but for what it fills in.
template <typename Exports, typename Self>
struct Host {
    uint32_t version = 0;
    const Exports *exports = nullptr;
    Self *self = nullptr;
};

// The function of this name in a library, which is loaded. `severity` is that of its absence.
void *function_in(const std::string &file, const char *name, Severity severity);

// Starts the vendor of this entry point. A Vendor is a Driver with `imports`, which GLVND's vendors
// fill in, and with resolve(), which is false where they lack something.
template <typename Vendor, typename Main, typename Exports, typename Self>
std::unique_ptr<Vendor> start_vendor(const std::string &name, Main entry,
                                     const Host<Exports, Self> &host) {
    auto vendor = std::make_unique<Vendor>();
    auto &imports = vendor->imports;
    if (!entry(host.version, host.exports, host.self, &imports) ||
        imports.getProcAddress == nullptr || imports.getDispatchAddress == nullptr ||
        imports.setDispatchIndex == nullptr) {
        log().write(Severity::error, "vendor %s: does not start", name.c_str());
        return nullptr;
    }
    vendor->find = reinterpret_cast<void *(*)(const char *)>(imports.getProcAddress);
    if (!vendor->resolve()) {
        log().write(Severity::error, "vendor %s: is not whole", name.c_str());
        return nullptr;
    }
    vendor->code = reinterpret_cast<void *>(imports.getDispatchAddress);
    fill(vendor->gl, vendor->find);
    if (settings().records_recipes) vendor->recorded = record::functions_of(vendor->find);
    return vendor;
}

}  // namespace cairn::gl
