// SPDX-License-Identifier: MIT
// Machines share by a real object gateway of Ceph that is full, hangs, is killed and comes back. `make test-ceph` starts
// the rest of Ceph; without it these are skipped.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "backends.h"
#include "fleet_fixture.h"
#include "remotes/curl.h"
#include "support/eventually.h"
#include "whole.h"

namespace cairn::fleet_test {
namespace {

using cairn_test::ServerProcess;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

constexpr const char *kDriver = "driver 1";
// A gateway that hangs holds a call for 10 s, and a push is over with its first failure.
constexpr std::chrono::seconds kBound{30};
constexpr const char *kClock = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
constexpr const char *kSecret = "secret";
constexpr const char *kHashOfNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// Of Ceph; empty: there is none.
std::string configuration() {
    const char *path = getenv("CAIRN_TEST_CEPH");
    return path != nullptr ? path : "";
}

bool has_ended(pid_t pid) {
    siginfo_t info = {};
    return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid != 0;
}

class CephTest : public FleetTest {
  protected:
    void SetUp() override {
        if (configuration().empty()) GTEST_SKIP() << "`make test-ceph` runs this";
        cairn_test::prepare_environment();
        setenv("AWS_ACCESS_KEY_ID", user().c_str(), 1);
        setenv("AWS_SECRET_ACCESS_KEY", kSecret, 1);
        start_gateway();
        make_bucket();
    }

    // With a bucket of the same name, as the cluster outlives this program. There is one for all tests, since a change
    // of a user waits 20 s for gateways that were killed.
    static const std::string &user() {
        static const std::string name = [] {
            std::string made = "ceph-" + std::to_string(getpid()) + "-" +
                               std::to_string(steady_clock::now().time_since_epoch().count());
            administer("user create --uid=" + made + " --display-name=" + made +
                       " --access-key=" + made + " --secret-key=" + kSecret);
            return made;
        }();
        return name;
    }
    static void administer(const std::string &words) {
        const std::string command = "radosgw-admin -c " + configuration() + " " + words;
        ASSERT_EQ(system((command + " >/dev/null").c_str()), 0) << words;
    }

    void start_gateway() {
        gateway_ = std::make_unique<ServerProcess>(
            [&](std::uint16_t port) {
                return Words{"radosgw",
                             "-f",
                             "-c",
                             configuration(),
                             "-n",
                             "client.admin",
                             "--log-file",
                             requests_,
                             "--rgw-frontends",
                             "beast endpoint=127.0.0.1:" + std::to_string(port)};
            },
            folder_ / "output");
        endpoint_ = "http://127.0.0.1:" + std::to_string(gateway_->port());
        url_ = "s3://" + user() + "/" + space_ + "?endpoint=" + endpoint_;
    }
    void make_bucket() const {
        const remotes::Limits limits;
        remotes::CallClock clock(limits);
        remotes::Curl curl("s3", limits);
        remotes::HttpRequest request;
        request.method = remotes::HttpRequest::Method::put;
        request.url = endpoint_ + "/" + user();
        request.headers = {std::string("x-amz-content-sha256: ") + kHashOfNothing};
        request.signing = remotes::Signing{"us-east-1", user(), kSecret};
        const remotes::HttpAnswer answer = curl.perform(request, clock);
        ASSERT_TRUE(answer.is_ok()) << answer.status << answer.content;
    }
    // That gateways have begun to serve.
    unsigned requests() const {
        const std::string log = cli_test::read_file(requests_);
        unsigned count = 0;
        for (std::size_t at = 0; (at = log.find("starting new request", at)) != std::string::npos;
             ++at) {
            ++count;
        }
        return count;
    }
    // Whether the gateway has begun that many requests of a push before its end; `fault` happens then. A push whose
    // gateway was in trouble may have got all through before.
    template <typename Work>
    bool push_with(unsigned number, Work fault) {
        const unsigned enough = requests() + number;
        cli_test::Program push(cli_test::cairn_command(push_words()), first_.environment());
        EXPECT_TRUE(
            cairn_test::eventually([&] { return requests() >= enough || has_ended(push.pid()); }));
        const bool has_come_so_far = requests() >= enough;
        const auto begin = steady_clock::now();
        if (has_come_so_far) fault();
        const int exit_code = push.wait();
        EXPECT_LT(steady_clock::now() - begin, kBound);
        EXPECT_TRUE(exit_code == 0 || (has_come_so_far && exit_code == 1)) << exit_code;
        if (exit_code == 1) {
            EXPECT_THAT(push.standard_error(), HasSubstr("s3://" + user()));
        }
        return has_come_so_far;
    }
    void expect_all_after_a_push(int count) const {
        expect_whole(url_);
        push(first_);
        expect_whole(url_);
        second_.start(kDriver);
        pull(second_);
        EXPECT_EQ(second_.programs_found(kDriver, 0, count), count);
    }

