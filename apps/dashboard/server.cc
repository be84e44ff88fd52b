// SPDX-License-Identifier: MIT
#include "server.h"

#include <fcntl.h>
#include <httplib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "gate.h"
#include "intake.h"
#include "output.h"
#include "text.h"

namespace cairn::dashboard {
namespace {

// More threads than places and followers, so that one is always free to drop who waits longest.
constexpr std::size_t kSendersMax = 24;
constexpr std::size_t kThreads = 40;
constexpr std::chrono::milliseconds kPatience{3000};
constexpr int kWaitingMax = 128;
constexpr int kSendBufferBytes = 128 * 1024;
// Pages that are told what happens; others ask again later.
constexpr int kFollowersMax = 8;

constexpr std::array<std::pair<const char *, const char *>, 8> kHeaders = {{
    {"Cache-Control", "no-store"},
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
     "data:; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Permissions-Policy", "camera=(), geolocation=(), microphone=()"},
}};

std::vector<std::string> values_of(const httplib::Request &request, const char *name) {
    std::vector<std::string> values;
    const auto [begin, end] = request.headers.equal_range(name);
    for (auto header = begin; header != end; ++header) values.push_back(header->second);
    return values;
}

Asked asked_by(const httplib::Request &request) {
    return {request.method,
            request.path,
            values_of(request, "Host"),
            values_of(request, "Origin"),
            values_of(request, "Sec-Fetch-Site"),
            values_of(request, "Sec-Fetch-Mode"),
            values_of(request, kTokenHeader),
            values_of(request, "Content-Type")};
}

std::string error_json(const char *reason) {
    return nlohmann::ordered_json({{"error", reason}}).dump();
}

// Whether the other side of a connection has closed it.
bool is_gone(int connection) {
    char byte = 0;
    const ssize_t got = ::recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

// A request that has been taken in, and the connection for its answer.
class TakenStream : public httplib::Stream {
  public:
    TakenStream(const Intake &intake, int connection, std::string request)
        : intake_(intake), connection_(connection), request_(std::move(request)) {}

    bool is_readable() const override { return true; }
    bool is_writable() const override { return !is_gone(connection_); }
    ssize_t read(char *to, std::size_t size) override {
        const std::size_t count = request_.copy(to, size, at_);
        at_ += count;
        return static_cast<ssize_t>(count);
    }
    ssize_t write(const char *data, std::size_t size) override {
        return intake_.give(connection_, data, size) ? static_cast<ssize_t>(size) : -1;
    }
    void get_remote_ip_and_port(std::string &ip, int &port) const override {
        ip = "127.0.0.1";
        port = 0;
    }
    void get_local_ip_and_port(std::string &ip, int &port) const override {
        ip = "127.0.0.1";
        port = 0;
    }
    socket_t socket() const override { return connection_; }

  private:
    const Intake &intake_;
    const int connection_;
    const std::string request_;
    std::size_t at_ = 0;
};

}  // namespace

class Server::Http : public httplib::Server {
  public:
    Http(const Page &page, Responder responder, Teller teller)
        : page_(page),
          responder_(std::move(responder)),
          teller_(std::move(teller)),
          token_(make_token()) {
        new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
        set_payload_max_length(kBodyBytesMax);
        httplib::Headers headers(kHeaders.begin(), kHeaders.end());
        headers.emplace("Connection", "close");
        set_default_headers(std::move(headers));
        set_pre_routing_handler(
            [this](const auto &request, auto &response) { return admit(request, response); });
        const auto answer = [this](const auto &request, auto &response) {
            request.path.starts_with(kApi) ? ask(request, response) : show(request, response);
        };
        Get(".*", answer);
        Post(".*", answer);
        set_exception_handler(
            [](const auto &, auto &response, auto) { fail(response, 500, "failed"); });
    }

    void start(std::uint16_t port) {
        // Another program's waiting for this port would get what is meant for us.
        set_socket_options([](int socket) {
            const int yes = 1;
            (void)::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        });
        const int bound = port == 0                         ? bind_to_any_port("127.0.0.1")
                          : bind_to_port("127.0.0.1", port) ? int{port}
                                                            : -1;
        if (bound <= 0) {
            throw cli::Failure(cli::kExitFailure,
                               "cannot listen on 127.0.0.1:{}; leave --port out for any", port);
        }
        // httplib lets 5 wait, and the others try again after a second.
        (void)::listen(svr_sock_, kWaitingMax);
        gate_.emplace(token_, static_cast<std::uint16_t>(bound));
        thread_ = std::thread([this] { (void)listen_after_bind(); });
    }

    void end() {
        if (!thread_.joinable()) return;
        is_ending_ = true;
        // It has just begun, or has ended by itself.
        for (int i = 0; i < 1000 && !is_running(); ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        stop();
        thread_.join();
    }

    std::string address() const { return gate_->address(); }
    std::chrono::milliseconds idle_time() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(
            Clock::now().time_since_epoch() - Clock::duration(asked_at_.load()));
    }

