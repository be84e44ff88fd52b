// SPDX-License-Identifier: MIT
#include <stdexcept>

#include "bench/engines/engine.h"

namespace bench {

View Engine::view(Bytes /*key*/) {
    return {};
}

void Engine::release(View /*view*/) {}

bool Engine::fail(std::string why) {
    error_ = std::move(why);
    return false;
}

const std::vector<EngineKind> &engine_kinds() {
    static const std::vector<EngineKind> kinds = [] {
        std::vector<EngineKind> all;
#if BENCH_WITH_CAIRN
        add_cairn(all);
#endif
#if BENCH_WITH_LMDB
        add_lmdb(all);
#endif
        add_files(all);
#if BENCH_WITH_LEVELDB
        add_leveldb(all);
#endif
#if BENCH_WITH_ROCKSDB
        add_rocksdb(all);
#endif
#if BENCH_WITH_SQLITE
        add_sqlite(all);
#endif
        add_limits(all);
        add_mem_lru(all);
        return all;
    }();
    return kinds;
}

const EngineKind &engine_kind(const std::string &name) {
    for (const EngineKind &kind : engine_kinds()) {
        if (kind.name == name) {
            return kind;
        }
    }
    throw std::invalid_argument("no engine '" + name + "' in this build");
}

}  // namespace bench
