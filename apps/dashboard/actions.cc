// SPDX-License-Identifier: MIT
#include "actions.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "caches.h"
#include "os/configuration.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/helper_process.h"
#include "os/root.h"
#include "output.h"
#include "pinning.h"
#include "spawning.h"
#include "switches.h"

namespace cairn::dashboard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kOutputMax = 16 * 1024;

cli::Failure not_understood(const char *what) {
    return {cli::kExitUsage, "{}", what};
}

std::string text_in(const Json &request, const char *name) {
    const auto found = request.find(name);
    if (found == request.end()) return {};
    if (!found->is_string()) throw not_understood("a text is expected");
    return found->get<std::string>();
}

// Beside this program where both are installed, or in a build tree.
std::string find_cairn() {
    const fs::path folder = fs::path(canonical_path("/proc/self/exe")).parent_path();
    for (const fs::path &place : {folder / "cairn", folder / "../cli/cairn"}) {
        std::error_code ignored;
        if (fs::exists(place, ignored)) return place.lexically_normal().string();
    }
    throw cli::Failure(cli::kExitFailure, "`cairn` is not installed: it is not in {}",
                       folder.string());
}

// What an action is about: one cache, those of an application, or all.
struct Target {
    cli::Words arguments;
    std::string words;
};

bool is_application_name(const std::string &name) {
    return !name.empty() && name.size() <= 64 && !name.starts_with('.') && valid_identifier(name);
}

Target target_of(const Json &request) {
    const std::string cache = text_in(request, "cache");
    const std::string application = text_in(request, "application");
    const bool all = request.value("all", Json(false)) == Json(true);
    if ((cache.empty() ? 0 : 1) + (application.empty() ? 0 : 1) + (all ? 1 : 0) != 1) {
        throw not_understood("name a cache, an application, or all");
    }
    if (all) return {{"--all"}, "all caches"};
    if (!application.empty()) {
        if (!is_application_name(application)) throw not_understood("there is no such application");
        return {{"--application=" + application}, application};
    }
    if (!valid_identifier(cache)) throw not_understood("there is no such cache");
    return {{"--", cache}, cache};
}

cli::Words caches_of(const std::string &root, const std::string &application) {
    cli::Words found;
    for (const auto &[identifier, name] : cli::list_applications(root)) {
        if (cli::application_name(name) == application) found.push_back(identifier);
    }
    if (found.empty())
        throw not_understood("there is no such application any more; reload the page");
    return found;
}

// What a process has printed into a file in memory.
std::string text_of(int fd) {
    std::string text(kOutputMax, '\0');
    const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    while (text.ends_with('\n')) text.pop_back();
    return cli::printable_text(text);
}

}  // namespace

std::string checked_pack_path(const std::string &path, const std::string &home) {
    const fs::path wanted(path);
    if (!wanted.is_absolute() || wanted.extension() != ".pack" || wanted.stem().empty()) {
        throw not_understood("write the whole path of the file, which ends in .pack");
    }
    std::error_code error;
    const fs::path folder = fs::canonical(wanted.parent_path(), error);
    if (error || !fs::is_directory(folder, error)) {
        throw cli::Failure(cli::kExitUsage, "there is no folder {}", wanted.parent_path().string());
    }
    const fs::path within = folder.lexically_relative(fs::canonical(home, error));
    const bool is_below = !error && !within.empty() && *within.begin() != "..";
    const fs::path whole = folder / wanted.filename();
    // "." is the home itself.
    const bool is_hidden = wanted.filename().string().starts_with('.') ||
                           std::ranges::any_of(within, [](const fs::path &part) {
                               return part != "." && part.string().starts_with('.');
                           });
    if (!is_below || is_hidden) {
        throw not_understood("the file must be in your home, and in no hidden folder");
    }
    if (fs::symlink_status(whole, error).type() != fs::file_type::not_found) {
        throw cli::Failure(cli::kExitUsage, "there is a file {} already", whole.string());
    }
    return whole.string();
}

