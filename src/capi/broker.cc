// The calls of cairn_broker.h.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_broker.h>

#include "cache/brokered_cache.h"
#include "capi/cache_handle.h"
#include "os/environment.h"

namespace cairn {
namespace {

constexpr std::size_t kOptionsSizeMin = offsetof(cairn_broker_options, log_user) + sizeof(void *);
constexpr std::size_t kStatsSizeMin =
    offsetof(cairn_broker_stats, hits_reported) + sizeof(uint64_t);

enum class Path { needed, if_given };

int read_options(const cairn_broker_options &options, Path path, BrokerOptions &read) {
    if (options.size < kOptionsSizeMin || options.flags != 0) return CAIRN_ERROR_INVALID_ARGUMENT;
    if (options.socket_path != nullptr) {
        read.socket_path = options.socket_path;
        if (read.socket_path.empty()) return CAIRN_ERROR_INVALID_ARGUMENT;
    } else if (path == Path::needed) {
        const auto found = default_broker_socket();
        if (!found) return CAIRN_ERROR_NOT_FOUND;
        read.socket_path = *found;
    }
    if (options.identifier != nullptr) read.identifier = options.identifier;
    if (!read.socket_path.empty() && !valid_identifier(read.identifier)) {
        return CAIRN_ERROR_INVALID_ARGUMENT;
    }
    read.version = options.version;
    read.timeout_ms =
        static_cast<unsigned>(or_default(options.timeout_ms, CAIRN_BROKER_TIMEOUT_MS_DEFAULT));
    read.queue_bytes = or_default(options.queue_bytes, CAIRN_BROKER_QUEUE_BYTES_DEFAULT);
    read.log = Log(options.log, options.log_user);
    return CAIRN_OK;
}

int connect(const cairn_broker_options *options, BrokerOptions &read, Socket &socket) {
    if (options == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
    const int result = read_options(*options, Path::needed, read);
    if (result != CAIRN_OK) return result;
    auto connected = BrokeredCache::connect(read);
    if (connected.ok()) socket = std::move(connected.value());
    return result_code(connected.error());
}

int open_connection(Socket socket, const BrokerOptions &options, std::uint64_t memory_bytes,
                    cairn_cache **cache) {
    return make_handle(
        BrokeredCache::open(options, std::move(socket), memory_bytes_of(memory_bytes, UINT64_MAX)),
        Access::read_write, cache);
}

}  // namespace
}  // namespace cairn

using namespace cairn;

int cairn_broker_resolve(char *buffer, size_t capacity) {
    return result_of([&] { return write_text(default_broker_socket(), buffer, capacity); });
}

int cairn_broker_connect(const cairn_broker_options *options, int *fd) {
    return result_of([&]() -> int {
        if (fd == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        BrokerOptions read;
        Socket socket;
        const int result = connect(options, read, socket);
        if (result == CAIRN_OK) *fd = socket.release();
        return result;
    });
}

int cairn_broker_open(const cairn_broker_options *options, cairn_cache **cache) {
    return result_of([&]() -> int {
        if (cache == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        *cache = nullptr;
        BrokerOptions read;
        Socket socket;
        const int result = connect(options, read, socket);
        if (result != CAIRN_OK) return result;
        return open_connection(std::move(socket), read, options->memory_bytes, cache);
    });
}

int cairn_broker_open_fd(int fd, const cairn_broker_options *options, cairn_cache **cache) {
    return result_of([&]() -> int {
        if (fd < 0) return CAIRN_ERROR_INVALID_ARGUMENT;
        UniqueFd owned(fd);
        if (cache == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        *cache = nullptr;
        cairn_broker_options none = {};
        none.size = sizeof none;
        const cairn_broker_options &given = options != nullptr ? *options : none;
        BrokerOptions read;
        const int result = read_options(given, Path::if_given, read);
        if (result != CAIRN_OK) return result;
        auto socket = Socket::adopt(std::move(owned));
        if (!socket.ok()) return CAIRN_ERROR_INVALID_ARGUMENT;
        return open_connection(std::move(socket.value()), read, given.memory_bytes, cache);
    });
}

int cairn_broker_stats_get(cairn_cache *cache, cairn_broker_stats *stats) {
    return call(cache, stats != nullptr && stats->size >= kStatsSizeMin, [&](Cache &own) -> int {
        const auto now = own.stats().broker;
        if (!now) return CAIRN_ERROR_UNSUPPORTED;
        stats->connected = now->connected ? 1 : 0;
        stats->accepted = now->accepted;
        stats->dropped = now->dropped;
        stats->lost = now->lost;
        stats->stored = now->stored;
        stats->refused = now->refused;
        stats->queued_bytes = now->queued_bytes;
        stats->hits_reported = now->hits_reported;
        return CAIRN_OK;
    });
}
