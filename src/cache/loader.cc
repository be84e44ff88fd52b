// SPDX-License-Identifier: MIT
#include "cache/loader.h"

#include <algorithm>

#include "base/guarded.h"

namespace cairn {
namespace {

constexpr std::size_t kRequestsMax = 256;
// Loading begins that long after the cache was opened: what the start does first, it does with the
// processor and the disk for itself.
constexpr std::uint64_t kLoadAfterUs = 2000;

}  // namespace

Loader::Loader(Cache &cache, Ahead ahead, std::function<void(Bytes)> note)
    : cache_(cache), note_(std::move(note)), is_loaded_(ahead == Ahead::no) {
    // The thread may be done before wake() returns: only where there is none does this say so.
    if (ahead == Ahead::yes && !reader_.wake()) is_loaded_ = true;
}

void Loader::work_until_stopped() {
    if (!is_loaded_) load();
    do {
        answer_all();
    } while (reader_.wait_until(Deadline::never()));
}

void Loader::load() {
    const Deadline begin = Deadline::in_us(kLoadAfterUs);
    do {
        answer_all();
    } while (reader_.wait_until(begin) && !begin.has_passed());
    const auto loaded = guarded([this]() -> Result<std::uint64_t> {
        return cache_.load_newest([this] {
            answer_all();
            return !reader_.is_stopping();
        });
    });
    if (loaded.ok()) loaded_entries_ = loaded.value();
    is_loaded_ = true;
}

void Loader::answer_all() {
    while (!reader_.is_stopping() && answer_next()) {
    }
}

bool Loader::answer_next() {
    std::shared_ptr<Request> request;
    {
        const MutexLock lock(mutex_);
        if (requests_.empty()) return false;
        request = requests_.front();
        requests_.pop_front();
    }
    auto found = guarded([&] { return cache_.get(as_bytes(request->key)); });
    if (found.ok() && *found) note_(as_bytes(request->key));
    const MutexLock lock(mutex_);
    request->is_done = true;
    request->error = found.error();
    if (found.ok()) request->found = std::move(*found);
    answered_.wake_all();
    return true;
}

// Nobody joins a request that is at work: the entry may have changed since it began.
Result<std::optional<BlobRef>> Loader::get_within(Bytes key, std::uint64_t patience_us) {
    const Deadline deadline = Deadline::in_us(patience_us);
    const MutexLock lock(mutex_);
    const auto same = std::find_if(requests_.begin(), requests_.end(), [&](const auto &each) {
        return same_bytes(as_bytes(each->key), key);
    });
    std::shared_ptr<Request> request;
    if (same != requests_.end()) {
        request = *same;
    } else if (requests_.size() < kRequestsMax && reader_.wake()) {
        request = std::make_shared<Request>();
        request->key = as_text(key);
        requests_.push_back(request);
    }
    if (request != nullptr) {
        while (!request->is_done && answered_.wait_until(mutex_, deadline.ns())) {
        }
    }
    if (request == nullptr || !request->is_done) {
        late_.fetch_add(1, std::memory_order_relaxed);
        return std::optional<BlobRef>();
    }
    if (request->error != Error::none) return request->error;
    return std::optional<BlobRef>(request->found);
}

void Loader::add_stats(ProgramStats &stats) const {
    stats.loaded_entries = loaded_entries_;
    stats.is_loaded = is_loaded_;
    stats.late = late_;
}

}  // namespace cairn