    const std::string space_ = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::string endpoint_;
    const std::string requests_ = folder_.path() / "requests";
    std::unique_ptr<ServerProcess> gateway_;
};

TEST_F(CephTest, AQuotaThatIsFullIsToldAndNothingIsListed) {
    first_.put_programs(kDriver, 0, 20);
    administer("quota enable --quota-scope=user --uid=" + user());
    // No room for the pack, and then none for the manifest.
    for (const char *full : {" --max-size=1", " --max-size=-1 --max-objects=1"}) {
        administer("quota set --quota-scope=user --uid=" + user() + full);
        const Finished finished = first_.cairn(push_words());
        EXPECT_EQ(finished.exit_code, 1);
        EXPECT_THAT(finished.standard_error, HasSubstr("QuotaExceeded"));
        EXPECT_THAT(finished.standard_error, HasSubstr("the quota does not allow it"));
        EXPECT_EQ(expect_whole(url_).manifests, 0u);
    }
    administer("quota disable --quota-scope=user --uid=" + user());
    expect_all_after_a_push(20);
}

TEST_F(CephTest, AGatewayThatIsKilledUnderAPushListsNothingThatIsNotThere) {
    first_.put_programs(kDriver, 0, 10);
    push(first_);
    int count = 10;
    unsigned kills = 0;
    for (;; ++kills) {
        first_.put_programs(kDriver, count, count + 10);
        count += 10;
        if (!push_with(kills + 1, [&] { gateway_->kill(); })) break;
        EXPECT_EQ(first_.cairn(push_words()).exit_code, 1);
        start_gateway();
        expect_whole(url_);
    }
    // A list, two objects and the removal of the older manifest.
    EXPECT_GE(kills, 4u);
    first_.put_programs(kDriver, count, count + 10);
    expect_all_after_a_push(count + 10);
}

TEST_F(CephTest, AGatewayThatHangsUnderAPushDoesNotHoldIt) {
    first_.put_programs(kDriver, 0, 10);
    push(first_);
    int count = 10;
    // Under the pack, and under the manifest or its older one's removal.
    for (const unsigned number : {3u, 4u}) {
        first_.put_programs(kDriver, count, count + 10);
        count += 10;
        push_with(number, [&] { gateway_->stop(); });
        const auto begin = steady_clock::now();
        EXPECT_EQ(first_.cairn({"remote", "status", "--remote", url_}).exit_code, 1);
        EXPECT_LT(steady_clock::now() - begin, kBound);
        gateway_->resume();
        expect_whole(url_);
    }
    first_.put_programs(kDriver, count, count + 10);
    expect_all_after_a_push(count + 10);
}

TEST_F(CephTest, AClockThatIsWrongIsToldAndThePushAfterItIsWhole) {
    if (access(kClock, R_OK) != 0) GTEST_SKIP() << "there is no libfaketime";
    first_.put_programs(kDriver, 0, 10);
    for (const char *wrong : {"-20m", "+20m", "+8d", "-10y"}) {
        Environment environment = first_.environment();
        environment["LD_PRELOAD"] = kClock;
        environment["FAKETIME"] = wrong;
        const Finished finished = cli_test::cairn(push_words(), environment);
        EXPECT_EQ(finished.exit_code, 1);
        EXPECT_THAT(finished.standard_error, HasSubstr("this machine's clock is wrong")) << wrong;
    }
    Environment environment = first_.environment();
    environment["LD_PRELOAD"] = kClock;
    environment["FAKETIME"] = "+10m";
    EXPECT_EQ(cli_test::cairn(push_words(), environment).exit_code, 0);
    expect_all_after_a_push(10);
}

}  // namespace
}  // namespace cairn::fleet_test
