// SPDX-License-Identifier: MIT
#include "session.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>

#include "common/words.h"
#include "manifest.h"
#include "named_file.h"
#include "os/deadline.h"
#include "os/environment.h"
#include "output.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnvironmentHead =
    "# Written by `cairn enable`, removed by `cairn disable`.\n";
constexpr std::string_view kBegin = "# >>> cairn enable >>>";
constexpr std::string_view kEnd = "# <<< cairn enable <<<";
constexpr uint64_t kTextMax = 1 << 20;
constexpr unsigned kLoadPatienceS = 10;

// What neither a shell within '' nor environment.d takes for anything else.
void require_plain(const SessionVariable &variable) {
    constexpr std::string_view kMore = "/._-+:,@=";
    const auto is_plain = [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               kMore.find(c) != std::string_view::npos;
    };
    for (const std::string *text : {&variable.value, &variable.needs}) {
        if (std::ranges::all_of(*text, is_plain)) continue;
        throw Failure(kExitFailure,
                      "`{}`, for {}, has a character that the files of a session cannot hold; "
                      "install Cairn where all names are of letters, digits and {}",
                      *text, variable.name, kMore);
    }
}

// The user's choice of a vendor, also where an earlier `cairn enable` has put ours in its place.
std::string chosen_glx_vendor() {
    const std::string chosen = environment_variable(kGlxVendorEnv).value_or("");
    return chosen.empty() || chosen == kGlxVendor
               ? environment_variable(kGlxRealVendorEnv).value_or("")
               : chosen;
}

std::string block_of(const SessionVariables &variables) {
    std::string block =
        fmt::format("{}  (written by `cairn enable`, removed by `cairn disable`)\n", kBegin);
    for (const auto &[name, value, needs] : variables) {
        block +=
            fmt::format("if [ -r '{}' ]; then {}='{}'; export {}; fi\n", needs, name, value, name);
    }
    return block.append(kEnd).append("\n");
}

// Where a line that begins so begins; npos: there is none. A Failure where there are several.
size_t line_of(const std::string &text, std::string_view beginning) {
    size_t found = std::string::npos;
    for (size_t at = text.find(beginning); at != std::string::npos;
         at = text.find(beginning, at + 1)) {
        if (at != 0 && text[at - 1] != '\n') continue;
        if (found != std::string::npos) {
            throw Failure(kExitFailure,
                          "~/.xsessionrc has several lines `{}`; remove all but one block of "
                          "Cairn's, and try again",
                          beginning);
        }
        found = at;
    }
    return found;
}

struct Part {
    size_t begin = std::string::npos;  // npos: there is no block
    size_t end = 0;                    // behind its last line
};

Part find_block(const std::string &text) {
    const size_t begin = line_of(text, kBegin);
    const size_t last = line_of(text, kEnd);
    if (begin == std::string::npos && last == std::string::npos) return {};
    if (begin == std::string::npos || last == std::string::npos || last < begin) {
        throw Failure(kExitFailure,
                      "~/.xsessionrc has a part of Cairn's block only; remove the lines between "
                      "`{}` and `{}`, and both, and try again",
                      kBegin, kEnd);
    }
    const size_t line_end = text.find('\n', last);
    return {begin, line_end == std::string::npos ? text.size() : line_end + 1};
}

// While it lives, others may not write what is made.
class CarefulMask {
  public:
    CarefulMask() { ::umask(before_ | 022); }
    ~CarefulMask() { ::umask(before_); }
    CarefulMask(const CarefulMask &) = delete;
    CarefulMask &operator=(const CarefulMask &) = delete;

  private:
    const mode_t before_ = ::umask(0);
};

// What a command prints; empty where it cannot be run.
std::string output_of(const char *command) {
    const std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(command, "re"), pclose);
    std::string output;
    std::array<char, 4096> part = {};
    for (size_t size = 1; pipe != nullptr && size != 0;) {
        size = fread(part.data(), 1, part.size(), pipe.get());
        output.append(part.data(), size);
    }
    return output;
}

}  // namespace

