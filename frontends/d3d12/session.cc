// SPDX-License-Identifier: MIT
#include "session.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>

#include "base/guarded.h"
#include "common/application.h"
#include "os/configuration.h"
#include "os/environment.h"

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
    const auto complete = [](uint32_t &limit, uint32_t usual) {
        limit = limit == 0 ? usual : limit;
    };
    complete(desc.MaximumInMemoryCacheSizeBytes, kDefaultMemoryBytes);
    complete(desc.MaximumInMemoryCacheEntries, kDefaultMemoryEntries);
    complete(desc.MaximumValueFileSizeBytes, kDefaultFileBytes);
    return desc;
}

constexpr const char *kWorkingDirectoryFolder = "/d3d12-shader-cache";
constexpr const char *kPrefix = "d3d12-";
constexpr size_t kGuidSize = 36;
static_assert(std::char_traits<char>::length(kPrefix) + kApplicationNameMax + 1 + kGuidSize +
                  2 * (1 + kShortHashSize) <=
              CAIRN_IDENTIFIER_SIZE_MAX);

std::string text_of(const Guid &guid) {
    char text[40];
    const uint8_t *last = guid.Data4;
    std::snprintf(text, sizeof text, "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x", guid.Data1,
                  unsigned{guid.Data2}, unsigned{guid.Data3}, unsigned{last[0]}, unsigned{last[1]},
                  unsigned{last[2]}, unsigned{last[3]}, unsigned{last[4]}, unsigned{last[5]},
                  unsigned{last[6]}, unsigned{last[7]});
    return text;
}

// The program whose cache it is, with a hyphen behind it; "" where all share it.
std::string application_part(const Setting &setting, const std::string &guid) {
    if (Configuration::read(Log(setting.log, setting.user)).is_d3d12_shared(guid)) return "";
    const std::string &name = setting.application ? *setting.application : application_name();
    return name.empty() ? "" : name + "-";
}

// In a text of lines.
std::string as_line(std::string text) {
    const auto breaks = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
    std::ranges::replace_if(text, breaks, '?');
    return text;
}

// `desc` has no zeros that stand for defaults any more.
CacheOptions cache_options(const SessionDesc &desc, const Setting &setting) {
    CacheOptions result;
    const std::string guid = text_of(desc.Identifier);
    result.is_on_disk = desc.Mode == kModeDisk;
    const std::string application = result.is_on_disk ? application_part(setting, guid) : "";
    result.identifier = kPrefix + application + guid;
    result.about = "D3D12 shader cache " + guid + "\n";
    result.application = kPrefix + guid;  // where all share it
    if (!application.empty()) {
        result.application = application.substr(0, application.size() - 1);
        result.about += "application: " + result.application + "\n";
    }
    if ((desc.Flags & kFlagDriverVersioned) != 0) {
        const AdapterNames &names = setting.names;
        // Appended piece by piece: GCC 12 warns of what it makes of operator+ here.
        result.identifier.append("-").append(short_hash(names.adapter));
        result.identifier.append("-").append(short_hash(names.driver_version));
        result.driver = names.adapter + "\n" + names.driver_version;
        result.about += "adapter: " + as_line(names.adapter) + "\n";
        result.about += "driver: " + as_line(names.driver_version) + "\n";
    }
    result.root = result.control_root = setting.root;
    if (result.is_on_disk && (desc.Flags & kFlagUseWorkingDir) != 0) {
        const std::string directory = working_directory();
        result.root = directory.empty() ? "" : directory + kWorkingDirectoryFolder;
    }
    // MEMORY sessions obey the control of a root, and share with those that obey the same.
    result.identity = (result.is_on_disk ? "disk " : "memory ") + result.root + "/";
    result.identity += result.identifier;
    result.version = desc.Version;
    result.limit_bytes = desc.MaximumValueFileSizeBytes;
    result.memory_bytes = desc.MaximumInMemoryCacheSizeBytes;
    result.memory_entries = desc.MaximumInMemoryCacheEntries;
    result.hash = setting.hash;
    result.log = setting.log;
    result.log_user = setting.user;
    return result;
}

// What a call returns and says after an outcome.
struct Answer {
    Outcome outcome;
    Result result;
    std::optional<Message> message = std::nullopt;
};

// In each list, the last answer is also that to the outcomes that are not there.
constexpr Answer kOfCreate[] = {
    {Outcome::ok, kOk, Message::session_created},
    {Outcome::disabled, kNotCurrentlyAvailable, Message::create_disabled},
    {Outcome::other_version, kAlreadyExists, Message::create_already_open},
    {Outcome::busy, kNotCurrentlyAvailable},
    {Outcome::no_memory, kOutOfMemory},
    {Outcome::cannot_open, kCacheCorrupt, Message::corrupt},
};

