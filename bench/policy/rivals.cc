// SPDX-License-Identifier: MIT
#include "policy/rivals.h"

#include <algorithm>
#include <list>
#include <set>
#include <utility>
#include <vector>

namespace policy_sim {
namespace {

// Keys in an order, with what they hold together. A key is in one list at most.
class Queue {
  public:
    explicit Queue(const Trace &trace) : places_(trace.key_count), sizes_(trace.key_count) {}

    bool empty() const { return order_.empty(); }
    std::uint64_t bytes() const { return bytes_; }
    std::uint32_t newest() const { return order_.front(); }
    std::uint32_t oldest() const { return order_.back(); }
    void add(std::uint32_t key, std::uint32_t size) {
        order_.push_front(key);
        places_[key] = order_.begin();
        sizes_[key] = size;
        bytes_ += size;
    }
    void remove(std::uint32_t key) {
        order_.erase(places_[key]);
        bytes_ -= sizes_[key];
    }
    std::uint32_t size_of(std::uint32_t key) const { return sizes_[key]; }
    void renew(std::uint32_t key) { order_.splice(order_.begin(), order_, places_[key]); }
    // The next one that is newer; of the newest, the oldest.
    std::uint32_t next_newer(std::uint32_t key) const {
        const auto place = places_[key];
        return place == order_.begin() ? order_.back() : *std::prev(place);
    }

  private:
    std::list<std::uint32_t> order_;  // the newest first
    std::vector<std::list<std::uint32_t>::iterator> places_;
    std::vector<std::uint32_t> sizes_;
    std::uint64_t bytes_ = 0;
};

template <typename Cache>
Score run(const Trace &trace, std::uint64_t limit_bytes) {
    Cache cache(trace, limit_bytes);
    Score score;
    for (const Request &request : trace.requests) {
        if (cache.hit(request)) {
            score.count(request);
        } else if (request.record_bytes <= limit_bytes) {
            cache.add(request);
        }
    }
    return score;
}

enum class Goes { oldest, newest };

template <Goes kGoes, bool kRenews>
class OneQueue {
  public:
    OneQueue(const Trace &trace, std::uint64_t limit_bytes)
        : limit_(limit_bytes), queue_(trace), is_in_(trace.key_count) {}

    bool hit(const Request &request) {
        if (is_in_[request.key] && kRenews) queue_.renew(request.key);
        return is_in_[request.key];
    }
    void add(const Request &request) {
        while (queue_.bytes() + request.record_bytes > limit_) {
            const std::uint32_t victim = kGoes == Goes::oldest ? queue_.oldest() : queue_.newest();
            queue_.remove(victim);
            is_in_[victim] = false;
        }
        queue_.add(request.key, request.record_bytes);
        is_in_[request.key] = true;
    }

  private:
    const std::uint64_t limit_;
    Queue queue_;
    std::vector<bool> is_in_;
};

// Greedy-Dual-Size with frequency: the least of (look-ups * cost / size + clock) goes, and the clock
// is then what it had.
class Gdsf {
  public:
    Gdsf(const Trace &trace, std::uint64_t limit_bytes)
        : limit_(limit_bytes), entries_(trace.key_count) {}

    bool hit(const Request &request) {
        Entry &entry = entries_[request.key];
        if (entry.count == 0) return false;
        order_.erase({entry.worth, request.key});
        ++entry.count;
        place(request);
        return true;
    }
    void add(const Request &request) {
        while (used_ + request.record_bytes > limit_) {
            const auto [worth, victim] = *order_.begin();
            order_.erase(order_.begin());
            used_ -= entries_[victim].size;
            entries_[victim].count = 0;
            clock_ = worth;
        }
        entries_[request.key] = {0, request.record_bytes, 1};
        used_ += request.record_bytes;
        place(request);
    }

  private:
    struct Entry {
        double worth = 0;
        std::uint32_t size = 0;
        std::uint32_t count = 0;  // 0: not in the cache
    };

