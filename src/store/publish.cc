// SPDX-License-Identifier: MIT
#include "store/publish.h"

#include "os/environment.h"

namespace cairn {
namespace {

// How often a writer withdraws for a tentative slot before it takes its owner for dead. Each time
// it sleeps longer.
constexpr unsigned kPatience = 40;

bool exchange(Index::Place place, Slot expected, std::uint64_t desired) {
    std::uint64_t word = expected.word();
    return place.ref().compare_exchange_strong(word, desired);
}

enum class Visit { go_on, stop };

// Calls visit(place, slot, same) for the slots of a key but `own`. A slot whose record is not whole
// is emptied, unless it has changed since it was read: then the record was carried over or
// replaced, and we begin again.
template <typename Visitor>
Status visit_slots_of_key(Index &index, std::uint64_t hash, const std::uint64_t *own,
                          const Examine &examine, Visitor visit) {
    TRY(index.refresh());
    for (;;) {
        Error error = Error::none;
        bool changed = false;
        index.probe(hash, [&](Index::Place place, Slot slot) {
            if (place.word == own) return false;
            const auto same = examine(slot);
            if (same.ok()) return same.value() && visit(place, slot, *same.value()) == Visit::stop;
            if (same.error() != Error::corrupt) {
                error = same.error();
                return true;
            }
            // Unless it has changed, it leads nowhere: to what was damaged, or deleted with a
            // process that was publishing it. Left there, it could be read by whoever still has the
            // deleted file open.
            std::uint64_t word = slot.word();
            changed = !place.ref().compare_exchange_strong(word, kEmptySlot);
            if (!changed && !slot.tentative()) index.counter(Counter::entries).fetch_sub(1);
            return changed;
        });
        if (error != Error::none) return error;
        if (!changed) return {};
    }
}

// Step 3 of the protocol: whether our tentative slot may stay.
Result<bool> may_stay(Index &index, std::uint64_t hash, Index::Place own, bool impatient,
                      const Examine &examine) {
    bool stay = true;
    TRY(visit_slots_of_key(
        index, hash, own.word, examine, [&](Index::Place place, Slot slot, SameKey) {
            const bool yields = slot.tentative() && (place.rank > own.rank || impatient);
            if (!yields) {
                stay = false;
            } else if (!exchange(place, slot, kEmptySlot)) {
                // Withdrawn, and perhaps set again: then after ours, which its writer will see.
                // Published, it stands.
                const Slot now(place.ref().load());
                stay = now.word() == kEmptySlot || now.tentative();
            }
            return stay ? Visit::go_on : Visit::stop;
        }));
    return stay;
}

}  // namespace

Result<std::optional<PublishedSlot>> find_published(Index &index, std::uint64_t hash,
                                                    const Examine &examine) {
    std::optional<PublishedSlot> found;
    TRY(visit_slots_of_key(index, hash, nullptr, examine,
                           [&](Index::Place place, Slot slot, SameKey same) {
                               if (slot.tentative()) return Visit::go_on;
                               found = PublishedSlot{place, slot, same.stamp_ns};
                               return Visit::stop;
                           }));
    return found;
}

Result<Published> publish(Index &index, std::uint64_t hash, Slot mine, PublishPolicy policy,
                          std::uint64_t stamp_ns, const Examine &examine, const Confirm &confirm) {
    for (unsigned attempt = 0;; ++attempt) {
        // A rescan may publish the very record that a living writer is about to: they must tell
        // their tentative slots apart. The hit count, which means nothing there, is the mark.
        const unsigned mark = policy == PublishPolicy::if_newer ? 1 + attempt % 3 : 0;
        const Slot tentative = mine.with_state(Slot::State::tentative).with_hits(mark);
        TRY_ASSIGN(const auto found, find_published(index, hash, examine));
        if (found) {
            if (found->slot.location() == mine.location()) {
                return Published{Published::Outcome::added};  // a rescan was faster
            }
            if (policy == PublishPolicy::if_absent ||
                (policy == PublishPolicy::if_newer && found->stamp_ns >= stamp_ns)) {
                return Published{Published::Outcome::exists};
            }
            if (policy == PublishPolicy::replace && found->stamp_ns > stamp_ns) {
                return Published{Published::Outcome::outdated, found->stamp_ns};
            }
            if (confirm) {
                TRY_ASSIGN(const bool confirmed, confirm(&*found));
                if (!confirmed) return Published{Published::Outcome::exists};
            }
            if (!exchange(found->place, found->slot, mine.word())) continue;
            return Published{Published::Outcome::replaced};
        }
        TRY_ASSIGN(const Index::Place own, index.insert(hash, tentative));
        const auto stay = may_stay(index, hash, own, attempt >= kPatience, examine);
        if (!stay.ok() || !stay.value()) {
            exchange(own, tentative, kEmptySlot);
            if (!stay.ok()) return stay.error();
            if (attempt > 2) sleep_us(attempt * 2);
            continue;
        }
        const auto confirmed = confirm ? confirm(nullptr) : Result<bool>(true);
        if (!confirmed.ok() || !confirmed.value()) {
            exchange(own, tentative, kEmptySlot);
            if (!confirmed.ok()) return confirmed.error();
            return Published{Published::Outcome::exists};
        }
        if (exchange(own, tentative, mine.word())) {
            return Published{Published::Outcome::added};
        }
    }
}

}  // namespace cairn
