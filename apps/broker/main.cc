// The program `cairnd`: opens caches for processes that may open no files. See docs/broker.md.
// SPDX-License-Identifier: MIT
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include "cache/agent_notice.h"
#include "listener.h"
#include "os/environment.h"
#include "server.h"

namespace cairn::broker {
namespace {

constexpr int kExitFailure = 1, kExitUsage = 2;
constexpr const char *kFooter =
    R"(Clients connect with cairn_broker_connect or cairn_broker_open (cairn/cairn_broker.h).
Under systemd: systemctl --user enable --now cairnd.socket

Ends with SIGTERM or SIGINT. Exit codes: 0 ended by a signal, 1 failure, 2 wrong usage.
Environment: CAIRN_BROKER or XDG_RUNTIME_DIR (--socket), CAIRN_DIR, XDG_CACHE_HOME or HOME (--root).)";

// As cairn_log_fn. A line is one write.
void print_log_line(void *, int, const char *line) {
    std::fprintf(stderr, "cairnd: %s\n", line);
}

void add_options(CLI::App &app, BrokerSettings &settings) {
    app.add_option("--socket", settings.socket_path,
                   "Where to listen [$XDG_RUNTIME_DIR/cairn/broker.sock]")
        ->type_name("PATH");
    app.add_option("--root", settings.root, "Directory that holds the caches [~/.cache/cairn]")
        ->type_name("DIR");
    app.add_option("--limit-bytes", settings.limit_bytes,
                   "Disk space of each cache [1 GiB]; at least 1 MiB")
        ->type_name("N");
    app.add_option("--clients", settings.clients_max, "How many at once [32]")
        ->type_name("N")
        ->check(CLI::Range(1, 4096));
    app.add_option("--value-bytes", settings.value_size_max, "Largest value taken [16 MiB]")
        ->type_name("N")
        ->check(CLI::Range(1u, CAIRN_VALUE_SIZE_MAX));
    app.add_option("--messages-per-second", settings.messages_per_second,
                   "Quota of each client [2000]; what is above is read later")
        ->type_name("N")
        ->check(CLI::Range(1.0, 1e9));
    app.add_option("--bytes-per-second", settings.bytes_per_second,
                   "Quota of each client [32 MiB]; what is above is read later")
        ->type_name("N")
        ->check(CLI::Range(1.0, 1e12));
    app.add_flag("--require-read-only-mount", settings.require_read_only_mount,
                 "Lend nothing where the system lets us make no read-only mount");
    const auto log = [&settings] { settings.log = print_log_line; };
    app.add_flag_callback("--log", log, "Say on standard error what happens");
    app.set_version_flag("--version", cairn_version_string());
    app.footer(kFooter);
}

// Descriptors are what a broker deals in.
void raise_descriptor_limit() {
    rlimit limit = {};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

void complete(BrokerSettings &settings, bool is_inherited) {
    if (settings.root.empty()) settings.root = default_root().value_or("");
    if (settings.root.empty()) {
        throw std::runtime_error(
            "there is no home directory; say where the caches are with --root");
    }
    if (settings.socket_path.empty()) settings.socket_path = default_broker_socket().value_or("");
    if (settings.socket_path.empty() && !is_inherited) {
        throw std::runtime_error("XDG_RUNTIME_DIR is not set; say where to listen with --socket");
    }
}

// Blocks them in all threads, also those of libraries. The descriptor becomes readable when one has
// come.
UniqueFd block_ending_signals() {
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    ::sigprocmask(SIG_BLOCK, &ending, nullptr);
    return UniqueFd(::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
}

void serve(BrokerSettings &settings) {
    std::optional<Socket> inherited = inherited_socket();
    complete(settings, inherited.has_value());
    const UniqueFd ended = block_ending_signals();
    const Listener listener =
        inherited ? Listener(std::move(*inherited)) : Listener(settings.socket_path);
    raise_descriptor_limit();
    tell_agent_nothing();  // what clients do is not for others
    Server(settings, listener).run(ended.get());
}

int run(int argc, const char *const *argv) {
    BrokerSettings settings;
    CLI::App app("Opens caches for processes that may open no files, and stores for them.",
                 "cairnd");
    add_options(app, settings);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
        std::fprintf(stderr, "cairnd: %s; `cairnd --help` tells more\n", error.what());
        return kExitUsage;
    }
    serve(settings);
    return 0;
}

}  // namespace
}  // namespace cairn::broker

int main(int argc, char **argv) {
    try {
        return cairn::broker::run(argc, argv);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "cairnd: %s\n", error.what());
        return cairn::broker::kExitFailure;
    }
}
