// What a cache gets of an agent that lives, lies, hangs or is not there, and that it is no worse for it.
// SPDX-License-Identifier: MIT
#include "cache/asking_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cache/agent_notice.h"
#include "cache/disk_cache.h"
#include "cache/testing/fake_agent.h"
#include "os/environment.h"
#include "os/testing/child.h"
#include "os/testing/scratch.h"
#include "pack/entry_hash.h"
#include "pack/testing/packs.h"
#include "support/eventually.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using cairn_test::eventually;
using testing::FakeAgent;
using testing::in_child;

constexpr std::uint64_t kLongMs = 1000, kShortMs = 50;
constexpr std::uint64_t kVersion = 3;

class AskingCacheTest : public ::testing::Test {
  protected:
    AskingCacheTest() {
        fs::create_directories(scratch_ / "run/cairn");
        ::setenv("XDG_RUNTIME_DIR", (scratch_ / "run").c_str(), 1);
        cache_ = open(kLongMs);
        for (const char *folder : {"/.fleet", "/.fleet/packs", "/.fleet/wanted"}) {
            fs::create_directory(root_ + folder);
            ::chmod((root_ + folder).c_str(), 0700);
        }
        write_pack(name(1), "plain", {{"a", "1"}, {"b", "2"}});
        want({"a", "b", "c"});
    }
    ~AskingCacheTest() override { ::unsetenv("XDG_RUNTIME_DIR"); }

    static KeptPackName name(int number) {
        KeptPackName name = {};
        name[0] = static_cast<std::byte>(number);
        return name;
    }
    std::string file(const KeptPackName &name) const {
        return root_ + "/.fleet/packs/" + kept_pack_file(name);
    }
    void write_pack(const KeptPackName &name, const std::string &identifier,
                    const std::map<std::string, std::string> &entries) const {
        testing::PackedPart part;
        part.identifier = identifier;
        part.version = kVersion;
        part.entries = entries;
        testing::write_pack(file(name), {part});
        ::chmod(file(name).c_str(), 0600);
    }
    std::unique_ptr<Cache> open_disk() const {
        StoreOptions options;
        options.root = root_;
        options.identifier = "plain";
        options.version = kVersion;
        options.limit_bytes = 64u << 20;
        auto disk = DiskCache::open(options);
        EXPECT_TRUE(disk.ok());
        return std::move(disk.value());
    }
    std::unique_ptr<AskingCache> open(std::uint64_t most_ms) {
        return std::make_unique<AskingCache>(open_disk(), root_, subject(), most_ms, line_);
    }
    static LayeredSubject subject() { return {"plain", "plain", kVersion, ""}; }
    static PackIdentity identity() { return identity_of(subject().of_kind(PackKind::entries)); }
    void want(const std::vector<std::string> &keys) const {
        std::vector<std::uint64_t> hashes;
        for (const std::string &key : keys) {
            hashes.push_back(entry_hash(identity(), as_bytes(key)));
        }
        std::ranges::sort(hashes);
        const auto bytes = encode_wanted(hashes);
        const std::string path = wanted_path(root_, identity());
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char *>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
        ::chmod(path.c_str(), 0600);
    }
    void start_agent(FakeAgent::Reply reply) {
        agent_ =
            std::make_unique<FakeAgent>(scratch_ / "run/cairn/agent-ask.sock", std::move(reply));
    }
    void start_agent_with(const KeptPackName &pack) {
        start_agent([pack](const AgentQuestion &question, Socket &socket) {
            FakeAgent::answer(socket, question.sequence, pack);
        });
    }
    std::string get(const std::string &key) {
        auto found = cache_->get(as_bytes(key));
        if (!found.ok()) return "(error)";
        return *found ? std::string(as_text((*found)->value())) : "(miss)";
    }
    FateKind fate(const std::string &key) { return cache_->fate_of(as_bytes(key)).kind; }
    // The milliseconds that a miss takes.
    std::uint64_t miss_ms(const std::string &key) {
        const std::uint64_t begin_ns = monotonic_ns();
        EXPECT_EQ(get(key), "(miss)");
        return (monotonic_ns() - begin_ns) / 1'000'000;
    }

    testing::Scratch scratch_;
    const std::string root_ = scratch_ / "root";
    AgentLine line_{[] { return 0.999; }};
    std::unique_ptr<AskingCache> cache_;
    std::unique_ptr<FakeAgent> agent_;
};

TEST_F(AskingCacheTest, WhatIsMissedComesFromThePackThatTheAgentNames) {
    start_agent_with(name(1));
    EXPECT_EQ(get("a"), "1");
    EXPECT_EQ(get("b"), "2");
    EXPECT_EQ(agent_->questions, 1) << "the pack is open for the second one";
    EXPECT_EQ(cache_->stats().hits, 2u);
    cache_ = open(0);
    EXPECT_EQ(get("a"), "1") << "it is in the cache";
}

