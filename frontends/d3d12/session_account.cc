// SPDX-License-Identifier: MIT
#include "session_account.h"

#include <array>
#include <atomic>
#include <cstring>
#include <span>

#include "base/checksum.h"
#include "base/guarded.h"
#include "common/permission.h"
#include "os/environment.h"

namespace cairn::d3d12 {
namespace {

// The last look-up of a thread, if it missed.
struct Missed {
    uint64_t account = 0;  // its number; 0: it was found
    KeyHash hash = {};
    uint64_t since_ns = 0;  // by the monotonic clock
    cairn::Outcome outcome = cairn::Outcome::unknown;
    uint64_t link = 0;  // see History::note_link
};
thread_local Missed t_missed;

uint64_t next_number() {
    static std::atomic<uint64_t> last = 0;
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

uint32_t digest_of(uint64_t number) {
    return static_cast<uint32_t>(checksum(std::as_bytes(std::span(&number, 1)), sizeof number));
}

// Of the driver that a session is bound to; 0: of all.
uint64_t driver_digest(const CacheOptions &options) {
    return options.driver.empty() ? 0 : checksum(as_bytes(options.driver), options.driver.size());
}

Account account_for(const CacheOptions &options, cairn_cache *cache) {
    if (!options.is_on_disk) return Account(options.application, Detail::in_memory_only);
    if (cache == nullptr || !own_lookups_are_remembered(options.application)) {
        return Account(options.application, Detail::not_remembered);
    }
    // A cache in the application's own folder leaves nothing in the user's.
    const bool is_users = options.root == options.control_root;
    return Account({.cache = cache,
                    .application = options.application,
                    .root = options.root,
                    .counters_root = is_users ? options.root : "",
                    .driver = driver_digest(options)});
}

}  // namespace

SessionAccount::SessionAccount(const CacheOptions &options, cairn_cache *cache)
    : number_(next_number()),
      context_(uint64_t{digest_of(options.version)} << 32),
      is_on_disk_(cache != nullptr),
      account_(account_for(options, cache)) {
    History *const history = account_.history();
    if (history == nullptr) return;
    std::array<uint32_t, kContextFields> fields = {};
    fields[static_cast<size_t>(ContextField::version)] = digest_of(options.version);
    history->note_context(context_, fields);
}

ProgramParts SessionAccount::parts_of(const KeyHash &hash) const {
    ProgramParts parts;
    std::memcpy(&parts.sources, hash.data(), sizeof parts.sources);
    std::memcpy(&parts.key, hash.data() + sizeof parts.sources, sizeof parts.key);
    parts.context = context_;
    return parts;
}

void SessionAccount::found(const KeyHash &hash, const Entry &entry, uint64_t start_ns) {
    t_missed.account = 0;
    const cairn::Outcome outcome = entry.is_of_pack() ? cairn::Outcome::hit_pack
                                   : is_on_disk_      ? cairn::Outcome::hit_disk
                                                      : cairn::Outcome::hit_memory;
    account_.count_hit(outcome, uint64_t{entry.cost_us()} * 1000, monotonic_ns() - start_ns);
    account_.add(Number::bytes_read, entry.value().size());
    History *const history = account_.history();
    if (history == nullptr) return;
    const ProgramParts parts = parts_of(hash);
    // From a pack, or made before anything was remembered.
    guarded(
        [&] {
            if (!history->knows(parts.sources, parts.key)) history->note(parts, true);
        },
        [] {});
}

bool SessionAccount::is_noted(const KeyHash &hash, const Link &link) {
    const uint64_t what =
        static_cast<uint64_t>(link.outcome) << 8 | static_cast<uint64_t>(link.detail);
    const uint64_t mark = checksum(std::as_bytes(std::span(hash)), what + 1);
    // The latest goes first. Where threads write at once, one may be forgotten.
    auto &set = noted_[mark % noted_.size()];
    uint64_t next = mark;
    for (std::atomic<uint64_t> &place : set) {
        next = place.exchange(next, std::memory_order_relaxed);
        if (next == mark) return true;
    }
    return false;
}

void SessionAccount::note_miss(const KeyHash &hash, const Link &link, uint64_t spent_ns) {
    const bool is_same = t_missed.account == number_ && t_missed.hash == hash;
    uint64_t number = is_same && t_missed.outcome == link.outcome ? t_missed.link : 0;
    account_.count(link.outcome, spent_ns);
    History *const history = account_.history();
    if (history != nullptr && !is_noted(hash, link)) {
        Link noted = link;
        noted.key = link_key(hash);
        number = history->note_link(noted);
    }
    t_missed = {number_, hash, monotonic_ns(), link.outcome, number};
}

void SessionAccount::missed(const KeyHash &hash, uint64_t start_ns) {
    const uint64_t spent_ns = monotonic_ns() - start_ns;
    Link link;
    guarded([&] { link = account_.explain(std::as_bytes(std::span(hash)), parts_of(hash)); },
            [] {});
    note_miss(hash, link, spent_ns);
}

void SessionAccount::refused(const KeyHash &hash, Detail why) {
    note_miss(hash, link_of(cairn::Outcome::not_cacheable, why), 0);
}

uint64_t SessionAccount::cost_ns(const KeyHash &hash) const {
    const bool is_this = t_missed.account == number_ && t_missed.hash == hash;
    return is_this ? monotonic_ns() - t_missed.since_ns : 0;
}

void SessionAccount::stored(const KeyHash &hash, Outcome outcome, size_t size, uint64_t cost_ns) {
    History *const history = account_.history();
    if (cost_ns != 0) {
        account_.add(ns_of(t_missed.outcome), cost_ns);
        if (history != nullptr) history->note_cost(t_missed.link, link_key(hash), cost_ns);
        t_missed.account = 0;
    }
    const bool is_there = outcome == Outcome::ok || outcome == Outcome::exists;
    if (outcome == Outcome::ok) {
        account_.add(Number::stored, 1);
        account_.add(Number::bytes_written, size);
    } else if (!is_there) {
        account_.add(Number::store_failed, 1);
    }
    if (history == nullptr) return;
    guarded([&] { history->note(parts_of(hash), is_there); }, [] {});
}

}  // namespace cairn::d3d12
