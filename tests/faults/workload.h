// A user's work with a cache, on calls that may fail, and checks that must hold at any moment.
// SPDX-License-Identifier: MIT
//
// The workload keeps, for each key, the values that a look-up may give: one after a call that
// succeeded; the older and the newer one after a call that failed half-way. While calls fail a
// look-up may also miss. Once they work again it may not.
//
// Thread safety: externally synchronised.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/cache.h"

namespace cairn_test {

class Workload {
  public:
    // `root` is an empty or missing directory. Fails the test when the cache cannot be filled.
    explicit Workload(const std::string &root);

    // Every kind of call: store, replace, look up, remove, growth of the index, more segments,
    // sync, close and open again. No call may give a wrong result.
    void run();
    void compress();
    // Removes everything.
    void clear();

    // With calls that work again: the handle still serves, and everything is as it must be, in this
    // handle and in a new one.
    void check();

    // The mistakes that were found, a line each.
    const std::vector<std::string> &complaints() const { return complaints_; }
    // Results of calls that failed.
    const std::set<int> &errors() const { return errors_; }

  private:
    enum class Faults { possible, over };
    // nullopt: no entry.
    using Value = std::optional<std::string>;

    bool reopen(Faults faults);
    void fill();
    void choose_growth_keys();
    void put(const std::string &key, const std::string &value, std::uint32_t flags = 0);
    void remove(const std::string &key);
    void look_up(const std::string &key, Faults faults);
    void judge(const char *call, const std::string &key, const Value &value, Faults faults);
    void judge_result(const char *call, int result);
    void complain(const std::string &text);

    CacheOptions options_;
    Cache cache_;
    std::map<std::string, std::set<Value>> acceptable_;
    std::vector<std::string> growth_keys_;  // more of one bucket than it has places
    std::vector<std::string> complaints_;
    std::set<int> errors_;
    unsigned serial_ = 0;
};

}  // namespace cairn_test
