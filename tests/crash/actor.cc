// SPDX-License-Identifier: MIT
#include "crash/actor.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace cairn_test {
namespace {

unsigned long long number(std::uint64_t value) {
    return value;
}

}  // namespace

int try_again_while_busy(Ledger &ledger, unsigned self, Refusals refusals,
                         const std::function<int()> &store) {
    int result = store();
    for (int i = 0; result == CAIRN_ERROR_BUSY && refusals == Refusals::none && i < 1000; ++i) {
        ++ledger.progress[self].refused;
        usleep(10'000);
        result = store();
    }
    return result;
}

void Actor::step() {
    const std::uint64_t choice = random_.below(1000);
    if (choice < 300) return write_owned();
    if (choice < 640) return read_some_owned();
    if (choice < 720) return write_contended();
    if (choice < 840) return read_contended(random_.below(kContendedKeys));
    if (choice < 900) return put_once(random_.below(kOnceKeys));
    if (choice < 996) return read_once(random_.below(kOnceKeys));
    if (choice < 997) return enumerate_some();
    if (choice < 998) return cache_->ask_for_rebuild();
    if (choice < 999) return compress();
    if (cache_->sync() != CAIRN_OK) report(ledger_.findings, ledger_.findings.failed, "sync");
}

// ---- storing

void Actor::write_owned() {
    const std::uint64_t count = kOwnedKeys / rules_.worker_count;
    const std::uint64_t key = random_.below(count) * rules_.worker_count + self_;
    OwnedKey &owned = ledger_.owned[key];
    const std::uint64_t clears = ledger_.clears_started;
    const bool overlapped = ledger_.clears_finished != clears;
    const std::uint64_t before = owned.started.load();
    const std::uint64_t version = before + 1;
    // The state before is known for certain when the latest put was acknowledged.
    const bool present = owned.acked().version == before && !is_removal(key, before);
    if (owned.acked().version != before && !is_removal(key, before)) owned.cut_short.store(before);
    owned.started.store(version);
    const ByteVector bytes = numbered_key(kOwnedFamily, key, rules_.key_size_max);
    int result;
    if (is_removal(key, version)) {
        result = cache_->remove(bytes);
        // A search that somebody asked for takes longer than a removal waits: nothing has changed.
        if (result == CAIRN_ERROR_BUSY) {
            ++progress().refused;
            return;
        }
        if (result == CAIRN_MISS) {
            if (present && rules_.losses == Losses::none && ledger_.clears_started == 0) {
                report(ledger_.findings, ledger_.findings.lost,
                       "remove of key %llu missed version %llu", number(key), number(before));
            }
            result = CAIRN_OK;
        }
    } else {
        const auto value = stamped_value({key, self_, version, 0}, random_size());
        const std::uint32_t flags = random_.one_in(8) ? std::uint32_t{CAIRN_PUT_PINNED} : 0;
        result = put(bytes, value, flags, static_cast<std::uint32_t>(version));
        ledger_.bytes_written += value.size();
    }
    if (!stored(result, "owned")) return;
    const Acked acked = {version, overlapped ? Acked::kOverlapped : clears, ledger_.clears_started};
    owned.acked_word.store(acked.pack());
}

void Actor::write_contended() {
    const std::uint64_t key = random_.below(kContendedKeys);
    Writer &writer = ledger_.writers[self_];
    const std::uint64_t sequence = writer.sequence.fetch_add(1) + 1;
    Counter &ended = writer.ended[sequence % Writer::kRing];
    ended.store(0);
    const std::uint64_t begin = ledger_.tick();
    const auto value = stamped_value({key, self_, sequence, begin}, random_size());
    const auto bytes = numbered_key(kContendedFamily, key, rules_.key_size_max);
    const int result = put(bytes, value);
    ledger_.bytes_written += value.size();
    if (!stored(result, "contended")) return;
    ended.store(ledger_.tick());
    raise_to(ledger_.contended_begin[key], begin);
}

void Actor::put_once(std::uint64_t key) {
    Writer &writer = ledger_.writers[self_];
    const std::uint64_t sequence = writer.sequence.fetch_add(1) + 1;
    const std::uint64_t identity = std::uint64_t{self_ + 1} << 48 | sequence;
    const auto value = stamped_value({key, self_, sequence, 0}, random_size());
    const auto bytes = numbered_key(kOnceFamily, key, rules_.key_size_max);
    const int result = put(bytes, value, CAIRN_PUT_IF_ABSENT);
    if (result == CAIRN_EXISTS) {
        ++progress().writes;
        return;
    }
    ledger_.bytes_written += value.size();
    if (!stored(result, "once")) return;
    std::uint64_t known = 0;
    if (!ledger_.once[key].compare_exchange_strong(known, identity) && known != identity &&
        rules_.losses == Losses::none) {
        report(ledger_.findings, ledger_.findings.wrong,
               "put if absent of key %llu won twice: %llx and %llx", number(key), number(known),
               number(identity));
    }
}

int Actor::put(const ByteVector &key, const ByteVector &value, std::uint32_t flags,
               std::uint32_t cost_us) {
    return try_again_while_busy(ledger_, self_, rules_.refusals,
                                [&] { return cache_->put(key, value, flags, cost_us); });
}

// Counts a store; false when it did not take place.
bool Actor::stored(int result, const char *what) {
    if (result == CAIRN_OK) {
        ++progress().writes;
        return true;
    }
    ++progress().refused;
    const bool allowed = rules_.refusals == Refusals::any ||
                         (rules_.refusals == Refusals::busy && result == CAIRN_ERROR_BUSY);
    if (!allowed) {
        report(ledger_.findings, ledger_.findings.failed, "store of %s key: %s", what,
               cairn_result_string(result));
    }
    return false;
}

std::size_t Actor::random_size() {
    const std::uint64_t choice = random_.below(100);
    std::size_t size = choice < 60 ? 2048 : choice < 95 ? 8192 : 65536;
    if (random_.one_in(1000)) size = 1u << 20;
    size = std::min(size, rules_.value_size_max);
    return kStampSize + random_.below(size - kStampSize + 1);
}

// ---- looking up

Actor::Lookup Actor::lookup(const ByteVector &key_bytes, std::uint64_t key) {
    ++progress().reads;
    int result = 0;
    std::optional<Stamp> stamp;
    std::size_t size = 0;
    if (random_.one_in(3)) {
        const auto value = cache_->get_into(key_bytes, 16384, &result);
        if (value) {
            stamp = read_stamp(*value);
            size = value->size();
        }
    }
    if (size == 0 && (result == CAIRN_OK || result == CAIRN_TOO_SMALL)) {
        const auto blob = cache_->get(key_bytes, &result);
        if (blob) {
            stamp = read_stamp(blob->bytes());
            size = blob->bytes().size();
        }
    }
    if (result == CAIRN_MISS) return {Lookup::Outcome::miss, {}};
    if (result != CAIRN_OK) {
        report(ledger_.findings, ledger_.findings.failed, "lookup: %s",
               cairn_result_string(result));
        return {Lookup::Outcome::unusable, {}};
    }
    if (!stamp || stamp->key != key || stamp->writer >= kWorkersMax) {
        report(ledger_.findings, ledger_.findings.wrong, "key %llu: %zu bytes nobody stored",
               number(key), size);
        return {Lookup::Outcome::unusable, {}};
    }
    return {Lookup::Outcome::hit, *stamp};
}

void Actor::read_owned(std::uint64_t key) {
    OwnedKey &owned = ledger_.owned[key];
    const std::uint64_t finished = ledger_.clears_finished;
    const std::uint64_t clears = ledger_.clears_started;
    const Acked acked = owned.acked();
    const std::uint64_t lower = std::max<std::uint64_t>(acked.version, owned.seen);
    const Lookup found = lookup(numbered_key(kOwnedFamily, key, rules_.key_size_max), key);
    if (found.outcome == Lookup::Outcome::unusable) return;
    const std::uint64_t upper = owned.started;
    if (found.outcome == Lookup::Outcome::miss) {
        // A clear that was under way, or came between, explains a miss.
        const bool quiet = finished == clears && ledger_.clears_started == clears;
        const bool since = acked.version == lower && acked.clears_at_begin == clears;
        if (clears == 0 || since) {
            if (quiet) judge_owned_miss(key, lower, upper);
        }
        return;
    }
    judge_owned_hit(key, lower, upper, found.stamp.version);
    if (found.stamp.version == acked.version && acked.clears_at_end < finished) {
        report(ledger_.findings, ledger_.findings.wrong, "key %llu version %llu survived a clear",
               number(key), number(acked.version));
    }
}

void Actor::judge_owned_hit(std::uint64_t key, std::uint64_t lower, std::uint64_t upper,
                            std::uint64_t version) {
    if (version >= lower && version <= upper && !is_removal(key, version)) {
        raise_to(ledger_.owned[key].seen, version);
        return;
    }
    // Removals, which did not find it, since.
    bool late = version != 0 && version == ledger_.owned[key].cut_short;
    for (std::uint64_t since = version + 1; since <= lower; ++since) {
        late = late && is_removal(key, since);
    }
    if (late) return;
    report(ledger_.findings, ledger_.findings.wrong,
           "key %llu shows version %llu, not one of %llu to %llu (cut short: %llu)", number(key),
           number(version), number(lower), number(upper), number(ledger_.owned[key].cut_short));
}

void Actor::judge_owned_miss(std::uint64_t key, std::uint64_t lower, std::uint64_t upper) {
    if (rules_.losses == Losses::allowed) return;
    for (std::uint64_t version = lower; version <= upper; ++version) {
        if (is_removal(key, version)) return;
    }
    report(ledger_.findings, ledger_.findings.lost,
           "key %llu has no value, though version %llu was stored (latest started: %llu)",
           number(key), number(lower), number(upper));
}

void Actor::read_contended(std::uint64_t key) {
    const std::uint64_t latest_begin = ledger_.contended_begin[key];
    const Lookup found = lookup(numbered_key(kContendedFamily, key, rules_.key_size_max), key);
    if (found.outcome == Lookup::Outcome::unusable) return;
    if (found.outcome == Lookup::Outcome::miss) {
        if (latest_begin != 0 && rules_.losses == Losses::none) {
            report(ledger_.findings, ledger_.findings.lost, "contended key %llu", number(key));
        }
        return;
    }
    const Writer &writer = ledger_.writers[found.stamp.writer];
    const std::uint64_t version = found.stamp.version;
    const std::uint64_t ended = writer.ended[version % Writer::kRing];
    const std::uint64_t sequence = writer.sequence;
    if (version > sequence || found.stamp.begin > ledger_.clock) {
        report(ledger_.findings, ledger_.findings.wrong, "contended key %llu: a put never begun",
               number(key));
    } else if (ended != 0 && ended < latest_begin && version + Writer::kRing > sequence) {
        report(ledger_.findings, ledger_.findings.wrong,
               "contended key %llu: the put ended at %llu, before that which began at %llu",
               number(key), number(ended), number(latest_begin));
    }
}

void Actor::read_once(std::uint64_t key) {
    std::uint64_t known = ledger_.once[key];
    const Lookup found = lookup(numbered_key(kOnceFamily, key, rules_.key_size_max), key);
    if (found.outcome == Lookup::Outcome::unusable || rules_.losses == Losses::allowed) return;
    if (found.outcome == Lookup::Outcome::miss) {
        if (known != 0)
            report(ledger_.findings, ledger_.findings.lost, "once key %llu", number(key));
        return;
    }
    const std::uint64_t identity = (found.stamp.writer + 1) << 48 | found.stamp.version;
    if (!ledger_.once[key].compare_exchange_strong(known, identity) && known != identity) {
        report(ledger_.findings, ledger_.findings.wrong,
               "put if absent of key %llu: value %llx became %llx", number(key), number(known),
               number(identity));
    }
}

// ---- looking at

namespace {

struct Enumeration {
    Findings *findings;
    std::uint64_t seen = 0;
    std::uint64_t stop_after = UINT64_MAX;
    std::array<std::array<std::uint8_t, kOwnedKeys>, 3> times{};

    static int visit(void *user, const cairn_entry *entry) {
        auto *self = static_cast<Enumeration *>(user);
        std::uint64_t head[2] = {};
        if (entry->key_size >= sizeof(head)) std::memcpy(head, entry->key, sizeof(head));
        const bool known =
            head[0] >= kOwnedFamily && head[0] <= kOnceFamily && head[1] < kOwnedKeys;
        if (known) {
            ++self->times[head[0] - 1][head[1]];
        } else {
            report(*self->findings, self->findings->wrong, "enumerated a key nobody stored");
        }
        return ++self->seen >= self->stop_after ? 1 : 0;
    }
};
static_assert(kOnceKeys <= kOwnedKeys && kContendedKeys <= kOwnedKeys);

}  // namespace

void Actor::compress() {
    const int result = cache_->compress();
    if (result == CAIRN_OK || result == CAIRN_ERROR_BUSY || result == CAIRN_ERROR_FULL) return;
    report(ledger_.findings, ledger_.findings.failed, "compress: %s", cairn_result_string(result));
}

void Actor::enumerate_some() {
    ++progress().reads;
    Enumeration enumeration{&ledger_.findings};
    enumeration.stop_after = 1 + random_.below(200);
    const int result =
        cairn_enumerate(cache_->handle(), &Enumeration::visit, static_cast<void *>(&enumeration));
    if (result != CAIRN_OK) {
        report(ledger_.findings, ledger_.findings.failed, "enumerate: %s",
               cairn_result_string(result));
    }
}

void Actor::read_everything() {
    for (std::uint64_t key = 0; key < kOwnedKeys; ++key) read_owned(key);
    for (std::uint64_t key = 0; key < kContendedKeys; ++key) read_contended(key);
    for (std::uint64_t key = 0; key < kOnceKeys; ++key) read_once(key);
}

void Actor::enumerate_everything() {
    Enumeration all{&ledger_.findings};
    const int result =
        cairn_enumerate(cache_->handle(), &Enumeration::visit, static_cast<void *>(&all));
    if (result != CAIRN_OK) report(ledger_.findings, ledger_.findings.failed, "enumerate");
    for (std::uint64_t family = kOwnedFamily; family <= kOnceFamily; ++family) {
        for (std::uint64_t key = 0; key < kOwnedKeys; ++key) {
            const bool there =
                cache_->contains(numbered_key(family, key, rules_.key_size_max)) == CAIRN_OK;
            const unsigned times = all.times[family - 1][key];
            if (times == (there ? 1u : 0u)) continue;
            report(ledger_.findings, times == 0 ? ledger_.findings.lost : ledger_.findings.wrong,
                   "key %llu of family %llu was enumerated %u times", number(key), number(family),
                   times);
        }
    }
}

}  // namespace cairn_test
