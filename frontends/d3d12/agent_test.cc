// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "disk_level.h"

namespace cairn::d3d12 {
namespace {

namespace fs = std::filesystem;

class AgentTest : public ::testing::Test {
  protected:
    AgentTest() {
        std::string pattern = (fs::temp_directory_path() / "cairn-d3d12.XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        fs::create_directory(folder_ / "cairn");
        sockaddr_un address = {};
        address.sun_family = AF_UNIX;
        (folder_ / "cairn/agent.sock").string().copy(address.sun_path, sizeof address.sun_path - 1);
        socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
        ::setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
    }
    ~AgentTest() override {
        ::unsetenv("XDG_RUNTIME_DIR");
        ::close(socket_);
        fs::remove_all(folder_);
    }

    std::string heard() const {
        std::array<char, 4096> buffer;
        const ssize_t size = ::recv(socket_, buffer.data(), buffer.size(), 0);
        return {buffer.data(), size > 0 ? static_cast<size_t>(size) : 0};
    }

    fs::path folder_;
    int socket_ = -1;
};

TEST_F(AgentTest, HearsOfASessionsCacheOnDisk) {
    CacheOptions options;
    options.is_on_disk = true;
    options.root = folder_ / "root";
    options.identifier = "d3d12-session";
    options.limit_bytes = 1u << 20;
    options.memory_bytes = 1u << 20;
    std::unique_ptr<DiskLevel> level;
    ASSERT_EQ(DiskLevel::open(options, level), Outcome::ok);
    const std::string message = heard();
    EXPECT_TRUE(message.starts_with("CNNOTICE"));
    EXPECT_TRUE(message.ends_with(options.root + options.identifier)) << message;
    EXPECT_EQ(heard(), "");
}

}  // namespace
}  // namespace cairn::d3d12
