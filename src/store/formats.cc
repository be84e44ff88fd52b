// SPDX-License-Identifier: MIT
#include "store/formats.h"

#include <algorithm>
#include <charconv>

#include "os/environment.h"
#include "store/ghosts.h"
#include "store/index_format.h"
#include "store/reuse.h"
#include "store/space.h"

namespace cairn {
namespace {

constexpr std::string_view kFolderPrefix = "format-";

// What lies in the cache's directory itself and is of the oldest format.
bool is_of_oldest(std::string_view name) {
    return name == kIndexFileName || name == kLockFileName || name == kGhostFileName ||
           name == kReuseFileName || segment_from_file_name(name) || name.ends_with(".tmp");
}

// Whether there is anything that the oldest format finds entries by.
Result<bool> has_oldest(const Directory &cache) {
    bool found = false;
    TRY(cache.list([&](const char *name) {
        found |= std::string_view(name) == kIndexFileName ||
                 std::string_view(name) == kLockFileName || segment_from_file_name(name);
    }));
    return found;
}

// Frees the name of a format's folder, where something else has it. A folder stays.
Status free_folder_name(const Directory &cache, const std::string &folder) {
    TRY_ASSIGN(const FileInfo before, cache.info(folder));
    if (before.is_directory) return {};
    const std::string discarded =
        "discarded-" + folder + "-" + std::to_string(process_number()) + ".tmp";
    TRY(cache.rename(folder, discarded));
    // Another process may have been faster, and this is its folder.
    TRY_ASSIGN(const FileInfo info, cache.info(discarded));
    return info.is_directory ? cache.rename(discarded, folder) : cache.remove_file(discarded);
}

}  // namespace

std::string format_folder(std::uint32_t format) {
    return format == kOldestFormat ? "." : std::string(kFolderPrefix) + std::to_string(format);
}

std::optional<std::uint32_t> format_from_folder_name(std::string_view name) {
    if (!name.starts_with(kFolderPrefix)) return std::nullopt;
    std::uint32_t format = 0;
    const char *const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + kFolderPrefix.size(), end, format);
    const bool is_number = read.ec == std::errc() && read.ptr == end && format > kOldestFormat;
    return is_number && format_folder(format) == name ? std::optional(format) : std::nullopt;
}

Result<std::vector<std::uint32_t>> list_formats(const Directory &cache) {
    std::vector<std::uint32_t> formats;
    Error error = Error::none;
    TRY(cache.list([&](const char *name) {
        const bool is_oldest = std::string_view(name) == kLockFileName;
        const auto format = is_oldest ? kOldestFormat : format_from_folder_name(name);
        if (!format) return;
        const std::string lock = format_folder(*format) + "/" + kLockFileName;
        const auto info = cache.info(lock);
        // Who may not look into a folder must not take the cache for one without it.
        if (info.ok() ? info.value().is_file
                      : cache.open_directory(name).error() == Error::denied) {
            formats.push_back(*format);
        } else if (!info.ok() && info.error() != Error::not_found &&
                   info.error() != Error::denied) {
            error = info.error();
        }
    }));
    if (error != Error::none) return error;
    std::sort(formats.begin(), formats.end());
    return formats;
}

Result<FormatDirectory> find_format(const Directory &cache) {
    // Mostly it is there, and then nothing needs to be listed.
    auto newest = cache.open_directory(format_folder(kNewestFormat));
    if (newest.ok()) return FormatDirectory{kNewestFormat, std::move(*newest)};
    TRY_ASSIGN(const bool is_there, has_oldest(cache));
    if (!is_there) return Error::not_found;
    TRY_ASSIGN(Directory directory, cache.open_directory(format_folder(kOldestFormat)));
    return FormatDirectory{kOldestFormat, std::move(directory)};
}

Result<FormatDirectory> open_format(Directory cache, const std::string &identifier, Access access,
                                    Create create, const Log &log) {
    const std::string folder = format_folder(kNewestFormat);
    const auto open = [&](Create may_create, const Log &told) {
        return open_cache_directory(cache, folder, may_create, told, identifier + "/" + folder);
    };
    auto newest = open(Create::no, Log());
    if (!newest.ok()) {
        TRY_ASSIGN(const bool has_older, has_oldest(cache));
        if (has_older && newest.error() == Error::not_found) {
            return FormatDirectory{kOldestFormat, std::move(cache)};
        }
        if (newest.error() != Error::not_found && access == Access::read_write) {
            (void)free_folder_name(cache, folder);
        }
        TRY_ASSIGN(const auto formats, list_formats(cache));
        const bool may_make = access == Access::read_write && !formats.empty();
        newest = open(may_make ? Create::yes : create, log);
    }
    if (!newest.ok()) return newest.error();
    if (newest->created) {  // see is_format_superseded()
        TRY_ASSIGN(const bool has_older, has_oldest(cache));
        if (has_older && cache.remove_directory(folder).ok()) {
            return FormatDirectory{kOldestFormat, std::move(cache)};
        }
    }
    return FormatDirectory{kNewestFormat, std::move(newest->directory)};
}

bool is_format_superseded(const Directory &files, std::uint32_t format) {
    if (format == kNewestFormat) return false;
    const auto newest = files.info(format_folder(kNewestFormat));
    return newest.ok() && newest.value().is_directory;
}

std::uint64_t bytes_beside_formats(const Directory &files) {
    const auto own = files.info();
    const auto cache = files.open_directory("..");
    if (!own.ok() || !cache.ok()) return 0;
    const auto folder = cache.value().info(format_folder(kNewestFormat));
    if (!folder.ok() || !is_same_file(folder.value(), own.value())) return 0;
    std::uint64_t bytes = 0;
    (void)cache.value().list([&](const char *name) {
        const auto info = is_of_oldest(name) ? Error::exists : cache.value().info(name);
        if (info.ok() && info.value().is_file) bytes += info.value().disk_bytes;
    });
    return bytes;
}

Result<std::uint64_t> cache_bytes(const Directory &cache) {
    TRY_ASSIGN(const DiskUse own, measure_disk_use(cache));
    std::uint64_t bytes = own.bytes;
    TRY_ASSIGN(const auto formats, list_formats(cache));
    for (const std::uint32_t format : formats) {
        if (format == kOldestFormat) continue;
        const auto files = cache.open_directory(format_folder(format));
        if (!files.ok()) continue;  // gone meanwhile
        TRY_ASSIGN(const DiskUse use, measure_disk_use(files.value()));
        bytes += use.bytes - bytes_beside_formats(files.value());
    }
    return bytes;
}

Result<std::vector<std::uint32_t>> list_other_formats(const Directory &cache) {
    TRY_ASSIGN(auto formats, list_formats(cache));
    if (const auto own = find_format(cache); own.ok()) std::erase(formats, own.value().format);
    return formats;
}

Result<File> lock_format(const Directory &files) {
    TRY_ASSIGN(File file, files.open_file(kLockFileName, Access::read_write));
    TRY_ASSIGN(const bool alone, file.try_lock(kSessionByte, LockKind::exclusive));
    if (!alone) return Error::busy;
    return file;
}

Result<std::vector<File>> lock_formats(const Directory &cache) {
    std::vector<File> locked;
    TRY_ASSIGN(const auto formats, list_formats(cache));
    for (const std::uint32_t format : formats) {
        const auto directory = cache.open_directory(format_folder(format));
        if (directory.error() == Error::not_found) continue;
        if (!directory.ok()) return directory.error();
        TRY_ASSIGN(File file, lock_format(directory.value()));
        locked.push_back(std::move(file));
    }
    return locked;
}

}  // namespace cairn
