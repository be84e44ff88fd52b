// A cache behind a broker, as its clients meet it.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_program_cache.h>
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "broker/broker.h"
#include "support/process.h"
#include "support/stamped_value.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

std::string value_of(std::size_t size, unsigned seed = 1) {
    return as_string(stamped_value({seed, seed, seed, seed}, std::max(size, kStampSize)));
}

class BrokerClientTest : public testing::Test {
  protected:
    TempDirectory directory_;
};

TEST_F(BrokerClientTest, FindsWhatItAndOthersHaveStored) {
    Broker broker(directory_.path());
    BrokerCache one(broker), two(broker);
    ASSERT_EQ(one.result(), CAIRN_OK);
    ASSERT_EQ(two.result(), CAIRN_OK);
    EXPECT_EQ(one.get("key"), std::nullopt);
    EXPECT_EQ(one.put("key", "value"), CAIRN_OK);
    ASSERT_EQ(one.flush(), CAIRN_OK);
    EXPECT_EQ(one.get_soon("key"), "value");
    EXPECT_EQ(two.get_soon("key"), "value");
    EXPECT_EQ(two.put("key", "newer"), CAIRN_OK);
    ASSERT_EQ(two.flush(), CAIRN_OK);
    EXPECT_EQ(one.get("key"), "newer");  // no message was needed
    EXPECT_EQ(two.stats().stored, 1u);
}

