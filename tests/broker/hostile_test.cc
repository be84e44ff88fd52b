// Clients that send garbage, flood, stop reading, or die harm nobody. SPDX-License-Identifier: MIT
#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "broker/broker.h"
#include "ipc/message.h"
#include "os/socket.h"
#include "support/process.h"
#include "support/random.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

using namespace cairn;
using cairn_test::as_bytes;

const std::string kValue(20'000, 'v');

cairn::Bytes view(std::string_view text) {
    return {reinterpret_cast<const std::byte *>(text.data()), text.size()};
}

// A client that says what it likes.
class Raw {
  public:
    explicit Raw(const Broker &broker) {
        eventually([&] {
            auto socket = Socket::connect(broker.socket());
            if (socket.ok()) socket_ = std::move(socket.value());
            return socket_.valid();
        });
    }
    // Waits until there is room. False: the broker has closed.
    bool send(Bytes bytes, std::span<const int> descriptors = {}) {
        for (;;) {
            const Status status = socket_.send(bytes, descriptors);
            if (status.ok()) return true;
            if (status.error() != Error::busy) return false;
            socket_.wait(Socket::For::writing, 100);
        }
    }
    bool send(const Message &message) { return send(encode_message(message)); }
    // The same, but gives up when there is no room.
    Status try_send(const Message &message) { return socket_.send(encode_message(message)); }
    bool hello(const std::string &identifier = "bad") {
        return send(Hello{kProtocolVersion, 1, identifier});
    }
    // Reads until the broker closes.
    bool closed() {
        for (;;) {
            socket_.wait(Socket::For::reading, static_cast<int>(kPatienceMs));
            std::vector<std::byte> buffer(kMessageSizeMax);
            const auto count = socket_.receive(buffer, nullptr);
            if (!count.ok()) return count.error() != Error::busy;
            if (count.value() == 0) return true;
        }
    }
    const Socket &socket() const { return socket_; }

  private:
    Socket socket_;
};

StoreHead store(const std::string &key, const std::string &value, std::string &whole) {
    whole = key + value;
    StoreHead head;
    head.key_size = static_cast<std::uint32_t>(key.size());
    head.value_size = static_cast<std::uint32_t>(value.size());
    head.data = view(whole).first(std::min(whole.size(), kMessageSizeMax - kStoreHeadSize));
    return head;
}

class HostileClientTest : public testing::Test {
  protected:
    HostileClientTest() : broker_(directory_.path(), {"--clients", "12"}), good_(broker_, "good") {
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

// What it is lent stays within bounds, and so does what the broker keeps for it.
TEST_F(HostileClientTest, WhoStopsReadingGetsNoMore) {
    std::vector<Raw> silent;
    for (unsigned i = 0; i < 5; ++i) {
        silent.emplace_back(broker_);
        ASSERT_TRUE(silent.back().hello("good"));
        ASSERT_TRUE(silent.back().send(Start{}));
    }
    // More segments than may be on their way.
    std::vector<Cache> writers(80);
    for (std::size_t i = 0; i < writers.size(); ++i) {
        ASSERT_EQ(writers[i].open({.root = broker_.root(), .identifier = "good"}), CAIRN_OK);
        ASSERT_EQ(writers[i].put(as_bytes("w" + std::to_string(i)), as_bytes("x")), CAIRN_OK);
    }
    for (std::size_t i = 0; i < writers.size(); ++i) {
        EXPECT_EQ(good_.get_soon("w" + std::to_string(i)), "x");
    }
    expect_service();
    unsigned arrived = 0;
    for (;;) {
        std::vector<std::byte> buffer(kMessageSizeMax);
        std::vector<UniqueFd> descriptors;
        const auto count = silent[0].socket().receive(buffer, &descriptors);
        if (!count.ok() || count.value() == 0) break;
        arrived += static_cast<unsigned>(descriptors.size());
    }
    EXPECT_GT(arrived, 2u);
    EXPECT_LE(arrived, 64u);
    // Answers that nobody reads.
    for (unsigned i = 0; i < 10'000; ++i) {
        if (!silent[1].try_send(Ping{i}).ok()) break;
    }
    expect_service();
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
