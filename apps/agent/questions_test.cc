// SPDX-License-Identifier: MIT
#include "questions.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "os/testing/scratch.h"

namespace cairn::agent {
namespace {

constexpr int kPatienceMs = 20'000;

KeptPackName pack(int number) {
    KeptPackName name = {};
    name[0] = static_cast<std::byte>(number);
    return name;
}

// Entry 1 is in a pack that is kept, entry 2 in one that comes when the test says so.
class FakePacks final : public Packs {
  public:
    Found find(const AgentQuestion &question) override {
        ++questions;
        if (question.entry == 1) return {State::kept, pack(1)};
        if (question.entry == 2) return {state_of(pack(2)), pack(2)};
        return {};
    }
    State state_of(const KeptPackName &) override { return state; }
    int changed_fd() const override { return changed_.get(); }
    void come(State as) {
        state = as;
        const std::uint64_t one = 1;
        EXPECT_EQ(::write(changed_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
    }

    std::atomic<int> questions = 0;
    std::atomic<State> state = State::coming;

  private:
    const UniqueFd changed_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

class QuestionsTest : public ::testing::Test {
  protected:
    Socket connect() const {
        auto socket = Socket::connect(path_);
        EXPECT_TRUE(socket.ok());
        return socket.ok() ? std::move(socket.value()) : Socket();
    }
    static void ask(const Socket &socket, std::uint64_t sequence, std::uint64_t entry) {
        const auto message = encode_question({sequence, entry, "/root-of-caches", "plain"});
        EXPECT_TRUE(socket.send(*message).ok());
    }
    // nullopt: the connection is closed, or what came makes no sense.
    static std::optional<AgentAnswer> answer(const Socket &socket) {
        EXPECT_TRUE(socket.wait(Socket::For::reading, kPatienceMs));
        std::array<std::byte, kAnswerSize + 1> buffer;
        const auto size = socket.receive(buffer, nullptr);
        if (!size.ok()) return std::nullopt;
        return decode_answer(Bytes(buffer).first(size.value()));
    }

    testing::Scratch scratch_;
    const std::string path_ = scratch_ / "agent-ask.sock";
    FakePacks packs_;
    Questions questions_{path_, packs_};
};

TEST_F(QuestionsTest, WhatIsKeptIsAnsweredAtOnceAndTheRestWithNo) {
    const Socket socket = connect();
    ask(socket, 7, 1);
    EXPECT_EQ(answer(socket), (AgentAnswer{7, pack(1)}));
    ask(socket, 8, 3);
    EXPECT_EQ(answer(socket), (AgentAnswer{8, std::nullopt}));
}

TEST_F(QuestionsTest, OnlyItsUserMayConnect) {
    EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0600));
}

TEST_F(QuestionsTest, AnotherAgentIsAFailure) {
    EXPECT_THROW(Questions(path_, packs_), std::runtime_error);
}

TEST_F(QuestionsTest, WhatIsFetchedIsAnsweredWhenItHasComeAndNobodyElseWaits) {
    const Socket slow = connect(), quick = connect();
    ask(slow, 1, 2);
    ask(quick, 1, 1);
    EXPECT_EQ(answer(quick), (AgentAnswer{1, pack(1)}));
    EXPECT_FALSE(slow.wait(Socket::For::reading, 20));
    packs_.come(Packs::State::kept);
    EXPECT_EQ(answer(slow), (AgentAnswer{1, pack(2)}));
}

TEST_F(QuestionsTest, WhatDoesNotComeIsAnsweredWithNo) {
    const Socket socket = connect();
    ask(socket, 1, 2);
    while (packs_.questions == 0) ::usleep(100);
    packs_.come(Packs::State::none);
    EXPECT_EQ(answer(socket), (AgentAnswer{1, std::nullopt}));
}

TEST_F(QuestionsTest, WhoDoesNotWaitForTheAnswerIsClosed) {
    const Socket socket = connect();
    ask(socket, 1, 2);
    ask(socket, 2, 1);
    EXPECT_EQ(answer(socket), std::nullopt);
}

TEST_F(QuestionsTest, WhatIsNoQuestionClosesItsConnectionOnly) {
    const Socket other = connect();
    for (const std::string &message : {std::string("x"), std::string(10'000, 'x')}) {
        const Socket socket = connect();
        (void)socket.send(as_bytes(message));
        EXPECT_EQ(answer(socket), std::nullopt);
    }
    ask(other, 1, 1);
    EXPECT_EQ(answer(other), (AgentAnswer{1, pack(1)}));
}

TEST_F(QuestionsTest, OneTooManyTakesThePlaceOfTheOneThatWasSilentForLongest) {
    std::vector<Socket> sockets;
    for (std::size_t i = 0; i < Questions::kConnectionsMax + 1; ++i) {
        sockets.push_back(connect());
        if (i == 0) continue;  // it is silent
        ask(sockets.back(), 1, 1);
        EXPECT_EQ(answer(sockets.back()), (AgentAnswer{1, pack(1)})) << i;
    }
    EXPECT_EQ(answer(sockets.front()), std::nullopt);
}

TEST_F(QuestionsTest, WhoGoesWhileItWaitsHarmsNobody) {
    {
        const Socket socket = connect();
        ask(socket, 1, 2);
    }
    packs_.come(Packs::State::kept);
    const Socket other = connect();
    ask(other, 1, 1);
    EXPECT_EQ(answer(other), (AgentAnswer{1, pack(1)}));
}

}  // namespace
}  // namespace cairn::agent