SessionVariables session_variables(const std::string &manifest, const std::string &glx_library) {
    SessionVariables variables;
    const auto [name, value] = front_end_environment(manifest);
    variables.push_back({name, value, manifest});
    if (!glx_library.empty()) {
        const std::string vendor = chosen_glx_vendor();
        variables.push_back({kGlxVendorEnv, kGlxVendor, glx_library});
        if (!vendor.empty()) variables.push_back({kGlxRealVendorEnv, vendor, glx_library});
    }
    for (const SessionVariable &variable : variables) require_plain(variable);
    return variables;
}

std::string environment_text(const SessionVariables &variables) {
    std::string text(kEnvironmentHead);
    for (const auto &[name, value, needs] : variables) text += name + "=" + value + "\n";
    return text;
}

bool is_environment_text(std::string_view text) {
    return text.starts_with(kEnvironmentHead);
}

// An empty line goes before the block, and with it: so a text whose last line has no end gets it
// back.
std::string with_block(const std::optional<std::string> &text, const SessionVariables &variables) {
    std::string block = block_of(variables);
    if (!text) return block;
    const Part part = find_block(*text);
    if (part.begin == std::string::npos) return *text + "\n" + block;
    return text->substr(0, part.begin) + block + text->substr(part.end);
}

std::string without_block(const std::string &text) {
    const Part part = find_block(text);
    if (part.begin == std::string::npos) return text;
    std::string before = text.substr(0, part.begin);
    const std::string behind = text.substr(part.end);
    if (!before.empty()) before.pop_back();
    // The user has written behind the block, or has removed the empty line.
    const bool needs_end = !before.empty() && !before.ends_with('\n') && !behind.empty();
    return before + (needs_end ? "\n" : "") + behind;
}

std::string block_in(const std::string &text) {
    const Part part = find_block(text);
    return part.begin == std::string::npos ? "" : text.substr(part.begin, part.end - part.begin);
}

