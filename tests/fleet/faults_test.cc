// SPDX-License-Identifier: MIT
// Remotes in all kinds of trouble: commands end in time, say which remote it is and no secret, believe nothing that is
// wrong, list nothing that is not there, and the next run makes up for it.
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>

#include <chrono>
#include <random>

#include "faulty_storage.h"
#include "support/eventually.h"
#include "support/process.h"
#include "whole.h"

namespace cairn::fleet_test {
namespace {

using cairn_test::Backend;
using cairn_test::Fault;
using cairn_test::RedisCluster;
using cairn_test::RedisServer;
using cairn_test::S3Server;
using cli_test::Program;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr const char *kDriver = "driver 1";
// Of a command: a call on a remote takes a minute at most, and the first that fails is the last.
constexpr seconds kBound{75};

std::unique_ptr<Program> begin(const Machine &machine, const Words &words) {
    return std::make_unique<Program>(cli_test::cairn_command(words), machine.environment());
}

// Exit code 1, and what is said.
void expect_refused(const Finished &finished, const std::string &url) {
    EXPECT_EQ(finished.exit_code, 1) << finished.standard_error;
    EXPECT_THAT(finished.standard_error, HasSubstr(url));
    expect_no_secret(finished.standard_error);
}

// About 4 MB that do not become smaller.
void put_much(const Machine &machine) {
    constexpr int kCount = 40;
    std::mt19937 random(5);
    cairn_cache *const cache = machine.open_plain("engine");
    for (int i = 0; i < kCount; ++i) {
        std::string value(100'000, '\0');
        for (char &each : value) each = static_cast<char>(random());
        const std::string key = Machine::key_of(i);
        const cairn_put_options options = {sizeof options, 0, 1000};
        EXPECT_EQ(cairn_put(cache, key.data(), key.size(), value.data(), value.size(), &options),
                  CAIRN_OK);
    }
    cairn_close(cache);
}

// Else a remote that hangs costs its time for each application and driver.
TEST_F(FaultsTest, ARemoteThatFailedIsLeftAloneByTheRestOfACommand) {
    if (!Backend::why_missing("redis").empty()) GTEST_SKIP() << Backend::why_missing("redis");
    FaultyStorage broken("redis");
    first_.put_programs(kDriver, 0, 10);
    first_.put_programs("driver 2", 0, 10);
    Machine::put(first_.open_plain("engine"), "teapot", "I am a teapot.");
    broken.proxy.set(Fault::garbage);
    EXPECT_EQ(first_.cairn(push_words_to(broken.through)).exit_code, 1);
    const unsigned once = broken.proxy.connections();
    EXPECT_GT(once, 0u);
    const Words all = {"push", "--remote", broken.through, "--remote",
                       url_,   "--sign",   "ci",           "--all"};
    EXPECT_EQ(first_.cairn(all).exit_code, 1);
    EXPECT_EQ(broken.proxy.connections(), 2 * once);
    // The other one has all.
    second_.start(kDriver);
    second_.start("driver 2");
    EXPECT_EQ(
        second_.cairn({"pull", "--remote", broken.through, "--remote", url_, "--all"}).exit_code,
        1);
    EXPECT_EQ(broken.proxy.connections(), 3 * once);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 10);
    EXPECT_EQ(second_.programs_found("driver 2", 0, 10), 10);
    EXPECT_EQ(Machine::get(second_.open_plain("engine"), "teapot"), "I am a teapot.");
}

class ReplayTest : public FaultsTest, public ::testing::WithParamInterface<std::string> {
  protected:
    void SetUp() override {
        FaultsTest::SetUp();
        const std::string why = Backend::why_missing(GetParam());
        if (!why.empty()) GTEST_SKIP() << why;
        url_ = Backend::of(GetParam()).url(new_space());
    }
};

INSTANTIATE_TEST_SUITE_P(Each, ReplayTest, ::testing::ValuesIn(cairn_test::kAllBackends),
                         [](const auto &each) { return each.param; });

TEST_P(ReplayTest, OldManifestsThatComeBackDoNoHarm) {
    const auto remote = remotes::open_remote(url_, remotes::Limits());
    std::map<std::string, std::string> old;
    std::string folder;
    for (int i = 0; i < 3; ++i) {
        first_.put_programs(kDriver, i * 10, i * 10 + 10);
        push(first_);
        if (folder.empty()) {
            folder = "cairn/gl-game/" + remote->list("cairn/gl-game")[0].name + "manifests";
        }
        const std::string name = folder + "/" + remote->list(folder)[0].name;
        old[name] = remote->get(name, 1 << 20).value();
    }
    for (const auto &[name, content] : old) remote->put(name, as_bytes(content));
    EXPECT_EQ(remote->list(folder).size(), 3u);
    second_.start(kDriver);
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 30), 30);
    push(first_);
    EXPECT_EQ(remote->list(folder).size(), 1u);
    expect_whole(*remote);
}

