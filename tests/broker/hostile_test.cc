// Clients that send garbage, flood, stop reading, or die harm nobody.
// SPDX-License-Identifier: MIT
#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <thread>

#include "broker/broker.h"
#include "broker/raw_client.h"
#include "support/process.h"
#include "support/random.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

using namespace cairn;
using cairn_test::as_bytes;

const std::string kValue(20'000, 'v');
constexpr unsigned kClients = 12;
// Descriptors on their way: to one client, to all together, and to each where all may have as many.
constexpr unsigned kInFlightMax = 64, kInFlightOfAllMax = 512;
constexpr unsigned kInFlightOfEach = kInFlightOfAllMax / kClients;

class HostileClientTest : public testing::Test {
  protected:
    HostileClientTest()
        : broker_(directory_.path(), {"--clients", std::to_string(kClients)}),
          good_(broker_, "good") {
        EXPECT_EQ(good_.result(), CAIRN_OK);
    }
    // The broker serves everybody else as if nothing had been.
    void expect_service() {
        const std::string key = "key " + std::to_string(++rounds_);
        ASSERT_EQ(good_.put(key, key + kValue), CAIRN_OK);
        ASSERT_EQ(good_.flush(), CAIRN_OK);
        ASSERT_EQ(good_.get_soon(key), key + kValue);
        ASSERT_EQ(good_.stats().refused, 0u);
        ASSERT_EQ(good_.stats().lost, 0u);
        ASSERT_EQ(::waitpid(broker_.pid(), nullptr, WNOHANG), 0) << "the broker has ended";
    }
    // As many segments, of writers that stay open.
    std::vector<Cache> make_segments(std::size_t count) {
        std::vector<Cache> writers(count);
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_EQ(writers[i].open({.root = broker_.root(), .identifier = "good"}), CAIRN_OK);
            EXPECT_EQ(writers[i].put(as_bytes("w" + std::to_string(i)), as_bytes("x")), CAIRN_OK);
        }
        return writers;
    }
    // Has been sent what it may have, or turned away, and has read nothing of it.
    Raw silent() {
        Raw client(broker_);
        if (!client.hello("good") || !client.send(Start{})) return client;
        // From its first answer on it is served in turn with the others.
        client.socket().wait(Socket::For::reading, static_cast<int>(kPatienceMs));
        expect_service();
        return client;
    }
    unsigned broker_descriptors() const {
        unsigned count = 0;
        DIR *all = ::opendir(("/proc/" + std::to_string(broker_.pid()) + "/fd").c_str());
        while (::readdir(all) != nullptr) ++count;
        ::closedir(all);
        return count;
    }

    TempDirectory directory_;
    Broker broker_;
    BrokerCache good_;
    unsigned rounds_ = 0;
};

