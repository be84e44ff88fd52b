// SPDX-License-Identifier: MIT
#include "policy/replay.h"

#include <cairn/cairn.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "bench/harness/stats.h"
#include "bench/samples.h"

namespace policy_sim {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPutsPerLook = 16;
constexpr std::size_t kPoolBytes = std::size_t{64} << 20;

class Handle {
  public:
    explicit Handle(const cairn_options &options) { check(cairn_open(&options, &cache_)); }
    ~Handle() { cairn_close(cache_); }
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;

    cairn_cache *get() const { return cache_; }
    static void check(int result) {
        if (result != CAIRN_OK) throw std::runtime_error(cairn_result_string(result));
    }

  private:
    cairn_cache *cache_ = nullptr;
};

std::array<char, 17> name_of(std::uint32_t key) {
    std::array<char, 17> name = {};
    std::snprintf(name.data(), name.size(), "program-%08x", key);
    return name;
}

// Values are parts of one pool, each with its key's number before it.
void fill(std::string &value, const Request &request) {
    static const std::string pool = bench::value_of(1, kPoolBytes);
    const std::size_t size = std::min<std::size_t>(request.value_bytes, kPoolBytes / 2);
    const std::size_t from = request.key * std::size_t{8191} % (kPoolBytes - size);
    value.assign(pool, from, size);
    const std::uint64_t number = request.key;
    std::memcpy(value.data(), &number, sizeof number);
}

std::uint64_t segment_bytes(const std::string &folder) {
    std::uint64_t bytes = 0;
    for (const auto &entry : fs::recursive_directory_iterator(folder)) {
        std::error_code gone;  // it may be retired at this moment
        const std::uint64_t size = entry.path().extension() == ".val" ? entry.file_size(gone) : 0;
        if (!gone) bytes += size;
    }
    return bytes;
}

}  // namespace

ReplayOutcome replay(const Trace &trace, std::uint64_t limit_bytes, const std::string &policy,
                     const std::string &parent) {
    const bench::Folder folder(parent);
    cairn_options options = {};
    options.size = sizeof options;
    options.root = folder.path.c_str();
    options.identifier = "replay";
    options.limit_bytes = limit_bytes;
    options.memory_bytes = CAIRN_NONE;
    options.flags = CAIRN_OPEN_NO_LAYERS;
    options.policy = policy.c_str();
    std::optional<Handle> cache;
    ReplayOutcome outcome;
    std::string value;
    std::uint64_t puts = 0, put_ns = 0;
    std::vector<std::uint64_t> looks;
    for (const Request &request : trace.requests) {
        if (request.is_start) cache.reset();
        if (!cache) cache.emplace(options);
        const auto name = name_of(request.key);
        const std::size_t name_size = name.size() - 1;
        cairn_blob *blob = nullptr;
        const int found = cairn_get(cache->get(), name.data(), name_size, &blob);
        if (found == CAIRN_OK) {
            std::uint64_t number = 0;
            std::memcpy(&number, cairn_blob_data(blob), sizeof number);
            cairn_blob_free(blob);
            if (number != request.key) throw std::runtime_error("another key's value");
            outcome.score.count(request);
            continue;
        }
        if (found != CAIRN_MISS) Handle::check(found);
        if (request.record_bytes > limit_bytes) continue;
        fill(value, request);
        cairn_put_options put = {};
        put.size = sizeof put;
        put.cost_us = request.cost_us;
        const std::uint64_t begin = bench::now_ns();
        const int stored =
            cairn_put(cache->get(), name.data(), name_size, value.data(), value.size(), &put);
        put_ns += bench::now_ns() - begin;
        if (puts++ % kPutsPerLook == 0) {
            looks.push_back(segment_bytes(folder.path));
        }
        if (stored != CAIRN_ERROR_TOO_LARGE) Handle::check(stored);
    }
    std::sort(looks.begin(), looks.end());
    if (!looks.empty()) outcome.room_bytes = looks[looks.size() / 2];
    if (puts > 0) outcome.put_us = static_cast<double>(put_ns) / 1000 / static_cast<double>(puts);
    return outcome;
}

}  // namespace policy_sim
