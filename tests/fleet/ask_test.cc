// SPDX-License-Identifier: MIT
// Applications that ask while they run: the agent of the second machine answers with what the first one pushes
// meanwhile. And agents that are dead, hang or are killed: nothing becomes slower than the user allows, and nothing wrong.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <thread>

#include "fleet_fixture.h"
#include "os/testing/child.h"
#include "support/eventually.h"

namespace cairn::fleet_test {
namespace {

using cairn_test::eventually;

constexpr const char *kDriver = "driver 1";
constexpr int kAskMs = 200;

std::uint64_t now_ms() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
}

class AskTest : public FleetTest {
  protected:
    AskTest() { configure(kAskMs); }
    ~AskTest() override {
        if (running_ != nullptr) cairn_close(running_);
        for (const char *name : {"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"}) ::unsetenv(name);
    }

    // Of the second machine, and so of this process, which is its application.
    void configure(int ask_ms) {
        write("config", "share = 1\nask_ms = " + std::to_string(ask_ms) + "\n");
        write("remotes", "[studio]\nurl = " + url_ + "\nuse = read\n");
        ::setenv("XDG_CONFIG_HOME", fs::path(second_.configuration()).parent_path().c_str(), 1);
        ::setenv("XDG_RUNTIME_DIR", second_.environment().at("XDG_RUNTIME_DIR").c_str(), 1);
    }
    void write(const std::string &name, const std::string &text) const {
        fs::create_directories(second_.configuration());
        const std::string path = second_.configuration() + "/" + name;
        std::ofstream(path) << text;
        ::chmod(path.c_str(), 0600);
    }
    std::string socket() const {
        return second_.environment().at("XDG_RUNTIME_DIR") + "/cairn/agent-ask.sock";
    }
    void start_agent() {
        agent_ =
            std::make_unique<cli_test::Program>(Words{CAIRN_AGENT, "serve"}, second_.environment());
        ASSERT_TRUE(eventually([&] { return fs::exists(socket()); }));
    }
    // The application starts, and runs until the end of the test.
    void start_application() { running_ = second_.open_programs(kDriver); }
    std::string look_up(int i) const {
        const std::string key = Machine::key_of(i);
        cairn_blob *blob = nullptr;
        if (cairn_get(running_, key.data(), key.size(), &blob) != CAIRN_OK) return "(miss)";
        std::string found(static_cast<const char *>(cairn_blob_data(blob)), cairn_blob_size(blob));
        cairn_blob_free(blob);
        return found;
    }
    // How many of these the application finds; a wrong one fails the test.
    int found(int from, int to) const {
        int count = 0;
        for (int i = from; i < to; ++i) {
            const std::string value = look_up(i);
            if (value == "(miss)") continue;
            EXPECT_EQ(value, Machine::value_of(kDriver, i));
            ++count;
        }
        return count;
    }
    // The longest look-up of these, in milliseconds.
    std::uint64_t longest_ms(int from, int to) const {
        std::uint64_t longest = 0;
        for (int i = from; i < to; ++i) {
            const std::uint64_t begin = now_ms();
            EXPECT_EQ(look_up(i), "(miss)");
            longest = std::max(longest, now_ms() - begin);
        }
        return longest;
    }
    // A child is a process that has learnt nothing of other tests. A machine that does other things
    // delays some of them.
    static int best_of_ten(const std::function<int()> &body) {
        int result = 1;
        for (int i = 0; i < 10 && result > 0; ++i) result = cairn::testing::in_child(body);
        return result;
    }
    // The first machine's: to compile one takes half a second, so that a question is worth its while.
    void put_costly(int from, int to) const {
        put_costly_into(first_.open_programs(kDriver), from, to);
    }
    static void put_costly_into(cairn_cache *cache, int from, int to) {
        for (int i = from; i < to; ++i) {
            const std::string key = Machine::key_of(i), value = Machine::value_of(kDriver, i);
            const cairn_put_options options = {sizeof options, 0, 500'000};
            EXPECT_EQ(
                cairn_put(cache, key.data(), key.size(), value.data(), value.size(), &options),
                CAIRN_OK);
        }
        cairn_close(cache);
    }
    std::string wanted_folder() const { return second_.root() + "/.fleet/wanted"; }
    bool is_something_wanted() const {
        std::error_code error;
        for (const auto &each : fs::directory_iterator(wanted_folder(), error)) {
            if (fs::file_size(each.path(), error) > 24 && each.path().extension().empty()) {
                return true;
            }
        }
        return false;
    }
    // What the first machine has, and the agent of the second one has read of.
    void have_something_wanted(int count) {
        put_costly(0, count);
        push(first_);
        start_agent();
        start_application();
        ASSERT_TRUE(eventually([&] { return is_something_wanted(); }));
    }

    // The same of what nothing has pulled: not even a process that starts later has it.
    void have_something_pushed_meanwhile(int count) {
        start_agent();
        start_application();
        ASSERT_TRUE(eventually([&] { return fs::exists(wanted_folder()); })) << "no look, no pull";
        put_costly(0, count);
        push(first_);
        ASSERT_TRUE(eventually([&] { return is_something_wanted(); }));
    }

    std::unique_ptr<cli_test::Program> agent_;
    cairn_cache *running_ = nullptr;
};

TEST_F(AskTest, WhatIsPushedWhileAnApplicationRunsBecomesAHitWithoutARestart) {
    start_agent();
    start_application();
    EXPECT_EQ(found(0, 20), 0);
    put_costly(0, 20);
    push(first_);
    ASSERT_TRUE(eventually([&] { return is_something_wanted(); }));
    // The process looks once in a second whether the file was replaced.
    EXPECT_TRUE(eventually([&] { return found(0, 20) == 20; }));
    put_costly(20, 30);
    push(first_);
    EXPECT_TRUE(eventually([&] { return found(20, 30) == 10; })) << "and once more";
}

TEST_F(AskTest, WhatWasPulledWhileItStartedIsFoundToo) {
    have_something_wanted(20);
    EXPECT_TRUE(eventually([&] { return found(0, 20) == 20; }));
    cairn_close(running_);
    running_ = nullptr;
    EXPECT_EQ(second_.programs_found(kDriver, 0, 20), 20) << "without a question, too";
}

// Of no driver: a key has the same value everywhere.
TEST_F(AskTest, ACacheOfCairnHIsServedWhileItIsOpenToo) {
    const auto open = [](const Machine &machine) { return machine.open_plain("engine"); };
    start_agent();
    running_ = open(second_);
    EXPECT_EQ(found(0, 20), 0);
    put_costly_into(open(first_), 0, 20);
    push(first_, "engine");
    ASSERT_TRUE(eventually([&] { return is_something_wanted(); }));
    EXPECT_TRUE(eventually([&] { return found(0, 20) == 20; }));
    // It is the cache's own now, and behaves so.
    const std::string key = Machine::key_of(3);
    EXPECT_EQ(cairn_remove(running_, key.data(), key.size()), CAIRN_OK);
    EXPECT_EQ(found(0, 20), 19);
    EXPECT_EQ(cairn_clear(running_), CAIRN_OK);
    EXPECT_EQ(found(0, 20), 0);
}

TEST_F(AskTest, ACacheOfCairnHTakesInWhatIsPulledWhileItIsOpen) {
    write("config", "share = 1\n");
    running_ = second_.open_plain("engine");
    EXPECT_EQ(found(0, 20), 0);
    put_costly_into(first_.open_plain("engine"), 0, 20);
    push(first_, "engine");
    pull(second_, "engine");
    EXPECT_TRUE(eventually([&] { return found(0, 20) == 20; }));
}

// What comes later is not known to be none of what was cleared.
TEST_F(AskTest, ACacheOfWhichATimeRangeWasClearedTakesInNoPackAnyMore) {
    write("config", "share = 1\n");
    running_ = second_.open_plain("engine");
    uint64_t removed = 0;
    EXPECT_EQ(cairn_clear_range(running_, 0, UINT64_MAX, &removed), CAIRN_OK);
    put_costly_into(first_.open_plain("engine"), 0, 20);
    push(first_, "engine");
    pull(second_, "engine");
    for (int i = 0; i < 5; ++i) {  // packs are looked for once in a second
        EXPECT_EQ(found(0, 20), 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(600));
    }
}

TEST_F(AskTest, WhatAnApplicationRemovesDoesNotComeBack) {
    have_something_wanted(5);
    ASSERT_TRUE(eventually([&] { return found(0, 5) == 5; }));
    const std::string key = Machine::key_of(3);
    EXPECT_EQ(cairn_remove(running_, key.data(), key.size()), CAIRN_OK);
    EXPECT_EQ(look_up(3), "(miss)");
    EXPECT_EQ(found(0, 5), 4);
}

TEST_F(AskTest, WhereTheUserSaysNothingNobodyIsAsked) {
    write("config", "share = 1\n");
    put_costly(0, 20);
    start_agent();
    start_application();
    push(first_);
    std::this_thread::sleep_for(std::chrono::seconds(2));
    EXPECT_EQ(found(0, 20), 0);
    EXPECT_FALSE(fs::exists(wanted_folder()));
}

TEST_F(AskTest, WhatIsNotRecordedIsNotAskedFor) {
    write("config", "share = 1\nask_ms = 200\nrecord = 0\n");
    put_costly(0, 20);
    push(first_);
    start_agent();
    start_application();
    std::this_thread::sleep_for(std::chrono::seconds(2));
    EXPECT_EQ(found(0, 20), 0);
}

// All times are against what the user allows, with room for a machine that does other things.
TEST_F(AskTest, AnAgentThatHangsIsWaitedForAFewTimesAtMost) {
    have_something_pushed_meanwhile(100);
    ::kill(agent_->pid(), SIGSTOP);
    const int result = best_of_ten([&] {
        const std::uint64_t begin = now_ms();
        const std::uint64_t longest = longest_ms(0, 100);
        if (longest < kAskMs - 10) return 1;           // it was not asked
        if (longest > kAskMs + 100) return 2;          // it was waited for
        return now_ms() - begin > 4 * kAskMs ? 3 : 0;  // again and again
    });
    EXPECT_EQ(result, 0);
    ::kill(agent_->pid(), SIGCONT);
}

TEST_F(AskTest, AnAgentThatIsDeadCostsNothing) {
    have_something_pushed_meanwhile(100);
    ::kill(agent_->pid(), SIGKILL);
    agent_->wait();
    EXPECT_EQ(best_of_ten([&] { return longest_ms(0, 100) <= kAskMs / 2 ? 0 : 1; }), 0);
}

TEST_F(AskTest, AnAgentThatIsKilledAtAnyTimeLeavesNothingWrong) {
    put_costly(0, 100);
    push(first_);
    // Each start is a process, which the agent hears of.
    const auto start = [&](int wanted) {
        start_application();
        const bool is_found = eventually([&] { return found(0, 100) >= wanted; });
        const std::uint64_t end = now_ms() + 200;
        while (wanted == 0 && now_ms() < end) (void)found(0, 100);
        return is_found && !HasFailure() ? 0 : 1;
    };
    for (int i = 0; i < 8; ++i) {
        start_agent();
        const pid_t child = ::fork();
        if (child == 0) ::_exit(start(0));
        std::this_thread::sleep_for(std::chrono::milliseconds(25 * i));
        ::kill(agent_->pid(), SIGKILL);
        agent_->wait();
        int status = -1;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << i;
        fs::remove(socket());
    }
    start_agent();
    EXPECT_EQ(cairn::testing::in_child([&] { return start(100); }), 0);
}

TEST_F(AskTest, APullTakesWhatWasFetchedForQuestionsFromThisMachine) {
    configure(1000);  // a key is asked for once, and machines are busy
    have_something_pushed_meanwhile(20);
    ASSERT_TRUE(eventually([&] { return found(0, 1) == 1; }));
    EXPECT_EQ(cairn_flush(running_, 10'000), CAIRN_OK);
    ::kill(agent_->pid(), SIGTERM);
    EXPECT_EQ(agent_->wait(), 0);
    for (const fs::path &each : objects("packs")) fs::remove(each);
    EXPECT_THAT(pull(second_), ::testing::HasSubstr("pulled 19 entries in 1 pack"));
    EXPECT_EQ(second_.programs_found(kDriver, 0, 20), 20);
}

TEST_F(AskTest, AKeptPackThatIsDamagedIsFetchedAgain) {
    put_costly(0, 20);
    push(first_);
    // Each start is a process, which the agent hears of.
    const auto start = [&] {
        start_application();
        return eventually([&] { return found(0, 20) == 20; }) ? 0 : 1;
    };
    start_agent();
    EXPECT_EQ(cairn::testing::in_child(start), 0);
    const std::string folder = second_.root() + "/.fleet/packs";
    ASSERT_TRUE(eventually([&] { return fs::exists(folder) && !fs::is_empty(folder); }));
    const fs::path kept = fs::directory_iterator(folder)->path();
    const auto size = fs::file_size(kept);
    fs::resize_file(kept, size / 2);
    // The rest as on a machine that has never started it.
    for (const auto &each : fs::directory_iterator(second_.root())) {
        if (each.path().filename() != ".fleet") fs::remove_all(each.path());
    }
    ::kill(agent_->pid(), SIGTERM);
    EXPECT_EQ(agent_->wait(), 0);
    start_agent();
    EXPECT_EQ(cairn::testing::in_child(start), 0);
    EXPECT_EQ(fs::file_size(kept), size);
}

TEST_F(AskTest, AKeyThatIsRevokedEndsWhatItSigned) {
    configure(1000);
    have_something_pushed_meanwhile(20);
    ASSERT_TRUE(eventually([&] { return found(0, 1) == 1; }));
    second_.done({"key", "revoke", "ci"});
    ASSERT_TRUE(eventually([&] { return !is_something_wanted(); }));
}

// Packs that nobody has signed are not served, whatever manifests there are.
TEST_F(AskTest, WhatNobodyTrustsIsNotOffered) {
    Machine stranger;
    stranger.make_key("stranger");
    stranger.put_programs(kDriver, 0, 20);
    stranger.done({"push", "--remote", url_, "--sign", "stranger", "game"});
    start_agent();
    start_application();
    std::this_thread::sleep_for(std::chrono::seconds(2));
    EXPECT_EQ(found(0, 20), 0);
    EXPECT_FALSE(is_something_wanted());
    EXPECT_FALSE(fs::exists(second_.root() + "/.fleet/packs"));
}

}  // namespace
}  // namespace cairn::fleet_test
