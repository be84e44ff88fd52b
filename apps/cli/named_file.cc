// SPDX-License-Identifier: MIT
#include "named_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "os/system_calls.h"
#include "output.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

// `verb`: read or write.
[[noreturn]] void refuse(const char *verb, const std::string &name, int error_number) {
    throw Failure(kExitFailure, "cannot {} {}: {}", verb, name, error_text(error_number));
}

struct FileName {
    // `-`, and names of what this process has open, as /dev/stdout and /dev/fd/3; -1: all else.
    int descriptor = -1;
    std::string path;  // links followed; empty: a link of /proc, which is no name
};

fs::path folder_of(const fs::path &path) {
    return path.has_parent_path() ? path.parent_path() : ".";
}

// `standard` is the descriptor that `-` stands for.
FileName look_up(const std::string &name, int standard) {
    if (name == "-") return {standard, ""};
    constexpr int kLinksMax = 40;  // as the kernel
    std::error_code error;
    const fs::path own = fs::canonical("/proc/self/fd", error);
    fs::path path = name;
    for (int i = 0; i < kLinksMax && fs::is_symlink(fs::symlink_status(path, error)); ++i) {
        const fs::path folder = fs::canonical(folder_of(path), error);
        if (!own.empty() && folder == own) return {std::stoi(path.filename().string()), ""};
        if (folder.string().starts_with("/proc/")) return {};
        path = folder / fs::read_symlink(path, error);
    }
    return {-1, path.string()};
}

// Opens it with these flags, or duplicates what is open already.
UniqueFd open_named(const std::string &name, const FileName &found, int flags) {
    return UniqueFd(found.descriptor >= 0
                        ? ::fcntl(found.descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                        : ::open(name.c_str(), flags | O_CLOEXEC | O_NOCTTY));
}

// Throws errno unless it is done.
void require(bool is_done) {
    if (!is_done) throw std::system_error(errno, std::generic_category());
}

void write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = retry([&] { return ::write(fd, bytes.data(), bytes.size()); });
        if (written < 0 && errno == EAGAIN) {  // others may have set O_NONBLOCK on what we share
            pollfd ready = {fd, POLLOUT, 0};
            ::poll(&ready, 1, -1);
        } else {
            require(written >= 0);
        }
        bytes.remove_prefix(static_cast<size_t>(std::max<ssize_t>(written, 0)));
    }
}

// While it lives, the signals that end a program wait.
class HeldSignals {
  public:
    HeldSignals() {
        sigemptyset(&held_);
        for (const int signal : kSignals) sigaddset(&held_, signal);
        ::sigprocmask(SIG_BLOCK, &held_, &before_);
    }
    ~HeldSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
    HeldSignals(const HeldSignals &) = delete;
    HeldSignals &operator=(const HeldSignals &) = delete;

    bool is_one_waiting() const {
        sigset_t waiting = {};
        ::sigpending(&waiting);
        return std::any_of(kSignals.begin(), kSignals.end(), [&](int signal) {
            return sigismember(&waiting, signal) == 1 && sigismember(&before_, signal) == 0;
        });
    }

  private:
    static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t held_ = {};
    sigset_t before_ = {};
};

