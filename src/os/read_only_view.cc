// SPDX-License-Identifier: MIT
#include "os/read_only_view.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "os/socket.h"
#include "os/system_calls.h"

namespace cairn {
namespace {

bool write_file(const char *path, const char *text) {
    const UniqueFd fd(::open(path, O_WRONLY | O_CLOEXEC));
    const std::size_t size = std::strlen(text);
    return fd.valid() && ::write(fd.get(), text, size) == static_cast<ssize_t>(size);
}

// A mount namespace of our own; the user stays the same one.
bool enter_namespace(const char *user_map, const char *group_map) {
    if (::unshare(CLONE_NEWNS) == 0) return true;
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    return write_file("/proc/self/setgroups", "deny") &&
           write_file("/proc/self/uid_map", user_map) &&
           write_file("/proc/self/gid_map", group_map);
}

int make_mount(const char *path) {
    const long tree = ::syscall(SYS_open_tree, AT_FDCWD, path,
                                OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
    if (tree < 0) return -1;
    mount_attr attributes = {};
    attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
    if (::syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes) != 0)
        return -1;
    return static_cast<int>(tree);
}

// In the child: memory of other threads may be in any state.
[[noreturn]] void send_mount(const Socket &socket, const char *path, const char *user_map,
                             const char *group_map) {
    if (enter_namespace(user_map, group_map)) {
        const int mount = make_mount(path);
        constexpr std::byte kMessage[] = {std::byte{1}};
        if (mount >= 0) (void)socket.send(kMessage, std::span(&mount, 1));
    }
    ::_exit(0);
}

}  // namespace

Result<Directory> open_read_only_view(const std::string &path) {
    char user_map[64], group_map[64];
    std::snprintf(user_map, sizeof user_map, "%u %u 1", ::geteuid(), ::geteuid());
    std::snprintf(group_map, sizeof group_map, "%u %u 1", ::getegid(), ::getegid());
    auto made = Socket::pair();
    if (!made.ok()) return made.error();
    auto [ours, theirs] = std::move(made.value());
    const pid_t child = ::fork();
    if (child < 0) return error_from_errno(errno);
    if (child == 0) send_mount(theirs, path.c_str(), user_map, group_map);
    retry([&] { return ::waitpid(child, nullptr, 0); });
    std::array<std::byte, 1> message;
    std::vector<UniqueFd> mounts;
    const auto count = ours.receive(message, &mounts);
    if (!count.ok() || mounts.size() != 1) return Error::unsupported;
    // Of the mount itself only its path is known: the directory is opened for reading through it.
    return Directory(std::move(mounts[0])).open_directory(".");
}

}  // namespace cairn
