// An EGL application in a sandbox links programs with hits from, and stores to, the broker.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "broker/broker.h"
#include "support/process.h"
#include "support/run_report.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

// How the application comes to its connection.
enum class Connected { by_launcher, by_itself };

class BrokerEglTest : public testing::Test {
  protected:
    // The variable that tells the application of its connection, which is made and inherited.
    static std::string connect(const Broker &broker, int &fd) {
        cairn_broker_options options = {};
        options.size = sizeof options;
        options.socket_path = broker.socket().c_str();
        options.identifier = "gpu-process";
        options.version = CAIRN_EGL_CONTENTS_VERSION;
        options.timeout_ms = kPatienceMs;
        EXPECT_EQ(cairn_broker_connect(&options, &fd), CAIRN_OK);
        return std::to_string(fd);
    }

    cairn::RunReport run(const Broker &broker, const std::string &mesa, Connected connected) {
        const RunReport report;
        int fd = -1;
        const std::string number =
            connected == Connected::by_launcher ? connect(broker, fd) : std::string();
        const std::string counters = report.path();  // by this process's number
        const std::string no_caches = directory_ / "none";
        problem_ = run_in_child(100, [&] {
            if (connected == Connected::by_launcher) {
                ::fcntl(fd, F_SETFD, 0);
                ::setenv(CAIRN_BROKER_FD_ENV, number.c_str(), 1);
            } else {
                ::setenv("CAIRN_EGL_BROKER", "1", 1);
                ::setenv("CAIRN_BROKER", broker.socket().c_str(), 1);
            }
            ::setenv(cairn::kRunReportVariable, counters.c_str(), 1);
            ::setenv("__EGL_VENDOR_LIBRARY_FILENAMES", CAIRN_EGL_TEST_MANIFEST, 1);
            ::setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
            ::setenv("CAIRN_DIR", no_caches.c_str(), 1);
            // Mesa's own cache opens a file for each program, unless it has one for all.
            ::setenv("MESA_SHADER_CACHE_DIR", (directory_ / mesa).c_str(), 1);
            ::setenv("MESA_DISK_CACHE_SINGLE_FILE", "1", 1);
            ::execl(BROKER_EGL_CLIENT, "egl_client", static_cast<char *>(nullptr));
            return 127;
        });
        if (fd >= 0) ::close(fd);
        struct stat status;
        EXPECT_NE(::stat(no_caches.c_str(), &status), 0) << "a cache on disk was used";
        return report.read();
    }

    void expect_warm_at_the_second_start(Connected connected) {
        Broker broker(directory_.path());
        const cairn::RunReport cold = run(broker, "mesa1", connected);
        ASSERT_EQ(problem_, "");
        EXPECT_EQ(cold.link_calls, 20u);
        EXPECT_EQ(cold.hits, 0u);
        EXPECT_GE(cold.stored, 20u);  // programs, and that their shaders compile
        EXPECT_EQ(cold.store_failed, 0u);
        const cairn::RunReport warm = run(broker, "mesa2", connected);
        ASSERT_EQ(problem_, "");
        EXPECT_EQ(warm.link_calls, 20u);
        EXPECT_EQ(warm.hits, 20u);
        EXPECT_EQ(warm.driver_links, 0u);
        EXPECT_EQ(warm.driver_compiles, 0u);
        EXPECT_EQ(warm.rejected, 0u);
    }

    TempDirectory directory_;
    std::string problem_;
};

TEST_F(BrokerEglTest, LinksInASandboxWithHitsFromAndStoresToTheBroker) {
    expect_warm_at_the_second_start(Connected::by_launcher);
}

// As Chromium's processes have to, which close what they inherit.
TEST_F(BrokerEglTest, AnApplicationMayConnectByItself) {
    expect_warm_at_the_second_start(Connected::by_itself);
}

}  // namespace
}  // namespace cairn_test
