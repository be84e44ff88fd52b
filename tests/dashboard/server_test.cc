// SPDX-License-Identifier: MIT
// The dashboard's server as anybody on this machine may meet it: over raw sockets.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/histories.h"
#include "cli/program.h"

namespace cairn::cli_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Lines = std::vector<std::string>;

class Connection {
  public:
    // `room`: bytes that the kernel takes for us before they are read, 0: as many as usual.
    explicit Connection(std::uint16_t port, int room = 0)
        : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        if (room != 0) ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        is_open_ = ::connect(fd_, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0;
        const timeval patience = {20, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    }
    Connection(Connection &&other) noexcept
        : fd_(std::exchange(other.fd_, -1)), is_open_(other.is_open_) {}
    Connection &operator=(Connection &&) = delete;
    ~Connection() {
        if (fd_ >= 0) ::close(fd_);
    }

    bool is_open() const { return is_open_; }
    void send(const std::string &text) const {
        (void)::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
    }
    void end_sending() const { ::shutdown(fd_, SHUT_WR); }
    std::string read_all() const {
        std::string text;
        std::array<char, 4096> bytes;
        for (ssize_t got = 0; (got = ::recv(fd_, bytes.data(), bytes.size(), 0)) > 0;) {
            text.append(bytes.data(), static_cast<std::size_t>(got));
        }
        return text;
    }

  private:
    int fd_;
    bool is_open_ = false;
};

class DashboardServer : public testing::Test {
  protected:
    void SetUp() override { start({}); }
    void start(const Lines &more) {
        Lines command = {CAIRN_DASHBOARD, "--no-open"};
        command.insert(command.end(), more.begin(), more.end());
        program_ = std::make_unique<Program>(
            command, Environment{{"CAIRN_DIR", root_}, {"HOME", home_}, {"XDG_CONFIG_HOME", ""}});
        const std::string line = program_->read_line();
        const std::string begin = "Open http://127.0.0.1:";
        ASSERT_THAT(line, StartsWith(begin));
        port_ = static_cast<std::uint16_t>(std::stoi(line.substr(begin.size())));
        token_ = line.substr(line.find("#token=") + 7);
        ASSERT_EQ(token_.size(), 32u);
    }
    std::string host() const { return "Host: 127.0.0.1:" + std::to_string(port_); }
    std::string let_in() const { return "X-Cairn-Token: " + token_; }
    std::string ask(const std::string &what, const Lines &headers,
                    const std::string &body = "") const {
        std::string request = what + " HTTP/1.1\r\n";
        for (const std::string &header : headers) request += header + "\r\n";
        if (!body.empty()) request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
        const Connection connection(port_);
        EXPECT_TRUE(connection.is_open());
        connection.send(request + "\r\n" + body);
        return connection.read_all();
    }
    std::string get(const std::string &path) const {
        return ask("GET " + path, {host(), let_in()});
    }
    static std::string status(const std::string &answer) { return answer.substr(0, 12); }
    static nlohmann::json json(const std::string &answer) {
        return nlohmann::json::parse(answer.substr(answer.find("\r\n\r\n") + 4));
    }
    std::string act(const nlohmann::json &action) const {
        return ask("POST /api/action", {host(), let_in(), "Content-Type: application/json"},
                   action.dump());
    }
    // What the live view shows now.
    nlohmann::json live() const {
        const Connection connection(port_);
        connection.send("GET /api/live HTTP/1.1\r\n" + host() + "\r\n" + let_in() + "\r\n\r\n");
        connection.end_sending();
        std::string line = connection.read_all();
        line = line.substr(line.find("\r\n\r\n") + 4);
        return nlohmann::json::parse(line.substr(0, line.find('\n')));
    }
    // The state of the action once it has ended.
    nlohmann::json wait_for_action() const {
        for (int i = 0; i < 400; ++i) {
            const auto state = live();
            if (!state["action"]["is_running"].get<bool>()) return state["action"];
            std::this_thread::sleep_for(std::chrono::milliseconds(25));
        }
        return nullptr;
    }