// A new file in the directory of the file that it is to replace. The destructor removes it unless
// it has done so. Its calls throw errno.
class Unfinished {
  public:
    explicit Unfinished(std::string path) : path_(std::move(path)) {
        fd_.reset(::open(folder_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kNewFileMode));
        if (fd_.valid()) return;
        give_name([this](const char *name) {
            fd_.reset(::open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kNewFileMode));
            return fd_.valid();
        });
    }
    ~Unfinished() {
        if (!name_.empty()) ::unlink(name_.c_str());
    }
    Unfinished(const Unfinished &) = delete;
    Unfinished &operator=(const Unfinished &) = delete;

    void adopt_owner_and_permissions(const UniqueFd &other) const {
        struct stat theirs = {}, now = {};
        require(::fstat(other.get(), &theirs) == 0 && ::fstat(fd_.get(), &now) == 0);
        const bool is_same = now.st_uid == theirs.st_uid && now.st_gid == theirs.st_gid;
        require(is_same || ::fchown(fd_.get(), theirs.st_uid, theirs.st_gid) == 0);
        require(::fchmod(fd_.get(), theirs.st_mode & 07777) == 0);
    }
    void write(std::string_view bytes) const {
        constexpr size_t kPart = 1 << 20;
        for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kPart))) {
            if (held_ && held_->is_one_waiting()) {  // what it ends should end now
                throw std::system_error(EINTR, std::generic_category());
            }
            write_all(fd_.get(), bytes.substr(0, kPart));
        }
        require(::fsync(fd_.get()) == 0);
    }
    void replace() {
        if (name_.empty()) {
            const std::string unnamed = fmt::format("/proc/self/fd/{}", fd_.get());
            give_name([&](const char *name) {
                return ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
            });
        }
        require(::rename(name_.c_str(), path_.c_str()) == 0);
        name_.clear();
    }

  private:
    static constexpr mode_t kNewFileMode = 0666;  // less the umask

    // A name that nothing else has, and signals wait from here on.
    template <typename Take>
    void give_name(Take take) {
        held_.emplace();
        for (int attempt = 0;; ++attempt) {
            const std::string name = fmt::format(".cairn-{}-{}.tmp", ::getpid(), attempt);
            const std::string path = (folder_ / name).string();
            if (take(path.c_str())) {
                name_ = path;
                return;
            }
            require(errno == EEXIST && attempt < 100);
        }
    }

    const std::string path_;
    const fs::path folder_ = folder_of(path_);
    std::optional<HeldSignals> held_;  // destroyed last
    std::string name_;                 // while it has one of its own
    UniqueFd fd_;
};

// `there`: the file that is replaced; not valid: there is none. False: the directory refuses, not
// the file, which can only be overwritten.
bool replace(const std::string &path, const UniqueFd &there, std::string_view bytes) {
    try {
        Unfinished file(path);
        if (there.valid()) file.adopt_owner_and_permissions(there);
        file.write(bytes);
        file.replace();
        return true;
    } catch (const std::system_error &failed) {
        const int error = failed.code().value();
        const bool refuses = error == EACCES || error == EPERM || error == EROFS || error == EBUSY;
        if (!there.valid() || !refuses) throw;
        return false;
    }
}

// The status of a regular file; nothing for anything else.
std::optional<struct stat> regular_file(const UniqueFd &fd) {
    struct stat status = {};
    const bool is_one = ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode);
    return is_one ? std::optional(status) : std::nullopt;
}

}  // namespace

InputFile::InputFile(const std::string &name)
    : name_(name == "-" ? std::string("standard input") : name) {
    fd_ = open_named(name, look_up(name, STDIN_FILENO), O_RDONLY);
    if (!fd_.valid()) refuse("read", name_, errno);
}

bool InputFile::append_to(std::string &bytes) {
    std::array<char, 65536> part;
    const ssize_t size = retry([&] { return ::read(fd_.get(), part.data(), part.size()); });
    if (size < 0) refuse("read", name_, errno);
    bytes.append(part.data(), static_cast<size_t>(size));
    return size > 0;
}

uint64_t InputFile::size_bytes() const {
    const auto status = regular_file(fd_);
    return status ? static_cast<uint64_t>(status->st_size) : 0;
}

OutputFile::OutputFile(const std::string &name) : name_(name) {
    const FileName found = look_up(name, STDOUT_FILENO);
    is_standard_output_ = found.descriptor == STDOUT_FILENO;
    if (is_standard_output_) name_ = "standard output";
    path_ = found.path;
    fd_ = open_named(name, found, O_WRONLY);
    if (fd_.valid()) {
        const bool is_file = found.descriptor < 0 && regular_file(fd_);
        if (is_file) way_ = path_.empty() ? Way::overwrite : Way::replace;
        return;
    }
    // A file that is not there yet.
    way_ = Way::replace;
    if (errno != ENOENT || path_.empty()) refuse("write", name_, errno);
    if (path_.ends_with('/')) refuse("write", name_, EISDIR);
    if (::access(folder_of(path_).c_str(), W_OK | X_OK) != 0) refuse("write", name_, errno);
}

void OutputFile::write(std::string_view bytes) {
    try {
        if (way_ == Way::append) return write_all(fd_.get(), bytes);
        if (way_ == Way::replace && replace(path_, fd_, bytes)) return;
        require(::ftruncate(fd_.get(), 0) == 0 && ::lseek(fd_.get(), 0, SEEK_SET) == 0);
        write_all(fd_.get(), bytes);
    } catch (const std::system_error &error) {
        refuse("write", name_, error.code().value());
    }
}

}  // namespace cairn::cli
