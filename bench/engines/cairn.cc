// Cairn through its public C interface: with its defaults, and without private copies of hot
// entries.
// SPDX-License-Identifier: MIT
#include "cairn/cairn.h"

#include "bench/engines/engine.h"

namespace bench {
namespace {

constexpr std::uint64_t kUnboundedBytes = std::uint64_t{64} << 30;

class CairnEngine final : public Engine {
  public:
    explicit CairnEngine(std::uint64_t memory_bytes) : memory_bytes_(memory_bytes) {}
    ~CairnEngine() override { close(); }

    bool open(const OpenOptions &options) override {
        cairn_options given{};
        given.size = sizeof(given);
        given.root = options.dir.c_str();
        given.identifier = "bench";
        given.version = 1;
        given.flags = options.create ? 0 : CAIRN_OPEN_EXISTING;
        given.limit_bytes = options.limit_bytes != 0 ? options.limit_bytes : kUnboundedBytes;
        given.memory_bytes = memory_bytes_;
        int result = cairn_open(&given, &cache_);
        return result == CAIRN_OK || fail(cairn_result_string(result));
    }

    void close() override {
        if (cache_ != nullptr) {
            cairn_close(cache_);
            cache_ = nullptr;
        }
    }

    std::int64_t get(Bytes key, std::span<std::byte> buffer) override {
        std::size_t size = 0;
        int result =
            cairn_get_into(cache_, key.data(), key.size(), buffer.data(), buffer.size(), &size);
        return result == CAIRN_OK ? static_cast<std::int64_t>(size) : kMiss;
    }

    View view(Bytes key) override {
        cairn_blob *blob = nullptr;
        if (cairn_get(cache_, key.data(), key.size(), &blob) != CAIRN_OK) {
            return {};
        }
        return {static_cast<const std::byte *>(cairn_blob_data(blob)), cairn_blob_size(blob), blob};
    }

    void release(View view) override { cairn_blob_free(static_cast<cairn_blob *>(view.owner)); }

    bool put(Bytes key, Bytes value) override {
        return cairn_put(cache_, key.data(), key.size(), value.data(), value.size(), nullptr) ==
               CAIRN_OK;
    }

  private:
    std::uint64_t memory_bytes_;
    cairn_cache *cache_ = nullptr;
};

}  // namespace

void add_cairn(std::vector<EngineKind> &kinds) {
    const Traits traits{.views = true, .bounded = true};
    std::string version = std::string("cairn ") + cairn_version_string();
    kinds.push_back({"cairn",
                     version + ", defaults, every read verified or read from a verified copy",
                     traits, [] { return std::make_unique<CairnEngine>(0); }});
    kinds.push_back({"cairn-nomem", version + ", no private copies (memory_bytes = UINT64_MAX)",
                     traits, [] { return std::make_unique<CairnEngine>(UINT64_MAX); }});
}

}  // namespace bench
