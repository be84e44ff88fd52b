// SPDX-License-Identifier: MIT
#include "store/formats.h"

#include <algorithm>
#include <charconv>

#include "store/index_format.h"
#include "store/space.h"

namespace cairn {
namespace {

constexpr std::string_view kFolderPrefix = "format-";

bool is_known(std::uint32_t format) {
    return format >= kOldestFormat && format <= kNewestFormat;
}

bool is_of_oldest(std::string_view name) {
    return name == kIndexFileName || name == kLockFileName || segment_from_file_name(name);
}

// The newest one that this library knows.
std::optional<std::uint32_t> newest_known(const std::vector<std::uint32_t> &formats) {
    const auto found = std::find_if(formats.rbegin(), formats.rend(), is_known);
    return found == formats.rend() ? std::nullopt : std::optional(*found);
}

// Frees the name of a format's folder, where something else has it. A folder stays.
Status free_folder_name(const Directory &cache, const std::string &folder) {
    TRY_ASSIGN(const FileInfo info, cache.info(folder));
    if (info.is_directory) return {};
    const std::string discarded = "discarded-" + folder + ".tmp";
    TRY(cache.rename(folder, discarded));
    return cache.remove_file(discarded);
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
    bool has_oldest = false;
    Error error = Error::none;
    TRY(cache.list([&](const char *name) {
        if (is_of_oldest(name)) has_oldest = true;
        const auto format = format_from_folder_name(name);
        const auto folder = format ? cache.open_directory(name) : Error::not_found;
        if (folder.ok()) {
            formats.push_back(*format);
        } else if (folder.error() != Error::not_found && folder.error() != Error::denied) {
            error = folder.error();
        }
    }));
    if (error != Error::none) return error;
    if (has_oldest) formats.push_back(kOldestFormat);
    std::sort(formats.begin(), formats.end());
    return formats;
}

Result<FormatDirectory> find_format(const Directory &cache) {
    // Mostly it is there, and then nothing needs to be listed.
    auto newest = cache.open_directory(format_folder(kNewestFormat));
    if (newest.ok()) return FormatDirectory{kNewestFormat, std::move(*newest)};
    TRY_ASSIGN(const auto formats, list_formats(cache));
    const auto known = newest_known(formats);
    if (!known) return Error::not_found;
    TRY_ASSIGN(Directory directory, cache.open_directory(format_folder(*known)));
    return FormatDirectory{*known, std::move(directory)};
}

Result<FormatDirectory> open_format(const Directory &root, const std::string &identifier,
                                    Directory cache, Access access, Create create, const Log &log) {
    const auto open = [&](std::uint32_t format, Create may_create, const Log &told) {
        const std::string path = identifier + "/" + format_folder(format);
        return open_cache_directory(root, path, may_create, told);
    };
    auto newest = open(kNewestFormat, Create::no, Log());
    if (!newest.ok()) {
        TRY_ASSIGN(const auto formats, list_formats(cache));
        if (const auto known = newest_known(formats); known == kOldestFormat) {
            return FormatDirectory{kOldestFormat, std::move(cache)};
        }
        if (newest.error() != Error::not_found && access == Access::read_write) {
            (void)free_folder_name(cache, format_folder(kNewestFormat));
        }
        const bool may_make = access == Access::read_write && !formats.empty();
        newest = open(kNewestFormat, may_make ? Create::yes : create, log);
    }
    if (!newest.ok()) return newest.error();
    return FormatDirectory{kNewestFormat, std::move(newest->directory), newest->created};
}

std::uint64_t bytes_beside_formats(const Directory &files) {
    const auto own = files.info();
    const auto cache = files.open_directory("..");
    if (!own.ok() || !cache.ok()) return 0;
    const auto folder = cache.value().info(format_folder(kNewestFormat));
    if (!folder.ok() || folder.value().inode != own.value().inode) return 0;
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
    if (const auto own = newest_known(formats)) std::erase(formats, *own);
    return formats;
}

Result<File> lock_format(const Directory &files) {
    TRY_ASSIGN(File file, files.open_or_make_file(kLockFileName));
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
