// SPDX-License-Identifier: MIT
// `cairn-agent serve`: shares what the user's applications compile, by itself, until it is ended.
#include <signal.h>
#include <sys/signalfd.h>

#include <charconv>
#include <cstdlib>
#include <memory>

#include "agent.h"
#include "caches.h"
#include "commands.h"
#include "fetcher.h"
#include "names.h"
#include "notices.h"
#include "offers.h"
#include "os/environment.h"
#include "os/file.h"
#include "output.h"
#include "questions.h"
#include "sharing_worker.h"

namespace cairn::fleet {
namespace {

using cli::Failure;
using cli::kExitFailure;
using cli::kExitOk;

constexpr const char *kFooter =
    R"(A session runs it (`systemctl --user enable --now cairn-agent.socket`). When an application starts that the user shares
(`share = 1` in ~/.config/cairn/config), it pulls what the remotes of ~/.config/cairn/remotes have for it, and some time
later pushes what it has compiled to those that may be written.

Exit codes: 0 ended by a signal, 1 another agent is at work, or the socket cannot be made, 2 wrong usage.)";

// For tests: so many times as fast do the times of schedule.h go by.
constexpr const char *kSpeedEnv = "CAIRN_AGENT_SPEED";

std::uint64_t chosen_speed() {
    const std::string text = environment_variable(kSpeedEnv).value_or("1");
    std::uint64_t speed = 1;
    constexpr std::uint64_t kSpeedMax = 100'000;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), speed);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    return is_number && speed > 0 && speed <= kSpeedMax ? speed : 1;
}

// Readable once one of the signals that end programs has come.
UniqueFd open_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    UniqueFd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd.valid()) throw Failure(kExitFailure, "no descriptor for signals can be had");
    return fd;
}

std::unique_ptr<agent::Notices> open_notices() {
    try {
        if (auto inherited = agent::inherited_socket()) {
            return std::make_unique<agent::Notices>(std::move(*inherited));
        }
        const auto path = default_agent_socket();
        if (!path) throw Failure(kExitFailure, "XDG_RUNTIME_DIR is not set: a session sets it");
        return std::make_unique<agent::Notices>(*path);
    } catch (const Failure &) {
        throw;
    } catch (const std::runtime_error &error) {
        throw Failure(kExitFailure, error.what());
    }
}

std::unique_ptr<agent::Questions> open_questions(Fetcher &fetcher) {
    const auto path = default_question_socket();
    if (!path) return nullptr;
    try {
        return std::make_unique<agent::Questions>(*path, fetcher);
    } catch (const std::runtime_error &error) {
        throw Failure(kExitFailure, error.what());
    }
}

void write_line(void *, int severity, const char *line) {
    if (severity == static_cast<int>(Severity::info) && cli::is_quiet()) return;
    cli::complain(line);
}

int run() {
    // Before there are threads, which inherit that these signals are blocked.
    const UniqueFd signals = open_signals();
    const std::string root = cli::usable_root();
    const std::unique_ptr<agent::Notices> notices = open_notices();
    const Log log(write_line, nullptr);
    Offers offers;
    Fetcher fetcher(root, offers, log);
    const auto questions = open_questions(fetcher);
    SharingWorker worker(root, offers, fetcher, log);
    const std::uint64_t speed = chosen_speed();
    agent::Agent agent(
        {.notices = *notices,
         .worker = worker,
         .name_of = [&](const AgentNotice &notice) { return agent::name_of(notice, root); },
         .is_shared = agent::is_shared,
         .clock = [speed] { return monotonic_ns() / 1'000'000 * speed; },
         .log = log,
         .asks = agent::asks,
         .asked = {fetcher.asked_fd(), [&] { return fetcher.take_asked(); }},
         .speed = speed});
    // A remote that hangs may hold a job, or a pack that is fetched, for a minute. To be killed is safe at any time, so
    // nobody waits for that.
    const bool has_ended = agent.run(signals.get());
    if (!has_ended || fetcher.is_fetching()) std::_Exit(kExitOk);
    return kExitOk;
}

cli::Run define(cli::Arguments &take) {
    take.dir();
    take.quiet();
    return [] { return run(); };
}

}  // namespace

const cli::Command serve_command = {"serve", "Pull and push what applications need, by itself",
                                    kFooter, define};

}  // namespace cairn::fleet
