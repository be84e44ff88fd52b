// SPDX-License-Identifier: MIT
#include "session.h"

#include <cstring>
#include <new>

#include "com/entry_point.h"
#include "names.h"

namespace cairn::d3d12 {
namespace {

Bytes bytes(const void *data, size_t size) {
    return {static_cast<const std::byte *>(data), size};
}

constexpr uint32_t kDefaultMemoryBytes = 1024 * 1024;
constexpr uint32_t kDefaultMemoryEntries = 128;
constexpr uint32_t kDefaultFileBytes = 128 * 1024 * 1024;
constexpr uint32_t kFileBytesMax = 1024 * 1024 * 1024;

bool is_own(const Guid &iid) {
    return iid == kIidShaderCacheSession || iid == kIidDeviceChild || iid == kIidObject ||
           iid == kIidUnknown;
}

bool is_valid(const SessionDesc *desc) {
    return desc != nullptr && !(desc->Identifier == Guid{}) &&
           (desc->Mode == kModeMemory || desc->Mode == kModeDisk) &&
           (desc->Flags & ~(kFlagDriverVersioned | kFlagUseWorkingDir)) == 0 &&
           desc->MaximumValueFileSizeBytes <= kFileBytesMax;
}

SessionDesc with_defaults(SessionDesc desc) {
    if (desc.MaximumInMemoryCacheSizeBytes == 0) {
        desc.MaximumInMemoryCacheSizeBytes = kDefaultMemoryBytes;
    }
    if (desc.MaximumInMemoryCacheEntries == 0) {
        desc.MaximumInMemoryCacheEntries = kDefaultMemoryEntries;
    }
    if (desc.MaximumValueFileSizeBytes == 0) {
        desc.MaximumValueFileSizeBytes = kDefaultFileBytes;
    }
    return desc;
}

Result result_of_create(const Setting &setting, Outcome outcome) {
    switch (outcome) {
        case Outcome::ok:
            return kOk;
        case Outcome::disabled:
            setting.say(Message::create_disabled);
            return kNotCurrentlyAvailable;
        case Outcome::other_version:
            setting.say(Message::create_already_open);
            return kAlreadyExists;
        case Outcome::busy:
            return kNotCurrentlyAvailable;
        case Outcome::no_memory:
            return kOutOfMemory;
        default:
            setting.say(Message::corrupt);
            return kCacheCorrupt;
    }
}

Result result_of_find(const Setting &setting, Outcome outcome) {
    switch (outcome) {
        case Outcome::ok:
            return kOk;
        case Outcome::collision:
            setting.say(Message::hash_collision);
            return kCacheHashCollision;
        case Outcome::disabled:
            setting.say(Message::disabled);
            return kNotCurrentlyAvailable;
        default:
            setting.say(Message::find_not_found);
            return kNotFound;
    }
}

Result result_of_store(const Setting &setting, Outcome outcome) {
    switch (outcome) {
        case Outcome::ok:
            return kOk;
        case Outcome::exists:
            setting.say(Message::store_already_present);
            return kAlreadyExists;
        case Outcome::collision:
            setting.say(Message::hash_collision);
            return kCacheHashCollision;
        case Outcome::full:
            setting.say(Message::store_cache_full);
            return kCacheFull;
        case Outcome::disabled:
            setting.say(Message::disabled);
            return kNotCurrentlyAvailable;
        case Outcome::cannot_write:
            return kAccessDenied;
        case Outcome::no_memory:
            return kOutOfMemory;
        default:
            return kFail;
    }
}

}  // namespace

Session::Session(SettingRef setting, Unknown *device, const SessionDesc &desc)
    : setting_(std::move(setting)), device_(device), desc_(desc) {
    if (device_ != nullptr) {
        device_->AddRef();
    }
}

Session::~Session() {
    if (device_ != nullptr) {
        device_->Release();
    }
}

Result Session::create(const SettingRef &setting, Unknown *device, const AdapterNames &names,
                       const SessionDesc *desc, const Guid *iid, void **session) {
    if (setting == nullptr || !is_valid(desc)) {
        if (setting != nullptr) {
            setting->say(Message::create_invalid_arguments);
        }
        return kInvalidArgument;
    }
    if (session == nullptr) {
        return kFalse;
    }
    *session = nullptr;
    if (iid == nullptr) {
        return kPointer;
    }
    if (!is_own(*iid)) {
        return kNoInterface;
    }
    auto *made = new (std::nothrow) Session(setting, device, with_defaults(*desc));
    if (made == nullptr) {
        return kOutOfMemory;
    }
    Result result =
        without_exceptions([&] { return result_of_create(*setting, made->join(names)); });
    if (result == kOk) {
        setting->say(Message::session_created);
        result = made->QueryInterface(iid, session);
        made->Release();
    } else {
        delete made;
    }
    return result;
}

Outcome Session::join(const AdapterNames &names) {
    const CacheNames name = cache_names(desc_, *setting_, names);
    if (desc_.Mode == kModeDisk && name.root.empty()) {
        return Outcome::cannot_open;
    }
    SessionCache::Options options;
    options.version = desc_.Version;
    options.memory_bytes = desc_.MaximumInMemoryCacheSizeBytes;
    options.memory_entries = desc_.MaximumInMemoryCacheEntries;
    options.control_root = setting_->root;
    options.hash = setting_->hash;
    if (desc_.Mode == kModeDisk) {
        options.disk.emplace();
        options.disk->root = name.root;
        options.disk->identifier = name.identifier;
        options.disk->about = name.about;
        options.disk->limit_bytes = desc_.MaximumValueFileSizeBytes;
    }
    return share_.join(name.identity, options, setting_->log, setting_->user);
}

Result Session::QueryInterface(const Guid *iid, void **object) {
    if (object == nullptr) {
        return kPointer;
    }
    *object = nullptr;
    if (iid == nullptr) {
        return kPointer;
    }
    if (!is_own(*iid)) {
        return kNoInterface;
    }
    AddRef();
    if (*iid == kIidUnknown) {
        *object = static_cast<SessionPointer<Pointer::unknown> *>(this);
    } else {
        *object = static_cast<SessionPointer<Pointer::session> *>(this);
    }
    return kOk;
}

uint32_t Session::AddRef() {
    return references_.add();
}

uint32_t Session::Release() {
    const uint32_t left = references_.remove();
    if (left == 0) {
        const SettingRef setting = setting_;
        delete this;
        setting->say(Message::session_destroyed);
    }
    return left;
}

Result Session::GetPrivateData(const Guid *guid, uint32_t *size, void *data) {
    return without_exceptions([&] { return private_data_.get(guid, size, data); });
}

Result Session::SetPrivateData(const Guid *guid, uint32_t size, const void *data) {
    return without_exceptions([&] { return private_data_.set(guid, size, data); });
}

Result Session::SetPrivateDataInterface(const Guid *guid, const void *object) {
    // The API says const and means a reference.
    auto *unknown = static_cast<Unknown *>(const_cast<void *>(object));
    return without_exceptions([&] { return private_data_.set_interface(guid, unknown); });
}

Result Session::SetName(const wchar_t *name) {
    return without_exceptions([&] { return private_data_.set_name(name); });
}

Result Session::GetDevice(const Guid *iid, void **device) {
    if (device == nullptr) {
        return kPointer;
    }
    *device = nullptr;
    if (iid == nullptr) {
        return kPointer;
    }
    return device_ == nullptr ? kNotFound : device_->QueryInterface(iid, device);
}

Result Session::FindValue(const void *key, uint32_t key_size, void *value, uint32_t *value_size) {
    if (value_size == nullptr || key == nullptr || key_size == 0) {
        return kInvalidArgument;
    }
    EntryRef entry;
    const auto wanted = value == nullptr ? SessionCache::Wanted::size : SessionCache::Wanted::value;
    const Result result = without_exceptions([&] {
        return result_of_find(*setting_, share_.cache().find(bytes(key, key_size), wanted, entry));
    });
    if (result != kOk) {
        return result;
    }
    const Bytes found = entry->value();
    const uint32_t capacity = *value_size;
    *value_size = static_cast<uint32_t>(found.size());
    if (value == nullptr || capacity < found.size()) {
        share_.cache().hold(std::move(entry));
        return value == nullptr ? kOk : kMoreData;
    }
    std::memcpy(value, found.data(), found.size());
    return kOk;
}

Result Session::StoreValue(const void *key, uint32_t key_size, const void *value,
                           uint32_t value_size) {
    if (key == nullptr || key_size == 0 || value == nullptr || value_size == 0) {
        return kInvalidArgument;
    }
    return without_exceptions([&] {
        return result_of_store(
            *setting_, share_.cache().store(bytes(key, key_size), bytes(value, value_size)));
    });
}

void Session::SetDeleteOnDestroy() {
    (void)without_exceptions([&] {
        if (share_.cache().delete_on_destroy() != Outcome::ok) {
            setting_->say(Message::delete_not_supported);
        }
        return kOk;
    });
}

#if CAIRN_D3D12_VKD3D
SessionDesc *Session::GetDesc(SessionDesc *result) {
    *result = desc_;
    return result;
}
#else
SessionDesc Session::GetDesc() {
    return desc_;
}
#endif

}  // namespace cairn::d3d12
