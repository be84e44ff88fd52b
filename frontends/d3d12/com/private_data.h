// Data that applications attach to an object: bytes or an object of theirs by GUID, and a name.
// SPDX-License-Identifier: MIT
//
// Thread safety: internally synchronised. Objects of the application are not called with the lock
// held.
// Failure: the HRESULT that ID3D12Object's method of the same name returns, or std::bad_alloc, and
// nothing is changed.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "com/object.h"

namespace cairn::d3d12 {

class PrivateData {
  public:
    PrivateData() = default;
    PrivateData(const PrivateData &) = delete;
    PrivateData &operator=(const PrivateData &) = delete;

    // S_OK; DXGI_ERROR_NOT_FOUND, with a size of 0; DXGI_ERROR_MORE_DATA, with the size;
    // E_INVALIDARG. `data` null asks for the size. Of an object, a reference is given.
    Result get(const Guid *guid, uint32_t *size, void *data);
    // S_OK; S_FALSE: `data` is null and there was nothing to remove; E_INVALIDARG.
    Result set(const Guid *guid, uint32_t size, const void *data);
    Result set_interface(const Guid *guid, Unknown *object);
    // A name in the characters of the calling convention: 4 bytes each where wchar_t is the
    // compiler's; 2 in vkd3d's headers, which say uint16_t.
    Result set_name(const wchar_t *name);

  private:
    struct Item {
        std::vector<unsigned char> bytes;
        // One reference of ours to an object of the application, whose pointer the bytes are.
        std::shared_ptr<Unknown> object = nullptr;
    };
    struct Before {
        bool operator()(const Guid &one, const Guid &other) const {
            return std::memcmp(&one, &other, sizeof one) < 0;
        }
    };
    using Items = std::map<Guid, Item, Before>;

    Result replace(const Guid &guid, std::optional<Item> item);

    Mutex mutex_;
    Items items_;  // guarded by mutex_
};

}  // namespace cairn::d3d12
