// SPDX-License-Identifier: MIT
#include "cache/write_queue.h"

#include <algorithm>
#include <iterator>

#include "base/guarded.h"
#include "os/environment.h"

namespace cairn {
namespace {

// To wake a thread costs the one that does it more than an entry does. So the writer looks for
// entries by itself, after this time, and sleeps until it is woken when there were none so often.
constexpr std::uint64_t kGatherNs = 1'000'000;
constexpr unsigned kQuietRounds = 100;

}  // namespace

WriteQueue::~WriteQueue() {
    {
        const MutexLock lock(mutex_);
        is_stopped_ = true;
        work_.wake_all();
    }
    thread_.join();
}

void WriteQueue::wake_writer() {
    if (!is_started_) is_started_ = thread_.start_in_background(run, this).ok();
    if (is_idle_) work_.wake_one();
}

void WriteQueue::forget(Items::iterator item) {
    bytes_ -= size_of(*item);
    by_key_.erase(view(item->entry->key()));
    items_.erase(item);
}

bool WriteQueue::push(BlobRef entry, const PutOptions &options) {
    const MutexLock lock(mutex_);
    const Bytes key = entry->key();
    const auto older = by_key_.find(view(key));
    const std::uint64_t freed = older == by_key_.end() ? 0 : size_of(*older->second);
    Item item = {std::move(entry), options, last_number_ + 1};
    if (bytes_ - freed + size_of(item) > limit_bytes_) {
        ++dropped_;
        return false;
    }
    // First what may find no memory: then nothing has changed.
    Items added;
    added.push_back(std::move(item));
    const auto place = added.begin();
    if (older == by_key_.end()) {
        by_key_.emplace(view(place->entry->key()), place);
    } else {
        const auto replaced = older->second;
        auto node = by_key_.extract(older);
        node.key() = view(place->entry->key());
        node.mapped() = place;
        by_key_.insert(std::move(node));
        bytes_ -= size_of(*replaced);
        items_.erase(replaced);
    }
    ++last_number_;
    bytes_ += size_of(*place);
    items_.splice(items_.end(), added);
    wake_writer();
    if (is_started_) return true;
    // No thread can be had: it is written here, as if there were no queue.
    while (!items_.empty()) write_next();
    return true;
}

BlobRef WriteQueue::find(Bytes key) {
    const MutexLock lock(mutex_);
    const auto found = by_key_.find(view(key));
    if (found != by_key_.end()) return found->second->entry;
    const bool is_written = !writing_.empty() && same_bytes(writing_.front().entry->key(), key);
    return is_written ? writing_.front().entry : BlobRef();
}

WriteQueue::Pause::Pause(WriteQueue &queue) : queue_(queue) {
    const MutexLock lock(queue_.mutex_);
    ++queue_.pauses_;
    while (!queue_.writing_.empty()) queue_.written_.wait(queue_.mutex_);
}

// Wakes up the writer, and who waits for what was cancelled.
WriteQueue::Pause::~Pause() {
    const MutexLock lock(queue_.mutex_);
    --queue_.pauses_;
    queue_.written_.wake_all();
}

bool WriteQueue::Pause::cancel(Bytes key) {
    const MutexLock lock(queue_.mutex_);
    const auto found = queue_.by_key_.find(view(key));
    if (found == queue_.by_key_.end()) return false;
    queue_.forget(found->second);
    return true;
}

void WriteQueue::Pause::cancel_all() {
    const MutexLock lock(queue_.mutex_);
    queue_.by_key_.clear();
    queue_.items_.clear();
    queue_.bytes_ = 0;
}

bool WriteQueue::all_written_up_to(std::uint64_t number) const {
    return (items_.empty() || items_.front().number > number) &&
           (writing_.empty() || writing_.front().number > number);
}

bool WriteQueue::flush(std::uint64_t patience_us) {
    const std::uint64_t deadline_ns = monotonic_ns() + patience_us * 1000;
    const MutexLock lock(mutex_);
    const std::uint64_t number = last_number_;
    ++hurried_;
    work_.wake_one();
    while (!all_written_up_to(number) && written_.wait_until(mutex_, deadline_ns)) {
    }
    --hurried_;
    return all_written_up_to(number);
}

WriteQueueStats WriteQueue::stats() {
    const MutexLock lock(mutex_);
    return {items_.size() + writing_.size(), bytes_, dropped_, failed_};
}

void *WriteQueue::run(void *queue) {
    static_cast<WriteQueue *>(queue)->write_until_stopped();
    return nullptr;
}

void WriteQueue::write_until_stopped() {
    const MutexLock lock(mutex_);
    unsigned quiet_rounds = 0;
    while (!is_stopped_ || !items_.empty()) {
        is_idle_ = true;
        while (quiet_rounds == kQuietRounds && items_.empty() && !is_stopped_) work_.wait(mutex_);
        is_idle_ = false;
        gather();
        quiet_rounds = items_.empty() ? std::min(quiet_rounds + 1, kQuietRounds) : 0;
        while (!items_.empty()) write_next();
    }
}

// Nobody wakes the writer meanwhile but those who wait for it.
void WriteQueue::gather() {
    const std::uint64_t deadline_ns = monotonic_ns() + kGatherNs;
    const auto may_wait = [this]() REQUIRES_LOCK(mutex_) {
        return !is_stopped_ && (hurried_ == 0 || items_.empty());
    };
    while (may_wait() && work_.wait_until(mutex_, deadline_ns)) {
    }
}

void WriteQueue::write_next() {
    // Another thread may be writing, where there is none for it.
    while (!writing_.empty() || pauses_ != 0) written_.wait(mutex_);
    if (items_.empty()) return;
    by_key_.erase(view(items_.front().entry->key()));
    writing_.splice(writing_.end(), items_, items_.begin());
    const BlobRef entry = writing_.front().entry;
    const PutOptions options = writing_.front().options;
    mutex_.unlock();
    const bool is_stored =
        guarded([&] { return store_.put(entry->key(), entry->value(), options); }).ok();
    if (!is_stored) (void)guarded([&] { return store_.remove(entry->key()); });
    mutex_.lock();
    if (!is_stored) ++failed_;
    bytes_ -= size_of(writing_.front());
    writing_.clear();
    written_.wake_all();
}

}  // namespace cairn
