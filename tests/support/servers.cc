// SPDX-License-Identifier: MIT
#include "support/servers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "support/eventually.h"

namespace cairn_test {
namespace {

constexpr int kAttemptsMax = 10;

[[noreturn]] void give_up(const std::string &what) {
    std::fprintf(stderr, "%s\n", what.c_str());
    std::abort();
}

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

bool accepts(std::uint16_t port) {
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port);
    const bool is_connected =
        connect(client, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0;
    close(client);
    return is_connected;
}

bool has_program(const std::string &name) {
    std::string path = getenv("PATH") != nullptr ? getenv("PATH") : "";
    // Where Debian has servers, which is not on everybody's path.
    path += ":/usr/sbin";
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find(':', at), path.size());
        if (access((path.substr(at, end - at) + "/" + name).c_str(), X_OK) == 0) return true;
        at = end + 1;
    }
    return false;
}

std::string quoted(const std::string &word) {
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

struct Output {
    std::string text;
    bool is_ok;
};

Output output_of(const std::string &shell_command) {
    FILE *pipe = popen(shell_command.c_str(), "re");
    if (pipe == nullptr) give_up("popen");
    std::string text;
    char piece[4096];
    for (std::size_t count; (count = fread(piece, 1, sizeof(piece), pipe)) > 0;) {
        text.append(piece, count);
    }
    return {text, pclose(pipe) == 0};
}

}  // namespace

std::uint16_t free_port() {
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof(address);
    if (bind(server, reinterpret_cast<const sockaddr *>(&address), size) != 0 ||
        getsockname(server, reinterpret_cast<sockaddr *>(&address), &size) != 0) {
        give_up("no port is free");
    }
    close(server);
    return ntohs(address.sin_port);
}

ServerProcess::ServerProcess(const CommandLine &command, const std::string &log) {
    std::string name;
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        port_ = free_port();
        std::vector<std::string> words = command(port_);
        name = words.front();
        // Nothing is allocated in the child, where another thread's lock may stay taken.
        std::vector<char *> arguments;
        for (std::string &word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        server_ = Child([&] {
            const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
            const int nothing = open("/dev/null", O_RDONLY);
            if (dup2(nothing, 0) != 0 || dup2(output, 1) != 1 || dup2(output, 2) != 2) return 97;
            execvp(arguments[0], arguments.data());
            return 96;
        });
        if (become_ready()) return;
        server_.wait();
    }
    give_up(name + " does not start; it said:\n" + output_of("cat " + quoted(log)).text);
}

// False: it has ended, as its port was taken or for another reason.
bool ServerProcess::become_ready() {
    const bool is_decided = eventually([&] { return server_.ended() || accepts(port_); });
    if (!is_decided) server_.kill();
    return is_decided && !server_.ended();
}

std::string RedisServer::why_missing() {
    if (has_program("redis-server") && has_program("redis-cli")) return "";
    return "there is no redis-server or redis-cli; Debian's package redis-server has both";
}

RedisServer::RedisServer(const std::vector<std::string> &options) {
    const auto command = [&](std::uint16_t port) {
        std::vector<std::string> words = {
            "redis-server", "--port", std::to_string(port), "--bind", "127.0.0.1",
            "--save",       "",       "--appendonly",       "no",     "--dir",
            folder_.path()};
        words.insert(words.end(), options.begin(), options.end());
        return words;
    };
    server_ = std::make_unique<ServerProcess>(command, folder_ / "log");
}

std::string RedisServer::url() const {
    return "redis://127.0.0.1:" + std::to_string(port());
}

std::string RedisServer::command(const std::vector<std::string> &words) const {
    std::string line = "redis-cli -p " + std::to_string(port());
    for (const std::string &word : words) line += " " + quoted(word);
    return output_of(line + " 2>/dev/null").text;
}

RedisCluster::RedisCluster() {
    for (int i = 0; i < 3; ++i) {
        nodes_.push_back(std::make_unique<RedisServer>(std::vector<std::string>{
            "--cluster-enabled", "yes", "--cluster-port", std::to_string(free_port()),
            "--cluster-require-full-coverage", "no", "--cluster-node-timeout", "2000"}));
    }
    const std::vector<std::pair<std::string, std::string>> slots = {
        {"0", "5460"}, {"5461", "10922"}, {"10923", "16383"}};
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        nodes_[i]->command({"CLUSTER", "ADDSLOTSRANGE", slots[i].first, slots[i].second});
        if (i == 0) continue;
        const std::string bus = nodes_[i]->command({"CONFIG", "GET", "cluster-port"});
        const std::size_t number = bus.find('\n') + 1;
        nodes_[0]->command({"CLUSTER", "MEET", "127.0.0.1", std::to_string(nodes_[i]->port()),
                            bus.substr(number, bus.find('\n', number) - number)});
    }
    const auto is_whole = [](const std::unique_ptr<RedisServer> &node) {
        const std::string info = node->command({"CLUSTER", "INFO"});
        return info.find("cluster_state:ok") != std::string::npos &&
               info.find("cluster_slots_assigned:16384") != std::string::npos &&
               info.find("cluster_known_nodes:3") != std::string::npos;
    };
    const auto are_all = [&] { return std::ranges::all_of(nodes_, is_whole); };
    if (!eventually(are_all)) give_up("the servers of Redis do not become a cluster");
}

