// SPDX-License-Identifier: MIT
// The agent's memory where remotes list as much as is read of them, and more: below what its unit allows.
#include <gmock/gmock.h>

#include <algorithm>
#include <iostream>
#include <limits>

#include "agent_process.h"
#include "holdings.h"
#include "shelf.h"
#include "support/eventually.h"

#ifndef __SANITIZE_ADDRESS__  // which takes memory of its own
namespace cairn::fleet_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char *kDriver = "driver 1";
constexpr const char *kName = "gl-game";
constexpr std::uint64_t kMostKib = 64 << 10;
// As much as a push puts into one pack: that is in memory when it comes.
constexpr int kRealEntries = 8;
constexpr std::size_t kRealSize = 900'000;
// Heads, rows of packs and the list with the real ones take a part of what is read.
constexpr std::size_t kRoom = 10'000;
constexpr std::size_t kPacks = 16;

void expect_below_limit(const AgentProcess &agent, const char *what) {
    const std::uint64_t kib = agent.status("VmHWM");
    std::cout << what << ": " << kib << " KiB\n";
    EXPECT_LT(kib, kMostKib) << what;
}

// What a machine says that it has published: packs that nobody needs to be able to fetch.
fleet::FleetManifest list_of(std::uint64_t machine, std::size_t keys, const std::string &driver) {
    fleet::FleetManifest list = {"cairn", kName, driver, machine, machine, {}};
    const std::size_t keys_of_pack = keys / kPacks;
    // All over the range, so that entries of several packs are mixed.
    const std::uint64_t step = std::numeric_limits<std::uint64_t>::max() / (keys_of_pack + 1);
    for (std::size_t i = 0; i < kPacks; ++i) {
        fleet::ListedPack pack;
        pack.hash[0] = static_cast<std::byte>(i);
        pack.hash[1] = static_cast<std::byte>(machine);
        pack.size_bytes = 1'000;
        for (std::size_t j = 0; j < keys_of_pack; ++j) {
            pack.keys.push_back(machine * kPacks + i + j * step);
        }
        list.packs.push_back(std::move(pack));
    }
    return list;
}

class AgentMemoryTest : public FleetTest {
  protected:
    AgentMemoryTest() {
        as_application(first_, [&] {
            put_many(first_, kDriver, kRealEntries, kRealSize);
            return 0;
        });
        second_.make_key("own");
        compile(second_, kDriver, 100, 105);
    }
    // As so many machines with the first one's key.
    void publish_lists(std::size_t machines, std::size_t keys) const {
        const int result = as_application(first_, [&] {
            const std::string driver = text_of_driver();
            fleet::RemoteSettings settings;
            settings.url = url_;
            fleet::OpenRemote remote(settings);
            const fleet::Machine machine(first_.root());
            fleet::Shelf shelf(remote, machine, kName, fleet::driver_name(driver));
            const cli::SecretKey key = cli::load_secret_key("ci");
            for (std::size_t i = 1; i <= machines; ++i) {
                shelf.put_manifest(list_of(i, keys, driver), key);
            }
            return 0;
        });
        EXPECT_EQ(result, 0);
        for (const fs::path &each : objects("manifests")) {
            fs::last_write_time(each, fs::file_time_type::clock::now() - std::chrono::hours(1));
        }
        push(first_);
    }
    std::string text_of_driver() const {
        for (const std::string &text : fleet::drivers_in_caches(first_.root(), kName)) {
            if (!fleet::identifiers_here(first_.root(), kName, text).empty()) return text;
        }
        return "";
    }
    bool is_offered() const {
        std::error_code error;
        return std::ranges::any_of(fs::directory_iterator(second_.root() + "/.fleet/wanted", error),
                                   [](const auto &each) { return each.file_size() > kRoom; });
    }
    // Returns what was said of the pull.
    std::string pull_by_itself() const {
        share(second_, url_);
        const AgentProcess agent(second_);
        start_application(second_, kDriver);
        EXPECT_TRUE(agent.says("done with studio")) << agent.said();
        EXPECT_THAT(agent.said(), HasSubstr("pulled 8 entries"));
        expect_below_limit(agent, "a pull");
        return agent.said();
    }
    void look() const {
        std::ofstream(second_.configuration() + "/config", std::ios::app) << "ask_ms = 20\n";
        const AgentProcess agent(second_);
        start_application(second_, kDriver);
        EXPECT_TRUE(cairn_test::eventually([&] { return is_offered(); })) << agent.said();
        // A second table is made while the first one is in use.
        const auto before = wanted_time();
        push_another_list();
        // It is active for a tenth of a second after a start.
        EXPECT_TRUE(cairn_test::eventually([&] {
            start_application(second_, kDriver);
            return wanted_time() != before;
        })) << agent.said();
        expect_below_limit(agent, "looks");
    }
    void push_another_list() const {
        compile(first_, kDriver, 50, 52);
        push(first_);
    }
    fs::file_time_type wanted_time() const {
        for (const auto &each : fs::directory_iterator(second_.root() + "/.fleet/wanted")) {
            return each.last_write_time();
        }
        return {};
    }
    void push_by_itself() const {
        share(second_, url_, "own");
        as_application(second_, [&] {
            put_many(second_, kDriver, 20'000, 400);
            return 0;
        });
        const AgentProcess agent(second_);
        start_application(second_, kDriver);
        EXPECT_TRUE(agent.says("gl-game: pushed")) << agent.said();
        expect_below_limit(agent, "a push");
        // What it has published is not published again, however many others are read first.
        const auto all = objects("manifests");
        const auto own = std::ranges::max_element(
            all, {}, [](const fs::path &each) { return fs::last_write_time(each); });
        fs::last_write_time(*own, fs::file_time_type::clock::now() - std::chrono::hours(9));
        EXPECT_THAT(second_.done({"push", "--remote", url_, "--sign", "own", "game"}),
                    HasSubstr("nothing new"));
    }
};

TEST_F(AgentMemoryTest, IsBoundedWhereAsMuchIsListedAsIsRead) {
    constexpr std::size_t kMachines = 5;
    publish_lists(kMachines, (fleet::kReadEntriesMax - kRoom) / kMachines);
    EXPECT_THAT(pull_by_itself(), Not(HasSubstr("too many entries")));
    look();
    push_by_itself();
}

TEST_F(AgentMemoryTest, IsBoundedWhereMoreIsListedThanIsRead) {
    constexpr std::size_t kMachines = 10;
    publish_lists(kMachines, fleet::kListedKeysMax);
    EXPECT_THAT(pull_by_itself(), HasSubstr("too many entries"));
    look();
    push_by_itself();
}

// The largest that is shared; what its pack takes is all at once in memory.
TEST_F(FleetTest, TheAgentsMemoryIsBoundedWhereEntriesAreLarge) {
    constexpr std::size_t kLargest = 6'200'000;
    as_application(first_, [&] {
        put_many(first_, kDriver, 2, kLargest);
        return 0;
    });
    share(first_, url_, "ci");
    const AgentProcess pushing(first_);
    start_application(first_, kDriver);
    EXPECT_TRUE(pushing.has_pushed(2)) << pushing.said();
    expect_below_limit(pushing, "a push of large entries");
    share(second_, url_);
    const AgentProcess pulling(second_);
    start_application(second_, kDriver);
    EXPECT_TRUE(pulling.says("gl-game: pulled 2 entries")) << pulling.said();
    expect_below_limit(pulling, "a pull of large entries");
}

}  // namespace
}  // namespace cairn::fleet_test
#endif