    Folder folder_;
    const std::string root_ = folder_ / "root";
    const std::string home_ = folder_ / "home";
    std::unique_ptr<Program> program_;
    std::uint16_t port_ = 0;
    std::string token_;
    const bool has_home_ = fs::create_directories(home_);
};

TEST_F(DashboardServer, ShowsThePageToAnybodyAndTellsNobodyWithoutTheToken) {
    const std::string page = ask("GET /", {host()});
    EXPECT_EQ(status(page), "HTTP/1.1 200");
    EXPECT_THAT(page, HasSubstr("<title>Cairn</title>"));
    EXPECT_THAT(page, Not(HasSubstr(token_)));
    EXPECT_EQ(status(ask("GET /api/overview", {host()})), "HTTP/1.1 401");
    EXPECT_EQ(status(ask("GET /api/live", {host()})), "HTTP/1.1 401");
    std::string wrong = token_;
    wrong.back() = wrong.back() == '0' ? '1' : '0';
    EXPECT_EQ(status(ask("GET /api/overview", {host(), "X-Cairn-Token: " + wrong})),
              "HTTP/1.1 401");
    EXPECT_EQ(status(ask("GET /api/overview?token=" + token_, {host()})), "HTTP/1.1 401");
    EXPECT_EQ(status(ask("GET /api/overview", {host(), "Cookie: token=" + token_})),
              "HTTP/1.1 401");
    EXPECT_EQ(json(get("/api/overview"))["caches"].size(), 0u);
    EXPECT_FALSE(fs::exists(root_)) << "looking must not create anything";
}

TEST_F(DashboardServer, SaysWhatBrowsersMayDoWithIt) {
    for (const std::string &answer : {ask("GET /", {host()}), get("/api/overview"), get("/nothing"),
                                      ask("GET /", {"Host: evil.example"})}) {
        for (const char *header :
             {"Content-Security-Policy: default-src 'none'; script-src 'self'",
              "frame-ancestors 'none'", "Cache-Control: no-store",
              "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
              "Cross-Origin-Opener-Policy: same-origin",
              "Cross-Origin-Resource-Policy: same-origin"}) {
            EXPECT_THAT(answer, HasSubstr(header));
        }
        EXPECT_THAT(answer, Not(HasSubstr("Access-Control")));
    }
    EXPECT_THAT(ask("GET /style.css", {host()}), HasSubstr("Content-Type: text/css"));
    EXPECT_THAT(ask("GET /main.js", {host()}), HasSubstr("Content-Type: text/javascript"));
}

TEST_F(DashboardServer, RefusesOtherNamesAndOtherPages) {
    for (const char *name :
         {"Host: evil.example", "Host: 127.0.0.1", "Host: 127.0.0.1:1", "X: y"}) {
        EXPECT_EQ(status(ask("GET /api/overview", {name, let_in()})), "HTTP/1.1 403") << name;
        EXPECT_EQ(status(ask("GET /", {name})), "HTTP/1.1 403") << name;
    }
    for (const char *header : {"Origin: http://evil.example", "Origin: null",
                               "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"}) {
        EXPECT_EQ(status(ask("GET /api/overview", {host(), let_in(), header})), "HTTP/1.1 403")
            << header;
        EXPECT_EQ(status(ask("POST /api/action",
                             {host(), let_in(), header, "Content-Type: application/json"}, "{}")),
                  "HTTP/1.1 403")
            << header;
    }
    EXPECT_EQ(status(ask("OPTIONS /api/action", {host(), "Origin: http://evil.example",
                                                 "Access-Control-Request-Method: POST"})),
              "HTTP/1.1 403");
}

TEST_F(DashboardServer, OnlyItsFilesAreThere) {
    for (const char *path :
         {"/../main.cc", "/%2e%2e/main.cc", "/..%2fmain.cc", "//etc/passwd", "/page/../../main.cc",
          "/etc/passwd", "/index.html/", "/main.js%00.css", "/.", "/..", "/api", "/api/",
          "/api/../main.cc", "/\\..\\main.cc"}) {
        const std::string answer = get(path);
        EXPECT_THAT(status(answer), testing::AnyOf("HTTP/1.1 404", "HTTP/1.1 400", "HTTP/1.1 403"))
            << path;
        EXPECT_THAT(answer, Not(HasSubstr("SPDX"))) << path;
    }
}

TEST_F(DashboardServer, KnowsFewMethods) {
    const std::string head = ask("HEAD /", {host()});
    EXPECT_EQ(status(head), "HTTP/1.1 200");
    EXPECT_THAT(head, Not(HasSubstr("<title>")));
    EXPECT_EQ(status(ask("HEAD /api/overview", {host()})), "HTTP/1.1 401");
    for (const char *method : {"OPTIONS", "PUT", "DELETE", "PATCH", "POST"}) {
        EXPECT_EQ(status(ask(std::string(method) + " /", {host()})), "HTTP/1.1 405") << method;
        EXPECT_EQ(status(ask(std::string(method) + " /api/overview", {host(), let_in()})),
                  "HTTP/1.1 405")
            << method;
    }
    EXPECT_EQ(status(ask("GET /api/action", {host(), let_in()})), "HTTP/1.1 405");
    EXPECT_EQ(status(ask("POST /api/action", {host(), let_in(), "Content-Type: text/plain"}, "{}")),
              "HTTP/1.1 415");
    for (const char *method : {"TRACE", "CONNECT", "BREW", ""}) {
        EXPECT_THAT(status(ask(std::string(method) + " /", {host()})), Not("HTTP/1.1 200"))
            << method;
    }
}

TEST_F(DashboardServer, RefusesWhatIsTooLarge) {
    EXPECT_EQ(status(ask("GET /", {host(), "A: " + std::string(20'000, 'a')})), "HTTP/1.1 431");
    EXPECT_EQ(status(ask("GET /", Lines(200, "A: b"))), "HTTP/1.1 431");
    EXPECT_THAT(status(ask("GET /" + std::string(12'000, 'a'), {host()})),
                testing::AnyOf("HTTP/1.1 414", "HTTP/1.1 400"));
    EXPECT_EQ(status(ask("POST /api/action", {host(), let_in(), "Content-Type: application/json"},
                         std::string(20'000, ' '))),
              "HTTP/1.1 413");
    EXPECT_EQ(status(ask("POST /api/action", {host(), "Transfer-Encoding: chunked"})),
              "HTTP/1.1 400");
    EXPECT_EQ(status(get("/api/overview")), "HTTP/1.1 200");
}

TEST_F(DashboardServer, TheSlowDoNotHoldItUp) {
    std::vector<Connection> slow;
    for (int i = 0; i < 300; ++i) {
        slow.emplace_back(port_);
        if (i % 2 == 0) slow.back().send("GET / HTTP/1.1\r\nHo");
        if (i % 3 == 0) slow.back().end_sending();
    }
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(status(get("/api/overview")), "HTTP/1.1 200");
    EXPECT_EQ(status(ask("GET /", {host()})), "HTTP/1.1 200");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST_F(DashboardServer, WhoDoesNotReadHoldsNothingUp) {
    std::vector<Connection> deaf;
    for (int i = 0; i < 100; ++i) {
        deaf.emplace_back(port_, 1);
        deaf.back().send("GET /style.css HTTP/1.1\r\n" + host() + "\r\n\r\n");
    }
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(status(get("/api/overview")), "HTTP/1.1 200");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST_F(DashboardServer, NonsenseEndsNothing) {
    for (const std::string &text :
         {std::string("\r\n\r\n"), std::string(100, '\0'), std::string("GET\r\n\r\n"),
          std::string("GET / HTTP/9.9\r\n\r\n"),
          std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 9),
          std::string("GET / HTTP/1.1\r\nRange: bytes=0-1,2-3,4-9999999999999999999\r\n\r\n"),
          std::string("GET /%zz HTTP/1.1\r\n") + host() + "\r\n\r\n",
          std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")}) {
        const Connection connection(port_);
        connection.send(text);
        connection.end_sending();
        (void)connection.read_all();
    }
    for (const char *path : {"/api/run?cache=../..&start=1", "/api/run",
                             "/api/differences?from=..&to=/", "/api/live?after=x"}) {
        if (std::string(path).find("live") == std::string::npos) {
            EXPECT_TRUE(json(get(path)).contains("error")) << path;
        }
    }
    EXPECT_EQ(status(get("/api/overview")), "HTTP/1.1 200");
}

TEST_F(DashboardServer, ListensOnThisMachineOnly) {
    std::ifstream sockets("/proc/net/tcp6");
    std::stringstream text;
    text << sockets.rdbuf();
    char wanted[8];
    std::snprintf(wanted, sizeof wanted, ":%04X", port_);
    EXPECT_THAT(text.str(), Not(HasSubstr(std::string(wanted) + " 0000")));
    Connection other(port_);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    inet_pton(AF_INET, "127.0.0.2", &address.sin_addr);
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_NE(::connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
    ::close(fd);
}

TEST_F(DashboardServer, EndsByASignal) {
    const Connection follower(port_);
    follower.send("GET /api/live HTTP/1.1\r\n" + host() + "\r\n" + let_in() + "\r\n\r\n");
    ::kill(program_->pid(), SIGTERM);
    EXPECT_EQ(program_->wait(), 0);
    EXPECT_EQ(program_->standard_error(), "");
    EXPECT_FALSE(Connection(port_).is_open());
}

TEST_F(DashboardServer, TwoHaveDifferentPortsAndTokens) {
    const std::string token = token_;
    const std::uint16_t port = port_;
    const std::unique_ptr<Program> first = std::move(program_);
    start({});
    EXPECT_NE(token_, token);
    EXPECT_NE(port_, port);
    const Finished taken = cairn({"dashboard", "--no-open", "--port", std::to_string(port)});
    EXPECT_EQ(taken.exit_code, 1);
    EXPECT_THAT(taken.standard_error, HasSubstr("cannot listen on 127.0.0.1"));
}

TEST_F(DashboardServer, OpensTheBrowserWithAFileThatOnlyItsUserMayRead) {
    const std::string seen = folder_ / "seen";
    const std::string tools = folder_ / "tools";
    const std::string place = folder_ / "run";
    fs::create_directories(tools);
    fs::create_directories(place);
    std::ofstream(tools + "/xdg-open")
        << "#!/bin/sh\n{ echo \"$@\"; stat -c %a \"$1\"; cat \"$1\"; ls /proc/$$/fd; } >" << seen
        << ".new; mv " << seen << ".new " << seen << "\n";
    fs::permissions(tools + "/xdg-open", fs::perms::owner_all);
    Program program({CAIRN_DASHBOARD}, {{"CAIRN_DIR", root_},
                                        {"DISPLAY", ":99"},
                                        {"XDG_RUNTIME_DIR", place},
                                        {"PATH", tools + ":/usr/bin:/bin"}});
    const std::string line = program.read_line();
    ASSERT_THAT(line, StartsWith("Opening http://127.0.0.1:"));
    for (int i = 0; i < 400 && !fs::exists(seen); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::istringstream text(read_file(seen));
    std::string arguments, mode, page;
    std::getline(text, arguments);
    std::getline(text, mode);
    std::getline(text, page);
    EXPECT_THAT(arguments, StartsWith(place + "/cairn-dashboard-"));
    EXPECT_EQ(mode, "600");
    EXPECT_THAT(page, HasSubstr("url=" + line.substr(line.find("http:"))));
    ::kill(program.pid(), SIGINT);
    EXPECT_EQ(program.wait(), 0);
    EXPECT_FALSE(fs::exists(arguments)) << "it is gone with the server";
}

TEST_F(DashboardServer, EndsWhenNobodyAsksAnyMore) {
    const std::unique_ptr<Program> first = std::move(program_);
    start({"--idle", "0.03"});
    EXPECT_EQ(program_->wait(), 0);
    EXPECT_THAT(program_->standard_output(), HasSubstr("No page has asked"));
}

TEST_F(DashboardServer, DoesWhatThePageAsksFor) {
    ASSERT_EQ(std::system((std::string(DASHBOARD_MAKE_ROOT) + " demo " + root_).c_str()), 0);
    const auto before = json(get("/api/overview"));
    ASSERT_GT(before["total"]["entries"].get<int>(), 1000);
    EXPECT_GT(before["days"].size(), 20u);
    EXPECT_FALSE(before["is_of_runs"].get<bool>());
    const auto one = [&](const nlohmann::json &action) {
        const auto begun = json(act(action));
        EXPECT_TRUE(begun.contains("number")) << begun.dump();
        const auto state = wait_for_action();
        EXPECT_TRUE(state["is_done"].get<bool>()) << state.dump();
        return state["message"].get<std::string>();
    };
    EXPECT_THAT(one({{"action", "compress"}, {"application", "kodi"}}),
                HasSubstr("Compressed gl-kodi-"));
    EXPECT_THAT(one({{"action", "pin"}, {"application", "kodi"}}), HasSubstr("75 entries pinned"));
    const auto pinned = json(get("/api/programs"))["pinned"];
    EXPECT_EQ(pinned.size(), 1u);
    one({{"action", "pack"}, {"application", "kodi"}, {"file", home_ + "/kodi.pack"}});
    EXPECT_TRUE(fs::exists(home_ + "/kodi.pack"));
    EXPECT_TRUE(
        json(act({{"action", "pack"}, {"application", "kodi"}, {"file", home_ + "/kodi.pack"}}))
            .contains("error"))
        << "a file that is there stays";
    fs::create_directories(home_ + "/.config/cairn");
    std::ofstream(home_ + "/.config/cairn/config")
        << "# mine\ncompress = 1\n[application kodi]\nlog = 1  # so\n";
    one({{"action", "limit"}, {"application", "kodi"}, {"size", "512M"}});
    EXPECT_EQ(read_file(home_ + "/.config/cairn/config"),
              "# mine\ncompress = 1\n[application kodi]\nlimit = 536870912\nlog = 1  # so\n");
    one({{"action", "limit"}, {"application", "kodi"}, {"size", "1G"}});
    EXPECT_EQ(read_file(home_ + "/.config/cairn/config"),
              "# mine\ncompress = 1\n[application kodi]\nlimit = 1073741824\nlog = 1  # so\n");
    EXPECT_THAT(one({{"action", "clear"}, {"application", "kodi"}}),
                HasSubstr("removed 75 entries"));
    one({{"action", "remove"}, {"application", "kodi"}});
    one({{"action", "clear"}, {"all", true}});
    const auto after = json(get("/api/overview"));
    EXPECT_EQ(after["total"]["entries"], 0);
    EXPECT_EQ(after["caches"].size() + 1, before["caches"].size());
    EXPECT_TRUE(json(act({{"action", "clear"}, {"cache", "../.."}})).contains("error"));
    // A name like an option is a name.
    EXPECT_TRUE(json(act({{"action", "clear"}, {"cache", "--all"}})).contains("number"));
    EXPECT_FALSE(wait_for_action()["is_done"].get<bool>());
}

TEST_F(DashboardServer, TheLiveViewSaysWhatIsNotOnDiskYet) {
    HistoryRun run(root_, "gl-game", "GL_VERSION: 1\n");
    const auto queued = [&] {
        const auto running = live()["running"];
        EXPECT_EQ(running.size(), 1u);
        return std::pair(running[0]["queued_entries"].get<int>(),
                         running[0]["queued_bytes"].get<int>());
    };
    EXPECT_EQ(queued(), std::pair(0, 0));
    run.history().note_queue(3, 300);
    EXPECT_EQ(queued(), std::pair(3, 300));
    run.history().note_queue(0, 0);
    EXPECT_EQ(queued(), std::pair(0, 0));
}

TEST_F(DashboardServer, TheSlowestProgramsHaveTheFirstLinesOfTheirSources) {
    ASSERT_EQ(std::system((std::string(DASHBOARD_MAKE_ROOT) + " demo " + root_).c_str()), 0);
    const auto with_sources = [&] {
        std::vector<nlohmann::json> found;
        const auto programs = json(get("/api/programs"))["programs"];
        for (const auto &program : programs) {
            if (program.contains("sources")) found.push_back(program);
        }
        return found;
    };
    const auto found = with_sources();
    ASSERT_GT(found.size(), 0u);
    const auto lines = found[0]["sources"].get<Lines>();
    ASSERT_EQ(lines.size(), 7u);
    EXPECT_EQ(lines[0], "vertex:");
    EXPECT_EQ(lines[2], "void main() { gl_Position = p; }");
    EXPECT_EQ(lines[5], "uniform sampler2D image; // ? reversed, ? no UTF-8, ?[2J");
    // They are read again when the file has changed, and only as many lines as front ends keep.
    const std::string key = found[0]["key"].get<std::string>();
    LinkKey beginning = {};
    for (std::size_t i = 0; i < beginning.size(); ++i) {
        beginning[i] = static_cast<std::uint8_t>(std::stoi(key.substr(2 * i, 2), nullptr, 16));
    }
    const auto history = History::open({.root = root_,
                                        .identifier = found[0]["cache"].get<std::string>(),
                                        .driver = 0,
                                        .limit_bytes = 1u << 30});
    ASSERT_TRUE(history.ok());
    std::string many;
    for (int i = 0; i < 5000; ++i) many += "line\n";
    history.value()->keep_sources(beginning, many);
    EXPECT_EQ(with_sources()[0]["sources"].size(), 60u);
    fs::remove(root_ + "/" + found[0]["cache"].get<std::string>() + "/sources");
    EXPECT_LT(with_sources().size(), found.size());
}

TEST(Dashboard, ExplainsItself) {
    const Finished help = cairn({"dashboard", "--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_THAT(help.standard_output, HasSubstr("Usage: cairn dashboard"));
    EXPECT_THAT(help.standard_output, HasSubstr("Example"));
    EXPECT_THAT(help.standard_output, HasSubstr("Exit codes:"));
    EXPECT_EQ(cairn({"dashboard", "--port", "70000"}).exit_code, 2);
    EXPECT_EQ(cairn({"dashboard", "--bogus"}).exit_code, 2);
    for (const char *idle : {"soon", "-1", "nan", "1e99", ""}) {
        EXPECT_EQ(cairn({"dashboard", "--no-open", "--idle", idle}).exit_code, 2) << idle;
    }
}

}  // namespace
}  // namespace cairn::cli_test