    void place(const Request &request) {
        Entry &entry = entries_[request.key];
        entry.worth = clock_ + 1.0 * entry.count * request.cost_us / request.record_bytes;
        order_.insert({entry.worth, request.key});
    }

    const std::uint64_t limit_;
    std::uint64_t used_ = 0;
    double clock_ = 0;
    std::vector<Entry> entries_;
    std::set<std::pair<double, std::uint32_t>> order_;
};

// A hand goes from the oldest entry to the newest, spares what was hit since it came by last, and
// evicts the first that was not.
class Sieve {
  public:
    Sieve(const Trace &trace, std::uint64_t limit_bytes)
        : limit_(limit_bytes), queue_(trace), state_(trace.key_count, State::out) {}

    bool hit(const Request &request) {
        if (state_[request.key] == State::out) return false;
        state_[request.key] = State::visited;
        return true;
    }
    void add(const Request &request) {
        while (queue_.bytes() + request.record_bytes > limit_) evict();
        queue_.add(request.key, request.record_bytes);
        state_[request.key] = State::in;
    }

  private:
    enum class State : std::uint8_t { out, in, visited };

    void evict() {
        if (!has_hand_) hand_ = queue_.oldest();
        while (state_[hand_] == State::visited) {
            state_[hand_] = State::in;
            hand_ = queue_.next_newer(hand_);
        }
        const std::uint32_t victim = hand_;
        has_hand_ = victim != queue_.newest();
        hand_ = queue_.next_newer(victim);
        queue_.remove(victim);
        state_[victim] = State::out;
    }

    const std::uint64_t limit_;
    Queue queue_;
    std::vector<State> state_;
    bool has_hand_ = false;
    std::uint32_t hand_ = 0;
};

// A small queue for a tenth of the limit, a main one, and a ghost queue of what left the small one.
class S3Fifo {
  public:
    S3Fifo(const Trace &trace, std::uint64_t limit_bytes)
        : limit_(limit_bytes),
          small_max_(limit_bytes / 10),
          small_(trace),
          main_(trace),
          ghost_(trace),
          entries_(trace.key_count) {}

    bool hit(const Request &request) {
        Entry &entry = entries_[request.key];
        if (entry.place != Place::small && entry.place != Place::main) return false;
        entry.hits = static_cast<std::uint8_t>(std::min(entry.hits + 1, 3));
        return true;
    }
    void add(const Request &request) {
        while (small_.bytes() + main_.bytes() + request.record_bytes > limit_) {
            if (small_.bytes() > small_max_ || main_.empty()) {
                evict_small();
            } else {
                evict_main();
            }
        }
        Entry &entry = entries_[request.key];
        const bool was_ghost = entry.place == Place::ghost;
        if (was_ghost) ghost_.remove(request.key);
        (was_ghost ? main_ : small_).add(request.key, request.record_bytes);
        entry = {was_ghost ? Place::main : Place::small, 0};
    }

  private:
    enum class Place : std::uint8_t { nowhere, small, main, ghost };
    struct Entry {
        Place place = Place::nowhere;
        std::uint8_t hits = 0;
    };

    void evict_small() {
        const std::uint32_t key = small_.oldest();
        const std::uint32_t size = small_.size_of(key);
        small_.remove(key);
        if (entries_[key].hits > 1) {
            main_.add(key, size);
            entries_[key] = {Place::main, 0};
            return;
        }
        ghost_.add(key, size);
        entries_[key] = {Place::ghost, 0};
        while (ghost_.bytes() > limit_ - small_max_) {
            const std::uint32_t forgotten = ghost_.oldest();
            ghost_.remove(forgotten);
            entries_[forgotten].place = Place::nowhere;
        }
    }
    void evict_main() {
        while (entries_[main_.oldest()].hits > 0) {
            --entries_[main_.oldest()].hits;
            main_.renew(main_.oldest());
        }
        const std::uint32_t key = main_.oldest();
        main_.remove(key);
        entries_[key].place = Place::nowhere;
    }

