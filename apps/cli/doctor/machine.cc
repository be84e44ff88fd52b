// SPDX-License-Identifier: MIT
#include "doctor/machine.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "child.h"
#include "os/deadline.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/helper_process.h"
#include "output.h"

namespace cairn::cli::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOutputMax = 1 << 20;
constexpr unsigned kAskPatienceMs = 5'000;

// Below 0: it cannot be started, for this error. `output` is where it writes to.
pid_t start(const Words &command, const Words &environment, int output) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    // A group of its own, to end what it starts, too.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    pid_t process = -1;
    const int error =
        posix_spawnp(&process, command.front().c_str(), &actions, &attributes,
                     argument_pointers(command).data(), argument_pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error == 0 ? process : -error;
}

// Until its end, or that of the time. A process that was left behind may keep the pipe open, so that
// the end of the program itself counts as well.
void read_output(int pipe, pid_t process, const Deadline &deadline, Ended &ended, int &status,
                 bool &has_ended) {
    constexpr int kLookMs = 50;
    std::array<char, 4096> part = {};
    while (!deadline.has_passed()) {
        pollfd wait = {pipe, POLLIN, 0};
        const int ready = ::poll(&wait, 1, kLookMs);
        const ssize_t size = ready > 0 ? ::read(pipe, part.data(), part.size()) : 0;
        if (size > 0) {
            const std::size_t room = kOutputMax - ended.output.size();
            ended.output.append(part.data(), std::min(room, static_cast<std::size_t>(size)));
            continue;
        }
        if (has_ended) return;
        has_ended = ::waitpid(process, &status, WNOHANG) == process;
        if (ready > 0 && !has_ended) ::poll(nullptr, 0, 2);  // it has closed its output
    }
}

FolderTrial try_folder(const std::string &folder) {
    FolderTrial trial;
    const UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!fd.valid()) {
        trial.has_room = errno != ENOSPC && errno != EDQUOT;
        return trial;
    }
    trial.could_be_tried = true;
    constexpr off_t kSize = 1 << 20;
    const int reserved = ::posix_fallocate(fd.get(), 0, kSize);
    trial.has_room = reserved != ENOSPC && reserved != EDQUOT;
    if (!trial.has_room) return trial;
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_len = 1;
    if (::fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) trial.locks = "it has no locks";
    void *mapped = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (mapped == MAP_FAILED) trial.locks = "its files cannot be mapped";
    if (mapped != MAP_FAILED) ::munmap(mapped, 4096);
    return trial;
}

std::optional<Machine::Disk> disk_of(const std::string &path) {
    const std::string folder = nearest_folder(path);
    struct statvfs room = {};
    struct statfs kind = {};
    if (::statvfs(folder.c_str(), &room) != 0 || ::statfs(folder.c_str(), &kind) != 0) {
        return std::nullopt;
    }
    const auto type = static_cast<uint32_t>(kind.f_type);
    Machine::Disk disk;
    // Folders of the kernel's own take no files, whatever their mode.
    if (type == PROC_SUPER_MAGIC || type == SYSFS_MAGIC) {
        disk.free_bytes = UINT64_MAX;
        disk.is_read_only = true;
        return disk;
    }
    if (room.f_blocks == 0) return std::nullopt;  // it does not tell its size
    disk.free_bytes = uint64_t{room.f_bavail} * room.f_frsize;
    disk.files = room.f_files;
    disk.free_files = room.f_favail;
    disk.is_read_only = (room.f_flag & ST_RDONLY) != 0;
    disk.is_in_memory = type == TMPFS_MAGIC || type == static_cast<uint32_t>(RAMFS_MAGIC);
    return disk;
}

Words own_environment() {
    Words variables;
    for (const std::string_view variable : environment_variables()) {
        variables.emplace_back(variable);
    }
    return variables;
}

// Where there is no /proc, the kernel still says by which path this program was started.
std::string own_executable() {
    std::string path = canonical_path("/proc/self/exe");
    if (::access(path.c_str(), F_OK) == 0) return path;
    const auto *started = reinterpret_cast<const char *>(::getauxval(AT_EXECFN));
    return started == nullptr ? path : canonical_path(started);
}

}  // namespace

Ended run_with_patience(const Words &command, const Words &environment, unsigned patience_ms) {
    Ended ended;
    std::array<int, 2> ends = {};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        ended.start_error = errno;
        return ended;
    }
    const UniqueFd reading(ends[0]);
    UniqueFd writing(ends[1]);
    const pid_t process = start(command, environment, writing.get());
    writing.reset(-1);
    if (process < 0) {
        ended.start_error = -process;
        return ended;
    }
    int status = 0;
    bool has_ended = false;
    read_output(reading.get(), process, Deadline::in_ms(patience_ms), ended, status, has_ended);
    ended.is_late = !has_ended;
    ::kill(-process, SIGKILL);
    while (!has_ended) {
        has_ended = ::waitpid(process, &status, 0) == process || errno != EINTR;
    }
    if (ended.is_late) return ended;
    if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
    return ended;
}

bool Machine::has(const std::string &path) const {
    std::error_code error;
    return fs::exists(fs::symlink_status(at(path), error));
}

std::string Machine::text_of(const std::string &path) const {
    constexpr std::size_t kTextMax = 64 << 10;
    return read_beginning(at(path), kTextMax).value_or("");
}

Machine this_machine() {
    Machine machine;
    machine.executable = own_executable();
    machine.ask = [](const Words &command) {
        return run_with_patience(command, own_environment(), kAskPatienceMs).output;
    };
    machine.try_folder = try_folder;
    machine.disk_of = disk_of;
    return machine;
}

std::optional<std::string> read_beginning(const std::string &path, std::size_t size_max) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat status = {};
    if (!fd.valid() || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return std::nullopt;
    }
    std::string text(size_max, '\0');
    std::size_t done = 0;
    while (done < size_max) {
        const ssize_t size = ::read(fd.get(), text.data() + done, size_max - done);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return std::nullopt;
        if (size == 0) break;
        done += static_cast<std::size_t>(size);
    }
    text.resize(done);
    return text;
}

std::string nearest_folder(const std::string &path) {
    fs::path nearest = path;
    std::error_code error;
    while (!fs::is_directory(nearest, error) && nearest.has_relative_path()) {
        nearest = nearest.parent_path();
    }
    return nearest.empty() ? "/" : nearest.string();
}

}  // namespace cairn::cli::doctor
