// SPDX-License-Identifier: MIT
#include "account.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/checksum.h"
#include "common/application.h"
#include "common/run_report.h"
#include "context.h"
#include "hook.h"
#include "identity.h"
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

}  // namespace

Account *new_account(cairn_cache *cache, std::string_view identity) {
    const std::string &root = settings().history_root;
    if (root.empty()) return new_account(Detail::not_remembered);
    auto *const account = new Account({.cache = cache,
                                       .application = application_name(),
                                       .root = root,
                                       .counters_root = root,
                                       .driver = driver_digest(identity)});
    account->watch_queue();
    Account *none = nullptr;
    g_first.compare_exchange_strong(none, account);
    return account;
}

Account *new_account(Detail unknown_because) {
    return new Account(application_name(), unknown_because);
}

Account &account_of_none() {
    static Account *const account = new_account(Detail::in_memory_only);
    return *account;
}

Account &account_of_process() {
    Account *const first = g_first.load(std::memory_order_acquire);
    return first == nullptr ? account_of_none() : *first;
}

Link why_missed(Context &context, const LookedFor &wanted, Outcome found) {
    Link link = link_of(found, found == Outcome::late ? Detail::leased : Detail::none);
    if (found == Outcome::never_seen) {
        attempt([&] {
            link =
                context.account->explain(as_bytes(bytes_of(wanted.key)), parts_of(context, wanted));
        });
    }
    link.key = link_key(wanted.key);
    return link;
}

Link not_cacheable(Detail why) {
    return link_of(Outcome::not_cacheable, why);
}

void account_hit(Context &context, const LookedFor &wanted, Outcome outcome, uint64_t cost_ns,
                 uint64_t spent_ns) {
    context.account->count_hit(outcome, cost_ns, spent_ns);
    History *const history = context.account->history();
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
    account.count(link.outcome, spent_ns);
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