std::string NginxServer::why_missing() {
    return has_program("nginx") ? "" : "there is no nginx; Debian's package nginx-light has it";
}

NginxServer::NginxServer() {
    for (const char *folder : {"www", "www/dav", "www/plain", "www/locked"}) {
        mkdir((folder_ / folder).c_str(), 0755);
    }
    std::ofstream(folder_ / "users") << "ci:{PLAIN}secret\n";
    const Output made = output_of(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "
        "/CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout " +
        quoted(folder_ / "key.pem") + " -out " + quoted(certificate()) + " 2>/dev/null");
    const auto command = [&](std::uint16_t port) {
        tls_port_ = made.is_ok ? free_port() : std::uint16_t{0};
        std::ofstream(folder_ / "nginx.conf") << configuration(port);
        return std::vector<std::string>{has_program("nginx") && access("/usr/sbin/nginx", X_OK) == 0
                                            ? "/usr/sbin/nginx"
                                            : "nginx",
                                        "-e",
                                        folder_ / "log",
                                        "-p",
                                        folder_.path(),
                                        "-c",
                                        folder_ / "nginx.conf"};
    };
    server_ = std::make_unique<ServerProcess>(command, folder_ / "log");
}

std::string NginxServer::configuration(std::uint16_t port) {
    std::string text =
        "daemon off;\nmaster_process off;\nerror_log log;\npid pid;\nevents {}\nhttp {\n";
    for (const char *kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
        text += std::string(kind) + "_temp_path " + (folder_ / kind) + ";\n";
    }
    text +=
        "access_log off;\nclient_max_body_size 100m;\ndefault_type "
        "application/octet-stream;\nserver {\n";
    text += "listen 127.0.0.1:" + std::to_string(port) + ";\n";
    if (tls_port_ != 0) {
        text += "listen 127.0.0.1:" + std::to_string(tls_port_) + " ssl;\nssl_certificate " +
                certificate() + ";\nssl_certificate_key " + (folder_ / "key.pem") + ";\n";
    }
    text += "root " + www() + ";\n";
    text +=
        "location /dav/ { dav_methods PUT DELETE; create_full_put_path on; }\n"
        "location /plain/ {}\n"
        "location /closed/ { return 403; }\n"
        "location /full/ { return 507; }\n"
        "location /locked/ { auth_basic studio; auth_basic_user_file " +
        (folder_ / "users") +
        "; dav_methods PUT DELETE; create_full_put_path on; }\n"
        "location /moved/ { rewrite ^/moved/(.*)$ /dav/$1 redirect; }\n"
        "location /circle/ { return 302 /circle/again; }\n"
        "location /elsewhere/ { return 302 file:///etc/hostname; }\n"
        "location /downgrade/ { return 302 http://127.0.0.1:" +
        std::to_string(port) + "/dav/object; }\n}\n}\n";
    return text;
}

std::string NginxServer::url() const {
    return "http://127.0.0.1:" + std::to_string(port());
}

namespace {

// Where the program lies; only where it is_ok.
const Output &fetched_s3rver() {
    static const Output output = [] {
        Output fetched = output_of(quoted(CAIRN_FETCH_S3RVER) + " 2>&1");
        while (fetched.text.ends_with('\n')) fetched.text.pop_back();
        return fetched;
    }();
    return output;
}

}  // namespace

std::string S3Server::why_missing() {
    return fetched_s3rver().is_ok ? "" : fetched_s3rver().text;
}

S3Server::S3Server() {
    mkdir((folder_ / "buckets").c_str(), 0755);
    restart();
}

void S3Server::restart() {
    server_.reset();
    const auto command = [&](std::uint16_t port) {
        // s3rver encrypts where a next page begins by DES, which OpenSSL 3 has for old programs only.
        return std::vector<std::string>{"node",
                                        "--openssl-legacy-provider",
                                        CAIRN_S3_SERVER,
                                        fetched_s3rver().text + "/node_modules/s3rver",
                                        folder_ / "buckets",
                                        std::to_string(port)};
    };
    server_ = std::make_unique<ServerProcess>(command, folder_ / "log");
}

std::string S3Server::url(const std::string &prefix, std::uint16_t port) const {
    return "s3://shaders" + (prefix.empty() ? "" : "/" + prefix) +
           "?endpoint=http://127.0.0.1:" + std::to_string(port == 0 ? server_->port() : port);
}

}  // namespace cairn_test