TEST_F(FaultsTest, AFullRedisListsNothingThatIsNotThere) {
    if (!RedisServer::why_missing().empty()) GTEST_SKIP() << RedisServer::why_missing();
    const RedisServer server({"--maxmemory", "4mb", "--maxmemory-policy", "noeviction"});
    const std::string url = server.url();
    first_.put_programs(kDriver, 0, 10);
    first_.done(push_words_to(url));
    put_much(first_);
    const Words words = push_words_to(url, "engine");
    const Finished refused = first_.cairn(words);
    expect_refused(refused, url);
    EXPECT_EQ(expect_whole(url).packs, 1u);
    // What is there can be read all the same.
    second_.start(kDriver);
    second_.done(pull_words_from(url));
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 10);
    server.command({"CONFIG", "SET", "maxmemory", "0"});
    EXPECT_THAT(first_.done(words), HasSubstr("pushed 40 entries"));
    EXPECT_GE(expect_whole(url).packs, 2u);
}

constexpr int kSkip = 77;

TEST_F(FaultsTest, AFullFolderListsNothingThatIsNotThere) {
    put_much(first_);
    const Words words = push_words_to(url_, "engine");
    const std::string end = cairn_test::run_in_child(100, [&] {
        fs::create_directory(storage_);
        if (::unshare(CLONE_NEWNS) != 0 ||
            ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("storage", storage_.c_str(), "tmpfs", 0, "mode=0700,size=64k") != 0) {
            return kSkip;
        }
        for (const char *room : {"size=64k", "size=1m", "size=3m"}) {
            if (::mount("storage", storage_.c_str(), "tmpfs", MS_REMOUNT, room) != 0) return kSkip;
            const Finished refused = first_.cairn(words);
            expect_refused(refused, url_);
            EXPECT_THAT(refused.standard_error, HasSubstr("space")) << room;
            EXPECT_EQ(expect_whole(url_).packs, 0u) << room;
        }
        (void)::mount("storage", storage_.c_str(), "tmpfs", MS_REMOUNT, "size=64m");
        EXPECT_THAT(first_.done(words), HasSubstr("pushed 40 entries"));
        expect_whole(url_);
        return ::testing::Test::HasFailure() ? 1 : 0;
    });
    if (end == "exit code 77") GTEST_SKIP() << "no file system can be mounted here";
    EXPECT_EQ(end, "");
}

TEST_F(FaultsTest, AWrongPasswordIsToldAndNotShown) {
    if (!RedisServer::why_missing().empty()) GTEST_SKIP() << RedisServer::why_missing();
    const RedisServer server({"--requirepass", "hunter2"});
    first_.put_programs(kDriver, 0, 10);
    second_.start(kDriver);
    for (const char *password : {"", "hunter3"}) {
        first_.set("REDISCLI_AUTH", password);
        second_.set("REDISCLI_AUTH", password);
        expect_refused(first_.cairn(push_words_to(server.url())), server.url());
        expect_refused(second_.cairn(pull_words_from(server.url())), server.url());
    }
    first_.set("REDISCLI_AUTH", "hunter2");
    second_.set("REDISCLI_AUTH", "hunter2");
    first_.done(push_words_to(server.url()));
    second_.done(pull_words_from(server.url()));
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 10);
}

TEST_F(FaultsTest, ExpiredAndWrongKeysOfS3AreToldAndNotShown) {
    if (!Backend::why_missing("s3").empty()) GTEST_SKIP() << Backend::why_missing("s3");
    const std::string url = Backend::of("s3").url(new_space());
    first_.put_programs(kDriver, 0, 10);
    second_.start(kDriver);
    for (const auto &[name, value] : Environment{{"AWS_SECRET_ACCESS_KEY", "hunter2"},
                                                 {"AWS_SESSION_TOKEN", "EXPIRED"},
                                                 {"AWS_ACCESS_KEY_ID", "nobody"}}) {
        Environment environment = first_.environment();
        environment[name] = value;
        expect_refused(cli_test::cairn(push_words_to(url), environment), url);
        environment = second_.environment();
        environment[name] = value;
        expect_refused(cli_test::cairn(pull_words_from(url), environment), url);
    }
    first_.done(push_words_to(url));
    second_.done(pull_words_from(url));
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 10);
}