    const std::uint64_t limit_;
    const std::uint64_t small_max_;
    Queue small_;
    Queue main_;
    Queue ghost_;
    std::vector<Entry> entries_;
};

// A window for a hundredth of the limit, then two queues of those that were looked up once and more
// often (four fifths). What leaves the window comes in if it was looked up more often than what has to
// go. The counts are exact here, at most 15, and halved each time ten times as many look-ups as there
// are entries have passed.
class WTinyLfu {
  public:
    WTinyLfu(const Trace &trace, std::uint64_t limit_bytes)
        : window_max_(std::max<std::uint64_t>(limit_bytes / 100, 1)),
          main_max_(limit_bytes - window_max_),
          protected_max_(main_max_ / 5 * 4),
          queues_{Queue(trace), Queue(trace), Queue(trace)},
          place_(trace.key_count, kNowhere),
          counts_(trace.key_count) {}

    bool hit(const Request &request) {
        note(request.key);
        const std::uint8_t place = place_[request.key];
        if (place == kNowhere) return false;
        if (place == kProbation) {
            move(request.key, kProtected);
            while (queue(kProtected).bytes() > protected_max_) {
                move(queue(kProtected).oldest(), kProbation);
            }
        } else {
            queue(place).renew(request.key);
        }
        return true;
    }
    void add(const Request &request) {
        queue(kWindow).add(request.key, request.record_bytes);
        place_[request.key] = kWindow;
        ++entry_count_;
        while (queue(kWindow).bytes() > window_max_) leave_window(queue(kWindow).oldest());
    }

  private:
    enum : std::uint8_t { kWindow, kProbation, kProtected, kNowhere };

    Queue &queue(std::uint8_t place) { return queues_[place]; }
    std::uint64_t main_bytes() { return queue(kProbation).bytes() + queue(kProtected).bytes(); }
    void note(std::uint32_t key) {
        if (counts_[key] < 15) ++counts_[key];
        if (++noted_ < 10 * std::max<std::uint64_t>(entry_count_, 100)) return;
        noted_ /= 2;
        for (std::uint8_t &count : counts_) count /= 2;
    }
    void move(std::uint32_t key, std::uint8_t place) {
        const std::uint32_t size = queue(place_[key]).size_of(key);
        queue(place_[key]).remove(key);
        queue(place).add(key, size);
        place_[key] = place;
    }
    void drop(std::uint32_t key) {
        queue(place_[key]).remove(key);
        place_[key] = kNowhere;
        --entry_count_;
    }
    void leave_window(std::uint32_t key) {
        const std::uint32_t size = queue(kWindow).size_of(key);
        while (main_bytes() + size > main_max_) {
            const bool from_protected = queue(kProbation).empty();
            if (from_protected && queue(kProtected).empty()) return drop(key);
            const std::uint32_t victim = queue(from_protected ? kProtected : kProbation).oldest();
            if (counts_[key] <= counts_[victim]) return drop(key);
            drop(victim);
        }
        move(key, kProbation);
    }

    const std::uint64_t window_max_;
    const std::uint64_t main_max_;
    const std::uint64_t protected_max_;
    Queue queues_[3];
    std::vector<std::uint8_t> place_;
    std::vector<std::uint8_t> counts_;
    std::uint64_t entry_count_ = 0;
    std::uint64_t noted_ = 0;
};

constexpr Rival kRivals[] = {
    {"lru", run<OneQueue<Goes::oldest, true>>},
    {"mru", run<OneQueue<Goes::newest, true>>},
    {"fifo", run<OneQueue<Goes::oldest, false>>},
    {"GDSF", run<Gdsf>},
    {"S3-FIFO", run<S3Fifo>},
    {"SIEVE", run<Sieve>},
    {"W-TinyLFU", run<WTinyLfu>},
};

}  // namespace

std::span<const Rival> rivals() {
    return kRivals;
}

}  // namespace policy_sim
