// SPDX-License-Identifier: MIT
#include "cache/asking_cache.h"

#include <algorithm>

#include "base/guarded.h"
#include "cache/agent_notice.h"
#include "os/environment.h"
#include "os/root.h"
#include "pack/entry_hash.h"

namespace cairn {
namespace {

bool is_own(const Result<FileInfo> &info) {
    return info.ok() && info->owner == effective_user() && !info->writable_by_others;
}

Result<File> open_kept_pack(const std::string &root, const KeptPackName &name) {
    TRY_ASSIGN(const Directory top, open_root(root, Create::no, Log()));
    TRY_ASSIGN(const Directory fleet, top.open_directory(".fleet"));
    TRY_ASSIGN(const Directory packs, fleet.open_directory("packs"));
    if (!is_own(fleet.info()) || !is_own(packs.info())) return Error::denied;
    return packs.open_file(kept_pack_file(name), Access::read_only);
}

}  // namespace

AskingCache::AskingCache(std::unique_ptr<Cache> inner, std::string root,
                         const LayeredSubject &subject, std::uint64_t most_ms, AgentLine &line)
    : inner_(std::move(inner)),
      root_(std::move(root)),
      identifier_(subject.identifier),
      identity_(identity_of(subject.of_kind(PackKind::entries))),
      wanted_path_(wanted_path(root_, identity_)),
      socket_(default_question_socket().value_or("")),
      most_us_(most_ms * 1000),
      clears_(inner_->clears()),
      line_(line) {}

// Looking up.

Result<BlobRef> AskingCache::get(Bytes key) {
    auto found = inner_->get(key);
    if (!found.ok() || *found) return found;
    return guarded([&] { return find(key); }, [] { return BlobRef(); });
}

Result<std::optional<std::uint64_t>> AskingCache::get_into(Bytes key, MutableBytes buffer) {
    auto size = inner_->get_into(key, buffer);
    if (!size.ok() || *size) return size;
    const BlobRef found = guarded([&] { return find(key); }, [] { return BlobRef(); });
    if (!found) return std::optional<std::uint64_t>();
    const Bytes value = found->value();
    if (value.size() <= buffer.size()) std::copy(value.begin(), value.end(), buffer.begin());
    return std::optional<std::uint64_t>(value.size());
}

AskingCache::Missed AskingCache::look_up(Own &own, Bytes key) {
    Missed missed = {key, entry_hash(identity_, key), 0, false, nullptr, {most_us_, {}}};
    const bool was_cleared = inner_->clears() != clears_;
    const MutexLock lock(own.mutex);
    own.is_over |= was_cleared;
    if (own.is_over || own.settled.contains(missed.hash)) return missed;
    own.wanted.refresh(wanted_path_, coarse_monotonic_ns());
    missed.changes = own.changes_of(missed.hash);
    missed.is_wanted = own.wanted.contains(missed.hash) && !own.asked.contains(missed.hash);
    missed.limits.compile_us = own.compile_us.value();
    missed.sources = own.sources;
    return missed;
}

BlobRef AskingCache::find_in(const Sources &sources, Bytes key) {
    for (const Source &source : sources) {
        auto found = source.part->find(key);
        if (found.ok() && found->entry) return std::move(found->entry);
    }
    return {};
}

BlobRef AskingCache::find(Bytes key) {
    Own &own = own_.get();
    Missed missed = look_up(own, key);
    if (missed.sources == nullptr) return {};
    BlobRef entry = find_in(*missed.sources, key);
    if (!entry && missed.is_wanted) entry = ask(own, missed);
    return entry ? keep(own, missed, std::move(entry)) : BlobRef();
}

BlobRef AskingCache::ask(Own &own, Missed &missed) {
    const auto heard = line_.ask({0, missed.hash, root_, identifier_}, missed.limits, socket_);
    if (heard.was_asked) {
        const MutexLock lock(own.mutex);
        own.asked.insert(missed.hash);
        own.is_over |= own.asked.size() >= kKeysMax;
        if (heard.is_late) {
            own.late[own.late_count++ % kLateMax] = {missed.hash, wall_clock_ns() / 1'000'000'000};
        }
    }
    if (!heard.pack && !heard.late) return {};
    // One that came late may be of another cache of this process, which is nobody's lie.
    if (heard.late) (void)add_source(own, *heard.late);
    const bool is_usable = !heard.pack || add_source(own, *heard.pack);
    {
        const MutexLock lock(own.mutex);
        missed.sources = own.sources;
    }
    BlobRef entry = find_in(*missed.sources, missed.key);
    if (heard.pack && (!is_usable || !entry)) line_.note_nonsense();
    return entry;
}

Fate AskingCache::fate_of(Bytes key) {
    Own *const own = own_.existing();
    if (own == nullptr) return inner_->fate_of(key);
    {
        const MutexLock lock(own->mutex);
        if (own->late_count != 0) {
            const std::uint64_t hash = entry_hash(identity_, key);
            const auto found = std::find_if(
                own->late.begin(), own->late.end(),
                [&](const Late &each) { return each.when_s != 0 && each.hash == hash; });
            if (found != own->late.end()) return {FateKind::late, found->when_s};
        }
    }
    return inner_->fate_of(key);
}

std::shared_ptr<const PackPart> AskingCache::open_source(const KeptPackName &name) const {
    auto file = open_kept_pack(root_, name);
    auto pack = file.ok() ? Pack::open(std::move(file.value())) : file.error();
    if (!pack.ok() || !is_own((*pack)->info())) return nullptr;
    const auto number = (*pack)->find_part(identity_);
    return number ? std::make_shared<const PackPart>(*pack, *number) : nullptr;
}

// False: there is no such pack that is of this cache.
bool AskingCache::add_source(Own &own, const KeptPackName &name) {
    const auto is_it = [&](const Source &source) { return source.name == name; };
    {
        const MutexLock lock(own.mutex);
        if (std::ranges::any_of(*own.sources, is_it)) return true;
    }
    auto part = open_source(name);
    if (part == nullptr) return false;
    const MutexLock lock(own.mutex);
    auto sources = std::make_shared<Sources>(*own.sources);
    if (sources->size() == kSourcesMax) sources->erase(sources->begin());
    sources->push_back({name, std::move(part)});
    own.sources = std::move(sources);
    return true;
}

void AskingCache::forget_late(Own &own, std::uint64_t hash) {
    if (own.late_count == 0) return;
    for (Late &each : own.late) {
        if (each.hash == hash) each = {};
    }
}

// Null: it was changed meanwhile, and may have been removed. The lock is held while it is stored: a
// change that comes later comes after it.
BlobRef AskingCache::keep(Own &own, const Missed &missed, BlobRef entry) {
    PutOptions options;
    options.cost_us = entry->cost_us();
    options.if_absent = true;  // another process may have stored a newer one
    const MutexLock lock(own.mutex);
    own.is_over |= inner_->clears() != clears_;
    if (own.changes_of(missed.hash) != missed.changes || own.is_over) return {};
    if (!own.settled.insert(missed.hash).second) return {};
    forget_late(own, missed.hash);
    own.is_over = own.settled.size() >= kKeysMax;
    if (options.cost_us != 0) own.compile_us.note(options.cost_us);
    // It is right whether it can be stored or not. The inner cache keeps its own copy of the key.
    const auto outcome = guarded([&] { return inner_->put_blob(entry, options); });
    if (outcome.ok() && outcome.value() == PutOutcome::exists) {
        auto newer = inner_->get(missed.key);
        if (newer.ok() && *newer) return std::move(*newer);
    }
    hits_.fetch_add(1, std::memory_order_relaxed);
    bytes_read_.fetch_add(entry->value().size(), std::memory_order_relaxed);
    return entry;
}

// Changing.

void AskingCache::note_change(Bytes key, Change change, std::uint32_t cost_us) {
    const std::uint64_t hash = entry_hash(identity_, key);
    Own &own = own_.get();
    const MutexLock lock(own.mutex);
    if (cost_us != 0) own.compile_us.note(cost_us);
    ++own.changes_of(hash);
    forget_late(own, hash);
    // What is stored is only noted where it may come: there is much of it. What is removed may be wanted by a file
    // that comes later.
    const bool may_come =
        change == Change::removed || own.wanted.contains(hash) || !own.sources->empty();
    if (!may_come || own.is_over) return;
    own.settled.insert(hash);
    own.is_over = own.settled.size() >= kKeysMax;
}

Result<PutOutcome> AskingCache::put(Bytes key, Bytes value, const PutOptions &options) {
    note_change(key, Change::stored, options.cost_us);
    return inner_->put(key, value, options);
}

Result<PutOutcome> AskingCache::put_blob(BlobRef entry, const PutOptions &options) {
    note_change(entry->key(), Change::stored, options.cost_us);
    return inner_->put_blob(std::move(entry), options);
}

Result<bool> AskingCache::remove(Bytes key) {
    note_change(key, Change::removed, 0);
    return inner_->remove(key);
}

// Before the cache is cleared: an entry that is being kept at this moment is cleared with the others.
void AskingCache::end() {
    Own &own = own_.get();
    const MutexLock lock(own.mutex);
    own.is_over = true;
    own.late_count = 0;
    own.sources = std::make_shared<Sources>();
}

Status AskingCache::clear() {
    end();
    return inner_->clear();
}

Result<std::uint64_t> AskingCache::clear_range(std::uint64_t begin_ns, std::uint64_t end_ns) {
    end();
    return inner_->clear_range(begin_ns, end_ns);
}

CacheStats AskingCache::stats() {
    CacheStats stats = inner_->stats();
    const std::uint64_t hits = hits_.load(std::memory_order_relaxed);
    stats.hits += hits;
    stats.misses -= std::min(stats.misses, hits);
    stats.bytes_read += bytes_read_.load(std::memory_order_relaxed);
    return stats;
}

std::unique_ptr<Cache> add_questions(std::unique_ptr<Cache> inner, const std::string &root,
                                     const LayeredSubject &subject, std::uint64_t most_ms) {
    if (most_ms == 0 || is_no_application()) return inner;
    return std::make_unique<AskingCache>(std::move(inner), root, subject, most_ms);
}

}  // namespace cairn
