// SPDX-License-Identifier: MIT
#include "sandbox.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <system_error>

#include "cache/driver_files.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/text_file.h"
#include "recipe/player.h"

namespace cairn::warm {
namespace {

constexpr rlim_t kMemoryMax = rlim_t{8} << 30;  // of its own, not of the driver's devices

void bound(int resource, rlim_t limit) {
    const rlimit both = {limit, limit};
    ::setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
}

// As ioprio_set(2) takes them. Some versions of <linux/ioprio.h> are C alone.
constexpr int kIoWhoProcess = 1;
constexpr int kIoClassIdle = 3;
constexpr int kIoClassShift = 13;

void be_last() {
    const sched_param none = {};
    ::sched_setscheduler(0, SCHED_IDLE, &none);
    ::setpriority(PRIO_PROCESS, 0, 19);
    ::syscall(SYS_ioprio_set, kIoWhoProcess, 0, kIoClassIdle << kIoClassShift);
    append_to_file("/proc/self/oom_score_adj", "1000");
}

// Younger than some <linux/landlock.h>.
constexpr uint64_t kTruncate = uint64_t{1} << 14;
constexpr int kTruncateAbi = 3;
constexpr int kThreadMs = 5000;  // so long a thread may take to run a handler

// Files are written below these directories only, and none is executed. Not valid where the kernel has
// no Landlock.
UniqueFd make_file_rules(const std::vector<std::string> &writable) {
    const long abi =
        ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1) return UniqueFd();
    landlock_ruleset_attr rules = {};
    rules.handled_access_fs =
        LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
        LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
        LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
        LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
    if (abi >= kTruncateAbi) rules.handled_access_fs |= kTruncate;
    UniqueFd set(static_cast<int>(
        ::syscall(SYS_landlock_create_ruleset, &rules, sizeof rules.handled_access_fs, 0)));
    if (!set.valid()) return set;
    for (const std::string &folder : writable) {
        const UniqueFd opened(::open(folder.c_str(), O_PATH | O_CLOEXEC));
        if (!opened.valid()) continue;
        landlock_path_beneath_attr below = {};
        below.allowed_access = rules.handled_access_fs & ~uint64_t{LANDLOCK_ACCESS_FS_EXECUTE};
        below.parent_fd = opened.get();
        ::syscall(SYS_landlock_add_rule, set.get(), LANDLOCK_RULE_PATH_BENEATH, &below, 0);
    }
    return set;
}

bool restrict_this_thread(int rules) {
    return ::syscall(SYS_landlock_restrict_self, rules, 0) == 0;
}

// Younger than some <seccomp.h>; the same on all processors.
constexpr int kFchmodat2 = 452, kSetxattrat = 463, kRemovexattrat = 466, kFileSetattr = 469;

// Landlock restricts the thread that asks for it: the driver's and the front end's, which are there by
// now, do so in a handler.
std::atomic<int> g_rules = -1;
std::atomic<unsigned> g_restricted = 0;

void restrict_by_signal(int) {
    const int before = errno;
    if (restrict_this_thread(g_rules.load())) ++g_restricted;
    errno = before;
}

bool restrict_thread(pid_t thread) {
    const unsigned before = g_restricted.load();
    if (::tgkill(::getpid(), thread, SIGSYS) != 0) return errno == ESRCH;
    for (int ms = 0; ms < kThreadMs; ++ms) {
        if (g_restricted.load() != before) return true;
        ::poll(nullptr, 0, 1);
    }
    return ::tgkill(::getpid(), thread, 0) != 0;  // has ended
}

// A thread that is made meanwhile is as restricted as the one that makes it. So all are once a look
// finds none that was not there before.
bool restrict_other_threads(int rules) {
    g_rules.store(rules);
    struct sigaction action = {}, before = {};
    action.sa_handler = restrict_by_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGSYS, &action, &before);
    std::set<pid_t> known = {::gettid()};
    bool is_stuck = false;
    std::error_code error;
    for (bool is_new = true; is_new && !is_stuck;) {
        is_new = false;
        for (const auto &entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
            const std::string name = entry.path().filename();
            pid_t thread = 0;
            std::from_chars(name.data(), name.data() + name.size(), thread);
            if (!known.insert(thread).second) continue;
            is_new = true;
            is_stuck |= !restrict_thread(thread);
        }
        is_stuck |= bool{error};
    }
    // One that blocks the signal must not die of it later.
    if (is_stuck) before.sa_handler = SIG_IGN;
    ::sigaction(SIGSYS, &before, nullptr);
    return !is_stuck;
}

bool refuse(scmp_filter_ctx filter, std::initializer_list<int> calls) {
    return std::ranges::all_of(calls, [&](int call) {
        return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0) == 0;
    });
}

bool refuse_if(scmp_filter_ctx filter, int call, scmp_arg_cmp argument) {
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 1, argument) == 0;
}

// The kernel looks at the lower half of a command.
scmp_arg_cmp command_is(int command) {
    return {1, SCMP_CMP_MASKED_EQ, 0xffffffff, static_cast<unsigned>(command)};
}

