// SQLite in WAL mode, not synced, mapped: a table with row ids and a unique index on the key, which
// is its faster form here.
// SPDX-License-Identifier: MIT
#include <sqlite3.h>

#include <cstring>

#include "bench/engines/engine.h"

namespace bench {
namespace {

constexpr char kSettings[] =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA mmap_size=2147418112;";
constexpr char kTable[] =
    "CREATE TABLE IF NOT EXISTS entry(id INTEGER PRIMARY KEY, key BLOB UNIQUE, value BLOB);";
constexpr int kBusyTimeoutMs = 10000;

class SqliteEngine final : public Engine {
  public:
    ~SqliteEngine() override { close(); }

    bool open(const OpenOptions &options) override {
        const std::string path = (options.dir / "store.sqlite").string();
        const int flags = SQLITE_OPEN_READWRITE | (options.create ? SQLITE_OPEN_CREATE : 0);
        if (!check(sqlite3_open_v2(path.c_str(), &db_, flags, nullptr))) {
            return false;
        }
        sqlite3_busy_timeout(db_, kBusyTimeoutMs);
        return run(kSettings) && (!options.create || run(kTable)) &&
               prepare("SELECT value FROM entry WHERE key=?1", get_) &&
               prepare("INSERT OR REPLACE INTO entry(key, value) VALUES(?1, ?2)", put_);
    }

    void close() override {
        sqlite3_finalize(get_);
        sqlite3_finalize(put_);
        sqlite3_close(db_);
        get_ = nullptr;
        put_ = nullptr;
        db_ = nullptr;
    }

    std::int64_t get(Bytes key, std::span<std::byte> buffer) override {
        bind(get_, 1, key);
        std::int64_t size = kMiss;
        if (sqlite3_step(get_) == SQLITE_ROW) {
            const void *data = sqlite3_column_blob(get_, 0);
            auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(get_, 0));
            if (bytes <= buffer.size()) {
                std::memcpy(buffer.data(), data, bytes);
                size = static_cast<std::int64_t>(bytes);
            }
        }
        sqlite3_reset(get_);
        return size;
    }

    bool put(Bytes key, Bytes value) override {
        bind(put_, 1, key);
        bind(put_, 2, value);
        bool done = sqlite3_step(put_) == SQLITE_DONE;
        sqlite3_reset(put_);
        return done;
    }

    void begin_fill() override { run("BEGIN"); }
    void end_fill() override { run("COMMIT; PRAGMA wal_checkpoint(TRUNCATE);"); }

  private:
    static void bind(sqlite3_stmt *statement, int position, Bytes bytes) {
        sqlite3_bind_blob(statement, position, bytes.data(), static_cast<int>(bytes.size()),
                          SQLITE_STATIC);
    }

    bool check(int code) { return code == SQLITE_OK || fail(sqlite3_errmsg(db_)); }
    bool run(const char *sql) { return check(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr)); }
    bool prepare(const char *sql, sqlite3_stmt *&statement) {
        return check(sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr));
    }

    sqlite3 *db_ = nullptr;
    sqlite3_stmt *get_ = nullptr;
    sqlite3_stmt *put_ = nullptr;
};

}  // namespace

void add_sqlite(std::vector<EngineKind> &kinds) {
    kinds.push_back({"sqlite",
                     std::string("SQLite ") + sqlite3_libversion() +
                         ", WAL, synchronous=OFF, mapped, table with row ids",
                     {},
                     [] { return std::make_unique<SqliteEngine>(); }});
}

}  // namespace bench
