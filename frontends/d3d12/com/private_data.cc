// SPDX-License-Identifier: MIT
#include "com/private_data.h"

#include <cstring>
#include <utility>

namespace cairn::d3d12 {
namespace {

// WKPDID_D3DDebugObjectNameW: where SetName keeps the name.
constexpr Guid kNameGuid = {
    0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};

// As a program for vkd3d may also be compiled to have 4 bytes (VKD3D_WIN32_WCHAR), the smaller size
// is the safe one: such a name is cut short, and nothing is read behind it.
constexpr size_t kCharacterSize = CAIRN_D3D12_VKD3D ? 2 : sizeof(wchar_t);

bool is_end(const unsigned char *character) {
    constexpr unsigned char kEnd[kCharacterSize] = {};
    return std::memcmp(character, kEnd, kCharacterSize) == 0;
}

}  // namespace

Result PrivateData::get(const Guid *guid, uint32_t *size, void *data) {
    if (guid == nullptr || size == nullptr) return kInvalidArgument;
    std::shared_ptr<Unknown> object;  // released when the lock is released
    {
        const MutexLock lock(mutex_);
        const auto found = items_.find(*guid);
        if (found == items_.end()) {
            *size = 0;
            return kNotFound;
        }
        const auto stored = static_cast<uint32_t>(found->second.bytes.size());
        const bool is_enough = data == nullptr || *size >= stored;
        *size = stored;
        if (!is_enough) return kMoreData;
        if (data != nullptr) {
            object = found->second.object;
            std::memcpy(data, found->second.bytes.data(), stored);
        }
    }
    if (object != nullptr) {
        object->AddRef();
    }
    return kOk;
}

// Puts an item in place of an older one; nullopt removes it. The older one's reference is released
// when the lock is released.
Result PrivateData::replace(const Guid &guid, std::optional<Item> item) {
    Items::node_type removed;
    const MutexLock lock(mutex_);
    if (item) {
        std::swap(items_[guid], *item);
        return kOk;
    }
    removed = items_.extract(guid);
    return removed.empty() ? kFalse : kOk;
}

Result PrivateData::set(const Guid *guid, uint32_t size, const void *data) {
    if (guid == nullptr || (data == nullptr && size != 0)) return kInvalidArgument;
    if (data == nullptr) return replace(*guid, std::nullopt);
    const auto *bytes = static_cast<const unsigned char *>(data);
    return replace(*guid, Item{{bytes, bytes + size}});
}

Result PrivateData::set_interface(const Guid *guid, Unknown *object) {
    if (guid == nullptr || object == nullptr) return set(guid, 0, nullptr);
    object->AddRef();
    std::shared_ptr<Unknown> reference(object, ReleaseReference());
    const auto *bytes = reinterpret_cast<const unsigned char *>(&object);
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the pointer itself is the data
    return replace(*guid, Item{{bytes, bytes + sizeof object}, std::move(reference)});
}

Result PrivateData::set_name(const wchar_t *name) {
    if (name == nullptr) return kInvalidArgument;
    const auto *text = reinterpret_cast<const unsigned char *>(name);
    size_t size = 0;
    while (!is_end(text + size)) {
        size += kCharacterSize;
    }
    return set(&kNameGuid, static_cast<uint32_t>(size + kCharacterSize), text);
}

}  // namespace cairn::d3d12