  private:
    using Clock = std::chrono::steady_clock;

    static void fail(httplib::Response &response, int status, const char *reason) {
        response.status = status;
        response.set_content(error_json(reason), "application/json");
    }

    HandlerResponse admit(const httplib::Request &request, httplib::Response &response) {
        const Answer answer = gate_->admit(asked_by(request));
        if (answer.status == 200) {
            note_asked();
            return HandlerResponse::Unhandled;
        }
        fail(response, answer.status, answer.reason);
        return HandlerResponse::Handled;
    }

    void show(const httplib::Request &request, httplib::Response &response) const {
        const PageFile *const file = page_.find(request.path);
        if (file == nullptr) return fail(response, 404, "there is no such page");
        response.set_content(file->text, file->type);
    }

    void ask(const httplib::Request &request, httplib::Response &response) {
        const Parameters parameters(request.params.begin(), request.params.end());
        if (request.path == "/api/live") return tell(parameters, response);
        try {
            const Reply reply =
                responder_(request.path.substr(kApi.size()), parameters, request.body);
            response.status = reply.status;
            response.set_content(reply.json, "application/json");
        } catch (const cli::Failure &failure) {
            // It is the page's to show. Browsers would report another status as an error of the page.
            response.set_content(error_json(cli::printable_line(failure.what()).c_str()),
                                 "application/json");
        }
    }

    // A line each second until the page or this server is gone. The page sees the end of the server by it, without
    // asking in vain.
    void tell(const Parameters &parameters, httplib::Response &response) {
        const auto given = parameters.find("after");
        std::uint64_t after = 0;
        if (given != parameters.end()) {
            const char *const end = given->second.data() + given->second.size();
            (void)std::from_chars(given->second.data(), end, after);
        }
        const bool is_one_too_many = ++followers_ > kFollowersMax;
        bool is_first = true;
        response.set_content_provider(
            "application/x-ndjson",
            [=, this](std::size_t, httplib::DataSink &sink) mutable {
                if (is_one_too_many) {
                    constexpr std::string_view kGoodbye = "{\"goodbye\": true}\n";
                    (void)sink.write(kGoodbye.data(), kGoodbye.size());
                    sink.done();
                    return true;
                }
                for (int i = 0; !is_first && i < 10; ++i) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(100));
                    if (is_ending_ || !sink.is_writable()) {
                        sink.done();
                        return true;
                    }
                }
                is_first = false;
                note_asked();
                try {
                    const std::string line = teller_(after) + "\n";
                    return sink.write(line.data(), line.size());
                } catch (const std::exception &) {
                    return false;
                }
            },
            [this](bool) { --followers_; });
    }

    void note_asked() { asked_at_ = Clock::now().time_since_epoch().count(); }

    bool process_and_close_socket(socket_t connection) override {
        (void)::fcntl(connection, F_SETFD, FD_CLOEXEC);
        const int yes = 1;
        (void)::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        // The kernel takes a file of the page as a whole, so that no thread waits for who does not read it.
        (void)::setsockopt(connection, SOL_SOCKET, SO_SNDBUF, &kSendBufferBytes,
                           sizeof kSendBufferBytes);
        const auto taken = intake_.take(connection);
        if (taken && taken->refused == 0) {
            TakenStream stream(intake_, connection, taken->request);
            bool is_closed = false;
            (void)process_request(stream, true, is_closed, nullptr);
        } else if (taken) {
            const std::string answer =
                fmt::format("HTTP/1.1 {} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                            taken->refused);
            (void)intake_.give(connection, answer.data(), answer.size());
        }
        // Without this, bytes that were not read would take the answer from the other side.
        (void)::shutdown(connection, SHUT_WR);
        std::array<char, 4096> rest;
        for (int i = 0; taken && i < 64; ++i) {
            if (::recv(connection, rest.data(), rest.size(), MSG_DONTWAIT) <= 0) break;
        }
        (void)::close(connection);
        return true;
    }

    const Page &page_;
    const Responder responder_;
    const Teller teller_;
    const std::string token_;
    std::optional<Gate> gate_;  // constant once the server has a port
    Intake intake_{kSendersMax, kPatience};
    std::atomic<Clock::rep> asked_at_ = Clock::now().time_since_epoch().count();
    std::atomic<int> followers_ = 0;
    std::atomic<bool> is_ending_ = false;
    std::thread thread_;
};

Server::Server(const Page &page, Responder responder, Teller teller)
    : http_(std::make_unique<Http>(page, std::move(responder), std::move(teller))) {}

Server::~Server() {
    stop();
}

void Server::start(std::uint16_t port) {
    http_->start(port);
}

std::string Server::address() const {
    return http_->address();
}

std::chrono::milliseconds Server::idle_time() const {
    return http_->idle_time();
}

void Server::stop() {
    http_->end();
}

}  // namespace cairn::dashboard
