// SPDX-License-Identifier: MIT
#include "os/socket_place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "os/environment.h"
#include "os/root.h"

namespace cairn {
namespace {

constexpr int kFirstInherited = 3;  // SD_LISTEN_FDS_START

std::string folder_of(const std::string &path) {
    return path.substr(0, path.rfind('/'));
}

Status make_folder_of(const std::string &path) {
    const std::string folder = folder_of(path);
    if (!path.starts_with('/') || folder.empty()) return Error::invalid_argument;
    const Status made = Directory::working().create_directory(folder);
    if (!made.ok() && made.error() != Error::exists) return made.error();
    TRY_ASSIGN(const FileInfo info, file_info(folder));
    const bool is_safe = info.owner == effective_user() && !info.writable_by_others;
    return is_safe ? Status() : Status(Error::denied);
}

void remove_socket(const std::string &path) {
    struct stat status;
    if (::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) ::unlink(path.c_str());
}

}  // namespace

Result<UniqueFd> inherited_descriptor() {
    const char *process = std::getenv("LISTEN_PID");
    const char *count = std::getenv("LISTEN_FDS");
    const bool is_ours = process != nullptr && count != nullptr &&
                         std::strtol(process, nullptr, 10) == static_cast<long>(::getpid());
    const long number = is_ours ? std::strtol(count, nullptr, 10) : 0;
    for (const char *name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(name);
    if (number == 0) return UniqueFd();
    UniqueFd first(kFirstInherited);
    if (number != 1) return Error::invalid_argument;
    return first;
}

Result<ByteLock> SocketPlace::lock(const std::string &path, std::uint64_t patience_us) {
    TRY(make_folder_of(path));
    TRY_ASSIGN(File file, Directory::working().open_or_create_file(path + ".lock"));
    return ByteLock::acquire(std::make_shared<File>(std::move(file)), 0, patience_us);
}

Result<SocketPlace> SocketPlace::take(const std::string &path, std::uint64_t patience_us) {
    TRY_ASSIGN(ByteLock held, lock(path, patience_us));
    remove_socket(path);
    return SocketPlace(path, std::move(held), true);
}

Result<SocketPlace> SocketPlace::join(const std::string &path, std::uint64_t patience_us) {
    TRY_ASSIGN(ByteLock held, lock(path, patience_us));
    return SocketPlace(path, std::move(held), false);
}

SocketPlace::~SocketPlace() {
    if (removes_ && !path_.empty()) remove_socket(path_);
}

std::string SocketPlace::problem(Error error, const std::string &path, std::string_view server) {
    switch (error) {
        case Error::busy:
            return path + ": another " + std::string(server) + " serves it";
        case Error::denied:
            return folder_of(path) + ": belongs to somebody else, or others may write to it";
        case Error::invalid_argument:
            return path + ": an absolute path in a directory of its own is needed";
        case Error::exists:
            return path + ": is there, and is no socket";
        default:
            return path + ": cannot listen there: " + error_name(error);
    }
}

}  // namespace cairn
