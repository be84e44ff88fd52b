// SPDX-License-Identifier: MIT
#include "doctor/driver_trial.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "common/run_report.h"
#include "common/words.h"
#include "os/environment.h"
#include "os/file.h"
#include "output.h"
#include "run_report.h"

namespace cairn::cli::doctor {
namespace {

namespace fs = std::filesystem;

// Of the places for temporary files, the first that takes one; empty: none does.
std::string make_temporary_folder() {
    std::error_code error;
    for (const std::string &place :
         {fs::temp_directory_path(error).string(),
          environment_variable("XDG_RUNTIME_DIR").value_or(""), std::string("/dev/shm")}) {
        std::string name = place + "/cairn-doctor-XXXXXX";
        if (place.starts_with('/') && ::mkdtemp(name.data()) != nullptr) return name;
    }
    return "";
}

// A folder of ours that is gone at the end. Drivers keep things, too, and doctor leaves nothing behind: a
// process makes the folder, and removes it when this one has ended, by whatever signal, and all that it
// has started. These inherit one end of a pair of sockets, which so stays open until then.
class Scratch {
  public:
    Scratch() {
        std::array<int, 2> sockets = {};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) return;
        end_.reset(sockets[0]);
        UniqueFd other(sockets[1]);
        (void)::fcntl(end_.get(), F_SETFD, 0);
        keeper_ = ::fork();
        if (keeper_ < 0) start_error_ = errno;
        if (keeper_ == 0) {
            end_.reset(-1);
            keep(other.get());
        }
        other.reset(-1);
        path_ = read_all(end_.get());
    }
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;
    ~Scratch() {
        // What was left behind by a driver is not waited for.
        (void)!::send(end_.get(), "", 1, MSG_NOSIGNAL);
        end_.reset(-1);
        if (keeper_ > 0) ::waitpid(keeper_, nullptr, 0);
    }
    const std::string &path() const { return path_; }
    // Why no process can be started; 0: one was.
    int start_error() const { return start_error_; }

  private:
    static std::string read_all(int fd) {
        std::string text;
        std::array<char, 512> part = {};
        for (ssize_t size = 1; size != 0;) {
            size = ::read(fd, part.data(), part.size());
            if (size < 0 && errno != EINTR) break;
            text.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
        }
        return text;
    }
    [[noreturn]] static void keep(int fd) {
        ::setsid();  // the terminal's signals are not for it
        for (const int used : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(used);
        const std::string made = make_temporary_folder();
        (void)!::send(fd, made.data(), made.size(), MSG_NOSIGNAL);
        ::shutdown(fd, SHUT_WR);
        char done = 0;
        while (::recv(fd, &done, 1, 0) < 0 && errno == EINTR) continue;
        std::error_code error;
        if (!made.empty()) fs::remove_all(made, error);
        ::_exit(0);
    }

    std::string path_;
    UniqueFd end_;
    pid_t keeper_ = -1;
    int start_error_ = 0;
};

using Changes = std::map<std::string, std::optional<std::string>>;

// The environment with these; nullopt: without.
Words environment_with(const Changes &changes) {
    Words variables;
    for (const std::string_view each : environment_variables()) {
        const std::string name(each.substr(0, each.find('=')));
        if (!changes.contains(name)) variables.emplace_back(each);
    }
    for (const auto &[name, value] : changes) {
        if (!value) continue;
        std::string variable = name;
        variable.append("=").append(*value);
        variables.push_back(std::move(variable));
    }
    return variables;
}

// Nothing of the user's changes, and nothing of the user's settings holds.
Changes alone_in(const std::string &scratch) {
    Changes changes = {{"XDG_CACHE_HOME", scratch},        {"XDG_CONFIG_HOME", scratch},
                       {"MESA_SHADER_CACHE_DIR", scratch}, {"__GL_SHADER_DISK_CACHE_PATH", scratch},
                       {"CAIRN_DIR", scratch + "/caches"}, {"CAIRN_DISABLE", "1"}};
    for (const char *name : {"CAIRN_BROKER_FD", "CAIRN_EGL_BROKER", "CAIRN_EGL_PERSIST",
                             "CAIRN_KEEP_SOURCES", "CAIRN_LIMIT", "CAIRN_LOG", "CAIRN_PACKS",
                             "CAIRN_RECORD", "CAIRN_REPORT", "CAIRN_TRACE", "CAIRN_WARM"}) {
        changes[name] = std::nullopt;
    }
    const auto vendor = environment_variable(kGlxVendorEnv);
    if (vendor == kGlxVendor) changes[kGlxVendorEnv] = environment_variable(kGlxRealVendorEnv);
    return changes;
}

DriverAnswer ask(const Examined &examined, const std::string &api, const Changes &changes) {
    return answer_of(run_with_patience({examined.machine.executable, "doctor", "--ask-driver", api},
                                       environment_with(changes), examined.machine.patience_ms));
}

}  // namespace

DriverAnswer answer_of(Ended ended) {
    DriverAnswer answer;
    for (const std::string &line : split(ended.output, '\n')) {
        const std::size_t equals = line.find('=');
        if (equals == std::string::npos) continue;
        answer.said[line.substr(0, equals)] = line.substr(equals + 1);
    }
    answer.ended = std::move(ended);
    return answer;
}

DriverTrial try_driver(const Examined &examined, const std::string &api) {
    DriverTrial trial;
    const Scratch scratch;
    trial.alone.ended.start_error = scratch.start_error();
    trial.was_asked = scratch.start_error() != 0 || !scratch.path().empty();
    if (scratch.path().empty()) return trial;
    Changes changes = alone_in(scratch.path());
    trial.alone = ask(examined, api, changes);
    const bool has_front_end =
        api == "glx" ? !examined.glx_library.empty() : !examined.manifest.path.empty();
    if (!trial.alone.has_context() || !trial.alone.is_done() || !has_front_end) return trial;
    try {
        const SharedReport report(*changes["CAIRN_DIR"]);
        changes["CAIRN_DISABLE"] = std::nullopt;
        changes[kRunReportVariable] = report.path();
        const auto [name, value] = front_end_environment(examined.manifest.path);
        changes[name] = value;
        if (!examined.glx_library.empty()) {
            for (const auto &[variable, text] : glx_environment(examined.manifest.path)) {
                changes[variable] = text;
            }
        }
        trial.was_tried = true;
        trial.first = ask(examined, api, changes);
        if (trial.first.is_done()) trial.second = ask(examined, api, changes);
        trial.hits = report.read().hits;
    } catch (const std::exception &failure) {
        trial.problem = failure.what();
    }
    return trial;
}

}  // namespace cairn::cli::doctor
