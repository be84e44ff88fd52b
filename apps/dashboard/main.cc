// SPDX-License-Identifier: MIT
// The program cairn-dashboard, which `cairn dashboard` starts: a page on this machine that shows the caches.
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>

#include "actions.h"
#include "caches.h"
#include "command.h"
#include "live.h"
#include "opening.h"
#include "output.h"
#include "page.h"
#include "server.h"
#include "views.h"

namespace cairn::dashboard {
namespace {

constexpr const char *kFooter =
    R"(The page is on 127.0.0.1, and only who has the printed address gets in. It ends with Ctrl-C, and by itself when no
page has asked it anything for 15 minutes. Nothing is read from elsewhere, and nothing leaves this machine.

Examples:
  cairn dashboard
  cairn dashboard --no-open --port 8080

Exit codes: 0 ended, 1 it cannot listen or the directory cannot be used, 2 wrong usage.)";

struct Options {
    bool no_open = false;
    std::string port = "0";
    std::string idle = "15";
};

std::uint64_t number_of(const char *option, const std::string &text, std::uint64_t max) {
    std::uint64_t number = 0;
    const char *const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stopped != end || number > max) {
        throw cli::Failure(cli::kExitUsage, "{} `{}`: write a number from 0 to {}", option, text,
                           max);
    }
    return number;
}

// Minutes, as people write them: "15", "0.5". 0: never.
std::chrono::milliseconds idle_time_of(const std::string &text) {
    double minutes = 0;
    const char *const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, minutes);
    constexpr double kMinutesMax = 1'000'000;
    if (error != std::errc() || stopped != end || !(minutes >= 0 && minutes <= kMinutesMax)) {
        throw cli::Failure(cli::kExitUsage, "--idle `{}`: write a number of minutes", text);
    }
    return std::chrono::milliseconds(static_cast<std::int64_t>(minutes * 60'000));
}

// What the page asks.
class Answers {
  public:
    explicit Answers(const std::string &root)
        : views_(root), live_(root), actions_(root, [this] { views_.forget(); }) {}

    Reply answer(const std::string &path, const Parameters &parameters, const std::string &body) {
        const auto text = [&](const char *name) {
            const auto found = parameters.find(name);
            return found == parameters.end() ? std::string() : found->second;
        };
        if (path == "overview") return reply(views_.overview());
        if (path == "runs") return reply(views_.runs());
        if (path == "run") return reply(views_.run(text("cache"), text("start")));
        if (path == "programs") return reply(views_.programs());
        if (path == "generations") return reply(views_.generations());
        if (path == "differences") return reply(views_.differences(text("from"), text("to")));
        if (path == "packs") return reply(views_.packs());
        if (path == "action") return reply(actions_.begin(body));
        return {404, R"({"error": "there is no such thing"})"};
    }

    // A line about what happens, behind the event of this number, which becomes that of the last one.
    std::string tell(std::uint64_t &after) {
        Json json = live_.since(after);
        after = json["last"].get<std::uint64_t>();
        json["action"] = actions_.state();
        return cli::printable_json(json, -1);
    }

  private:
    // What came from files has bytes of all kinds.
    static Reply reply(const Json &json) { return {200, cli::printable_json(json, -1)}; }

    Views views_;
    Live live_;
    Actions actions_;
};

// Returns when the process shall end.
void wait_for_end(const Server &server, const sigset_t &signals,
                  std::chrono::milliseconds idle_max) {
    for (;;) {
        const timespec second = {1, 0};
        siginfo_t info = {};
        const int signal = ::sigtimedwait(&signals, &info, &second);
        if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) return;
        if (idle_max.count() != 0 && server.idle_time() >= idle_max) {
            cli::print_line("No page has asked anything for some time, so this ends.");
            return;
        }
    }
}

int serve(const Options &options) {
    const auto port = static_cast<std::uint16_t>(number_of("--port", options.port, UINT16_MAX));
    const std::chrono::milliseconds idle_max = idle_time_of(options.idle);
    const std::string root = cli::usable_root();
    const Page page = Page::load();
    // Threads are started with these blocked, so that they come to wait_for_end() only.
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    // What takes long shows no progress here.
    cli::be_quiet();
    Answers answers(root);
    Server server(
        page,
        [&](const auto &path, const auto &parameters, const auto &body) {
            return answers.answer(path, parameters, body);
        },
        [&](std::uint64_t &after) { return answers.tell(after); });
    server.start(port);
    Opening opening;
    const bool is_shown = !options.no_open && opening.open(server.address(), root);
    cli::print_line("{}{}", is_shown ? "Opening " : "Open ", server.address());
    cli::finish_output();
    wait_for_end(server, signals, idle_max);
    server.stop();
    return cli::kExitOk;
}

cli::Run define(cli::Arguments &take) {
    auto options = std::make_shared<Options>();
    take.flag("--no-open", options->no_open, "Print the address, and open no browser");
    take.value("--port", options->port, "Listen on this port; any free one where none is given",
               "PORT");
    take.value("--idle", options->idle, "End when no page has asked anything for so long; 0: never",
               "MINUTES");
    take.dir();
    return [options] { return serve(*options); };
}

constexpr cli::Command kCommand = {"cairn dashboard", "Show the caches in a browser", kFooter,
                                   define};

}  // namespace
}  // namespace cairn::dashboard

int main(int argc, char **argv) {
    return cairn::cli::run_main(argc, argv, [](const cairn::cli::Words &words) {
        return cairn::cli::run_only_command(cairn::dashboard::kCommand, words);
    });
}
