// SPDX-License-Identifier: MIT
#include "os/root.h"

#include <algorithm>
#include <utility>

#include "os/environment.h"

namespace cairn {
namespace {

// The Cache Directory Tagging specification asks for this file, so that backup and clean-up tools
// recognise the directory.
constexpr std::string_view kTagName = "CACHEDIR.TAG";
constexpr std::string_view kTagText =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# Compiled GPU programs, kept by Cairn. They can be deleted at any time.\n";

Status check_safe(const Directory &directory, const std::string &path, const Log &log) {
    TRY_ASSIGN(const FileInfo info, directory.info());
    if (const std::uint32_t user = effective_user(); info.owner != user) {
        log.write(Severity::error,
                  "%s belongs to user %u, not to user %u: not used; choose another with CAIRN_DIR",
                  path.c_str(), info.owner, user);
        return Error::denied;
    }
    constexpr std::uint32_t kSticky = 01000;
    if (info.writable_by_others && (info.permissions & kSticky) != 0) {
        // A directory for everybody, like /tmp, must stay writable.
        log.write(Severity::error,
                  "%s can be written by others (mode %03o): not used; choose another directory "
                  "with CAIRN_DIR, which may be below it",
                  path.c_str(), info.permissions);
        return Error::denied;
    }
    if (info.writable_by_others) {
        log.write(Severity::error,
                  "%s can be written by others (mode %03o): not used; run: chmod go-w '%s'",
                  path.c_str(), info.permissions, path.c_str());
        return Error::denied;
    }
    // A file system on a block device is not a network file system.
    if (info.without_device && directory.on_network()) {
        log.write(Severity::error,
                  "%s is on a network file system, where processes cannot share a cache: not used; "
                  "set CAIRN_DIR to a local directory",
                  path.c_str());
        return Error::unsupported;
    }
    return {};
}

void log_failure(const Log &log, const std::string &path, Error error) {
    const char *hint = error == Error::denied
                           ? "; it must be a directory of yours, not a symbolic link"
                           : "; set CAIRN_DIR to a directory that can be written";
    log.write(Severity::error, "cannot use %s: %s%s", path.c_str(), error_name(error), hint);
}

// Creates a directory and makes its name durable, so that files synced in it later are not lost
// with it.
Status create_durably(const std::string &path) {
    TRY(Directory::working().create_directory(path));
    const std::size_t slash = path.rfind('/');
    const auto parent = Directory::open(slash == 0 ? "/" : path.substr(0, slash));
    if (parent.ok()) (void)parent->sync();
    return {};
}

// Creates a directory, after its parents.
Status create_with_parents(const std::string &path) {
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
        // Ignore errors: the parent may exist. The last step tells.
        (void)create_durably(path.substr(0, slash));
    }
    return create_durably(path);
}

// Calls open(), after make() if the directory is missing and may be created.
template <typename Open, typename Make>
Result<OpenedDirectory> open_or_make(const std::string &name, Create create, const Log &log,
                                     Open open, Make make) {
    OpenedDirectory opened;
    auto directory = open();
    if (directory.error() == Error::not_found && create == Create::yes) {
        const Status made = make();
        if (!made.ok() && made.error() != Error::exists) {
            log_failure(log, name, made.error());
            return made.error();
        }
        opened.created = made.ok();
        directory = open();
    }
    if (!directory.ok()) {
        if (directory.error() != Error::not_found) log_failure(log, name, directory.error());
        return directory.error();
    }
    TRY(check_safe(*directory, name, log));
    opened.directory = std::move(*directory);
    return opened;
}

void write_tag(const Directory &root) {
    const auto file = root.create_file(std::string(kTagName));
    if (!file.ok()) return;  // it exists, or does not matter
    (void)file->write_whole(as_bytes(kTagText));
}

}  // namespace

const char *error_name(Error error) {
    static constexpr std::pair<Error, const char *> kNames[] = {
        {Error::none, "no error"},
        {Error::invalid_argument, "invalid argument"},
        {Error::not_found, "no such file or directory"},
        {Error::exists, "exists already"},
        {Error::no_memory, "out of memory"},
        {Error::no_space, "no space left on the file system, or quota exceeded"},
        {Error::full, "the cache's limit is reached"},
        {Error::too_large, "larger than the cache may become"},
        {Error::denied, "permission denied"},
        {Error::read_only, "read-only"},
        {Error::busy, "in use by another process"},
        {Error::corrupt, "damaged"},
        {Error::io, "input/output error"},
        {Error::unsupported, "not supported by this file system"},
    };
    for (const auto &[known, name] : kNames) {
        if (known == error) return name;
    }
    return "unknown error";
}

bool valid_identifier(std::string_view identifier) {
    if (identifier.empty() || identifier.size() > 128 || identifier.front() == '.') return false;
    return std::all_of(identifier.begin(), identifier.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_' || c == '-';
    });
}

Result<Directory> open_root(const std::string &path, Create create, const Log &log) {
    const auto open = [&] { return Directory::open(path); };
    bool was_missing = false;
    const auto make = [&] {
        was_missing = true;
        return create_with_parents(path);
    };
    TRY_ASSIGN(OpenedDirectory root, open_or_make(path, create, log, open, make));
    if (was_missing) write_tag(root.directory);
    return std::move(root.directory);
}

Result<OpenedDirectory> open_cache_directory(const Directory &root, const std::string &name,
                                             Create create, const Log &log,
                                             const std::string &shown) {
    const auto open = [&] { return root.open_directory(name); };
    const auto make = [&] { return root.create_directory(name); };
    return open_or_make(shown.empty() ? name : shown, create, log, open, make);
}

}  // namespace cairn