Actions::Ended Actions::run_command(const cli::Words &words) const {
    const std::string program = find_cairn();
    const UniqueFd output(::memfd_create("cairn-dashboard", MFD_CLOEXEC));
    if (!output.valid()) return {false, "no memory for what it says"};
    cli::Words all = {program};
    all.insert(all.end(), words.begin(), words.end());
    pid_t child = -1;
    if (const int error = start_program(program, all, output.get(), child); error != 0) {
        return {false, fmt::format("cannot start {}: {}", program, cli::error_text(error))};
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    const std::string text = text_of(output.get());
    const bool is_done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return {is_done, text.empty() ? is_done ? "Done" : "It failed, and said nothing" : text};
}

Actions::Work Actions::work_for(const Json &request, std::string &what) const {
    const std::string action = text_in(request, "action");
    const Target target = target_of(request);
    const std::string application = text_in(request, "application");
    const auto command = [&](cli::Words words) -> Work {
        words.push_back("--dir=" + root_);
        words.insert(words.end(), target.arguments.begin(), target.arguments.end());
        return [this, words = std::move(words)] { return run_command(words); };
    };
    if (action == "clear") {
        what = "Clear " + target.words;
        return command({"clear", "--yes"});
    }
    if (action == "remove") {
        what = "Remove " + target.words;
        return command({"rm", "--yes"});
    }
    if (action == "compress") {
        what = "Compress " + target.words;
        return command({"compress"});
    }
    if (application.empty()) throw not_understood("name an application");
    if (action == "pack") {
        const std::string path =
            checked_pack_path(text_in(request, "file"), home_directory().value_or("/nonexistent"));
        what = fmt::format("Pack {} into {}", application, path);
        return [this, path, application] {
            return run_command(
                {"pack", "create", "--dir=" + root_, "--application=" + application, "--", path});
        };
    }
    if (action == "limit") {
        const auto bytes = size_from_text(text_in(request, "size"));
        if (!bytes) throw not_understood("write a size such as 512M or 2G");
        what = fmt::format("Limit {} to {}", application, cli::format_bytes(*bytes));
        return [application, bytes]() -> Ended {
            cli::limit_application(application, *bytes);
            return {true, "It holds from the application's next start"};
        };
    }
    if (action != "pin" && action != "unpin") throw not_understood("there is no such action");
    const Pin pin = action == "pin" ? Pin::yes : Pin::no;
    what = fmt::format("{} the entries of {}", pin == Pin::yes ? "Pin" : "Unpin", application);
    return [root = root_, caches = caches_of(root_, application), pin]() -> Ended {
        std::uint64_t count = 0;
        for (const std::string &cache : caches) count += pin_entries(root, cache, pin);
        return {true, fmt::format("{} {}", cli::format_count(count, "entry", "entries"),
                                  pin == Pin::yes ? "pinned" : "unpinned")};
    };
}

Json Actions::begin(const std::string &request) {
    const Json json = Json::parse(request, nullptr, false);
    if (!json.is_object()) throw not_understood("an object is expected");
    std::string what;
    Work work = work_for(json, what);
    const MutexLock lock(mutex_);
    if (job_.is_running) throw cli::Failure(cli::kExitUsage, "{} is not done yet", job_.what);
    job_ = {job_.number + 1, std::move(what), true, {}};
    work_ = std::move(work);
    if (!worker_.wake()) job_.is_running = false;
    return state_locked();
}

void Actions::work() {
    Work next;
    {
        const MutexLock lock(mutex_);
        next = std::exchange(work_, {});
    }
    if (!next) return;
    Ended ended;
    try {
        ended = next();
    } catch (const std::exception &failure) {
        ended = {false, failure.what()};
    }
    changed_();
    const MutexLock lock(mutex_);
    job_.ended = std::move(ended);
    job_.is_running = false;
}

Json Actions::state_locked() const {
    if (job_.number == 0) return nullptr;
    return {{"number", job_.number},
            {"what", job_.what},
            {"is_running", job_.is_running},
            {"is_done", job_.ended.is_done},
            {"message", job_.ended.message}};
}

Json Actions::state() {
    const MutexLock lock(mutex_);
    return state_locked();
}

}  // namespace cairn::dashboard
