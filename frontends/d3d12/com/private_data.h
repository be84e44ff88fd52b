// What applications attach to an object: bytes or an object of theirs by GUID, and a name.
// SPDX-License-Identifier: MIT
//
// Thread safety: internally synchronised. Of objects of the application, nothing but AddRef is
// called with the lock held. Failure: the HRESULT that ID3D12Object's method of the same name
// returns.
#pragma once

#include <mutex>
#include <vector>

#include "com/types.h"

namespace cairn::d3d12 {

class PrivateData {
  public:
    PrivateData() = default;
    ~PrivateData();
    PrivateData(const PrivateData &) = delete;
    PrivateData &operator=(const PrivateData &) = delete;

    // S_OK; DXGI_ERROR_NOT_FOUND, with a size of 0; DXGI_ERROR_MORE_DATA, with the size;
    // E_INVALIDARG. `data` null asks for the size. Of an object, a reference is given.
    Result get(const Guid *guid, uint32_t *size, void *data);
    // S_OK; S_FALSE: `data` is null and there was nothing to remove; E_INVALIDARG; E_OUTOFMEMORY.
    Result set(const Guid *guid, uint32_t size, const void *data);
    Result set_interface(const Guid *guid, Unknown *object);
    Result set_name(const wchar_t *name);

  private:
    struct Item {
        Guid guid = {};
        std::vector<unsigned char> bytes;
        Unknown *object = nullptr;  // a reference; bytes are then the pointer
    };
    Result replace(const Guid &guid, Item *item);
    std::vector<Item>::iterator find(const Guid &guid);

    std::mutex mutex_;
    std::vector<Item> items_;  // guarded by mutex_
};

}  // namespace cairn::d3d12
