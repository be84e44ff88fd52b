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
#include <charconv>
#include <csignal>
#include <filesystem>
#include <optional>

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

int number_of(const std::string &text) {
    int number = -1;
    const char *const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && rest == end ? number : -1;
}

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
        if (!own.empty() && folder == own) return {number_of(path.filename().string()), ""};
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
// it has done so. Its calls return zero or errno.
class Unfinished {
  public:
    explicit Unfinished(const std::string &path) : path_(path) {}
    ~Unfinished() {
        if (!name_.empty()) ::unlink(name_.c_str());
    }
    Unfinished(const Unfinished &) = delete;
    Unfinished &operator=(const Unfinished &) = delete;

    int create() {
        fd_.reset(::open(folder_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kNewFileMode));
        return fd_.valid() ? 0 : give_name([this](const char *name) {
            fd_.reset(::open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kNewFileMode));
            return fd_.valid();
        });
    }
    int adopt_owner_and_permissions(const struct stat &of) const {
        struct stat now = {};
        if (::fstat(fd_.get(), &now) != 0) return errno;
        const bool is_same = now.st_uid == of.st_uid && now.st_gid == of.st_gid;
        if (!is_same && ::fchown(fd_.get(), of.st_uid, of.st_gid) != 0) return errno;
        return ::fchmod(fd_.get(), of.st_mode & 07777) == 0 ? 0 : errno;
    }
    // EINTR: a signal waits, and what it ends should end now.
    int write(std::string_view bytes) const {
        constexpr size_t kPart = 1 << 20;
        for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kPart))) {
            if (held_ && held_->is_one_waiting()) return EINTR;
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
            if (error != 0) return error;
        }
        if (::rename(name_.c_str(), path_.c_str()) != 0) return errno;
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
            const std::string name =
                (folder_ / fmt::format(".cairn-{}-{}.tmp", ::getpid(), attempt)).string();
            if (take(name.c_str())) {
                name_ = name;
                return 0;
            }
            error = errno;
            if (error != EEXIST) return error;
        }
        return error;
    }

    const std::string path_;
    const fs::path folder_ = folder_of(path_);
    std::optional<HeldSignals> held_;  // destroyed last
    std::string name_;                 // while it has one of its own
    UniqueFd fd_;
};

// Zero, or errno. `there`: of the file that is replaced; -1: there is none.
int replace(const std::string &path, int there, std::string_view bytes) {
    struct stat status = {};
    if (there >= 0 && ::fstat(there, &status) != 0) return errno;
    Unfinished file(path);
    int error = file.create();
    if (error == 0 && there >= 0) error = file.adopt_owner_and_permissions(status);
    if (error == 0) error = file.write(bytes);
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
    ssize_t size = 0;
    do {
        size = ::read(fd_.get(), part.data(), part.size());
    } while (size < 0 && errno == EINTR);
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
    if (!fd_.valid()) {
        if (errno != ENOENT) refuse("write", name_, errno);
        find_place();
    } else if (found.descriptor < 0 && regular_file(fd_)) {
        way_ = path_.empty() ? Way::overwrite : Way::replace;
    }
}

// For a file that is not there yet.
void OutputFile::find_place() {
    way_ = Way::replace;
    if (path_.empty() || path_.ends_with('/')) {
        refuse("write", name_, path_.empty() ? ENOENT : EISDIR);
    }
    if (::access(folder_of(path_).c_str(), W_OK | X_OK) != 0) refuse("write", name_, errno);
}

void OutputFile::write(std::string_view bytes) {
    int error = way_ == Way::replace ? replace(path_, fd_.get(), bytes) : 0;
    const bool is_refused = fd_.valid() && can_only_overwrite(error);
    if (way_ == Way::overwrite || is_refused) {
        error = overwrite(fd_.get(), bytes);
    } else if (way_ == Way::append) {
        error = write_all(fd_.get(), bytes);
    }
    if (error != 0) refuse("write", name_, error);
}

}  // namespace cairn::cli