TEST_F(AskingCacheTest, AValueIsReadIntoABufferTheSameWay) {
    start_agent_with(name(1));
    std::array<std::byte, 8> buffer = {};
    auto size = cache_->get_into(as_bytes("a"), buffer);
    ASSERT_TRUE(size.ok() && *size);
    EXPECT_EQ(**size, 1u);
    EXPECT_EQ(buffer[0], std::byte{'1'});
}

TEST_F(AskingCacheTest, WhatNobodyWantsIsNotAskedFor) {
    start_agent_with(name(1));
    EXPECT_EQ(get("other"), "(miss)");
    EXPECT_EQ(agent_->connections, 0);
    fs::remove(wanted_path(root_, identity()));
    cache_ = open(kLongMs);
    EXPECT_EQ(get("a"), "(miss)") << "there is no file";
    EXPECT_EQ(agent_->connections, 0);
}

TEST_F(AskingCacheTest, AFileThatIsDamagedOrWritableByOthersListsNothing) {
    start_agent_with(name(1));
    const std::string path = wanted_path(root_, identity());
    ::chmod(path.c_str(), 0666);
    EXPECT_EQ(get("a"), "(miss)");
    std::ofstream(path) << "garbage";
    ::chmod(path.c_str(), 0600);
    cache_ = open(kLongMs);
    EXPECT_EQ(get("a"), "(miss)");
    EXPECT_EQ(agent_->connections, 0);
}

TEST_F(AskingCacheTest, EachKeyIsAskedForOnce) {
    start_agent([](const AgentQuestion &question, Socket &socket) {
        FakeAgent::answer(socket, question.sequence, std::nullopt);
    });
    for (int i = 0; i < 5; ++i) EXPECT_EQ(get("c"), "(miss)");
    EXPECT_EQ(agent_->questions, 1);
}

TEST_F(AskingCacheTest, WhatComesWhileAnotherProcessClearsIsNotKept) {
    start_agent([this](const AgentQuestion &question, Socket &socket) {
        EXPECT_TRUE(open_disk()->clear().ok());
        FakeAgent::answer(socket, question.sequence, name(1));
    });
    EXPECT_EQ(get("a"), "(miss)");
    EXPECT_EQ(agent_->questions, 1);
    agent_.reset();
    cache_ = open(0);
    EXPECT_EQ(get("a"), "(miss)");
}

TEST_F(AskingCacheTest, WhatWasRemovedDoesNotComeBack) {
    start_agent_with(name(1));
    EXPECT_EQ(get("a"), "1");
    EXPECT_TRUE(cache_->remove(as_bytes("a")).value());
    EXPECT_EQ(get("a"), "(miss)");
    EXPECT_FALSE(cache_->remove(as_bytes("b")).value()) << "it was in a source only";
    EXPECT_EQ(get("b"), "(miss)");
}

TEST_F(AskingCacheTest, WhatWasStoredIsNotReplaced) {
    start_agent_with(name(1));
    ASSERT_TRUE(cache_->put(as_bytes("a"), as_bytes("own"), {}).ok());
    EXPECT_EQ(get("b"), "2");
    EXPECT_EQ(get("a"), "own");
    EXPECT_TRUE(cache_->remove(as_bytes("a")).value());
    EXPECT_EQ(get("a"), "(miss)");
}

// As another process does it: this handle learns nothing of it.
TEST_F(AskingCacheTest, WhatAnotherStoresWhileItIsAskedForIsNotReplaced) {
    const auto other = open(0);
    start_agent([&](const AgentQuestion &question, Socket &socket) {
        EXPECT_TRUE(other->put(as_bytes("a"), as_bytes("newer"), {}).ok());
        FakeAgent::answer(socket, question.sequence, name(1));
    });
    EXPECT_EQ(get("a"), "newer");
    EXPECT_EQ(get("a"), "newer");
    cache_ = open(0);
    EXPECT_EQ(get("a"), "newer");
}

TEST_F(AskingCacheTest, AfterAClearNothingIsAskedAnyMore) {
    start_agent_with(name(1));
    EXPECT_EQ(get("a"), "1");
    ASSERT_TRUE(cache_->clear().ok());
    EXPECT_EQ(get("a"), "(miss)");
    EXPECT_EQ(get("b"), "(miss)");
    EXPECT_EQ(agent_->questions, 1);
}

