// SPDX-License-Identifier: MIT
#include "names.h"

#include <cstdio>

#include "common/application.h"
#include "os/configuration.h"
#include "os/environment.h"

namespace cairn::d3d12 {
namespace {

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
    if (Configuration::read(Log(setting.log, setting.user)).is_d3d12_shared(guid)) {
        return "";
    }
    const std::string &name = setting.application ? *setting.application : application_name();
    return name.empty() ? "" : name + "-";
}

}  // namespace

CacheOptions cache_options(const SessionDesc &desc, const Setting &setting,
                           const AdapterNames &names) {
    CacheOptions result;
    const std::string guid = text_of(desc.Identifier);
    result.is_on_disk = desc.Mode == kModeDisk;
    const std::string application = result.is_on_disk ? application_part(setting, guid) : "";
    result.identifier = kPrefix + application + guid;
    result.about = "D3D12 shader cache " + guid + "\n";
    if (!application.empty()) {
        result.about += "application: " + application.substr(0, application.size() - 1) + "\n";
    }
    if ((desc.Flags & kFlagDriverVersioned) != 0) {
        // Appended piece by piece: GCC 12 warns of what it makes of operator+ here.
        result.identifier.append("-").append(short_hash(names.adapter));
        result.identifier.append("-").append(short_hash(names.driver_version));
        result.about += "adapter: " + names.adapter + "\ndriver: " + names.driver_version + "\n";
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

}  // namespace cairn::d3d12
