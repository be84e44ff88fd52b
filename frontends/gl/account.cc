// SPDX-License-Identifier: MIT
#include "account.h"

#include <cairn/internal/front_end.h>

#include <algorithm>
#include <utility>

#include "base/checksum.h"
#include "cached.h"
#include "common/application.h"
#include "common/run_report.h"
#include "context.h"
#include "hook.h"
#include "identity.h"
#include "mutex.h"
#include "os/environment.h"
#include "requests.h"
#include "settings.h"

namespace cairn::gl {
namespace {

// The first that a cache had in this process.
std::atomic<Account *> g_first = nullptr;

uint32_t settings_digest(std::span<const Call> settings) {
    uint64_t digest = settings.size();
    for (const Call &call : settings) {
        digest = checksum(as_bytes(*call.arguments), digest ^ static_cast<uint64_t>(*call.setting));
    }
    return static_cast<uint32_t>(digest);
}

uint32_t key_digest(const ProgramKey &key) {
    uint32_t digest = 0;
    memcpy(&digest, key.data(), sizeof digest);
    return digest;
}

ProgramParts parts_of(const Context &context, const LookedFor &wanted) {
    return {wanted.sources, context.digest, settings_digest(wanted.settings),
            key_digest(wanted.key)};
}

Link link_of(Outcome outcome, Detail detail = Detail::none, uint64_t other = 0) {
    return {outcome, detail, {}, 0, other};
}

// What the cache says of an entry that is not there; nullopt: nothing that settles it.
std::optional<Link> fate_of(cairn_cache *cache, const ProgramKey &key, const Seen &seen,
                            uint64_t &cleared_s) {
    uint32_t fate = CAIRN_FATE_UNKNOWN;
    uint64_t when_s = 0;
    if (cairn_fate(cache, key.data(), key.size(), &fate, &when_s) != CAIRN_OK) return std::nullopt;
    // What was stored after that went in another way.
    constexpr uint64_t kMinuteS = 60;
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

// Whether another thread or process has made it since it was looked for, or a moment before: what is
// stored is on disk some milliseconds later.
bool is_made_meanwhile(const Context &context, const ProgramKey &key, const Seen &seen) {
    constexpr uint64_t kMomentS = 120;
    if (has_cached(context, key)) return true;
    const uint64_t now_s = wall_clock_ns() / 1'000'000'000;
    return seen.when_s + kMomentS > now_s && context.account->history()->has_other_run();
}

Link explain(Context &context, const LookedFor &wanted) {
    Account &account = *context.account;
    if (context.cache == nullptr || account.history() == nullptr) {
        const bool is_open =
            context.cache != nullptr || account.unknown_because() != Detail::not_opened;
        return is_open ? link_of(Outcome::unknown, account.unknown_because())
                       : link_of(Outcome::unusable, Detail::not_opened);
    }
    const Seen seen = account.history()->find(parts_of(context, wanted));
    uint64_t cleared_s = 0;
    if (const auto fate = fate_of(context.cache, wanted.key, seen, cleared_s)) return *fate;
    switch (seen.how) {
        case Seen::How::same:
            if (is_made_meanwhile(context, wanted.key, seen)) {
                return link_of(Outcome::late, Detail::made_meanwhile);
            }
            return seen.was_stored && !account.history()->has_failed_to_store()
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
    if (cleared_s != 0 && account.history()->is_first_run()) {
        return link_of(Outcome::cleared, Detail::none, cleared_s);
    }
    return link_of(Outcome::never_seen, Detail::none, cleared_s);
}

// Of an identity without what it says of the context: contexts of one driver differ in that.
uint64_t driver_digest(std::string_view identity) {
    uint64_t digest = 1;
    while (!identity.empty()) {
        const size_t end = std::min(identity.find('\n'), identity.size() - 1) + 1;
        const std::string_view line = identity.substr(0, end);
        identity.remove_prefix(end);
        if (!is_of_context(line)) digest = checksum(as_bytes(line), digest);
    }
    return digest;
}

void count_outcome(Account &account, Outcome outcome, uint64_t spent_ns) {
    static std::atomic<bool> has_started = false;
    if (!has_started.exchange(true, std::memory_order_relaxed)) account.add(Number::starts, 1);
    count_link(outcome, spent_ns);
    account.add(count_of(outcome), 1);
    account.add(ns_of(outcome), spent_ns);
}

}  // namespace

Account::Account(cairn_cache *cache, std::string_view identity)
    : cache_(cache),
      day_(application_name(), generation_number(cairn_program_cache_identifier(cache))),
      unknown_because_(Detail::not_remembered) {
    const std::string &root = settings().history_root;
    cairn_stats stats = {};
    stats.size = sizeof stats;
    if (root.empty()) return;
    [[maybe_unused]] static const bool counts = open_counters(root);
    if (cairn_stats_get(cache, &stats) != CAIRN_OK) return;
    auto opened = History::open({.root = root,
                                 .identifier = cairn_program_cache_identifier(cache),
                                 .driver = driver_digest(identity),
                                 .limit_bytes = stats.limit_bytes});
    if (opened.ok()) {
        history_ = std::move(opened.value());
    }
    Account *none = nullptr;
    g_first.compare_exchange_strong(none, this);
}

Account::Account(Detail unknown_because)
    : day_(application_name(), 0), unknown_because_(unknown_because) {}

void Account::add(Number number, uint64_t amount) {
    if (history_ != nullptr) history_->add(number, amount);
    day_.add(number, amount);
}

void Account::note_evictions() {
    if (cache_ == nullptr) return;
    const uint64_t evicted = cairn_evicted(cache_);
    const uint64_t before = evicted_seen_.exchange(evicted);
    if (evicted > before) add(Number::evicted, evicted - before);
}

Account &account_of_none() {
    static auto *account = new Account(Detail::in_memory_only);
    return *account;
}

Account &account_of_process() {
    Account *const first = g_first.load(std::memory_order_acquire);
    return first == nullptr ? account_of_none() : *first;
}

LinkKey link_key(const ProgramKey &key) {
    LinkKey beginning = {};
    std::copy_n(key.begin(), beginning.size(), beginning.begin());
    return beginning;
}

Link why_missed(Context &context, const LookedFor &wanted, Outcome found) {
    Link link = link_of(found, found == Outcome::late ? Detail::leased : Detail::none);
    if (found == Outcome::never_seen) {
        attempt([&] { link = explain(context, wanted); });
    }
    link.key = link_key(wanted.key);
    return link;
}

Link not_cacheable(Detail why) {
    return link_of(Outcome::not_cacheable, why);
}

void account_hit(Context &context, const LookedFor &wanted, Outcome outcome, uint64_t cost_ns,
                 uint64_t spent_ns) {
    Account &account = *context.account;
    const uint64_t saved_ns = cost_ns - std::min(cost_ns, spent_ns);
    count(&RunReport::saved_ns, saved_ns);
    count_outcome(account, outcome, spent_ns);
    account.add(Number::saved_ns, saved_ns);
    History *const history = account.history();
    if (history == nullptr) return;
    attempt([&] {
        // From a pack, or made before anything was remembered.
        if (!history->knows(wanted.sources, key_digest(wanted.key))) {
            history->note(parts_of(context, wanted), true);
        }
    });
}

void account_made(Context *context, const LookedFor *wanted, Link link, uint64_t spent_ns,
                  bool is_kept) {
    const bool has_one = context != nullptr && context->account != &account_of_none();
    Account &account = has_one ? *context->account : account_of_process();
    count_outcome(account, link.outcome, spent_ns);
    account.note_evictions();
    History *const history = account.history();
    if (history == nullptr) return;
    link.cost_ns = spent_ns;
    count(&RunReport::remembered);
    attempt([&] {
        history->note_link(link);
        if (wanted != nullptr) history->note(parts_of(*context, *wanted), is_kept);
    });
}

Making::Making(Context &context) : history_(context.account->history()) {
    if (history_ != nullptr) history_->note_making(true);
}

Making::~Making() {
    if (history_ != nullptr) history_->note_making(false);
}

}  // namespace cairn::gl
