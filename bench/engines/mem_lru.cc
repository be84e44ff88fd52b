// A hash map with a mutex and exact LRU, as programs have in memory (ANGLE, Chromium). Ends with
// its process.
// SPDX-License-Identifier: MIT
#include <cstring>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "bench/engines/engine.h"

namespace bench {
namespace {

std::string_view as_text(Bytes bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

class MemLruEngine final : public Engine {
  public:
    bool open(const OpenOptions &options) override {
        limit_ = options.limit_bytes;
        return true;
    }

    void close() override {
        items_.clear();
        newest_first_.clear();
        bytes_ = 0;
    }

    std::int64_t get(Bytes key, std::span<std::byte> buffer) override {
        std::lock_guard lock(mutex_);
        const Item *item = touch(key);
        if (item == nullptr || item->value.size() > buffer.size()) {
            return kMiss;
        }
        std::memcpy(buffer.data(), item->value.data(), item->value.size());
        return static_cast<std::int64_t>(item->value.size());
    }

    View view(Bytes key) override {
        std::lock_guard lock(mutex_);
        const Item *item = touch(key);
        return item == nullptr ? View{} : View{item->value.data(), item->value.size(), nullptr};
    }

    bool put(Bytes key, Bytes value) override {
        std::lock_guard lock(mutex_);
        if (auto old = items_.find(as_text(key)); old != items_.end()) {
            drop(old->second);
        }
        newest_first_.push_front({std::string(as_text(key)), {value.begin(), value.end()}});
        items_.emplace(newest_first_.front().key, newest_first_.begin());
        bytes_ += key.size() + value.size();
        while (limit_ != 0 && bytes_ > limit_) {
            drop(std::prev(newest_first_.end()));
        }
        return true;
    }

  private:
    struct Item {
        std::string key;
        std::vector<std::byte> value;
    };
    using Position = std::list<Item>::iterator;

    const Item *touch(Bytes key) {
        auto found = items_.find(as_text(key));
        if (found == items_.end()) {
            return nullptr;
        }
        newest_first_.splice(newest_first_.begin(), newest_first_, found->second);
        return &*found->second;
    }

    void drop(Position position) {
        bytes_ -= position->key.size() + position->value.size();
        items_.erase(position->key);
        newest_first_.erase(position);
    }

    std::mutex mutex_;
    std::list<Item> newest_first_;
    std::unordered_map<std::string_view, Position> items_;
    std::uint64_t bytes_ = 0;
    std::uint64_t limit_ = 0;
};

}  // namespace

void add_mem_lru(std::vector<EngineKind> &kinds) {
    kinds.push_back({"mem-lru",
                     "hash map, mutex, exact LRU, in this process only",
                     {.persistent = false, .shared = false, .views = true, .bounded = true},
                     [] { return std::make_unique<MemLruEngine>(); }});
}

}  // namespace bench
