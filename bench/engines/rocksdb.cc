// RocksDB: no compression, a bloom filter, a block cache that holds everything, nothing synced. It
// verifies blocks when it reads them into its cache.
// SPDX-License-Identifier: MIT
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <cstring>

#include "bench/engines/engine.h"

namespace bench {
namespace {

constexpr std::size_t kBlockCacheBytes = std::size_t{2} << 30;

rocksdb::Slice as_slice(Bytes bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

class RocksDbEngine final : public Engine {
  public:
    ~RocksDbEngine() override { close(); }

    bool open(const OpenOptions &options) override {
        rocksdb::BlockBasedTableOptions table;
        table.block_cache = rocksdb::NewLRUCache(kBlockCacheBytes);
        table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
        rocksdb::Options given;
        given.create_if_missing = options.create;
        given.compression = rocksdb::kNoCompression;
        given.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
        rocksdb::DB *db = nullptr;
        rocksdb::Status status = rocksdb::DB::Open(given, options.dir.string(), &db);
        db_.reset(db);
        return status.ok() || fail(status.ToString());
    }

    void close() override { db_.reset(); }

    std::int64_t get(Bytes key, std::span<std::byte> buffer) override {
        rocksdb::PinnableSlice value;
        rocksdb::Status status =
            db_->Get(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), as_slice(key), &value);
        if (!status.ok() || value.size() > buffer.size()) {
            return kMiss;
        }
        std::memcpy(buffer.data(), value.data(), value.size());
        return static_cast<std::int64_t>(value.size());
    }

    View view(Bytes key) override {
        rocksdb::Status status =
            db_->Get(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), as_slice(key), &pinned_);
        if (!status.ok()) {
            return {};
        }
        return {reinterpret_cast<const std::byte *>(pinned_.data()), pinned_.size(), nullptr};
    }

    void release(View /*view*/) override { pinned_.Reset(); }

    bool put(Bytes key, Bytes value) override {
        return db_->Put(rocksdb::WriteOptions(), as_slice(key), as_slice(value)).ok();
    }

    void end_fill() override {
        db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr);
    }

  private:
    std::unique_ptr<rocksdb::DB> db_;
    rocksdb::PinnableSlice pinned_;
};

}  // namespace

void add_rocksdb(std::vector<EngineKind> &kinds) {
    kinds.push_back({"rocksdb",
                     "RocksDB " + rocksdb::GetRocksVersionAsString() +
                         ", no compression, bloom filter, 2 GiB block cache",
                     {.shared = false, .views = true},
                     [] { return std::make_unique<RocksDbEngine>(); }});
}

}  // namespace bench