TEST_F(AskingCacheTest, AClearByAnotherProcessCountsToo) {
    start_agent_with(name(1));
    EXPECT_EQ(get("a"), "1");
    ASSERT_EQ(in_child([&] { return open(0)->clear().ok() ? 0 : 1; }), 0);
    EXPECT_EQ(get("b"), "(miss)");
}

TEST_F(AskingCacheTest, WhatIsRemovedWhileItIsAskedForIsNotKept) {
    start_agent([this](const AgentQuestion &question, Socket &socket) {
        (void)cache_->remove(as_bytes("a"));
        FakeAgent::answer(socket, question.sequence, name(1));
    });
    EXPECT_EQ(get("a"), "(miss)");
    EXPECT_EQ(get("a"), "(miss)");
}

TEST_F(AskingCacheTest, AnAgentThatIsNotThereCostsNothingMoreForAWhile) {
    EXPECT_EQ(get("a"), "(miss)");
    start_agent_with(name(1));
    EXPECT_EQ(get("b"), "(miss)") << "within a second";
    EXPECT_EQ(agent_->connections, 0);
}

TEST_F(AskingCacheTest, OneThatHangsIsWaitedForOnceAndNoLongerThanTheUserSays) {
    cache_ = open(kShortMs);
    start_agent([](const AgentQuestion &, Socket &) {});
    const std::uint64_t first_ms = miss_ms("a");
    EXPECT_GE(first_ms, kShortMs - 2);
    std::uint64_t others_ms = UINT64_MAX;
    for (int i = 0; i < 10; ++i) others_ms = std::min(others_ms, miss_ms(i % 2 == 0 ? "b" : "c"));
    EXPECT_LT(others_ms, kShortMs);
    EXPECT_TRUE(eventually([&] { return agent_->questions != 0; }));
    EXPECT_EQ(agent_->questions, 1);
}

TEST_F(AskingCacheTest, AMissSaysThatTheAnswerWasLateUntilTheKeyChanges) {
    cache_ = open(kShortMs);
    start_agent([](const AgentQuestion &, Socket &) {});
    EXPECT_EQ(fate("a"), FateKind::unknown) << "nobody has asked";
    const std::uint64_t begin_s = wall_clock_ns() / 1'000'000'000;
    EXPECT_EQ(get("a"), "(miss)");
    EXPECT_EQ(fate("a"), FateKind::late);
    EXPECT_GE(cache_->fate_of(as_bytes("a")).when_s, begin_s);
    EXPECT_EQ(get("b"), "(miss)");
    EXPECT_EQ(fate("b"), FateKind::unknown) << "it was not asked for";
    ASSERT_TRUE(cache_->put(as_bytes("a"), as_bytes("own"), {}).ok());
    EXPECT_EQ(fate("a"), FateKind::unknown);
}

TEST_F(AskingCacheTest, AfterAClearNothingWasLate) {
    cache_ = open(kShortMs);
    start_agent([](const AgentQuestion &, Socket &) {});
    EXPECT_EQ(get("a"), "(miss)");
    ASSERT_TRUE(cache_->clear().ok());
    EXPECT_EQ(fate("a"), FateKind::cleared);
}

TEST_F(AskingCacheTest, AnAnswerThatTheAgentHasNothingIsNotLate) {
    start_agent([](const AgentQuestion &question, Socket &socket) {
        FakeAgent::answer(socket, question.sequence, std::nullopt);
    });
    EXPECT_EQ(get("a"), "(miss)");
    EXPECT_EQ(fate("a"), FateKind::unknown);
}

TEST_F(AskingCacheTest, AnAnswerThatComesLateIsUsedLater) {
    cache_ = open(kShortMs);
    Socket kept;
    std::atomic<std::uint64_t> sequence = 0;
    start_agent([&](const AgentQuestion &question, Socket &socket) {
        kept = Socket(UniqueFd(::dup(socket.fd())));
        sequence = question.sequence;
    });
    EXPECT_EQ(get("a"), "(miss)");
    ASSERT_TRUE(eventually([&] { return sequence != 0; }));
    FakeAgent::answer(kept, sequence, name(1));
    EXPECT_EQ(get("b"), "2") << "what is here costs no question";
    EXPECT_EQ(fate("a"), FateKind::late);
    EXPECT_EQ(get("a"), "1");
    EXPECT_EQ(fate("a"), FateKind::unknown);
    EXPECT_EQ(agent_->questions, 1);
}

