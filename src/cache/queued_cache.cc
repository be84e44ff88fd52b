// SPDX-License-Identifier: MIT
#include "cache/queued_cache.h"

#include <algorithm>
#include <iterator>

#include "base/guarded.h"

namespace cairn {
namespace {

// To wake a thread costs the one that does it more than an entry does. So the writer looks for
// entries by itself, after this time, and sleeps until it is woken when there were none so often.
// Looking each millisecond took the thread itself a quarter more processor time.
constexpr std::uint64_t kGatherUs = 4000;
constexpr unsigned kQuietRounds = 25;

// Closing waits for what is queued as long as that takes; other calls that need it written, this
// long.
constexpr std::uint64_t kPatienceUs = 60'000'000;

}  // namespace

class QueuedCache::Pause {
  public:
    explicit Pause(QueuedCache &queue) : queue_(queue) {
        const MutexLock lock(queue_.mutex_);
        ++queue_.pauses_;
        while (!queue_.writing_.empty()) queue_.written_.wait(queue_.mutex_);
    }
    // Wakes up the writer, and the threads in flush() that wait for an entry that was cancelled.
    ~Pause() {
        const MutexLock lock(queue_.mutex_);
        --queue_.pauses_;
        queue_.written_.wake_all();
    }
    Pause(const Pause &) = delete;
    Pause &operator=(const Pause &) = delete;

    // Whether something was queued for the key.
    bool cancel(Bytes key) {
        const MutexLock lock(queue_.mutex_);
        const auto found = queue_.by_key_.find(as_text(key));
        if (found == queue_.by_key_.end()) return false;
        const auto item = found->second;
        queue_.bytes_ -= size_of(*item);
        queue_.by_key_.erase(found);
        queue_.items_.erase(item);
        queue_.tell();
        return true;
    }
    void cancel_all() {
        const MutexLock lock(queue_.mutex_);
        queue_.by_key_.clear();
        queue_.items_.clear();
        queue_.bytes_ = 0;
        queue_.tell();
    }

  private:
    QueuedCache &queue_;
};

bool QueuedCache::push(BlobRef entry, const PutOptions &options) {
    const MutexLock lock(mutex_);
    const Bytes key = entry->key();
    const auto older = by_key_.find(as_text(key));
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
        by_key_.emplace(as_text(place->entry->key()), place);
    } else {
        const auto replaced = older->second;
        auto node = by_key_.extract(older);
        node.key() = as_text(place->entry->key());
        node.mapped() = place;
        by_key_.insert(std::move(node));
        bytes_ -= size_of(*replaced);
        items_.erase(replaced);
    }
    ++last_number_;
    bytes_ += size_of(*place);
    items_.splice(items_.end(), added);
    tell();
    const bool is_half_full = bytes_ > limit_bytes_ / 2;
    if (!is_idle_ && !is_half_full) return true;
    is_idle_ = !writer_.wake();
    // No thread can be had: it is written here, as if there were no queue.
    while (is_idle_ && !items_.empty()) write_next();
    return true;
}

BlobRef QueuedCache::find(Bytes key) {
    const MutexLock lock(mutex_);
    const auto found = by_key_.find(as_text(key));
    if (found != by_key_.end()) return found->second->entry;
    const bool is_written = !writing_.empty() && same_bytes(writing_.front().entry->key(), key);
    return is_written ? writing_.front().entry : BlobRef();
}

BlobRef QueuedCache::find_hit(Bytes key) {
    BlobRef found = find(key);
    if (!found) return found;
    hits_.fetch_add(1, std::memory_order_relaxed);
    bytes_read_.fetch_add(found->value().size(), std::memory_order_relaxed);
    return found;
}

bool QueuedCache::all_written_up_to(std::uint64_t number) const {
    return (items_.empty() || items_.front().number > number) &&
           (writing_.empty() || writing_.front().number > number);
}

Status QueuedCache::flush(std::uint64_t patience_us) {
    const Deadline deadline = Deadline::in_us(patience_us);
    const MutexLock lock(mutex_);
    const std::uint64_t number = last_number_;
    if (!items_.empty()) (void)writer_.wake();
    while (!all_written_up_to(number) && written_.wait_until(mutex_, deadline.ns())) {
    }
    return all_written_up_to(number) ? Status() : Error::busy;
}

// A queued entry is newer than a stored one. A put after the look into the queue may be found or
// not.
Result<BlobRef> QueuedCache::get(Bytes key) {
    if (BlobRef queued = find_hit(key)) return queued;
    return inner_->get(key);
}

