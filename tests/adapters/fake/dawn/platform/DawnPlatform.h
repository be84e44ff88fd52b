// What Dawn's platform interface declares of its cache. See ../../README.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace dawn::platform {

class CachingInterface {
  public:
    CachingInterface() = default;
    virtual ~CachingInterface() = default;
    CachingInterface(const CachingInterface &) = delete;
    CachingInterface &operator=(const CachingInterface &) = delete;
    virtual size_t LoadData(const void *key, size_t keySize, void *valueOut, size_t valueSize) = 0;
    virtual void StoreData(const void *key, size_t keySize, const void *value,
                           size_t valueSize) = 0;
};

}  // namespace dawn::platform
