// SPDX-License-Identifier: MIT
#include "com/private_data.h"

#include <algorithm>
#include <cstring>
#include <cwchar>
#include <utility>

namespace cairn::d3d12 {
namespace {

// WKPDID_D3DDebugObjectNameW: where SetName keeps the name.
constexpr Guid kNameGuid = {
    0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};

}  // namespace

PrivateData::~PrivateData() {
    for (const Item &item : items_) {
        if (item.object != nullptr) {
            item.object->Release();
        }
    }
}

std::vector<PrivateData::Item>::iterator PrivateData::find(const Guid &guid) {
    return std::ranges::find_if(items_, [&](const Item &item) { return item.guid == guid; });
}

Result PrivateData::get(const Guid *guid, uint32_t *size, void *data) {
    if (guid == nullptr || size == nullptr) {
        return kInvalidArgument;
    }
    const std::lock_guard lock(mutex_);
    const auto found = find(*guid);
    if (found == items_.end()) {
        *size = 0;
        return kNotFound;
    }
    const auto stored = static_cast<uint32_t>(found->bytes.size());
    if (data != nullptr && *size < stored) {
        *size = stored;
        return kMoreData;
    }
    *size = stored;
    if (data != nullptr) {
        if (found->object != nullptr) {
            // With the lock held, so that nobody removes it meanwhile.
            found->object->AddRef();
        }
        std::memcpy(data, found->bytes.data(), stored);
    }
    return kOk;
}

// Puts an item in place of an older one; null removes it.
Result PrivateData::replace(const Guid &guid, Item *item) {
    Item old;
    bool was_there = false;
    {
        const std::lock_guard lock(mutex_);
        const auto found = find(guid);
        was_there = found != items_.end();
        if (was_there) {
            std::swap(old, *found);
            items_.erase(found);
        }
        if (item != nullptr) {
            items_.push_back(std::move(*item));
        }
    }
    if (old.object != nullptr) {
        old.object->Release();
    }
    return item == nullptr && !was_there ? kFalse : kOk;
}

Result PrivateData::set(const Guid *guid, uint32_t size, const void *data) {
    if (guid == nullptr || (data == nullptr && size != 0)) {
        return kInvalidArgument;
    }
    if (data == nullptr) {
        return replace(*guid, nullptr);
    }
    Item item;
    item.guid = *guid;
    const auto *bytes = static_cast<const unsigned char *>(data);
    item.bytes.assign(bytes, bytes + size);
    return replace(*guid, &item);
}

Result PrivateData::set_interface(const Guid *guid, Unknown *object) {
    if (guid == nullptr) {
        return kInvalidArgument;
    }
    if (object == nullptr) {
        return replace(*guid, nullptr);
    }
    Item item;
    item.guid = *guid;
    item.bytes.resize(sizeof(void *));
    std::memcpy(item.bytes.data(), &object, sizeof(void *));
    item.object = object;
    object->AddRef();
    return replace(*guid, &item);
}

Result PrivateData::set_name(const wchar_t *name) {
    if (name == nullptr) {
        return kInvalidArgument;
    }
    return set(&kNameGuid, static_cast<uint32_t>((std::wcslen(name) + 1) * sizeof *name), name);
}

}  // namespace cairn::d3d12
