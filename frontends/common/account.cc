// SPDX-License-Identifier: MIT
#include "common/account.h"

#include <cairn/cairn_program_cache.h>
#include <cairn/internal/front_end.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/run_report.h"
#include "os/environment.h"

namespace cairn {
namespace {

std::string identifier_of(cairn_cache *cache) {
    const char *const identifier = cairn_program_cache_identifier(cache);
    return identifier == nullptr ? "" : identifier;
}

// What the cache says of an entry that is not there; nullopt: nothing that settles it.
std::optional<Link> fate_of(cairn_cache *cache, Bytes key, const Seen &seen,
                            std::uint64_t &cleared_s) {
    std::uint32_t fate = CAIRN_FATE_UNKNOWN;
    std::uint64_t when_s = 0;
    if (cairn_fate(cache, key.data(), key.size(), &fate, &when_s) != CAIRN_OK) return std::nullopt;
    // What was stored after that went in another way.
    constexpr std::uint64_t kMinuteS = 60;
    const bool is_older = seen.how == Seen::How::same && when_s + kMinuteS < seen.when_s;
    switch (fate) {
        case CAIRN_FATE_EVICTED:
            if (is_older) return std::nullopt;
            return link_of(Outcome::evicted, Detail::none, when_s);
        case CAIRN_FATE_DAMAGED:
            if (is_older) return std::nullopt;
            return link_of(Outcome::damaged);
        case CAIRN_FATE_CRASHED:
            return link_of(Outcome::kept_out, Detail::dropped_once);
        case CAIRN_FATE_KEPT_OUT:
            return link_of(Outcome::kept_out);
        case CAIRN_FATE_LATE:
            return link_of(Outcome::late, Detail::asked);
        case CAIRN_FATE_CLEARED:
            cleared_s = when_s;
            return std::nullopt;
        default:
            return std::nullopt;
    }
}

}  // namespace

LinkKey link_key(std::span<const std::uint8_t> key) {
    LinkKey beginning = {};
    std::copy_n(key.begin(), std::min(key.size(), beginning.size()), beginning.begin());
    return beginning;
}

Link link_of(Outcome outcome, Detail detail, std::uint64_t other) {
    return {outcome, detail, {}, 0, other};
}

Account::Account(const Remembered &remembered)
    : cache_(remembered.cache), unknown_because_(Detail::not_remembered) {
    const std::string identifier = identifier_of(cache_);
    if (!remembered.counters_root.empty() && open_counters(remembered.counters_root)) {
        day_.emplace(remembered.application, generation_number(identifier));
    }
    auto opened = History::open({.root = remembered.root,
                                 .identifier = identifier,
                                 .driver = remembered.driver,
                                 .limit_bytes = cairn_disk_limit(cache_)});
    if (opened.ok()) history_ = std::move(opened.value());
}

Account::Account(const std::string &application, Detail unknown_because)
    : unknown_because_(unknown_because) {
    if (unknown_because != Detail::not_remembered) day_.emplace(application, 0);
}

void Account::add(Number number, std::uint64_t amount) {
    if (history_ != nullptr) history_->add(number, amount);
    if (day_) day_->add(number, amount);
}

void Account::count(Outcome outcome, std::uint64_t spent_ns) {
    static std::atomic<bool> has_started = false;
    if (!has_started.exchange(true, std::memory_order_relaxed)) add(Number::starts, 1);
    count_link(outcome, spent_ns);
    add(count_of(outcome), 1);
    add(ns_of(outcome), spent_ns);
}

void Account::count_hit(Outcome outcome, std::uint64_t cost_ns, std::uint64_t spent_ns) {
    const std::uint64_t saved_ns = cost_ns - std::min(cost_ns, spent_ns);
    cairn::count(&RunReport::saved_ns, saved_ns);
    count(outcome, spent_ns);
    add(Number::saved_ns, saved_ns);
}

void Account::note_evictions() {
    if (cache_ == nullptr) return;
    const std::uint64_t evicted = cairn_evicted(cache_);
    const std::uint64_t before = evicted_seen_.exchange(evicted);
    if (evicted > before) add(Number::evicted, evicted - before);
}

void Account::watch_queue() {
    if (history_ == nullptr) return;
    const auto told = [](void *history, std::uint64_t entries, std::uint64_t bytes) {
        static_cast<History *>(history)->note_queue(entries, bytes);
    };
    (void)cairn_watch_queue(cache_, told, history_.get());
}

// Whether another thread or process has made it since it was looked for, or a moment before: what is
// stored is on disk some milliseconds later.
bool Account::is_made_meanwhile(Bytes key, const Seen &seen) {
    constexpr std::uint64_t kMomentS = 120;
    if (cairn_contains(cache_, key.data(), key.size()) == CAIRN_OK) return true;
    const std::uint64_t now_s = wall_clock_ns() / 1'000'000'000;
    return seen.was_stored && seen.when_s + kMomentS > now_s && history_->has_other_run();
}

Link Account::explain(Bytes key, const ProgramParts &program) {
    if (history_ == nullptr) {
        return unknown_because_ == Detail::not_opened ? link_of(Outcome::unusable, unknown_because_)
                                                      : link_of(Outcome::unknown, unknown_because_);
    }
    const Seen seen = history_->find(program);
    std::uint64_t cleared_s = 0;
    if (const auto fate = fate_of(cache_, key, seen, cleared_s)) return *fate;
    switch (seen.how) {
        case Seen::How::same:
            if (is_made_meanwhile(key, seen)) return link_of(Outcome::late, Detail::made_meanwhile);
            // A cache that is opened in another version is emptied, and its history stays. When it was
            // made is known to the minute, that minute's beginning.
            if (cleared_s != 0 && seen.when_s <= cleared_s) {
                return link_of(Outcome::cleared, Detail::none, cleared_s);
            }
            return seen.was_stored && !history_->has_failed_to_store()
                       ? link_of(Outcome::unknown, Detail::gone)
                       : link_of(Outcome::unusable, Detail::not_stored);
        case Seen::How::other_settings:
            return link_of(Outcome::other_settings);
        case Seen::How::other_context:
            return link_of(Outcome::other_context, Detail::none, seen.fields);
        case Seen::How::other_driver:
            return link_of(Outcome::other_driver, Detail::none, seen.generation);
        case Seen::How::never:
            break;
    }
    // In the first run after a clear, what is not known was probably there before it.
    if (cleared_s != 0 && history_->is_first_run()) {
        return link_of(Outcome::cleared, Detail::none, cleared_s);
    }
    return link_of(Outcome::never_seen, Detail::none, cleared_s);
}

}  // namespace cairn
