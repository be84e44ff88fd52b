// The interface that each store's adapter implements to take part in the benchmark, and the list
// of them.
// Thread safety: an Engine is used by one thread. Ownership: a View stays valid until it is given
// to release(); at most one is out at a time.
// Failure: open() returns false and says why in error(); get() and put() report outcomes and never
// throw for a miss.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/dataset.h"

namespace bench {

inline constexpr std::int64_t kMiss = -1;

// The calls that an engine supports; workloads that need more skip it.
struct Traits {
    bool persistent = true;  // another process finds what this one stored
    bool shared = true;      // several processes may have it open, and write
    bool views = false;      // get_view() is there
    bool writes = true;      // put() is meant as a store does it; false for the bare limits
    bool bounded = false;    // keeps a byte limit, by eviction or refusal
    std::uint64_t entries_max = UINT64_MAX;  // above this it only costs time
};

struct OpenOptions {
    std::filesystem::path dir;           // of this store alone; exists
    bool create = false;                 // else the store is there already
    std::uint64_t limit_bytes = 0;       // 0: as large as the engine can be
    std::uint64_t expected_entries = 0;  // for engines that size a table beforehand
};

struct View {
    const std::byte *data = nullptr;  // null: a miss
    std::size_t size = 0;
    void *owner = nullptr;
};

class Engine {
  public:
    virtual ~Engine() = default;

    virtual bool open(const OpenOptions &options) = 0;
    virtual void close() = 0;

    // Copies the value to `buffer` and returns its size, or kMiss. A value that does not fit counts
    // as a miss.
    virtual std::int64_t get(Bytes key, std::span<std::byte> buffer) = 0;
    // Points to the value, where traits say so.
    virtual View view(Bytes key);
    virtual void release(View view);
    // One operation, not batched with others, not synced. False: refused.
    virtual bool put(Bytes key, Bytes value) = 0;

    // Around many puts that are not measured.
    virtual void begin_fill() {}
    virtual void end_fill() {}

    const std::string &error() const { return error_; }

  protected:
    bool fail(std::string why);

  private:
    std::string error_;
};

struct EngineKind {
    std::string name;
    std::string about;  // one line for the report: library, version, options
    Traits traits;
    std::function<std::unique_ptr<Engine>()> make;
};

// Those this program was built with, in the order they are reported.
const std::vector<EngineKind> &engine_kinds();
const EngineKind &engine_kind(const std::string &name);  // throws std::invalid_argument

// One per adapter file.
void add_cairn(std::vector<EngineKind> &kinds);
void add_limits(std::vector<EngineKind> &kinds);
void add_mem_lru(std::vector<EngineKind> &kinds);
void add_lmdb(std::vector<EngineKind> &kinds);
void add_leveldb(std::vector<EngineKind> &kinds);
void add_rocksdb(std::vector<EngineKind> &kinds);
void add_sqlite(std::vector<EngineKind> &kinds);
void add_files(std::vector<EngineKind> &kinds);

}  // namespace bench