TEST_F(AskingCacheTest, LiesAreMissesAndStopQuestions) {
    const auto cases = std::to_array<std::pair<const char *, FakeAgent::Reply>>({
        {"nothing of that name",
         [](const AgentQuestion &question, Socket &socket) {
             FakeAgent::answer(socket, question.sequence, name(99));
         }},
        {"a pack of another cache",
         [](const AgentQuestion &question, Socket &socket) {
             FakeAgent::answer(socket, question.sequence, name(2));
         }},
        {"a pack without the entry",
         [](const AgentQuestion &question, Socket &socket) {
             FakeAgent::answer(socket, question.sequence, name(3));
         }},
        {"a link",
         [](const AgentQuestion &question, Socket &socket) {
             FakeAgent::answer(socket, question.sequence, name(4));
         }},
        {"no pack", [](const AgentQuestion &question,
                       Socket &socket) { FakeAgent::answer(socket, question.sequence, name(5)); }},
        {"a pack that others may write",
         [](const AgentQuestion &question, Socket &socket) {
             FakeAgent::answer(socket, question.sequence, name(6));
         }},
        {"another question's answer",
         [](const AgentQuestion &question, Socket &socket) {
             FakeAgent::answer(socket, question.sequence + 1, name(1));
         }},
        {"garbage", [](const AgentQuestion &,
                       Socket &socket) { (void)socket.send(as_bytes("garbage")); }},
        {"too much",
         [](const AgentQuestion &, Socket &socket) {
             (void)socket.send(as_bytes(std::string(5000, 'x')));
         }},
        {"one byte at a time",
         [](const AgentQuestion &question, Socket &socket) {
             for (const std::byte each : encode_answer({question.sequence, name(1)})) {
                 (void)socket.send(Bytes(&each, 1));
             }
         }},
        {"the end", [](const AgentQuestion &, Socket &socket) { socket = Socket(); }},
    });
    write_pack(name(2), "another", {{"a", "wrong"}, {"b", "wrong"}});
    write_pack(name(3), "plain", {{"other", "wrong"}});
    fs::create_symlink(file(name(1)), file(name(4)));
    std::ofstream(file(name(5))) << "no pack";
    write_pack(name(6), "plain", {{"a", "wrong"}, {"b", "wrong"}});
    ::chmod(file(name(6)).c_str(), 0666);
    for (const auto &[what, reply] : cases) {
        agent_.reset();
        fs::remove(scratch_ / "run/cairn/agent-ask.sock");
        start_agent(reply);
        // A process of its own has a breaker of its own.
        const int result = in_child([&] {
            cache_ = open(kLongMs);
            const std::uint64_t begin_ns = monotonic_ns();
            if (get("a") != "(miss)" || get("b") != "(miss)") return 1;
            return (monotonic_ns() - begin_ns) / 1'000'000 < kLongMs ? 0 : 2;
        });
        EXPECT_EQ(result, 0) << what;
        EXPECT_EQ(agent_->questions, 1) << what;
    }
}

TEST_F(AskingCacheTest, AChildAsksOnAConnectionOfItsOwn) {
    start_agent_with(name(1));
    EXPECT_EQ(get("a"), "1");
    write_pack(name(1), "plain", {{"a", "1"}, {"b", "2"}, {"c", "3"}});
    EXPECT_EQ(in_child([&] { return get("c") == "3" && get("b") == "2" ? 0 : 1; }), 0);
    EXPECT_EQ(agent_->connections, 2);
    EXPECT_EQ(get("b"), "2") << "the parent goes on";
}

TEST_F(AskingCacheTest, ThreadsMissAtOnceWhileOneAsks) {
    std::map<std::string, std::string> entries;
    std::vector<std::string> keys;
    for (int i = 0; i < 200; ++i) {
        keys.push_back("key " + std::to_string(i));
        entries.emplace(keys.back(), "value " + std::to_string(i));
    }
    write_pack(name(1), "plain", entries);
    want(keys);
    cache_ = open(kLongMs);
    start_agent_with(name(1));
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (int i = 0; i < 200; ++i) {
                const auto number = static_cast<std::size_t>((i * 7 + thread * 50) % 200);
                const std::string found = get(keys[number]);
                if (found != "(miss)" && found != entries[keys[number]]) ++wrong;
                if (i % 20 == 0) (void)cache_->remove(as_bytes(keys[number]));
            }
        });
    }
    for (std::thread &each : threads) each.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_GT(cache_->stats().hits, 100u);
}

TEST_F(AskingCacheTest, OurOwnProgramsAndUsersWhoSayNothingDoNotAsk) {
    auto inner = open(0);
    const Cache *const before = inner.get();
    auto same = add_questions(std::move(inner), root_, subject(), 0);
    EXPECT_EQ(same.get(), before);
    EXPECT_EQ(in_child([&] {
                  tell_agent_nothing();
                  same = add_questions(std::move(same), root_, subject(), 100);
                  return same.get() == before ? 0 : 1;
              }),
              0);
}

}  // namespace
}  // namespace cairn