Result<std::optional<std::uint64_t>> QueuedCache::get_into(Bytes key, MutableBytes buffer) {
    if (find(key)) return Cache::get_into(key, buffer);
    return inner_->get_into(key, buffer);
}

Result<bool> QueuedCache::contains(Bytes key) {
    if (find(key)) return true;
    return inner_->contains(key);
}

BlobRef QueuedCache::get_cached(Bytes key) {
    BlobRef queued = find_hit(key);
    return queued ? queued : inner_->get_cached(key);
}

BlobRef QueuedCache::peek(Bytes key) {
    BlobRef queued = find(key);
    return queued ? queued : inner_->peek(key);
}

Result<PutOutcome> QueuedCache::put(Bytes key, Bytes value, const PutOptions &options) {
    if (options.if_absent || key.size() + value.size() > limit_bytes_) {
        (void)flush(kPatienceUs);
        return inner_->put(key, value, options);
    }
    BlobRef entry = Blob::copy(key, value, options.cost_us);
    if (!entry) return Error::no_memory;
    return put_blob(std::move(entry), options);
}

Result<PutOutcome> QueuedCache::put_blob(BlobRef entry, const PutOptions &options) {
    if (options.if_absent || entry->key().size() + entry->value().size() > limit_bytes_) {
        return put(entry->key(), entry->value(), options);
    }
    if (!push(std::move(entry), options)) return Error::busy;
    return PutOutcome::stored;
}

Result<bool> QueuedCache::remove(Bytes key) {
    Pause pause(*this);
    TRY_ASSIGN(const bool was_there, inner_->remove(key));
    return pause.cancel(key) || was_there;
}

Status QueuedCache::clear() {
    Pause pause(*this);
    TRY(inner_->clear());
    pause.cancel_all();
    return {};
}

Result<std::uint64_t> QueuedCache::clear_range(std::uint64_t begin_ns, std::uint64_t end_ns) {
    (void)flush(kPatienceUs);
    return inner_->clear_range(begin_ns, end_ns);
}

Status QueuedCache::sync() {
    TRY(flush(kPatienceUs));
    return inner_->sync();
}

Status QueuedCache::compress() {
    TRY(flush(kPatienceUs));
    return inner_->compress();
}

void QueuedCache::enumerate(const Visit &visit) {
    (void)flush(kPatienceUs);
    inner_->enumerate(visit);
}

CacheStats QueuedCache::stats() {
    CacheStats stats = inner_->stats();
    stats.hits += hits_;
    stats.bytes_read += bytes_read_;
    if (!stats.program) stats.program.emplace();
    const MutexLock lock(mutex_);
    stats.program->queue = {items_.size() + writing_.size(), bytes_, dropped_, failed_};
    return stats;
}

void QueuedCache::write_until_stopped() {
    unsigned quiet_rounds = 0;
    bool goes_on = true;
    for (;;) {
        {
            const MutexLock lock(mutex_);
            quiet_rounds = items_.empty() ? std::min(quiet_rounds + 1, kQuietRounds) : 0;
            is_idle_ = quiet_rounds == kQuietRounds;
            while (!items_.empty()) write_next();
        }
        if (!goes_on) return;
        goes_on = writer_.wait_until(quiet_rounds == kQuietRounds ? Deadline::never()
                                                                  : Deadline::in_us(kGatherUs));
    }
}

void QueuedCache::write_next() {
    // Another thread may be writing, where there is none for it.
    while (!writing_.empty() || pauses_ != 0) written_.wait(mutex_);
    if (items_.empty()) return;
    by_key_.erase(as_text(items_.front().entry->key()));
    writing_.splice(writing_.end(), items_, items_.begin());
    const BlobRef entry = writing_.front().entry;
    const PutOptions options = writing_.front().options;
    mutex_.unlock();
    const bool is_stored =
        guarded([&] { return inner_->put(entry->key(), entry->value(), options); }).ok();
    if (!is_stored) (void)guarded([&] { return inner_->remove(entry->key()); });
    mutex_.lock();
    if (!is_stored) ++failed_;
    bytes_ -= size_of(writing_.front());
    writing_.clear();
    tell();
    written_.wake_all();
}

void QueuedCache::tell() const {
    const QueueWatcher *watcher =
        watcher_ == nullptr ? nullptr : watcher_->load(std::memory_order_acquire);
    if (watcher != nullptr) watcher->told(watcher->user, items_.size() + writing_.size(), bytes_);
}

}  // namespace cairn
