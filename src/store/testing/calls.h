// A put and a get in one line each, for tests with several stores.
// SPDX-License-Identifier: MIT
//
// Thread safety: as Store.
#pragma once

#include <string>

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

}  // namespace cairn::testing
