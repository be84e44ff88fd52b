// SPDX-License-Identifier: MIT
#include "store/publish.h"

#include "os/environment.h"

namespace cairn {
namespace {

// How often a writer withdraws for a tentative slot, with longer and longer pauses, before it takes
// the slot's owner for dead.
constexpr unsigned kPatience = 40;

bool exchange(Index::Place place, Slot expected, std::uint64_t desired) {
    std::uint64_t word = expected.word();
    return place.ref().compare_exchange_strong(word, desired);
}

enum class Visit { go_on, stop };

// Calls visit(place, slot, same) for the slots of a key but `own`. Empties a slot whose record is
// damaged, as `examine` says. If that slot has changed since we read it, its record was copied or
// replaced: begins again.
template <typename Visitor>
Status visit_slots_of_key(Index &index, std::uint64_t hash, const std::uint64_t *own,
                          const Examine &examine, Visitor visit) {
    TRY(index.refresh());
    Index::Candidates candidates(index, hash);
    while (const auto found = candidates.next()) {
        const auto &[place, slot] = *found;
        if (place.word == own) continue;
        const auto same = examine(slot);
        if (same.ok()) {
            if (same.value() && visit(place, slot, *same.value()) == Visit::stop) break;
            continue;
        }
        if (same.error() != Error::corrupt) return same.error();
        // The record is damaged, or went with a segment that was deleted while its writer published
        // it. A process that has the deleted file open could still read it.
        if (!index.drop(place, slot)) candidates.restart();
    }
    return {};
}

// Step 3 of the protocol: whether our tentative slot may stay.
Result<bool> may_stay(Index &index, std::uint64_t hash, Index::Place own, bool impatient,
                      const Examine &examine) {
    bool stay = true;
    TRY(visit_slots_of_key(
        index, hash, own.word, examine, [&](Index::Place place, Slot slot, std::uint64_t) {
            const bool yields = slot.tentative() && (place.rank > own.rank || impatient);
            if (!yields) {
                stay = false;
            } else if (!exchange(place, slot, kEmptySlot)) {
                // If its owner withdrew it and set it again, it did so after ours and will see
                // ours. If its owner published it, it stands.
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
                           [&](Index::Place place, Slot slot, std::uint64_t stamp_ns) {
                               if (slot.tentative()) return Visit::go_on;
                               found = PublishedSlot{place, slot, stamp_ns};
                               return Visit::stop;
                           }));
    return found;
}

Result<Published> publish(Index &index, std::uint64_t hash, Slot mine, PublishPolicy policy,
                          std::uint64_t stamp_ns, const Examine &examine) {
    const Slot tentative = mine.as_tentative();
    for (unsigned attempt = 0;; ++attempt) {
        TRY_ASSIGN(const auto found, find_published(index, hash, examine));
        if (found) {
            if (found->slot.location() == mine.location()) {
                return Published{Published::Outcome::unchanged};
            }
            if (policy == PublishPolicy::if_absent) return Published{Published::Outcome::exists};
            if (found->stamp_ns > stamp_ns) {
                return Published{Published::Outcome::outdated, *found};
            }
            if (!exchange(found->place, found->slot, mine.word())) continue;
            return Published{Published::Outcome::replaced, *found};
        }
        TRY_ASSIGN(const Index::Place own, index.insert(hash, tentative));
        const auto stay = may_stay(index, hash, own, attempt >= kPatience, examine);
        if (!stay.ok() || !stay.value()) {
            exchange(own, tentative, kEmptySlot);
            if (!stay.ok()) return stay.error();
            if (attempt > 2) sleep_us(attempt * 2);
            continue;
        }
        if (exchange(own, tentative, mine.word())) return Published{Published::Outcome::added};
    }
}

}  // namespace cairn
