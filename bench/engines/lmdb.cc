// LMDB as fast as it goes: MDB_NOSYNC and MDB_WRITEMAP, no read-ahead, one reused read transaction.
// SPDX-License-Identifier: MIT
#include <lmdb.h>

#include <cstring>

#include "bench/engines/engine.h"

namespace bench {
namespace {

constexpr std::size_t kMapSize = std::size_t{16} << 30;  // a reservation: the file is sparse

class LmdbEngine final : public Engine {
  public:
    ~LmdbEngine() override { close(); }

    bool open(const OpenOptions &options) override {
        std::size_t size = options.limit_bytes != 0 ? options.limit_bytes : kMapSize;
        if (!check(mdb_env_create(&env_)) || !check(mdb_env_set_mapsize(env_, size))) {
            return false;
        }
        const unsigned flags = MDB_NOSYNC | MDB_WRITEMAP | MDB_NORDAHEAD;
        MDB_txn *begin = nullptr;
        return check(mdb_env_open(env_, options.dir.c_str(), flags, 0600)) &&
               check(mdb_txn_begin(env_, nullptr, options.create ? 0 : MDB_RDONLY, &begin)) &&
               check(mdb_dbi_open(begin, nullptr, 0, &table_)) && check(mdb_txn_commit(begin)) &&
               begin_reading();
    }

    void close() override {
        if (env_ == nullptr) {
            return;
        }
        if (reading_ != nullptr) {
            mdb_txn_abort(reading_);
            reading_ = nullptr;
        }
        mdb_env_close(env_);
        env_ = nullptr;
    }

    std::int64_t get(Bytes key, std::span<std::byte> buffer) override {
        MDB_val found;
        std::int64_t size = kMiss;
        if (look_up(key, found) && found.mv_size <= buffer.size()) {
            std::memcpy(buffer.data(), found.mv_data, found.mv_size);
            size = static_cast<std::int64_t>(found.mv_size);
        }
        mdb_txn_reset(reading_);
        return size;
    }

    View view(Bytes key) override {
        MDB_val found;
        if (!look_up(key, found)) {
            mdb_txn_reset(reading_);
            return {};
        }
        return {static_cast<const std::byte *>(found.mv_data), found.mv_size, nullptr};
    }

    void release(View /*view*/) override { mdb_txn_reset(reading_); }

    bool put(Bytes key, Bytes value) override {
        MDB_txn *txn = nullptr;
        if (mdb_txn_begin(env_, nullptr, 0, &txn) != 0) {
            return false;
        }
        MDB_val name = as_val(key);
        MDB_val bytes = as_val(value);
        if (mdb_put(txn, table_, &name, &bytes, 0) != 0) {
            mdb_txn_abort(txn);
            return false;
        }
        return mdb_txn_commit(txn) == 0;
    }

  private:
    static MDB_val as_val(Bytes bytes) {
        return {bytes.size(), const_cast<std::byte *>(bytes.data())};
    }

    bool check(int code) { return code == 0 || fail(mdb_strerror(code)); }

    bool begin_reading() {
        if (!check(mdb_txn_begin(env_, nullptr, MDB_RDONLY, &reading_))) {
            return false;
        }
        mdb_txn_reset(reading_);
        return true;
    }

    // Leaves the read transaction renewed, whatever it finds.
    bool look_up(Bytes key, MDB_val &found) {
        if (mdb_txn_renew(reading_) != 0) {
            return false;
        }
        MDB_val name = as_val(key);
        return mdb_get(reading_, table_, &name, &found) == 0;
    }

    MDB_env *env_ = nullptr;
    MDB_txn *reading_ = nullptr;
    MDB_dbi table_ = 0;
};

}  // namespace

void add_lmdb(std::vector<EngineKind> &kinds) {
    kinds.push_back({"lmdb",
                     std::string(mdb_version(nullptr, nullptr, nullptr)) +
                         ", NOSYNC|WRITEMAP|NORDAHEAD, read transaction renewed, nothing verified",
                     {.views = true, .bounded = true},
                     [] { return std::make_unique<LmdbEngine>(); }});
}

}  // namespace bench
