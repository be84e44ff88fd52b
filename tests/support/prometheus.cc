// SPDX-License-Identifier: MIT
#include "support/prometheus.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace cairn_test {
namespace {

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

void limit_waiting(int socket) {
    const timeval patience = {10, 0};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

void send_all(int socket, const std::string &text) {
    for (std::size_t sent = 0; sent < text.size();) {
        const ssize_t count = send(socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (count <= 0) return;
        sent += static_cast<std::size_t>(count);
    }
}

// Until the other side closes, or what it has said ends so.
std::string receive(int socket, const std::string &end) {
    std::string text;
    char piece[4096];
    while (end.empty() || text.find(end) == std::string::npos) {
        const ssize_t count = recv(socket, piece, sizeof piece, 0);
        if (count <= 0) break;
        text.append(piece, static_cast<std::size_t>(count));
    }
    return text;
}

std::string url_encoded(const std::string &text) {
    std::string encoded;
    for (const char c : text) {
        char code[4] = {c};
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
            std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned char>(c));
        }
        encoded += code;
    }
    return encoded;
}

}  // namespace

std::string PrometheusServer::why_missing() {
    if (access("/usr/bin/prometheus", X_OK) == 0 && access("/usr/bin/promtool", X_OK) == 0) {
        return "";
    }
    return "there is no prometheus or promtool; Debian's package prometheus has both";
}

PrometheusServer::PrometheusServer(std::function<std::string()> page) : page_(std::move(page)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    stop_ = eventfd(0, EFD_CLOEXEC);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<const sockaddr *>(&address), size) != 0 ||
        listen(listener_, 8) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr *>(&address), &size) != 0) {
        std::abort();
    }
    page_port_ = ntohs(address.sin_port);
    pages_ = std::thread([this] { serve_pages(); });
    std::ofstream(folder_ / "prometheus.yml") << "scrape_configs:\n"
                                                 "  - job_name: cairn\n"
                                                 "    scrape_interval: 1s\n"
                                                 "    scrape_timeout: 1s\n"
                                                 "    static_configs:\n"
                                                 "      - targets: ['127.0.0.1:"
                                              << page_port_ << "']\n";
    const auto command = [&](std::uint16_t port) {
        return std::vector<std::string>{
            "/usr/bin/prometheus", "--config.file=" + (folder_ / "prometheus.yml"),
            "--storage.tsdb.path=" + (folder_ / "data"),
            "--web.listen-address=127.0.0.1:" + std::to_string(port), "--log.level=warn"};
    };
    server_ = std::make_unique<ServerProcess>(command, folder_ / "log");
}

PrometheusServer::~PrometheusServer() {
    server_.reset();
    const std::uint64_t one = 1;
    if (write(stop_, &one, sizeof one) != sizeof one) std::abort();
    pages_.join();
    close(listener_);
    close(stop_);
}

void PrometheusServer::serve_pages() const {
    while (true) {
        pollfd waited[] = {{listener_, POLLIN, 0}, {stop_, POLLIN, 0}};
        if (poll(waited, 2, -1) < 0) continue;
        if (waited[1].revents != 0) return;
        const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) continue;
        limit_waiting(client);
        (void)receive(client, "\r\n\r\n");
        send_all(client,
                 "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n\r\n" + page_());
        close(client);
    }
}

std::string PrometheusServer::query(const std::string &expression) const {
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    limit_waiting(client);
    const sockaddr_in address = loopback(server_->port());
    std::string answer;
    if (connect(client, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0) {
        send_all(client,
                 "GET /api/v1/query?query=" + url_encoded(expression) + " HTTP/1.0\r\n\r\n");
        answer = receive(client, "");
    }
    close(client);
    const std::size_t body = answer.find("\r\n\r\n");
    return body == std::string::npos ? "" : answer.substr(body + 4);
}

}  // namespace cairn_test
