// A cache's life of several system starts, each ended by a power loss at a random call.
// SPDX-License-Identifier: MIT
//
// For each key the test knows what a look-up must give now, and what it may give after a power
// loss: the value (or the absence) that the latest successful cairn_sync made durable, or any that
// was stored or removed since, whether or not the call came to its end. Nothing older, and nothing
// else.
//
// Thread safety: externally synchronised.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "os/testing/power_loss.h"
#include "os/testing/scratch.h"
#include "support/cache.h"
#include "support/random.h"

namespace cairn_test {

struct LifeOptions {
    unsigned boots = 4;
    unsigned operations = 120;      // at most, in one boot
    unsigned keys = 40;             // different ones
    std::size_t value_size = 3000;  // most are smaller
    bool evicts = false;            // the limit is so small that entries are given up
    bool many = false;              // so many entries that the index grows
    bool busy = false;  // goes on while the segments are searched for what the index lost
};

class Life {
  public:
    Life(const LifeOptions &options, std::uint64_t seed);

    // "" when all went well; else what went wrong, and in which boot.
    std::string run();

  private:
    using Value = std::optional<std::string>;  // nullopt: no entry
    struct Expectation {
        std::set<Value> now = {std::nullopt};  // one, but for the time after a system start
        std::set<Value> after_power_loss = {std::nullopt};
        std::set<Value> ever = {std::nullopt};
    };
    using Expectations = std::map<std::string, Expectation>;

    void boot(unsigned number);
    void open();
    void operate();
    void put(const std::string &key, const std::string &value, std::uint32_t flags);
    void remove(const std::string &key);
    void get(const std::string &key);
    void clear();
    void sync();
    void delete_index();
    void check_all();
    void wait_until_searched();
    void allow_anything(const std::string &key);
    void forget_evicted();
    void judge(const std::string &key, const Value &value, bool may_be_missing);
    Value look_up(const std::string &key);
    std::string choose_key();
    std::string new_value(const std::string &key);
    void complain(const std::string &text);
    std::string cache_directory() const;
    bool search_is_due() const;

    const LifeOptions options_;
    Random random_;
    cairn::testing::Scratch scratch_{cairn::testing::Scratch::Place::memory};
    std::string disk_path_;
    CacheOptions cache_options_;
    Cache cache_;
    cairn::testing::PowerLoss *disk_ = nullptr;
    Expectations expectations_;
    Expectations at_power_loss_;
    bool searched_ = true;  // what the index lacked has been found again
    unsigned serial_ = 0;
    std::string complaint_;
    std::string where_;
};

}  // namespace cairn_test
