// LevelDB: no compression (values are stored as they are by all engines), a bloom filter, nothing
// synced.
// SPDX-License-Identifier: MIT
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

#include <cstring>

#include "bench/engines/engine.h"

namespace bench {
namespace {

leveldb::Slice as_slice(Bytes bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

class LevelDbEngine final : public Engine {
  public:
    ~LevelDbEngine() override { close(); }

    bool open(const OpenOptions &options) override {
        filter_.reset(leveldb::NewBloomFilterPolicy(10));
        leveldb::Options given;
        given.create_if_missing = options.create;
        given.compression = leveldb::kNoCompression;
        given.filter_policy = filter_.get();
        given.max_open_files = 10000;
        leveldb::DB *db = nullptr;
        leveldb::Status status = leveldb::DB::Open(given, options.dir.string(), &db);
        db_.reset(db);
        return status.ok() || fail(status.ToString());
    }

    void close() override { db_.reset(); }

    std::int64_t get(Bytes key, std::span<std::byte> buffer) override {
        leveldb::Status status = db_->Get(leveldb::ReadOptions(), as_slice(key), &value_);
        if (!status.ok() || value_.size() > buffer.size()) {
            return kMiss;
        }
        std::memcpy(buffer.data(), value_.data(), value_.size());
        return static_cast<std::int64_t>(value_.size());
    }

    bool put(Bytes key, Bytes value) override {
        return db_->Put(leveldb::WriteOptions(), as_slice(key), as_slice(value)).ok();
    }

    void end_fill() override { db_->CompactRange(nullptr, nullptr); }

  private:
    std::unique_ptr<const leveldb::FilterPolicy> filter_;
    std::unique_ptr<leveldb::DB> db_;
    std::string value_;  // kept, so that its memory is allocated once
};

}  // namespace

void add_leveldb(std::vector<EngineKind> &kinds) {
    kinds.push_back({"leveldb",
                     "LevelDB " + std::to_string(leveldb::kMajorVersion) + "." +
                         std::to_string(leveldb::kMinorVersion) + ", no compression, bloom filter",
                     {.shared = false},
                     [] { return std::make_unique<LevelDbEngine>(); }});
}

}  // namespace bench
