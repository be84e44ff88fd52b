// The life of a broker: starting, ending, being killed, being started by systemd.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "broker/broker.h"
#include "os/datagram.h"
#include "support/process.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

class BrokerLifeTest : public testing::Test {
  protected:
    bool socket_is_there() const {
        struct stat status;
        return ::lstat((directory_ / "run/broker.sock").c_str(), &status) == 0;
    }
    TempDirectory directory_;
};

int connect_to(const Broker &broker, const std::string &identifier) {
    cairn_broker_options options = {};
    options.size = sizeof options;
    options.socket_path = broker.socket().c_str();
    options.identifier = identifier.c_str();
    options.version = 1;
    options.timeout_ms = kPatienceMs;
    int fd = -1;
    EXPECT_EQ(cairn_broker_connect(&options, &fd), CAIRN_OK);
    return fd;
}

TEST_F(BrokerLifeTest, EndsCleanlyWhenAsked) {
    for (const int signal : {SIGTERM, SIGINT}) {
        Broker broker(directory_.path());
        BrokerCache cache(broker);
        ASSERT_EQ(cache.put("key", "value"), CAIRN_OK);
        ASSERT_EQ(cache.flush(), CAIRN_OK);
        ASSERT_EQ(cache.get_soon("key"), "value");
        const int status = broker.end(signal);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << describe_status(status);
        EXPECT_FALSE(socket_is_there());
        EXPECT_EQ(cache.get("key"), "value");
    }
}

TEST_F(BrokerLifeTest, TellsTheUsersAgentNothingOfItsClients) {
    ASSERT_EQ(::mkdir((directory_ / "cairn").c_str(), 0700), 0);
    const auto agent = cairn::DatagramSocket::bind(directory_ / "cairn/agent.sock");
    ASSERT_TRUE(agent.ok());
    ::setenv("XDG_RUNTIME_DIR", directory_.path().c_str(), 1);
    Broker broker(directory_.path());
    BrokerCache cache(broker);
    ASSERT_EQ(cache.put("key", "value"), CAIRN_OK);
    ASSERT_EQ(cache.flush(), CAIRN_OK);
    EXPECT_EQ(cache.get_soon("key"), "value");
    broker.end(SIGTERM);
    ::unsetenv("XDG_RUNTIME_DIR");
    std::array<std::byte, 64> buffer;
    EXPECT_EQ(agent->receive(buffer).error(), cairn::Error::busy);
}

TEST_F(BrokerLifeTest, ServesASocketOnlyOnce) {
    Broker broker(directory_.path());
    BrokerCache cache(broker);
    std::string said;
    const int status = run_cairnd({"--socket", broker.socket(), "--root", broker.root()}, said);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    EXPECT_NE(said.find("another broker serves it"), std::string::npos) << said;
    ASSERT_EQ(cache.put("key", "value"), CAIRN_OK);
    EXPECT_EQ(cache.flush(), CAIRN_OK);
}

TEST_F(BrokerLifeTest, TakesNothingButASocketForOneThatWasLeftBehind) {
    std::string said;
    const std::string file = directory_ / "file";
    std::ofstream(file) << "precious";
    const int status = run_cairnd({"--socket", file, "--root", directory_ / "caches"}, said);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    EXPECT_NE(said.find("is no socket"), std::string::npos) << said;
    std::string content;
    std::ifstream(file) >> content;
    EXPECT_EQ(content, "precious");
}

TEST_F(BrokerLifeTest, RefusesADirectoryThatOthersMayWriteTo) {
    const std::string open = directory_ / "open";
    ASSERT_EQ(::mkdir(open.c_str(), 0700), 0);
    ASSERT_EQ(::chmod(open.c_str(), 0777), 0);
    std::string said;
    const int status =
        run_cairnd({"--socket", open + "/socket", "--root", directory_ / "caches"}, said);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    EXPECT_NE(said.find("others may write to it"), std::string::npos) << said;
}

TEST_F(BrokerLifeTest, ExplainsWrongUsage) {
    std::string said;
    const int status = run_cairnd({"--no-such-option"}, said);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    EXPECT_NE(said.find("--no-such-option"), std::string::npos) << said;
}