// A third of all keys goes away while machines are at it.
TEST_F(FaultsTest, ANodeOfAClusterThatDiesTakesNothingElseWithIt) {
    if (!RedisServer::why_missing().empty()) GTEST_SKIP() << RedisServer::why_missing();
    RedisCluster cluster;
    const std::string url = cluster.url();
    first_.put_programs(kDriver, 0, 10);
    first_.done(push_words_to(url));
    second_.start(kDriver);
    std::vector<std::unique_ptr<Program>> programs;
    const auto start = steady_clock::now();
    for (int i = 0; i < 6; ++i) {
        first_.put_programs(kDriver, 10 + i, 11 + i);
        programs.push_back(begin(first_, push_words_to(url)));
        programs.push_back(begin(second_, pull_words_from(url)));
        if (i == 2) cluster.node(1).kill();
    }
    for (const auto &program : programs) {
        const int code = program->wait();
        const std::string said = program->standard_error();
        EXPECT_THAT(code, AnyOf(0, 1)) << said;
        EXPECT_TRUE(code == 0 || said.find(url) != std::string::npos) << said;
    }
    EXPECT_LT(steady_clock::now() - start, kBound);
    // Each that is found is right.
    (void)second_.programs_found(kDriver, 0, 16);
    // Elsewhere all of it goes on.
    push(first_);
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 16), 16);
}

// The one that has the list of manifests, which each push and pull reads.
RedisServer &node_with_manifests(RedisCluster &cluster) {
    for (std::size_t i = 0; i < cluster.size(); ++i) {
        const std::string keys = cluster.node(i).command({"KEYS", "*/manifests/"});
        if (keys.find("manifests") != std::string::npos) return cluster.node(i);
    }
    ADD_FAILURE() << "no node has it";
    return cluster.node(0);
}

// It takes in what it is asked, and answers all of it when it is back: also what nobody waits for any more.
TEST_F(FaultsTest, ANodeOfAClusterThatHangsHoldsNobodyForLong) {
    if (!RedisServer::why_missing().empty()) GTEST_SKIP() << RedisServer::why_missing();
    RedisCluster cluster;
    url_ = cluster.url();
    first_.put_programs(kDriver, 0, 10);
    push(first_);
    second_.start(kDriver);
    const RedisServer &node = node_with_manifests(cluster);
    std::vector<std::unique_ptr<Program>> programs;
    const auto start = steady_clock::now();
    constexpr int kRounds = 6, kStopAfter = 3;
    for (int i = 0; i < kRounds; ++i) {
        if (i == kStopAfter) node.stop();
        first_.put_programs(kDriver, 10 + i, 11 + i);
        programs.push_back(begin(first_, push_words()));
        programs.push_back(begin(second_, pull_words()));
    }
    for (std::size_t i = 0; i < programs.size(); ++i) {
        const int code = programs[i]->wait();
        const std::string said = programs[i]->standard_error();
        EXPECT_THAT(code, AnyOf(i < 2 * kStopAfter ? 0 : 1, 1)) << said;
        EXPECT_TRUE(code == 0 || said.find(url_) != std::string::npos) << said;
    }
    EXPECT_LT(steady_clock::now() - start, kBound);
    (void)second_.programs_found(kDriver, 0, 16);
    // Back, it first has to find the others.
    node.resume();
    const auto works = [&](const Machine &machine, const Words &words) {
        return cairn_test::eventually([&] { return machine.cairn(words).exit_code == 0; });
    };
    EXPECT_TRUE(works(first_, push_words()));
    expect_whole(url_);
    EXPECT_TRUE(works(second_, pull_words()));
    EXPECT_EQ(second_.programs_found(kDriver, 0, 16), 16);
}

TEST_F(FaultsTest, AServerOfS3ThatWasRestartedHasAll) {
    if (!Backend::why_missing("s3").empty()) GTEST_SKIP() << Backend::why_missing("s3");
    S3Server server;
    first_.put_programs(kDriver, 0, 10);
    first_.done(push_words_to(server.url("fleet")));
    const std::string old_url = server.url("fleet");
    server.restart();
    second_.start(kDriver);
    if (server.url("fleet") != old_url) {
        expect_refused(second_.cairn(pull_words_from(old_url)), old_url);
    }
    first_.put_programs(kDriver, 10, 20);
    EXPECT_THAT(first_.done(push_words_to(server.url("fleet"))), HasSubstr("pushed 10 entries"));
    second_.done(pull_words_from(server.url("fleet")));
    EXPECT_EQ(second_.programs_found(kDriver, 0, 20), 20);
    expect_whole(server.url("fleet"));
}

}  // namespace
}  // namespace cairn::fleet_test
