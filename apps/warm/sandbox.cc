// SPDX-License-Identifier: MIT
#include "sandbox.h"

#include <fcntl.h>
#include <linux/ioprio.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "os/file.h"

namespace cairn::warm {
namespace {

constexpr rlim_t kMemoryMax = rlim_t{8} << 30;  // of its own, not of the driver's devices

void bound(int resource, rlim_t limit) {
    const rlimit both = {limit, limit};
    ::setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
}

void be_last() {
    const sched_param none = {};
    ::sched_setscheduler(0, SCHED_IDLE, &none);
    ::setpriority(PRIO_PROCESS, 0, 19);
    ::syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
    append_to_file("/proc/self/oom_score_adj", "1000");
}

// Files are written below these directories only, and none is executed.
void restrict_files(const std::vector<std::string> &writable) {
    landlock_ruleset_attr rules = {};
    rules.handled_access_fs =
        LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
        LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
        LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
        LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
    const UniqueFd set(
        static_cast<int>(::syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0)));
    if (!set.valid()) return;
    for (const std::string &folder : writable) {
        const UniqueFd opened(::open(folder.c_str(), O_PATH | O_CLOEXEC));
        if (!opened.valid()) continue;
        landlock_path_beneath_attr below = {};
        below.allowed_access = rules.handled_access_fs & ~uint64_t{LANDLOCK_ACCESS_FS_EXECUTE};
        below.parent_fd = opened.get();
        ::syscall(SYS_landlock_add_rule, set.get(), LANDLOCK_RULE_PATH_BENEATH, &below, 0);
    }
    ::syscall(SYS_landlock_restrict_self, set.get(), 0);
}

void restrict_system_calls() {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (filter == nullptr) return;
    const uint32_t refused = SCMP_ACT_ERRNO(EPERM);
    for (const int call : {SCMP_SYS(execve),
                           SCMP_SYS(execveat),
                           SCMP_SYS(ptrace),
                           SCMP_SYS(process_vm_readv),
                           SCMP_SYS(process_vm_writev),
                           SCMP_SYS(pidfd_getfd),
                           SCMP_SYS(bpf),
                           SCMP_SYS(perf_event_open),
                           SCMP_SYS(mount),
                           SCMP_SYS(umount2),
                           SCMP_SYS(move_mount),
                           SCMP_SYS(open_tree),
                           SCMP_SYS(fsopen),
                           SCMP_SYS(pivot_root),
                           SCMP_SYS(chroot),
                           SCMP_SYS(unshare),
                           SCMP_SYS(setns),
                           SCMP_SYS(keyctl),
                           SCMP_SYS(add_key),
                           SCMP_SYS(request_key),
                           SCMP_SYS(init_module),
                           SCMP_SYS(finit_module),
                           SCMP_SYS(delete_module),
                           SCMP_SYS(kexec_load),
                           SCMP_SYS(reboot),
                           SCMP_SYS(swapon),
                           SCMP_SYS(swapoff),
                           SCMP_SYS(setuid),
                           SCMP_SYS(setgid),
                           SCMP_SYS(setreuid),
                           SCMP_SYS(setregid),
                           SCMP_SYS(setresuid),
                           SCMP_SYS(setresgid),
                           SCMP_SYS(userfaultfd),
                           SCMP_SYS(bind),
                           SCMP_SYS(listen),
                           SCMP_SYS(io_uring_setup),
                           SCMP_SYS(personality)}) {
        seccomp_rule_add(filter, refused, call, 0);
    }
    // A display's socket is one of the system's own.
    seccomp_rule_add(filter, refused, SCMP_SYS(socket), 1,
                     scmp_arg_cmp{0, SCMP_CMP_NE, AF_UNIX, 0});
    const auto itself = static_cast<scmp_datum_t>(::getpid());
    for (const int call : {SCMP_SYS(kill), SCMP_SYS(tgkill), SCMP_SYS(tkill),
                           SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(pidfd_send_signal)}) {
        seccomp_rule_add(filter, refused, call, 1, scmp_arg_cmp{0, SCMP_CMP_NE, itself, 0});
    }
    seccomp_load(filter);
    seccomp_release(filter);
}

std::string variable(const char *name) {
    const char *value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

std::vector<std::string> writable_folders() {
    const std::string home = variable("HOME");
    std::vector<std::string> folders = {"/dev", "/proc/self", "/tmp", "/var/tmp"};
    const auto add = [&](std::string folder) {
        if (!folder.starts_with('/')) return;
        // A driver makes what is missing; a rule needs it now.
        ::mkdir(folder.c_str(), 0700);
        folders.push_back(std::move(folder));
    };
    for (const char *name : {"XDG_CACHE_HOME", "CAIRN_DIR", "MESA_SHADER_CACHE_DIR",
                             "__GL_SHADER_DISK_CACHE_PATH", "XDG_RUNTIME_DIR"}) {
        add(variable(name));
    }
    if (!home.empty()) {
        add(home + "/.cache");
        add(home + "/.nv");
    }
    return folders;
}

void shut_in(const std::vector<std::string> &writable) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    be_last();
    bound(RLIMIT_CORE, 0);
    bound(RLIMIT_DATA, kMemoryMax);
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
    restrict_files(writable);
    restrict_system_calls();
}

}  // namespace cairn::warm
