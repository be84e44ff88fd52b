// SPDX-License-Identifier: MIT
#include "output_file.h"

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

#include "failure.h"
#include "file_name.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string &name, int error_number) {
    throw Failure(kExitFailure, fmt::format("cannot write {}: {}", name, error_text(error_number)));
}

// Zero, or errno.
int write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EAGAIN) {  // others may have set O_NONBLOCK on what we share
            pollfd ready = {fd, POLLOUT, 0};
            ::poll(&ready, 1, -1);
        } else if (written < 0 && errno != EINTR) {
            return errno;
        }
        bytes.remove_prefix(static_cast<size_t>(std::max<ssize_t>(written, 0)));
    }
    return 0;
}

// While it lives, a closed pipe and a limit on the size of files are errors of write().
class WriteErrors {
  public:
    WriteErrors() {
        struct sigaction ignore = {};
        ignore.sa_handler = SIG_IGN;
        for (size_t i = 0; i < kSignals.size(); ++i) {
            ::sigaction(kSignals[i], &ignore, &before_[i]);
        }
    }
    ~WriteErrors() {
        for (size_t i = 0; i < kSignals.size(); ++i) {
            ::sigaction(kSignals[i], &before_[i], nullptr);
        }
    }
    WriteErrors(const WriteErrors &) = delete;
    WriteErrors &operator=(const WriteErrors &) = delete;

  private:
    static constexpr std::array kSignals = {SIGPIPE, SIGXFSZ};
    std::array<struct sigaction, kSignals.size()> before_ = {};
};

// While it lives, the signals that end a program wait.
class HeldSignals {
  public:
    HeldSignals() {
        sigemptyset(&held_);
        for (const int signal : kSignals) {
            sigaddset(&held_, signal);
        }
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

// A new file in the directory of the one that it is to replace, and gone unless it does. Its calls
// return zero or errno.
class Unfinished {
  public:
    explicit Unfinished(const std::string &path) : path_(path) {}
    ~Unfinished() {
        if (!name_.empty()) {
            ::unlink(name_.c_str());
        }
    }
    Unfinished(const Unfinished &) = delete;
    Unfinished &operator=(const Unfinished &) = delete;

    int create() {
        const fs::path folder = fs::path(path_).parent_path();
        fd_.reset(::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC,
                         kNewFileMode));
        return fd_.valid() ? 0 : give_name([this](const char *name) {
            fd_.reset(::open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kNewFileMode));
            return fd_.valid();
        });
    }
    int adopt_owner_and_permissions(const struct stat &of) const {
        struct stat now = {};
        if (::fstat(fd_.get(), &now) != 0) {
            return errno;
        }
        const bool is_same = now.st_uid == of.st_uid && now.st_gid == of.st_gid;
        if (!is_same && ::fchown(fd_.get(), of.st_uid, of.st_gid) != 0) {
            return errno;
        }
        return ::fchmod(fd_.get(), of.st_mode & 07777) == 0 ? 0 : errno;
    }
    // EINTR: a signal waits, and what it ends should end now.
    int write(std::string_view bytes) const {
        constexpr size_t kPart = 1 << 20;
        for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kPart))) {
            if (held_ && held_->is_one_waiting()) {
                return EINTR;
            }
            if (const int error = write_all(fd_.get(), bytes.substr(0, kPart)); error != 0) {
                return error;
            }
        }
        return ::fsync(fd_.get()) == 0 ? 0 : errno;
    }
    int replace() {
        if (name_.empty()) {
            const std::string unnamed = fmt::format("/proc/self/fd/{}", fd_.get());
            const int error = give_name([&](const char *name) {
                return ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
            });
            if (error != 0) {
                return error;
            }
        }
        if (::rename(name_.c_str(), path_.c_str()) != 0) {
            return errno;
        }
        name_.clear();
        return 0;
    }

  private:
    static constexpr mode_t kNewFileMode = 0666;  // less the umask

    // A name that nothing else has, and signals wait from here on.
    template <typename Take>
    int give_name(Take take) {
        held_.emplace();
        int error = 0;
        for (int attempt = 0; attempt < 100; ++attempt) {
            const std::string name = (fs::path(path_).parent_path() /
                                      fmt::format(".cairn-{}-{}.tmp", ::getpid(), attempt))
                                         .string();
            if (take(name.c_str())) {
                name_ = name;
                return 0;
            }
            error = errno;
            if (error != EEXIST) {
                return error;
            }
        }
        return error;
    }

    const std::string path_;
    std::optional<HeldSignals> held_;  // destroyed last
    std::string name_;                 // while it has one of its own
    UniqueFd fd_;
};

// Zero, or errno. `there`: of the file that is replaced; -1: there is none.
int replace(const std::string &path, int there, std::string_view bytes) {
    struct stat status = {};
    if (there >= 0 && ::fstat(there, &status) != 0) {
        return errno;
    }
    Unfinished file(path);
    int error = file.create();
    if (error == 0 && there >= 0) {
        error = file.adopt_owner_and_permissions(status);
    }
    if (error == 0) {
        error = file.write(bytes);
    }
    return error == 0 ? file.replace() : error;
}

int overwrite(int fd, std::string_view bytes) {
    const bool is_empty = ::ftruncate(fd, 0) == 0 && ::lseek(fd, 0, SEEK_SET) == 0;
    return is_empty ? write_all(fd, bytes) : errno;
}

// The directory refuses, not the file.
bool can_only_overwrite(int error) {
    return error == EACCES || error == EPERM || error == EROFS || error == EBUSY;
}

bool is_regular(int fd) {
    struct stat status = {};
    return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

OutputFile::OutputFile(const std::string &name) : name_(name) {
    const FileName found = look_up(name, STDOUT_FILENO);
    is_standard_output_ = found.descriptor == STDOUT_FILENO;
    if (is_standard_output_) {
        name_ = "standard output";
    }
    fd_.reset(found.descriptor >= 0 ? ::fcntl(found.descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                    : ::open(name.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    const int error = errno;
    if (fd_.valid()) {
        look_at_what_is_there(found);
    } else if (error == ENOENT) {
        look_at_its_place(found);
    } else {
        refuse(name_, error);
    }
}

void OutputFile::look_at_what_is_there(const FileName &found) {
    if (found.descriptor < 0 && is_regular(fd_.get())) {
        path_ = found.path;
        way_ = path_.empty() ? Way::overwrite : Way::replace;
    }
}

void OutputFile::look_at_its_place(const FileName &found) {
    path_ = found.path;
    way_ = Way::replace;
    const fs::path folder = fs::path(path_).parent_path();
    if (path_.empty() || path_.ends_with('/')) {
        refuse(name_, path_.empty() ? ENOENT : EISDIR);
    }
    if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
        refuse(name_, errno);
    }
}

void OutputFile::write(std::string_view bytes) {
    const WriteErrors as_errors;
    int error = way_ == Way::replace ? replace(path_, fd_.get(), bytes) : 0;
    const bool is_refused = fd_.valid() && can_only_overwrite(error);
    if (way_ == Way::overwrite || is_refused) {
        error = overwrite(fd_.get(), bytes);
    } else if (way_ == Way::append) {
        error = write_all(fd_.get(), bytes);
    }
    if (error != 0) {
        refuse(name_, error);
    }
}

}  // namespace cairn::cli