bool refuse_for_good(scmp_filter_ctx filter) {
    return refuse(
        filter,
        {// Programs, and what looks into others.
         SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv),
         SCMP_SYS(process_vm_writev), SCMP_SYS(pidfd_getfd), SCMP_SYS(pidfd_send_signal),
         SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup),
         // The system.
         SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(move_mount), SCMP_SYS(open_tree),
         SCMP_SYS(fsopen), SCMP_SYS(fsmount), SCMP_SYS(fspick), SCMP_SYS(mount_setattr),
         SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(unshare), SCMP_SYS(setns),
         SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(init_module),
         SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(kexec_load), SCMP_SYS(reboot),
         SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(setuid), SCMP_SYS(setgid),
         SCMP_SYS(setreuid), SCMP_SYS(setregid), SCMP_SYS(setresuid), SCMP_SYS(setresgid),
         SCMP_SYS(personality),
         // Servers.
         SCMP_SYS(bind), SCMP_SYS(listen),
         // Files, in ways that Landlock does not know, or did not at first.
         SCMP_SYS(truncate), SCMP_SYS(chmod), SCMP_SYS(fchmod), SCMP_SYS(fchmodat), kFchmodat2,
         SCMP_SYS(chown), SCMP_SYS(fchown), SCMP_SYS(lchown), SCMP_SYS(fchownat),
         SCMP_SYS(setxattr), SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr), SCMP_SYS(removexattr),
         SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr), kSetxattrat, kRemovexattrat,
         kFileSetattr});
}

bool refuse_by_arguments(scmp_filter_ctx filter) {
    bool is_made = true;
    // A display's socket is one of the system's own.
    is_made &= refuse_if(filter, SCMP_SYS(socket), {0, SCMP_CMP_NE, AF_UNIX, 0});
    const auto itself = static_cast<scmp_datum_t>(::getpid());
    for (const int call : {SCMP_SYS(kill), SCMP_SYS(tgkill), SCMP_SYS(tkill),
                           SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(rt_tgsigqueueinfo)}) {
        is_made &= refuse_if(filter, call, {0, SCMP_CMP_NE, itself, 0});
    }
    // Of this process it is 0 in all libraries.
    is_made &= refuse_if(filter, SCMP_SYS(prlimit64), {0, SCMP_CMP_NE, 0, 0});
    // A descriptor's owner gets a signal, and may be anybody.
    for (const int command : {F_SETOWN, F_SETOWN_EX}) {
        is_made &= refuse_if(filter, SCMP_SYS(fcntl), command_is(command));
    }
    // They type at terminals.
    for (const int command : {TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP}) {
        is_made &= refuse_if(filter, SCMP_SYS(ioctl), command_is(command));
    }
    is_made &=
        refuse_if(filter, SCMP_SYS(clone), {0, SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER});
    // Its flags lie in memory, where no filter looks. Libraries call clone then.
    is_made &= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
    return is_made;
}

// By a filter for all threads. False: the kernel has none.
bool restrict_system_calls(const std::function<bool(scmp_filter_ctx filter)> &add_rules) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (filter == nullptr) return false;
    const bool is_loaded = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
                           add_rules(filter) && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return is_loaded;
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

std::string shut_in(const std::vector<std::string> &writable) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    be_last();
    bound(RLIMIT_CORE, 0);
    bound(RLIMIT_DATA, kMemoryMax);
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    std::string problem;
    const UniqueFd rules = make_file_rules(writable);
    if (!rules.valid() || !restrict_this_thread(rules.get())) {
        problem = "this kernel has no Landlock: players may write all of your files";
    }
    const bool is_filtered = restrict_system_calls([](scmp_filter_ctx filter) {
        return refuse_for_good(filter) && refuse_by_arguments(filter);
    });
    if (!is_filtered) {
        problem += problem.empty() ? "" : "; ";
        problem += "this kernel has no seccomp: players may start programs";
    }
    return problem;
}

std::vector<std::string> folders_of_caches(const std::string &cache) {
    std::vector<std::string> folders = {"/dev", "/proc/self"};
    if (const auto root = default_root()) {
        if (!cache.empty()) folders.push_back(*root + "/" + cache);
        const std::string application = variable(recipe::kWarmVariable);
        if (!application.empty()) folders.push_back(*root + "/.driver/gl-" + application);
    }
    for (const DriverFolder &folder : driver_folders()) {
        const bool is_mesa = folder.layout != DriverLayout::nvidia;
        const std::filesystem::path path = folder.path;
        folders.push_back(is_mesa ? path.string() : path.parent_path().string());
    }
    return folders;
}

std::string shut_in_further(const std::vector<std::string> &writable) {
    const UniqueFd rules = make_file_rules(writable);
    std::string problem;
    // Without Landlock it is said already.
    if (rules.valid() &&
        (!restrict_this_thread(rules.get()) || !restrict_other_threads(rules.get()))) {
        problem = "threads may write below ~/.cache, /tmp and XDG_RUNTIME_DIR";
    }
    (void)restrict_system_calls([](scmp_filter_ctx filter) {
        return refuse(filter, {SCMP_SYS(socket), SCMP_SYS(connect)});
    });
    return problem;
}

}  // namespace cairn::warm
