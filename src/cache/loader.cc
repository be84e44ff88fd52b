// SPDX-License-Identifier: MIT
#include "cache/loader.h"

#include <algorithm>
#include <new>

#include "base/guarded.h"
#include "os/environment.h"

namespace cairn {
namespace {

constexpr std::size_t kRequestsMax = 256;
// Entries that found no room, after which the level counts as full.
constexpr unsigned kFullMax = 8;
// Pauses are this long at least: shorter ones are made up for later.
constexpr std::uint64_t kPauseNs = 1'000'000;
// Closing tells the disk no longer than that.
constexpr std::uint64_t kLastTellNs = 20'000'000;

}  // namespace

std::unique_ptr<Loader> Loader::make(LoadTarget &target, Directory directory,
                                     const Options &options) {
    auto event = Event::make();
    if (!event.ok()) return nullptr;
    std::unique_ptr<Loader> loader(
        new (std::nothrow) Loader(target, std::move(directory), options, std::move(*event)));
    if (loader == nullptr) return nullptr;
    loader->began_ns_ = monotonic_ns();
    loader->is_done_ = !options.has_memory || options.bytes_per_second == 0;
    if (options.has_memory) {
        const MutexLock lock(loader->mutex_);
        loader->start();
    }
    return loader;
}

Loader::~Loader() {
    is_stopped_ = true;
    event_.signal();
    thread_.join();
}

void Loader::start() {
    if (!is_started_) is_started_ = thread_.start_in_background(run, this).ok();
}

// What is at work is not waited for by others: they may have changed the entry since.
Result<std::optional<BlobRef>> Loader::get(Bytes key, std::uint64_t patience_us) {
    const std::uint64_t deadline_ns = monotonic_ns() + patience_us * 1000;
    const MutexLock lock(mutex_);
    start();
    const auto same = std::find_if(requests_.begin(), requests_.end(), [&](const auto &each) {
        return same_bytes(as_bytes(each->key), key);
    });
    std::shared_ptr<Request> request;
    if (same != requests_.end()) {
        request = *same;
    } else if (is_started_ && requests_.size() < kRequestsMax) {
        request = std::make_shared<Request>();
        request->key.assign(reinterpret_cast<const char *>(key.data()), key.size());
        requests_.push_back(request);
        event_.signal();
    }
    if (request != nullptr) {
        while (!request->is_done && answered_.wait_until(mutex_, deadline_ns)) {
        }
    }
    if (request == nullptr || !request->is_done) {
        late_.fetch_add(1, std::memory_order_relaxed);
        return std::optional<BlobRef>();
    }
    if (request->error != Error::none) return request->error;
    return std::optional<BlobRef>(request->found);
}

void Loader::forget() {
    notes_.forget();
    is_forgotten_ = true;
    if (options_.may_write) forget_order(directory_);
    event_.signal();
}

LoaderStats Loader::stats() const {
    return {loaded_entries_.load(), loaded_bytes_.load(), left_.load(),      is_done_.load(),
            notes_.start_count(),   late_.load(),         hits_told_.load(), trims_.load()};
}

void *Loader::run(void *loader) {
    static_cast<Loader *>(loader)->work_until_stopped();
    return nullptr;
}

void Loader::work_until_stopped() {
    if (!options_.has_memory || options_.bytes_per_second == 0) end_loading();
    resume_ns_ = began_ns_ + options_.load_after_ns;
    const auto load = [this] {
        load_next();
        return true;
    };
    while (!is_stopped_) {
        while (!is_stopped_ && answer_next()) {
        }
        forget_when_told();
        const std::uint64_t now = monotonic_ns();
        watch_when_due(now);
        write_when_due(now);
        tell_when_due(now);
        if (is_loading() && now + kPauseNs >= resume_ns_ && !guarded(load, false)) end_loading();
        if (is_stopped_) break;
        event_.wait_until(next_due(), pressure_.sources());
        trim_when_short();
    }
    forget_when_told();
    write_start();
    if (options_.has_memory) tell_hits(monotonic_ns() + kLastTellNs);
}

void Loader::watch_when_due(std::uint64_t now) {
    if (is_watching_ || !options_.has_memory || now < began_ns_ + options_.watch_after_ns) return;
    is_watching_ = true;
    pressure_.open(options_.pressure);
}

void Loader::plan() {
    order_ = read_order(directory_);
    left_ = order_.size();
    phase_ = Phase::order;
}

std::uint64_t Loader::next_due() const {
    const std::uint64_t now = monotonic_ns();
    std::uint64_t due = UINT64_MAX;
    if (is_loading()) due = resume_ns_ > now + kPauseNs ? resume_ns_ : now;
    if (!is_watching_ && options_.has_memory) {
        due = std::min(due, began_ns_ + options_.watch_after_ns);
    }
    if (options_.may_write && options_.has_memory && writes_ < 2) due = std::min(due, write_due());
    if (notes_.is_batch_full()) due = std::min(due, told_ns_ + options_.tell_each_ns);
    return due;
}

bool Loader::answer_next() {
    std::shared_ptr<Request> request;
    {
        const MutexLock lock(mutex_);
        if (requests_.empty()) return false;
        request = requests_.front();
        requests_.pop_front();
    }
    auto found = guarded([&] { return target_.look_up(as_bytes(request->key)); });
    const MutexLock lock(mutex_);
    request->is_done = true;
    request->error = found.error();
    if (found.ok()) request->found = std::move(*found);
    answered_.wake_all();
    return true;
}

// Loading.

void Loader::load_next() {
    if (has_enough_) {
        end_loading();
        return;
    }
    if (phase_ == Phase::wait) {
        plan();
        return;
    }
    const std::size_t count = phase_ == Phase::order ? order_.size() : newest_.size();
    if (next_ == count) {
        next_phase();
        return;
    }
    const LoadTarget::Loaded loaded = phase_ == Phase::order ? target_.load(as_bytes(order_[next_]))
                                                             : target_.load_at(newest_[next_]);
    ++next_;
    left_ = count - next_;
    if (loaded.kept == LoadTarget::Kept::yes) {
        loaded_entries_.fetch_add(1, std::memory_order_relaxed);
        loaded_bytes_.fetch_add(loaded.read_bytes, std::memory_order_relaxed);
    }
    const double seconds =
        static_cast<double>(loaded.read_bytes) / static_cast<double>(options_.bytes_per_second);
    resume_ns_ = std::max(resume_ns_, monotonic_ns()) + static_cast<std::uint64_t>(seconds * 1e9);
    if (loaded.kept == LoadTarget::Kept::full && ++full_ == kFullMax) end_loading();
}

void Loader::next_phase() {
    if (phase_ == Phase::newest) {
        end_loading();
        return;
    }
    phase_ = Phase::newest;
    order_ = StartOrder();
    newest_ = target_.newest();
    next_ = 0;
    left_ = newest_.size();
}

void Loader::end_loading() {
    phase_ = Phase::done;
    order_ = StartOrder();
    newest_ = std::vector<Location>();
    left_ = 0;
    is_done_ = true;
}

// The order.

// Again, as it may just have been written.
void Loader::forget_when_told() {
    if (!is_forgotten_.exchange(false)) return;
    end_loading();
    written_keys_ = 0;
    if (options_.may_write) forget_order(directory_);
}

std::uint64_t Loader::write_due() const {
    return began_ns_ + (writes_ == 0 ? options_.first_write_ns : options_.start_end_ns);
}

void Loader::write_when_due(std::uint64_t now) {
    if (writes_ == 2 || now < write_due()) return;
    write_start();
    if (++writes_ == 2) notes_.end_start();
}

void Loader::write_start() {
    if (!options_.may_write || !options_.has_memory || writes_ == 2) return;
    const std::size_t count = notes_.start_count();
    if (count == written_keys_) return;
    if (guarded([&] { return write_order(directory_, notes_.start()); }).ok()) {
        written_keys_ = count;
    }
}

// Hits in memory.

void Loader::tell_when_due(std::uint64_t now) {
    if (!notes_.is_batch_full() || now < told_ns_ + options_.tell_each_ns) return;
    told_ns_ = now;
    tell_hits(UINT64_MAX);
}

void Loader::tell_hits(std::uint64_t deadline_ns) {
    for (const std::string &key : notes_.take_hits()) {
        if (monotonic_ns() > deadline_ns) return;
        const auto note_use = [&]() -> Status {
            target_.note_use(as_bytes(key));
            return {};
        };
        if (!guarded(note_use).ok()) return;
        hits_told_.fetch_add(1, std::memory_order_relaxed);
    }
}

// What was given back for pressure is not loaded again.
void Loader::trim_when_short() {
    const Pressure pressure = pressure_.look();
    if (pressure == Pressure::none) return;
    end_loading();
    target_.trim(pressure);
    trims_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace cairn