// The borders of messages, and what is larger than a socket takes at once.
TEST_F(BrokerClientTest, StoresKeysAndValuesOfEverySize) {
    Broker broker(directory_.path());
    BrokerCache cache(broker);
    ASSERT_EQ(cache.result(), CAIRN_OK);
    std::vector<std::pair<std::string, std::string>> entries;
    for (const std::size_t size :
         {0u, 1u, 32743u, 32744u, 32745u, 65503u, 65504u, 65505u, 1u << 20, 5u << 20}) {
        entries.emplace_back("size " + std::to_string(size), std::string(size, 'v'));
        if (size >= kStampSize) entries.back().second = value_of(size);
    }
    entries.emplace_back(std::string(65536, 'k'), "long key");
    entries.emplace_back(std::string(40000, 'k'), value_of(100'000));
    for (const auto &[key, value] : entries) {
        ASSERT_EQ(cache.put(key, value), CAIRN_OK) << value.size();
    }
    ASSERT_EQ(cache.flush(), CAIRN_OK);
    EXPECT_EQ(cache.stats().stored, entries.size());
    for (const auto &[key, value] : entries) EXPECT_EQ(cache.get_soon(key), value) << value.size();
    EXPECT_EQ(cache.put("too large", std::string((16u << 20) + 1, 'x')), CAIRN_ERROR_TOO_LARGE);
    EXPECT_EQ(cache.stats().dropped, 1u);
}

TEST_F(BrokerClientTest, AnswersEveryCallOrSaysThatItCannot) {
    Broker broker(directory_.path());
    BrokerCache cache(broker);
    ASSERT_EQ(cache.put("key", "value"), CAIRN_OK);
    ASSERT_EQ(cache.flush(), CAIRN_OK);
    ASSERT_EQ(cache.get_soon("key"), "value");
    cairn_cache *handle = cache.handle();
    cairn_blob *blob = nullptr;
    ASSERT_EQ(cairn_get(handle, "key", 3, &blob), CAIRN_OK);
    EXPECT_EQ(as_string(Blob(blob).bytes()), "value");
    char buffer[16];
    std::size_t size = 0;
    ASSERT_EQ(cairn_get_into(handle, "key", 3, buffer, sizeof buffer, &size), CAIRN_OK);
    EXPECT_EQ(std::string(buffer, size), "value");
    EXPECT_EQ(cairn_get_into(handle, "key", 3, nullptr, 0, &size), CAIRN_TOO_SMALL);
    EXPECT_EQ(cairn_contains(handle, "key", 3), CAIRN_OK);
    EXPECT_EQ(cairn_contains(handle, "kez", 3), CAIRN_MISS);
    EXPECT_EQ(cache.put(as_bytes("key"), as_bytes("other"), CAIRN_PUT_IF_ABSENT), CAIRN_EXISTS);
    unsigned seen = 0;
    const auto count = [](void *user, const cairn_entry *) {
        ++*static_cast<unsigned *>(user);
        return 0;
    };
    EXPECT_EQ(cairn_enumerate(handle, count, &seen), CAIRN_OK);
    EXPECT_EQ(seen, 1u);
    cairn_stats stats = {};
    stats.size = sizeof stats;
    ASSERT_EQ(cairn_stats_get(handle, &stats), CAIRN_OK);
    EXPECT_EQ(stats.entries, 1u);
    EXPECT_EQ(stats.puts, 1u);
    EXPECT_GT(stats.disk_bytes, 0u);
    EXPECT_GT(stats.hits, 3u);
    EXPECT_EQ(stats.damaged, 0u);
    EXPECT_EQ(cairn_remove(handle, "key", 3), CAIRN_ERROR_UNSUPPORTED);
    EXPECT_EQ(cairn_clear(handle), CAIRN_ERROR_UNSUPPORTED);
    EXPECT_EQ(cairn_sync(handle), CAIRN_ERROR_UNSUPPORTED);
    cairn_lease *lease = nullptr;
    EXPECT_EQ(cairn_lease_acquire(handle, "key", 3, 0, &lease), CAIRN_ERROR_UNSUPPORTED);
    EXPECT_EQ(cairn_compress(handle), CAIRN_ERROR_UNSUPPORTED);
    EXPECT_EQ(cairn_trim(handle, 0, nullptr), CAIRN_ERROR_UNSUPPORTED);
    EXPECT_EQ(cairn_resize(handle, 0, 0, nullptr), CAIRN_ERROR_UNSUPPORTED);
    EXPECT_EQ(cairn_clear_range(handle, 0, 1, nullptr), CAIRN_ERROR_UNSUPPORTED);
    EXPECT_EQ(cairn_get_within(handle, "key", 3, 0, &blob), CAIRN_ERROR_UNSUPPORTED);
    EXPECT_EQ(cairn_get_nth(handle, 0, nullptr, 0, &size, &blob), CAIRN_ERROR_UNSUPPORTED);
    std::uint32_t ticket = 0;
    EXPECT_EQ(cairn_use_begin(handle, "key", 3, &ticket), CAIRN_ERROR_UNSUPPORTED);
    EXPECT_EQ(cache.get("key"), "value");
}

TEST_F(BrokerClientTest, RefusesWrongArguments) {
    Broker broker(directory_.path());
    cairn_cache *cache = nullptr;
    int fd = -1;
    cairn_broker_options options = {};
    EXPECT_EQ(cairn_broker_open(&options, &cache), CAIRN_ERROR_INVALID_ARGUMENT);
    options.size = sizeof options;
    options.socket_path = broker.socket().c_str();
    EXPECT_EQ(cairn_broker_open(&options, &cache), CAIRN_ERROR_INVALID_ARGUMENT);  // no identifier
    options.identifier = "../other";
    EXPECT_EQ(cairn_broker_connect(&options, &fd), CAIRN_ERROR_INVALID_ARGUMENT);
    options.identifier = "app";
    options.flags = 1;
    EXPECT_EQ(cairn_broker_connect(&options, &fd), CAIRN_ERROR_INVALID_ARGUMENT);
    options.flags = 0;
    const std::string nobody = directory_ / "nobody";
    options.socket_path = nobody.c_str();
    EXPECT_EQ(cairn_broker_connect(&options, &fd), CAIRN_ERROR_NOT_FOUND);
    EXPECT_EQ(cairn_broker_open_fd(-1, nullptr, &cache), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_broker_open_fd(::open("/dev/null", O_RDONLY), nullptr, &cache),
              CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cache, nullptr);
    EXPECT_EQ(cairn_flush(nullptr, 1), CAIRN_ERROR_INVALID_ARGUMENT);
    Cache direct({.root = directory_ / "direct"});
    EXPECT_EQ(cairn_flush(direct.handle(), 1), CAIRN_OK) << "a put has arrived when it returns";
}

TEST_F(BrokerClientTest, SharesTheCacheWithWhoOpensItDirectly) {
    Broker broker(directory_.path());
    BrokerCache behind(broker);
    Cache direct({.root = broker.root(), .identifier = "app"});
    ASSERT_EQ(direct.result(), CAIRN_OK);
    // A segment that the broker has not written itself.
    ASSERT_EQ(direct.put(as_bytes("from direct"), as_bytes("1")), CAIRN_OK);
    EXPECT_EQ(behind.get_soon("from direct"), "1");
    ASSERT_EQ(behind.put("from behind", "2"), CAIRN_OK);
    ASSERT_EQ(behind.flush(), CAIRN_OK);
    EXPECT_EQ(as_string(direct.get(as_bytes("from behind"))->bytes()), "2");
    ASSERT_EQ(direct.remove(as_bytes("from direct")), CAIRN_OK);
    EXPECT_EQ(behind.get("from direct"), std::nullopt);
    ASSERT_EQ(direct.clear(), CAIRN_OK);
    EXPECT_EQ(behind.get("from behind"), std::nullopt);
    ASSERT_EQ(behind.put("again", "3"), CAIRN_OK);
    ASSERT_EQ(behind.flush(), CAIRN_OK);
    EXPECT_EQ(behind.get_soon("again"), "3");
}

// The index that was deleted by hand is made anew by the broker, and lent.
TEST_F(BrokerClientTest, FollowsAnIndexThatWasReplaced) {
    Broker broker(directory_.path());
    BrokerCache cache(broker);
    ASSERT_EQ(cache.put("before", "1"), CAIRN_OK);
    ASSERT_EQ(cache.flush(), CAIRN_OK);
    ASSERT_EQ(::unlink((broker.root() + "/app/format-2/cache.idx").c_str()), 0);
    ASSERT_EQ(cache.put("after", "2"), CAIRN_OK);
    ASSERT_EQ(cache.flush(), CAIRN_OK);
    EXPECT_EQ(cache.get_soon("after"), "2");
}

// The same of its folder, and of the whole directory; also for a client that comes later.
TEST_F(BrokerClientTest, FollowsADirectoryThatWasDeleted) {
    Broker broker(directory_.path());
    BrokerCache cache(broker);
    for (const std::string deleted : {"/app/format-2", "/app"}) {
        ASSERT_EQ(cache.put("before", "1"), CAIRN_OK);
        ASSERT_EQ(cache.flush(), CAIRN_OK);
        EXPECT_EQ(cache.get_soon("before"), "1");
        std::filesystem::remove_all(broker.root() + deleted);
        ASSERT_EQ(cache.put("after", "2"), CAIRN_OK);
        ASSERT_EQ(cache.flush(), CAIRN_OK);
        EXPECT_EQ(cache.get_soon("after"), "2") << deleted;
        BrokerCache later(broker);
        EXPECT_EQ(later.get_soon("after"), "2") << deleted;
        ASSERT_EQ(later.put("third", "3"), CAIRN_OK);
        ASSERT_EQ(later.flush(), CAIRN_OK);
        EXPECT_EQ(cache.get_soon("third"), "3") << deleted;
    }
}

// A small cache that is filled many times over: segments come and go all the time.
TEST_F(BrokerClientTest, IsSentEveryNewSegmentAndForgetsThoseThatGo) {
    Broker broker(directory_.path(), {"--limit-bytes", "1048576", "--messages-per-second", "1e6",
                                      "--bytes-per-second", "1e10"});
    BrokerCache writer(broker), reader(broker);
    const std::string hot = value_of(3000, 9999);
    ASSERT_EQ(writer.put("hot", hot), CAIRN_OK);
    unsigned found = 0;
    for (unsigned i = 0; i < 2000; ++i) {
        const std::string key = "key " + std::to_string(i);
        ASSERT_EQ(writer.put(key, value_of(3000, i)), CAIRN_OK);
        if (i % 20 == 0) {
            ASSERT_EQ(writer.flush(), CAIRN_OK);
            EXPECT_EQ(reader.get_soon(key), value_of(3000, i));
            ++found;
            // Reported in batches, also those of a client that does nothing else.
            if (reader.get("hot") == hot) {
                ASSERT_EQ(reader.flush(), CAIRN_OK);
            }
        }
    }
    EXPECT_EQ(found, 100u);
    // Six times the limit was put, so most is gone; which, is the policy's to say.
    unsigned kept = 0;
    for (unsigned i = 1; i < 2000; i += 20) {
        if (reader.get("key " + std::to_string(i))) ++kept;
    }
    EXPECT_LT(kept, 50u);
    EXPECT_EQ(reader.get_soon("hot"), hot) << "what is in use was evicted";
    EXPECT_GT(reader.stats().hits_reported, 0u);
    cairn_stats stats = {};
    stats.size = sizeof stats;
    ASSERT_EQ(cairn_stats_get(reader.handle(), &stats), CAIRN_OK);
    EXPECT_LE(stats.disk_bytes, 1u << 20) << "descriptors of deleted segments are kept";
    EXPECT_EQ(stats.damaged, 0u);
}

TEST_F(BrokerClientTest, IsBoundToOneCache) {
    Broker broker(directory_.path());
    BrokerCache app(broker, "app"), other(broker, "other");
    ASSERT_EQ(app.put("key", "of app"), CAIRN_OK);
    ASSERT_EQ(app.flush(), CAIRN_OK);
    ASSERT_EQ(app.get_soon("key"), "of app");
    EXPECT_EQ(other.get("key"), std::nullopt);
    BrokerCache newer(broker, "app", 2);
    EXPECT_EQ(newer.result(), CAIRN_ERROR_BUSY);
    app = BrokerCache();
    EXPECT_TRUE(eventually([&] {
        newer = BrokerCache(broker, "app", 2);
        return newer.result() == CAIRN_OK;
    }));
    EXPECT_EQ(newer.get("key"), std::nullopt);
}

// Calls look(descriptor, its link) for each descriptor of this process that is of a cache's file.
template <typename Look>
unsigned for_each_lent_descriptor(Look look) {
    unsigned count = 0;
    DIR *all = ::opendir("/proc/self/fd");
    while (const dirent *entry = ::readdir(all)) {
        char target[4096] = {};
        const std::string link = std::string("/proc/self/fd/") + entry->d_name;
        // A file that was opened through a detached mount has a path from that mount's root only.
        if (::readlink(link.c_str(), target, sizeof target - 1) < 0) continue;
        const std::string path = target;
        if (!path.ends_with(".val") && !path.ends_with(".idx")) continue;
        ++count;
        look(std::atoi(entry->d_name), link);
    }
    ::closedir(all);
    return count;
}

TEST_F(BrokerClientTest, CannotWriteThroughWhatItWasLent) {
    Broker broker(directory_.path());
    bool mounts = true;
    {
        std::string said;
        TempDirectory other;
        // Whether this system allows the mounts that make the difference.
        Broker strict(other.path(), {"--require-read-only-mount"});
        mounts = BrokerCache(strict).result() == CAIRN_OK;
    }
    BrokerCache cache(broker);
    ASSERT_EQ(cache.put("key", "value"), CAIRN_OK);
    ASSERT_EQ(cache.flush(), CAIRN_OK);
    ASSERT_EQ(cache.get_soon("key"), "value");
    const unsigned count = for_each_lent_descriptor([&](int fd, const auto &link) {
        EXPECT_EQ(::fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
        EXPECT_EQ(::ftruncate(fd, 0), -1);
        EXPECT_EQ(::write(fd, "x", 1), -1);
        if (!mounts) return;
        EXPECT_EQ(::open(link.c_str(), O_RDWR), -1) << link;
        EXPECT_EQ(errno, EROFS);
        EXPECT_EQ(::fchmod(fd, 0777), -1);
    });
    EXPECT_GE(count, 2u);
    EXPECT_EQ(cache.get("key"), "value");
    if (!mounts) GTEST_SKIP() << "no read-only mounts here: only the descriptors are read-only";
}

// Put never waits: neither for a broker that does not run, nor for one that never reads.
TEST_F(BrokerClientTest, DropsAndCountsWhatABrokerThatStandsStillCannotTake) {
    Broker broker(directory_.path(), {"--messages-per-second", "1e6"});
    BrokerCache cache(broker, "app", 1, 4u << 20);
    ASSERT_EQ(cache.put("before", "1"), CAIRN_OK);
    ASSERT_EQ(cache.flush(), CAIRN_OK);
    ASSERT_EQ(cache.get_soon("before"), "1");
    broker.stop();
    const std::string value = value_of(10'000);
    std::uint64_t accepted = 1;
    int result = CAIRN_OK;
    while ((result = cache.put("key " + std::to_string(accepted), value)) == CAIRN_OK) {
        ASSERT_LT(++accepted, 10'000u);
    }
    EXPECT_EQ(result, CAIRN_ERROR_BUSY);
    EXPECT_GT(accepted, 300u);
    EXPECT_EQ(cache.stats().dropped, 1u);
    EXPECT_LE(cache.stats().queued_bytes, 4u << 20);
    EXPECT_EQ(cache.get("before"), "1");
    EXPECT_EQ(cairn_flush(cache.handle(), 10), CAIRN_ERROR_BUSY);
    broker.signal(SIGCONT);
    ASSERT_EQ(cache.flush(), CAIRN_OK);
    EXPECT_EQ(cache.stats().stored, accepted);
    EXPECT_EQ(cache.stats().queued_bytes, 0u);
    EXPECT_EQ(cache.get_soon("key " + std::to_string(accepted - 1)), value);
}

TEST_F(BrokerClientTest, ClosingAfterTheBrokerHasGoneSaysNothing) {
    Broker broker(directory_.path());
    std::vector<std::string> lines;
    cairn_broker_options options = {};
    options.size = sizeof options;
    options.socket_path = broker.socket().c_str();
    options.identifier = "app";
    options.timeout_ms = kPatienceMs;
    options.log = [](void *user, int, const char *line) {
        static_cast<std::vector<std::string> *>(user)->emplace_back(line);
    };
    options.log_user = &lines;
    cairn_cache *cache = nullptr;
    ASSERT_EQ(cairn_broker_open(&options, &cache), CAIRN_OK);
    broker.kill();
    cairn_close(cache);
    EXPECT_EQ(lines, std::vector<std::string>());
}

// The queue empties without another call: a thread sends what the kernel did not take at once.
TEST_F(BrokerClientTest, SendsWhatIsQueuedWithoutBeingCalled) {
    Broker broker(directory_.path());
    Cache direct({.root = broker.root(), .identifier = "app"});
    BrokerCache cache(broker);
    const std::string value = value_of(5u << 20);
    ASSERT_EQ(cache.put("large", value), CAIRN_OK);
    EXPECT_TRUE(eventually([&] { return direct.contains(as_bytes("large")) == CAIRN_OK; }));
}

TEST_F(BrokerClientTest, ReadsOnInAForkedChildWhoseStoresAreDropped) {
    Broker broker(directory_.path());
    BrokerCache cache(broker);
    ASSERT_EQ(cache.put("key", "value"), CAIRN_OK);
    ASSERT_EQ(cache.flush(), CAIRN_OK);
    ASSERT_EQ(cache.get_soon("key"), "value");
    const std::string problem = run_in_child(60, [&] {
        if (cache.get("key") != "value") return 1;
        if (cache.put("child", "x") != CAIRN_ERROR_IO) return 2;
        if (cache.flush() != CAIRN_ERROR_IO) return 3;
        cache = BrokerCache();
        return 0;
    });
    EXPECT_EQ(problem, "");
    ASSERT_EQ(cache.put("parent", "y"), CAIRN_OK);
    ASSERT_EQ(cache.flush(), CAIRN_OK);
    EXPECT_EQ(cache.get_soon("parent"), "y");
}

}  // namespace
}  // namespace cairn_test
