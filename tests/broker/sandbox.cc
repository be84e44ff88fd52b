// SPDX-License-Identifier: MIT
#include "broker/sandbox.h"

#include <seccomp.h>

#include <initializer_list>

namespace cairn_test {

bool forbid_system_calls() {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    for (const char *name :
         {"open",      "openat",     "openat2",  "creat",        "open_by_handle_at",
          "socket",    "socketpair", "connect",  "bind",         "listen",
          "accept",    "accept4",    "execve",   "execveat",     "fork",
          "vfork",     "unlink",     "unlinkat", "rename",       "renameat",
          "renameat2", "mkdir",      "mkdirat",  "link",         "linkat",
          "symlink",   "symlinkat",  "stat",     "lstat",        "access",
          "faccessat", "faccessat2", "readlink", "readlinkat",   "mount",
          "ptrace",    "chmod",      "fchmodat", "memfd_create", "inotify_init1",
          "ftruncate", "fallocate"}) {
        const int number = seccomp_syscall_resolve_name(name);
        if (number == __NR_SCMP_ERROR) continue;
        if (seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, number, 0) != 0) return false;
    }
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    const bool loaded = seccomp_load(filter) == 0;
    seccomp_release(filter);
    return loaded;
}

}  // namespace cairn_test
