// The state of a model run: what the cache must hold, the handles, and one method for each
// operation.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
// Failure: the first wrong answer is kept in failure_; run() ends there.
#pragma once

#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/byte_source.h"
#include "model/model_data.h"
#include "model/store_model.h"

namespace cairn_test {

inline constexpr std::size_t kHeldMax = 16;

// Why a value that is not there may be not there.
enum class Missing { never, when_evicted };

struct ModelEntry {
    ByteVector value;
    std::uint32_t cost_us = 0;
    bool pinned = false;
};

struct ModelHandle {
    Cache cache;
    bool read_only = false;
    std::uint64_t puts = 0;
    std::uint64_t hits_min = 0;
};

class Model {
  public:
    Model(ByteView input, const std::string &root);
    ModelResult run(std::size_t operations_max);

  private:
    using Entries = std::map<ByteVector, ModelEntry>;

    void configure();
    void step();
    void storing(unsigned choice);
    void looking_up(unsigned choice);
    void looking_at(unsigned choice);
    void opening(unsigned choice);

    void put();
    void put_invalid();
    void put_too_large();
    void get();
    void get_and_hold();
    void get_into();
    void contains();
    void remove();
    void enumerate_all();
    void enumerate_until_stopped();
    void enumerate_and_remove();
    void clear();
    void sync();
    void compress();
    void check_stats();
    void check_held();
    void reopen(std::uint32_t flags);
    void reopen_in_other_version();
    void read_in_other_version();
    void open_in_any_version();
    void open_missing();
    void open_second();
    void check_everything();

    bool check(bool right, const std::string &what);
    bool check_result(const std::string &call, int result, std::initializer_list<int> allowed);
    void check_value(const std::string &call, const ByteVector &key, int result,
                     std::optional<ByteView> value, std::optional<std::uint32_t> cost_us);
    void check_refused_put(const ByteVector &key, int result);
    bool open(ModelHandle &handle, std::uint32_t flags);
    ModelHandle &pick();
    ByteVector pick_key() { return model_key(in_.byte()); }
    bool disk() const { return options_.mode == CAIRN_MODE_DISK; }

    ByteSource in_;
    CacheOptions options_;
    Missing missing_ = Missing::never;
    std::array<ModelHandle, 2>
        handles_;  // the first is always open; the second in disk mode at times
    ModelHandle *current_ = handles_.data();
    Entries entries_;
    std::vector<std::pair<Blob, ByteVector>> held_;  // blobs and what they must keep showing
    std::string operation_;
    std::size_t operations_ = 0;
    std::string failure_;
};

}  // namespace cairn_test
