// SPDX-License-Identifier: MIT
#include "store/reuse.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "store/small_file.h"

namespace cairn {
namespace {

constexpr std::uint64_t kMagic = 0x3145'5355'4552'4e43;  // "CNREUSE1"
constexpr std::size_t kMagicAt = 0, kCacheIdAt = 8, kShiftAt = 16, kChosenAt = 17, kLearnedAt = 18;
constexpr std::size_t kUsualAt = 19, kThresholdsAt = 20, kLotsAt = 28, kSavedAt = 32, kAskedAt = 64,
                      kBeginsAt = 72;
static_assert(kThresholdsAt + 2 * Reuse::kTastes <= kLotsAt);
static_assert(kLotsAt + Reuse::kTastes <= kSavedAt);
static_assert(kSavedAt + 8 * Reuse::kTastes <= kAskedAt);
static_assert(kBeginsAt < Reuse::kHeaderSize);

constexpr std::uint64_t kLimitPerWord = 1536;
// Keys that are known for each entry: those that were evicted lately.
constexpr std::uint64_t kKnownPerEntry = 4;
constexpr unsigned kShiftMax = 12;
// More than an index can have: a damaged count must not overflow.
constexpr std::uint64_t kEntriesMax = std::uint64_t{1} << 48;

// Damage must not make a sum that overflows.
constexpr std::uint64_t kSavedMask = (std::uint64_t{1} << 48) - 1;

struct Kind {
    Aging aging;
    Counting counting;
};
constexpr std::array<Kind, Reuse::kTastes> kKinds = {{{Aging::soon, Counting::all},
                                                      {Aging::slowly, Counting::root},
                                                      {Aging::slowly, Counting::all},
                                                      {Aging::never, Counting::all}}};
// Where less than this part of the cost comes back, copies are not worth making. But programs have some
// turnovers to come back first.
constexpr std::uint64_t kWorthCopying = 1024;
constexpr unsigned kBegin = 8 * kUseTimesPerTurnover;

// Before a key would seem new again, as times go round.
constexpr unsigned kForgottenAge = 22 * kUseTimesPerTurnover;

// A cache keeps what it can hold without copying all of it at each turnover: this part.
constexpr std::uint64_t kKept = 85, kOf = 100;

// A word, from the lowest bit: what fills it, size, density, time, count, and of the hash the upper half.
constexpr unsigned kSizeShift = 4, kDensityShift = 12, kTimeShift = 20, kCountShift = 28,
                   kHashShift = 32;
constexpr std::uint64_t kFilled = 0x9;

struct Known {
    Uses uses;
    unsigned density, size;
};

constexpr bool is_filled(std::uint64_t word) {
    return (word & 0xF) == kFilled;
}
constexpr Known decode_word(std::uint64_t word) {
    return {{static_cast<unsigned>(word >> kCountShift & 0xF),
             static_cast<UseTime>(word >> kTimeShift)},
            static_cast<unsigned>(word >> kDensityShift & 0xFF),
            static_cast<unsigned>(word >> kSizeShift & 0xFF)};
}
constexpr std::uint64_t encode_word(std::uint64_t hash, const Known &known) {
    return hash >> kHashShift << kHashShift | std::uint64_t{known.uses.count} << kCountShift |
           std::uint64_t{known.uses.last} << kTimeShift |
           std::uint64_t{known.density} << kDensityShift | std::uint64_t{known.size} << kSizeShift |
           kFilled;
}

// Of 2^32 microseconds.
constexpr unsigned kCostOctavesMax = 52;

constexpr unsigned size_of(std::uint64_t size_bytes) {
    return std::clamp(quarter_log2(size_bytes), 1u, 255u);
}

// The densities are those of costs in units of 2^-20 microseconds.
std::uint64_t cost_us_of(const Known &known, unsigned usual) {
    const unsigned density = known.density == 0 ? usual : known.density;
    return std::min<std::uint64_t>(bytes_of(density + known.size, kCostOctavesMax) >> 20,
                                   UINT32_MAX);
}

// Worths of all sizes, for sorting by counting.
constexpr int kWorthMin = -1024, kWorthMax = 511;
constexpr std::size_t bucket_of(int worth) {
    return static_cast<std::size_t>(std::clamp(worth, kWorthMin, kWorthMax) - kWorthMin);
}

}  // namespace

std::uint64_t Reuse::word_count(std::uint64_t limit_bytes) {
    return std::bit_floor(std::clamp(limit_bytes / kLimitPerWord, kWordsMin, kWordsMax));
}

void Reuse::note_put(const Index &index, std::uint64_t hash, std::uint32_t cost_us,
                     std::uint64_t size_bytes) {
    if (!is_sampled(index, hash)) return;
    note((hash & kHashMask) | std::uint64_t{density_of(cost_us, size_bytes)} << 8 |
         size_of(size_bytes));
}

void Reuse::note(std::uint64_t note) {
    const std::uint64_t number = noted_.fetch_add(1, std::memory_order_relaxed);
    notes_[number % kNotesMax].store(note, std::memory_order_relaxed);
}

Taste Reuse::taste(unsigned number) const {
    const auto [aging, counting] = kKinds[number];
    return {aging, state_.thresholds[number], state_.lots[number], state_.usual, counting};
}

std::optional<Taste> Reuse::learn(Index &index, Account &account, RecordReader &reader) {
    const SpaceLimits &limits = account.limits();
    const UseTime now = index.use_time();
    const Error loaded = load(index).error();
    // It may be whole.
    if (loaded == Error::io || loaded == Error::no_memory) return std::nullopt;
    // Keys became many more, as after a clear or with a higher limit; or far fewer.
    const unsigned shift = shift_for(index, state_.words.size());
    if (loaded != Error::none || shift + 2 <= state_.shift) {
        begin(index, account, reader);
    } else if (shift > state_.shift) {
        narrow(shift);
    }
    take_notes(now);
    const bool is_enough = choose(now, limits.put_bytes);
    if (!save(index, account).ok()) return std::nullopt;
    index.set_sampling(state_.shift + 1);
    return is_enough ? std::optional(taste(state_.chosen)) : std::nullopt;
}

// The next process that learns begins with the entries that are there.
void Reuse::forget_all(Index &index) {
    index.set_sampling(0);
    for (auto &each : notes_) each.store(0, std::memory_order_relaxed);
    noted_.store(0, std::memory_order_relaxed);
    (void)directory_.remove_file(kReuseFileName);
}

unsigned Reuse::shift_for(const Index &index, std::size_t words) {
    unsigned shift = 0;
    const std::uint64_t known = std::min(index.entries(), kEntriesMax) * kKnownPerEntry;
    while (shift < kShiftMax && known >> shift > words) ++shift;
    return shift;
}

Status Reuse::load(const Index &index) {
    TRY_ASSIGN(const File file, directory_.open_file(kReuseFileName, Access::read_only));
    std::vector<std::byte> bytes(kHeaderSize + kWordsMax * 8 + 1);
    TRY_ASSIGN(const std::size_t size, file.read_at(0, bytes));
    const Bytes read = Bytes(bytes).first(size);
    if (size < kHeaderSize ||
        get_le<std::uint64_t>(read, kCacheIdAt) != index.identity().cache_id) {
        return Error::corrupt;
    }
    return decode(read);
}

Status Reuse::decode(Bytes bytes) {
    const std::uint64_t count = (bytes.size() - kHeaderSize) / 8;
    const bool is_ours = get_le<std::uint64_t>(bytes, kMagicAt) == kMagic &&
                         bytes.size() % 8 == 0 && std::has_single_bit(count) &&
                         count >= kWordsMin && count <= kWordsMax;
    State state;
    state.cache_id = get_le<std::uint64_t>(bytes, kCacheIdAt);
    state.shift = std::to_integer<unsigned>(bytes[kShiftAt]);
    state.chosen = std::to_integer<unsigned>(bytes[kChosenAt]);
    state.learned = std::to_integer<UseTime>(bytes[kLearnedAt]);
    state.usual = std::to_integer<unsigned>(bytes[kUsualAt]);
    if (!is_ours || state.shift > kShiftMax || state.chosen >= kTastes) return Error::corrupt;
    for (unsigned i = 0; i < kTastes; ++i) {
        const auto threshold = get_le<std::uint16_t>(bytes, kThresholdsAt + i * 2);
        state.thresholds[i] = static_cast<std::int16_t>(threshold);
        state.lots[i] = std::to_integer<std::uint8_t>(bytes[kLotsAt + i]);
        state.saved_us[i] = get_le<std::uint64_t>(bytes, kSavedAt + i * 8) & kSavedMask;
    }
    state.begins = std::min(std::to_integer<unsigned>(bytes[kBeginsAt]), kBegin);
    state.asked_us = get_le<std::uint64_t>(bytes, kAskedAt) & kSavedMask;
    state.words.resize(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < state.words.size(); ++i) {
        state.words[i] = get_le<std::uint64_t>(bytes, kHeaderSize + i * 8);
    }
    state_ = std::move(state);
    return {};
}

// Under its name it is whole, but for what a process that is killed in between leaves unwritten.
Status Reuse::save(Index &index, Account &account) {
    std::vector<std::byte> bytes(kHeaderSize + state_.words.size() * 8);
    put_le(bytes, kMagicAt, kMagic);
    put_le(bytes, kCacheIdAt, state_.cache_id);
    bytes[kShiftAt] = static_cast<std::byte>(state_.shift);
    bytes[kChosenAt] = static_cast<std::byte>(state_.chosen);
    bytes[kLearnedAt] = static_cast<std::byte>(state_.learned);
    bytes[kUsualAt] = static_cast<std::byte>(state_.usual);
    for (unsigned i = 0; i < kTastes; ++i) {
        put_le(bytes, kThresholdsAt + i * 2, static_cast<std::uint16_t>(state_.thresholds[i]));
        put_le(bytes, kSavedAt + i * 8, state_.saved_us[i]);
        bytes[kLotsAt + i] = static_cast<std::byte>(state_.lots[i]);
    }
    bytes[kBeginsAt] = static_cast<std::byte>(state_.begins);
    put_le(bytes, kAskedAt, state_.asked_us);
    for (std::size_t i = 0; i < state_.words.size(); ++i) {
        put_le(bytes, kHeaderSize + i * 8, state_.words[i]);
    }
    const auto file = directory_.open_file(kReuseFileName, Access::read_write);
    const auto info = file.ok() ? file->info() : Result<FileInfo>(file.error());
    if (info.ok() && info->size_bytes == bytes.size()) {
        const Bytes pieces[] = {bytes};
        return file->write_at(0, pieces);
    }
    return account.make_file(index, bytes.size(), [&] {
        return make_small_file(directory_, kReuseFileName, bytes, bytes.size());
    });
}

// With the entries that are there: for the first time, or after the file was lost.
void Reuse::begin(Index &index, const Account &account, RecordReader &reader) {
    state_ = {};
    state_.cache_id = index.identity().cache_id;
    state_.words.resize(static_cast<std::size_t>(word_count(account.limits().limit_bytes)));
    state_.shift = shift_for(index, state_.words.size());
    const UseTime now = index.use_time();
    state_.learned = now;
    index.for_each([&](Index::Place, Slot slot) {
        if (!is_tag_in_sample(slot.tag(), state_.shift)) return false;
        const ReadRecord read = reader.read_any_key(state_.cache_id, slot.location());
        if (read.outcome != ReadOutcome::found) return false;
        const RecordHeader &header = read.header;
        const std::uint64_t size = header.raw_record_size();
        enter(header.key_hash, uses_with(header.uses, slot.hits(), now),
              density_of(header.cost_us, size), size_of(size));
        return false;
    });
    state_.begins = kBegin;
}

// Forgets the keys that are not in a smaller sample.
void Reuse::narrow(unsigned shift) {
    state_.shift = shift;
    for (std::uint64_t &word : state_.words) {
        if (!is_in_sample(word, shift)) word = 0;
    }
}

std::size_t Reuse::set_of(std::uint64_t hash) const {
    const std::size_t sets = state_.words.size() / kWordsPerSet;
    return static_cast<std::size_t>(hash >> kHashShift) % sets * kWordsPerSet;
}

std::optional<std::size_t> Reuse::find(std::uint64_t hash) const {
    const std::size_t set = set_of(hash);
    for (std::size_t i = set; i < set + kWordsPerSet; ++i) {
        const std::uint64_t word = state_.words[i];
        if (is_filled(word) && word >> kHashShift == hash >> kHashShift) return i;
    }
    return std::nullopt;
}

std::optional<Uses> Reuse::uses_of(std::uint64_t hash) const {
    if (state_.words.empty() || !is_in_sample(hash, state_.shift)) return std::nullopt;
    const auto found = find(hash);
    return found ? std::optional(decode_word(state_.words[*found]).uses) : std::nullopt;
}

// In the place of the one that was looked up least lately.
void Reuse::enter(std::uint64_t hash, Uses uses, unsigned density, unsigned size) {
    const auto rank = [&](std::uint64_t word) {
        return is_filled(word) ? age_of(decode_word(word).uses.last, uses.last) : 256u;
    };
    std::size_t place = set_of(hash);
    for (std::size_t i = place; i < set_of(hash) + kWordsPerSet; ++i) {
        if (rank(state_.words[i]) > rank(state_.words[place])) place = i;
    }
    state_.words[find(hash).value_or(place)] = encode_word(hash, {uses, density, size});
}

void Reuse::take_notes(UseTime now) {
    noted_.store(0, std::memory_order_relaxed);
    for (auto &each : notes_) {
        if (each.load(std::memory_order_relaxed) == 0) continue;
        const std::uint64_t note = each.exchange(0, std::memory_order_relaxed);
        const std::uint64_t hash = note & kHashMask;
        if (note == 0 || !is_in_sample(hash, state_.shift)) continue;
        const auto density = static_cast<unsigned>(note >> 8 & 0xFF);
        const auto size = static_cast<unsigned>(note & 0xFF);
        const auto found = find(hash);
        if (!found) {
            if (size == 0) continue;
            enter(hash, {1, now}, density, size);
            state_.asked_us += cost_us_of({{}, density, size}, state_.usual);
            continue;
        }
        Known known = decode_word(state_.words[*found]);
        state_.asked_us += cost_us_of(known, state_.usual);
        const unsigned age = age_of(known.uses.last, now);
        for (unsigned i = 0; i < kTastes; ++i) {
            const int worth = worth_of(known.uses.count, known.density, age, taste(i));
            if (stays(worth, lot_of(hash), taste(i)))
                state_.saved_us[i] += cost_us_of(known, state_.usual);
        }
        known.uses = {std::min(known.uses.count + 1, kUsesMax), now};
        if (size != 0) known = {known.uses, density, size};
        state_.words[*found] = encode_word(hash, known);
    }
}

// For each taste the worth from which entries fit into a cache; then the taste that has saved most. False:
// all that is known would fit, or hardly anything comes back.
bool Reuse::choose(UseTime now, std::uint64_t capacity_bytes) {
    std::array<std::uint32_t, 256> of_density = {};
    std::uint64_t costs_known = 0, known_bytes = 0;
    for (std::uint64_t &word : state_.words) {
        if (!is_filled(word)) continue;
        const Known known = decode_word(word);
        const bool is_damaged = bytes_of(known.size) > capacity_bytes;
        if (is_damaged || age_of(known.uses.last, now) >= kForgottenAge) {
            word = 0;
            continue;
        }
        known_bytes += bytes_of(known.size);
        if (known.density == 0) continue;
        ++of_density[known.density];
        ++costs_known;
    }
    state_.usual = kDensityAtFirst;
    if (costs_known != 0) {
        state_.usual = 1;
        for (std::uint64_t seen = 0; (seen += of_density[state_.usual]) <= costs_known / 2;)
            ++state_.usual;
    }
    const std::uint64_t capacity = (capacity_bytes * kKept / kOf) >> state_.shift;
    std::array<std::array<std::uint64_t, kWorthMax - kWorthMin + 1>, kTastes> bytes_of_worth = {};
    for (const std::uint64_t word : state_.words) {
        if (!is_filled(word)) continue;
        const Known known = decode_word(word);
        const std::uint64_t size_bytes = bytes_of(known.size);
        const unsigned age = age_of(known.uses.last, now);
        for (unsigned i = 0; i < kTastes; ++i) {
            const auto [aging, counting] = kKinds[i];
            const int worth =
                worth_at_first(known.uses.count, known.density, state_.usual, counting);
            const int lost = kLost[static_cast<unsigned>(aging)][age];
            bytes_of_worth[i][bucket_of(worth - lost)] += size_bytes;
        }
    }
    for (unsigned i = 0; i < kTastes; ++i) {
        const auto &of_worth = bytes_of_worth[i];
        std::uint64_t left = capacity;
        int worth = kWorthMax;
        for (; worth > kWorthMin && of_worth[bucket_of(worth)] <= left; --worth) {
            left -= of_worth[bucket_of(worth)];
        }
        const std::uint64_t of_it = std::max<std::uint64_t>(of_worth[bucket_of(worth)], 1);
        state_.thresholds[i] = worth;
        state_.lots[i] =
            static_cast<std::uint8_t>(std::min<std::uint64_t>(left * 256 / of_it, 255));
    }
    // What was saved long ago counts less: half after a turnover.
    for (unsigned passed = age_of(state_.learned, now); passed > 0; --passed) {
        for (std::uint64_t &saved : state_.saved_us) saved -= saved / 12;
        state_.asked_us -= state_.asked_us / 12;
        if (state_.begins > 0) --state_.begins;
    }
    state_.learned = now;
    for (unsigned i = kTastes; i-- > 0;) {
        if (state_.saved_us[i] > state_.saved_us[state_.chosen]) state_.chosen = i;
    }
    const std::uint64_t least_us = state_.asked_us / kWorthCopying;
    const bool is_worth = state_.begins != 0 || state_.saved_us[state_.chosen] > least_us;
    return known_bytes > capacity && is_worth;
}

}  // namespace cairn