TEST_F(HostileClientTest, WhoSendsGarbageLosesItsOwnConnection) {
    Random random(7);
    for (unsigned i = 0; i < 60; ++i) {
        Raw bad(broker_);
        const bool greets = i % 2 == 0;
        ASSERT_TRUE(!greets || bad.hello());
        std::vector<std::byte> bytes(1 + random.below(i % 3 == 0 ? 40'000 : 40));
        for (auto &byte : bytes) byte = static_cast<std::byte>(random.below(256));
        bad.send(bytes);
        EXPECT_TRUE(bad.closed());
    }
    expect_service();
}

TEST_F(HostileClientTest, WhoSaysAnythingOutOfTurnLosesItsOwnConnection) {
    std::string whole;
    const std::string with_zero("go\0od", 5);
    const Message begun = store("k", std::string(100'000, 'x'), whole);
    const std::vector<std::vector<Message>> conversations = {
        {Start{}},
        {begun},
        {Ping{1}},
        {Hello{kProtocolVersion, 1, "bad"}, Hello{kProtocolVersion, 1, "good"}},
        {Hello{kProtocolVersion, 1, "good"}, Hello{kProtocolVersion, 1, "good"}},
        {Hello{kProtocolVersion + 1, 1, "bad"}},
        {Hello{kProtocolVersion, 2, "good"}},  // another version than the one in use
        {Hello{kProtocolVersion, 1, "../good"}},
        {Hello{kProtocolVersion, 1, ".."}},
        {Hello{kProtocolVersion, 1, with_zero}},
        {Hello{kProtocolVersion, 1, "bad"}, StoreData{view(kValue)}},
        {Hello{kProtocolVersion, 1, "bad"}, begun, begun},
        {Hello{kProtocolVersion, 1, "bad"}, begun, Ping{1}},
        {Hello{kProtocolVersion, 1, "bad"}, begun, StoreData{view(kValue)}, StoreData{view(kValue)},
         StoreData{view(kValue)}, StoreData{view(kValue)}},  // more than it said
        {Hello{kProtocolVersion, 1, "bad"}, StoreHead{0, 0, 65536, ~0u, view(whole).first(32744)}},
        {Hello{kProtocolVersion, 1, "bad"}, Received{1}},
        {Hello{kProtocolVersion, 1, "bad"}, Start{}, Received{1000}},
        {Hello{kProtocolVersion, 1, "bad"}, Complete{}},
        {Hello{kProtocolVersion, 1, "bad"}, IndexFile{}},
        {Hello{kProtocolVersion, 1, "bad"}, SegmentFiles{{1}}},
    };
    for (std::size_t i = 0; i < conversations.size(); ++i) {
        Raw bad(broker_);
        for (const Message &message : conversations[i]) bad.send(message);
        EXPECT_TRUE(bad.closed()) << "conversation " << i;
        expect_service();
    }
}

TEST_F(HostileClientTest, WhoFloodsIsReadLater) {
    std::atomic<bool> stop = false;
    std::string whole;
    const std::vector<Message> floods = {Ping{1}, Want{5}, Hits{std::vector(64, view("key"))},
                                         Start{}, store("k", kValue, whole)};
    std::vector<std::thread> threads;
    std::vector<std::atomic<bool>> held_up(
        floods.size());  // was not read for a while, or was ended
    for (std::size_t i = 0; i < floods.size(); ++i) {
        threads.emplace_back([&, i, this] {
            const auto flood = encode_message(floods[i]);
            while (!stop) {
                Raw bad(broker_);
                bad.hello("flood");
                while (!stop) {
                    const Status status = bad.socket().send(flood);
                    if (status.ok()) continue;
                    if (status.error() != Error::busy) held_up[i] = true;
                    if (status.error() != Error::busy) break;
                    if (!bad.socket().wait(Socket::For::writing, 10)) held_up[i] = true;
                }
            }
        });
    }
    EXPECT_TRUE(eventually([&] {
        expect_service();
        return std::all_of(held_up.begin(), held_up.end(), [](auto &held) { return held.load(); });
    }));
    for (unsigned i = 0; i < 30; ++i) expect_service();
    stop = true;
    for (auto &thread : threads) thread.join();
    expect_service();
}

// The client's leases stay within bounds, and so does the memory that the broker keeps for it.
TEST_F(HostileClientTest, WhoStopsReadingGetsNoMore) {
    std::vector<Raw> clients;
    for (unsigned i = 0; i < 5; ++i) clients.push_back(silent());
    // More segments than may be on their way.
    const auto writers = make_segments(80);
    for (std::size_t i = 0; i < writers.size(); ++i) {
        EXPECT_EQ(good_.get_soon("w" + std::to_string(i)), "x");
    }
    expect_service();
    const std::size_t arrived = clients[0].take_descriptors().size();
    EXPECT_GT(arrived, 2u);
    EXPECT_LE(arrived, kInFlightMax);
    // Answers that nobody reads.
    for (unsigned i = 0; i < 10'000; ++i) {
        if (!clients[1].try_send(Ping{i}).ok()) break;
    }
    expect_service();
}

TEST_F(HostileClientTest, WhoLiesAboutWhatArrivedGetsNoMore) {
    const auto writers = make_segments(200);
    Raw liar = silent();
    for (unsigned i = 0; i < 500 && liar.send(Received{1}); ++i) {
        if (i % 10 == 0) expect_service();
    }
    expect_service();
    EXPECT_LE(liar.take_descriptors().size(), kInFlightMax);
}

// A reader with MSG_PEEK sees the first message and leaves it in the queue.
TEST_F(HostileClientTest, WhoOnlyLooksAtWhatArrivedGetsTheRestWhenItHasReadIt) {
    const auto writers = make_segments(200);
    Raw early = silent();
    std::array<std::byte, 64> seen;
    ASSERT_GT(::recv(early.socket().fd(), seen.data(), seen.size(), MSG_PEEK), 0);
    ASSERT_TRUE(early.send(Received{kInFlightOfEach}));
    expect_service();
    EXPECT_EQ(early.take_descriptors().size(), kInFlightOfEach);
    std::size_t more = 0;
    EXPECT_TRUE(eventually([&] { return (more += early.take_descriptors().size()) > 0; }));
}

TEST_F(HostileClientTest, AllTogetherGetNoMoreThanOneUserCanHave) {
    const auto writers = make_segments(100);
    std::vector<Raw> clients;
    for (unsigned i = 0; i < kClients - 1; ++i) clients.push_back(silent());
    std::size_t arrived = 0;
    for (Raw &client : clients) arrived += client.take_descriptors().size();
    EXPECT_LE(arrived, kInFlightOfAllMax);
    EXPECT_GT(arrived, kInFlightOfAllMax / 2);
}

TEST_F(HostileClientTest, WhoConnectsAgainGetsNoMore) {
    const auto writers = make_segments(100);
    std::vector<Raw> ended;
    for (unsigned i = 0; i < 3 * kClients; ++i) {
        ended.push_back(silent());
        ended.back().send(Hello{});  // which it must not
        expect_service();
    }
    EXPECT_EQ(BrokerCache(broker_, "good").result(), CAIRN_ERROR_FULL);
    std::size_t arrived = 0;
    for (Raw &client : ended) arrived += client.take_descriptors().size();
    EXPECT_LE(arrived, kInFlightOfAllMax);
    EXPECT_EQ(BrokerCache(broker_, "good").result(), CAIRN_OK) << "they have read";
}

TEST_F(HostileClientTest, WhoDiesInTheMiddleLeavesNothing) {
    std::string whole;
    const std::string large(1u << 20, 'x');
    // More together than unfinished entries may hold.
    for (unsigned i = 0; i < 100; ++i) {
        Raw bad(broker_);
        ASSERT_TRUE(bad.hello());
        ASSERT_TRUE(bad.send(store("torn", large + large, whole)));
        for (std::size_t sent = 0; sent < large.size(); sent += 32'000) {
            if (!bad.send(StoreData{view(whole).subspan(40'000 + sent, 32'000)})) break;
        }
    }
    expect_service();
    BrokerCache cache(broker_, "bad");
    EXPECT_EQ(cache.get("torn"), std::nullopt);
    ASSERT_EQ(cache.put("torn", large), CAIRN_OK);
    ASSERT_EQ(cache.flush(), CAIRN_OK);
    EXPECT_EQ(cache.get_soon("torn"), large);
}

TEST_F(HostileClientTest, WhoIsKilledHarmsNobody) {
    Random random(3);
    for (unsigned i = 0; i < 20; ++i) {
        Child child([&] {
            BrokerCache cache(broker_, "good");
            for (unsigned j = 0;; ++j) {
                (void)cache.put("child " + std::to_string(j % 50), kValue);
                (void)cache.get("child 1");
            }
            return 0;
        });
        pause_ms(static_cast<unsigned>(random.below(30)));
        child.kill();
        expect_service();
    }
    for (unsigned j = 0; j < 50; ++j) {
        const auto found = good_.get("child " + std::to_string(j));
        EXPECT_EQ(found.value_or(kValue), kValue);
    }
}

TEST_F(HostileClientTest, TooManyAreTurnedAway) {
    std::vector<BrokerCache> clients;
    for (unsigned i = 0; i < 11; ++i) {
        clients.emplace_back(broker_, "many");
        ASSERT_EQ(clients.back().result(), CAIRN_OK) << i;
    }
    EXPECT_EQ(BrokerCache(broker_, "many").result(), CAIRN_ERROR_FULL);
    expect_service();
    clients.pop_back();
    EXPECT_TRUE(eventually([&] { return BrokerCache(broker_, "many").result() == CAIRN_OK; }));
}

TEST_F(HostileClientTest, WhoSaysNothingIsNotWaitedFor) {
    Raw silent(broker_), halfway(broker_);
    std::string whole;
    ASSERT_TRUE(halfway.hello());
    ASSERT_TRUE(halfway.send(store("k", std::string(100'000, 'x'), whole)));
    EXPECT_TRUE(silent.closed());
    EXPECT_TRUE(halfway.closed());
    expect_service();
}

TEST_F(HostileClientTest, DescriptorsAreNotTaken) {
    Raw bad(broker_);
    ASSERT_TRUE(bad.hello());
    expect_service();
    const unsigned before = broker_descriptors();
    const std::vector<int> fds(16, STDERR_FILENO);
    for (unsigned i = 0; i < 100; ++i) ASSERT_TRUE(bad.send(encode_message(Want{9}), fds));
    expect_service();
    // Of 1,600 that were sent none is kept; serving others takes a few for a moment.
    EXPECT_LT(broker_descriptors(), before + 16);
}

}  // namespace
}  // namespace cairn_test