constexpr Answer kOfFind[] = {
    {Outcome::ok, kOk},
    {Outcome::collision, kCacheHashCollision, Message::hash_collision},
    {Outcome::disabled, kNotCurrentlyAvailable, Message::disabled},
    {Outcome::not_found, kNotFound, Message::find_not_found},
};

constexpr Answer kOfStore[] = {
    {Outcome::ok, kOk},
    {Outcome::exists, kAlreadyExists, Message::store_already_present},
    {Outcome::collision, kCacheHashCollision, Message::hash_collision},
    {Outcome::full, kCacheFull, Message::store_cache_full},
    {Outcome::too_large, kCacheFull, Message::store_cache_full},
    {Outcome::no_space, kCacheFull, Message::store_cache_full},
    {Outcome::disabled, kNotCurrentlyAvailable, Message::disabled},
    {Outcome::denied, kAccessDenied},
    {Outcome::read_only, kAccessDenied},
    {Outcome::no_memory, kOutOfMemory},
    {Outcome::failed, kFail},
};

Result answer(const Setting &setting, Outcome outcome, std::span<const Answer> answers) {
    const auto found = std::ranges::find(answers, outcome, &Answer::outcome);
    const Answer &answer = found == answers.end() ? answers.back() : *found;
    if (answer.message) {
        setting.say(*answer.message);
    }
    return answer.result;
}

}  // namespace

Session::Session(SettingRef setting, Unknown *device, const SessionDesc &desc)
    : setting_(std::move(setting)), device_(device), desc_(desc) {
    if (device != nullptr) {
        device->AddRef();
    }
}

Result Session::create(const SettingRef &setting, Unknown *device, const SessionDesc *desc,
                       const Guid *iid, void **session) {
    if (!is_valid(desc)) {
        setting->say(Message::create_invalid_arguments);
        return kInvalidArgument;
    }
    if (session == nullptr) return kFalse;
    if (!has_place_for(iid, session)) return kPointer;
    if (!is_own(*iid)) return kNoInterface;
    const SessionDesc whole = with_defaults(*desc);
    const CacheOptions options = cache_options(whole, *setting);
    auto *made = new Session(setting, device, whole);
    const auto join = [&] { return join_cache(options, made->cache_); };
    const bool has_place = !options.is_on_disk || !options.root.empty();
    const Outcome outcome = has_place ? guarded(join, Outcome::no_memory) : Outcome::cannot_open;
    const Result result = answer(*setting, outcome, kOfCreate);
    if (result != kOk) {
        delete made;
        return result;
    }
    (void)made->QueryInterface(iid, session);
    made->Release();
    return kOk;
}

Result Session::QueryInterface(const Guid *iid, void **object) {
    if (!has_place_for(iid, object)) return kPointer;
    if (!is_own(*iid)) return kNoInterface;
    AddRef();
    if (*iid == kIidUnknown) {
        *object = static_cast<SessionPointer<Pointer::unknown> *>(this);
    } else {
        *object = static_cast<SessionPointer<Pointer::session> *>(this);
    }
    return kOk;
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
    if (!has_place_for(iid, device)) return kPointer;
    return device_ == nullptr ? kNotFound : device_->QueryInterface(iid, device);
}

Result Session::FindValue(const void *key, uint32_t key_size, void *value, uint32_t *value_size) {
    if (value_size == nullptr || key == nullptr || key_size == 0) return kInvalidArgument;
    EntryRef entry;
    const auto wanted = value == nullptr ? SessionCache::Wanted::size : SessionCache::Wanted::value;
    const Result result = without_exceptions([&] {
        const Outcome outcome = cache_->find(bytes(key, key_size), wanted, entry);
        return answer(*setting_, outcome, kOfFind);
    });
    if (result != kOk) return result;
    const Bytes found = entry->value();
    const uint32_t capacity = *value_size;
    *value_size = static_cast<uint32_t>(found.size());
    if (value == nullptr || capacity < found.size()) {
        cache_->hold(std::move(entry));
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
        const Outcome outcome = cache_->store(bytes(key, key_size), bytes(value, value_size));
        return answer(*setting_, outcome, kOfStore);
    });
}

void Session::SetDeleteOnDestroy() {
    (void)without_exceptions([&] {
        if (!cache_->delete_on_destroy()) {
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
