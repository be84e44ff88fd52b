// Calls in one line each, for tests with several stores.
// SPDX-License-Identifier: MIT
//
// Thread safety: as Store.
#pragma once

#include <string>

#include "os/environment.h"
#include "store/store.h"

namespace cairn::testing {

inline Error put(Store &store, const std::string &key, const std::string &value) {
    return store.put(as_bytes(key), as_bytes(value), {}).error();
}

// The value or "(miss)".
inline std::string get(Store &store, const std::string &key) {
    const auto blob = store.get(as_bytes(key));
    if (!blob) return "(miss)";
    const Bytes value = blob->value();
    return {reinterpret_cast<const char *>(value.data()), value.size()};
}

// It rebuilds the index first where that is due, and is busy where that has to go on later.
inline Error compress(Store &store) {
    Error error = Error::busy;
    for (int i = 0; i < 1000 && error == Error::busy; ++i) {
        error = store.compress().error();
        if (error == Error::busy) sleep_us(1'000);
    }
    return error;
}

}  // namespace cairn::testing