std::string own_home() {
    std::string home = home_directory().value_or("");
    struct stat status = {};
    if (home.empty() || ::stat(home.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
        throw Failure(kExitFailure, "the home directory `{}` is not there; set HOME to yours",
                      home);
    }
    if (status.st_uid != ::geteuid()) {
        throw Failure(kExitFailure,
                      "the home directory `{}` is another user's; run `cairn` as that user, "
                      "without sudo",
                      home);
    }
    return home;
}

SessionFiles session_files() {
    const std::string home = own_home();
    return {home + "/.config/environment.d/50-cairn.conf", home + "/.xsessionrc"};
}

void require_own(const std::string &path) {
    fs::path nearest = path;
    struct stat status = {};
    while (::stat(nearest.c_str(), &status) != 0 && nearest.has_relative_path()) {
        nearest = nearest.parent_path();
    }
    if (status.st_uid != ::geteuid()) {
        throw Failure(kExitFailure, "{} is another user's; run `cairn` as that user, without sudo",
                      nearest.string());
    }
    const std::string caller = environment_variable("SUDO_UID").value_or("");
    if (::geteuid() == 0 && !caller.empty() && caller != "0") {
        throw Failure(kExitFailure,
                      "sudo has made you root, and {} is for root's sessions, not for yours; run "
                      "`cairn` without sudo",
                      path);
    }
}

FolderLock::FolderLock(const std::string &folder) {
    make_folder(folder);
    fd_.reset(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    constexpr uint64_t kPatienceUs = 10'000'000;
    Backoff backoff(kPatienceUs);
    while (fd_.valid() && ::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return;
        if (!backoff.pause()) {
            throw Failure(kExitFailure,
                          "another `cairn` is at work in {} and does not end; try again when it "
                          "has",
                          folder);
        }
    }
}

void make_folder(const std::string &folder) {
    const CarefulMask mask;
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw Failure(kExitFailure, "cannot make {}: {}", folder, error.message());
}

std::optional<std::string> read_user_file(const std::string &path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) return std::nullopt;
    if (status.type() == fs::file_type::none) {
        throw Failure(kExitFailure, "cannot read {}: {}", path, error.message());
    }
    if (status.type() != fs::file_type::regular) {
        throw Failure(kExitFailure, "{} is not a file; move it out of the way", path);
    }
    InputFile file(path);
    std::string text;
    while (file.append_to(text)) {
        if (text.size() > kTextMax) {
            throw Failure(kExitFailure, "{} has more than {} bytes; nothing was changed", path,
                          kTextMax);
        }
    }
    return text;
}

void write_user_files(const std::vector<FileText> &files) {
    std::vector<OutputFile> outputs;
    for (const auto &[path, text] : files) {
        if (text.size() > kTextMax) {
            throw Failure(kExitFailure,
                          "{} would have more than {} bytes; make it smaller, and try again; "
                          "nothing was changed",
                          path, kTextMax);
        }
        make_folder(fs::path(path).parent_path());
        try {
            outputs.emplace_back(path);
        } catch (const Failure &failure) {
            throw Failure(kExitFailure,
                          "{}; nothing was changed; make it a file that you may write, and try "
                          "again",
                          failure.what());
        }
    }
    const CarefulMask mask;
    for (size_t i = 0; i < files.size(); ++i) outputs[i].write(files[i].text);
}

std::string library_in(const std::string &listing, const std::string &name) {
    for (const std::string &line : split(listing, '\n')) {
        const size_t arrow = line.find(" => ");
        const size_t first = line.find_first_not_of(" \t");
        if (arrow == std::string::npos || line.compare(first, name.size() + 1, name + " ") != 0) {
            continue;
        }
        // Libraries of other machines, such as those of 32 bits, stand there as well.
        std::string path = line.substr(arrow + 4);
        if (load_problem(path).empty()) return path;
    }
    return "";
}

std::string library_in_loader_folders(const std::string &name) {
    for (const char *folder : kLoaderFolders) {
        std::string path = fmt::format("{}/{}", folder, name);
        // Each loader looks in some of these folders only, so it is asked.
        const bool is_there = ::access(path.c_str(), R_OK) == 0;
        if (is_there && load_problem(path).empty() && load_problem(name).empty()) return path;
    }
    return "";
}

std::string find_glx_library() {
    const std::string listed = library_in(output_of("/sbin/ldconfig -p 2>/dev/null"), kGlxLibrary);
    return listed.empty() ? library_in_loader_folders(kGlxLibrary) : listed;
}

// In a child: loading runs the library's code.
std::string load_problem(const std::string &library) {
    std::array<int, 2> pipe = {};
    if (::pipe(pipe.data()) != 0) return error_text(errno);
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(kLoadPatienceS);
        const bool is_loaded = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr;
        const std::string problem = is_loaded ? "" : ::dlerror();
        const ssize_t written = ::write(pipe[1], problem.data(), problem.size());
        ::_exit(is_loaded && written >= 0 ? 0 : 1);
    }
    const int fork_error = errno;
    ::close(pipe[1]);
    if (child < 0) {
        ::close(pipe[0]);
        return fmt::format("no process can be started to load it: {}", error_text(fork_error));
    }
    std::string problem;
    std::array<char, 4096> part = {};
    for (ssize_t size = 1; child > 0 && size > 0;) {
        size = ::read(pipe[0], part.data(), part.size());
        problem.append(part.data(), static_cast<size_t>(std::max<ssize_t>(size, 0)));
    }
    ::close(pipe[0]);
    int status = 0;
    const bool has_ended = child > 0 && ::waitpid(child, &status, 0) == child;
    if (has_ended && WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
    if (!problem.empty()) return problem;
    const bool is_late = has_ended && WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    return is_late ? "the process that loads it does not come back"
                   : "it ends the process that loads it";
}

}  // namespace cairn::cli