// Reads go on, stores are dropped and counted, and the connection comes back.
TEST_F(BrokerLifeTest, IsKilledAndStartedAgainWhileClientsGoOn) {
    Broker broker(directory_.path());
    BrokerCache by_path(broker);
    BrokerCache inherited = BrokerCache::over(connect_to(broker, "app"));
    ASSERT_EQ(inherited.result(), CAIRN_OK);
    ASSERT_EQ(by_path.put("before", "1"), CAIRN_OK);
    ASSERT_EQ(by_path.flush(), CAIRN_OK);
    ASSERT_EQ(by_path.get_soon("before"), "1");
    ASSERT_EQ(inherited.get_soon("before"), "1");
    broker.kill();
    EXPECT_TRUE(socket_is_there());
    EXPECT_TRUE(eventually([&] { return by_path.put("lost", "x") == CAIRN_ERROR_IO; }));
    EXPECT_TRUE(eventually([&] { return inherited.put("lost", "x") == CAIRN_ERROR_IO; }));
    EXPECT_GE(by_path.stats().dropped, 1u);
    EXPECT_EQ(by_path.stats().connected, 0u);
    EXPECT_EQ(by_path.get("before"), "1");
    EXPECT_EQ(inherited.get("before"), "1");
    EXPECT_EQ(by_path.get("missing"), std::nullopt);
    broker.start();
    EXPECT_TRUE(eventually([&] { return by_path.put("after", "2") == CAIRN_OK; }));
    ASSERT_EQ(by_path.flush(), CAIRN_OK);
    EXPECT_EQ(by_path.get_soon("after"), "2");
    EXPECT_EQ(by_path.stats().connected, 1u);
    EXPECT_EQ(inherited.put("again", "x"), CAIRN_ERROR_IO);
    EXPECT_EQ(inherited.get("before"), "1");
}

TEST_F(BrokerLifeTest, LetsNoOtherUserIn) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
    Broker broker(directory_.path());
    // Even where permissions would let them.
    for (const char *name : {".", "run", "run/broker.sock"}) {
        ASSERT_EQ(::chmod((directory_ / name).c_str(), 0777), 0);
    }
    const std::string problem = run_in_child(60, [&] {
        if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0)
            return 1;
        const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
        sockaddr_un address = {};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, broker.socket().c_str(), sizeof address.sun_path - 1);
        if (::connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0) return 2;
        // Closed without a word.
        char byte;
        const ssize_t count = ::recv(fd, &byte, 1, 0);
        if (!(count == 0 || (count < 0 && errno == ECONNRESET))) return 3;
        // And the client refuses a broker of somebody else.
        BrokerCache cache(broker);
        return cache.result() == CAIRN_ERROR_DENIED ? 0 : 4;
    });
    EXPECT_EQ(problem, "");
    EXPECT_EQ(BrokerCache(broker).result(), CAIRN_OK);
}

// As systemd does: a listening socket as descriptor 3, and two variables.
TEST_F(BrokerLifeTest, TakesOverTheSocketOfSystemd) {
    const std::string path = directory_ / "activated";
    const int listening = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(listening, reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(listening, 8), 0);
    const std::string root = directory_ / "caches";
    // The first client is there before the broker is.
    cairn_broker_options options = {};
    options.size = sizeof options;
    options.socket_path = path.c_str();
    options.identifier = "app";
    options.timeout_ms = kPatienceMs;
    Child broker([&] {
        if (listening != 3 && ::dup2(listening, 3) != 3) return 1;
        ::fcntl(3, F_SETFD, 0);
        ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
        ::setenv("LISTEN_FDS", "1", 1);
        ::execl(CAIRND_PROGRAM, "cairnd", "--root", root.c_str(), static_cast<char *>(nullptr));
        return 127;
    });
    cairn_cache *cache = nullptr;
    ASSERT_EQ(cairn_broker_open(&options, &cache), CAIRN_OK);
    EXPECT_EQ(cairn_put(cache, "key", 3, "value", 5, nullptr), CAIRN_OK);
    EXPECT_EQ(cairn_flush(cache, kPatienceMs), CAIRN_OK);
    cairn_close(cache);
    broker.signal(SIGTERM);
    EXPECT_EQ(describe_status(broker.wait()), "");
    struct stat status;
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << "the socket is systemd's to remove";
    ::close(listening);
}

}  // namespace
}  // namespace cairn_test
