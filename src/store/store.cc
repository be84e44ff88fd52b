// SPDX-License-Identifier: MIT
#include "store/store.h"

#include <algorithm>

#include "base/guarded.h"
#include "os/environment.h"
#include "store/record.h"
#include "store/space.h"

namespace cairn {
namespace {

constexpr std::uint64_t kSessionPatienceUs = 25'000;
constexpr unsigned kIndexAttempts = 50;
constexpr unsigned kFollowAttempts = 10;
constexpr unsigned kAloneAttempts = 20;  // of about a millisecond each

struct Directories {
    Directory root;
    FormatDirectory files;
};

Result<Directories> open_directories(const StoreOptions &options, Create create, const Log &log) {
    TRY_ASSIGN(Directory root, open_root(options.root, create, log));
    TRY_ASSIGN(OpenedDirectory opened, open_cache_directory(root, options.identifier, create, log));
    if (opened.created && !options.about.empty()) {
        const auto about = opened.directory.create_file("about");
        if (about.ok()) (void)about->write_whole(as_bytes(options.about));
    }
    TRY_ASSIGN(FormatDirectory files, open_format(std::move(opened.directory), options.identifier,
                                                  options.access, create, log));
    return Directories{std::move(root), std::move(files)};
}

}  // namespace

Store::Store(const StoreOptions &options, Directory root, FormatDirectory files)
    : options_(options),
      root_(std::move(root)),
      directory_(std::move(files.directory)),
      format_(files.format),
      access_(options.lent == nullptr ? options.access : Access::read_only),
      version_(options.version),
      reader_(directory_, options.lent),
      memory_(options.memory_bytes),
      ghosts_(directory_),
      reuse_(directory_) {}

Store::~Store() {
    flush_hits();
    if (repair_ != nullptr) repair_->stop();
    if (compactor_ != nullptr) compactor_->stop();
    if (evictor_ != nullptr && !options_.refuse_when_full && access_ == Access::read_write) {
        (void)guarded([&]() -> Status { return evictor_->learn(index()), Status(); });
    }
    if (options_.sync_on_close && access_ == Access::read_write) {
        (void)guarded([&] { return sync(); });
    }
}

// Opening.

// Such a store has no directories and nothing that writes; the lender of the files holds a session.
Result<std::unique_ptr<Store>> Store::open_lent(const StoreOptions &options) {
    std::unique_ptr<Store> store(new (std::nothrow) Store(options, Directory(), {}));
    if (store == nullptr) return Error::no_memory;
    TRY(store->open_index(Create::no, false));
    return store;
}

Result<std::unique_ptr<Store>> Store::open(const StoreOptions &options) {
    if (options.lent != nullptr) return open_lent(options);
    const bool may_make = options.access == Access::read_write && options.create == Create::yes;
    for (unsigned attempt = 1;; ++attempt) {
        auto store = open_once(options);
        // Another process may be deleting the directory that we create: try again.
        if (!may_make || store.error() != Error::not_found) return store;
        if (attempt == kFollowAttempts) return Error::busy;
    }
}

Result<std::unique_ptr<Store>> Store::open_once(const StoreOptions &options) {
    const Create create = options.access == Access::read_only ? Create::no : options.create;
    TRY_ASSIGN(Directories opened, open_directories(options, create, options.log));
    std::unique_ptr<Store> store(
        new (std::nothrow) Store(options, std::move(opened.root), std::move(opened.files)));
    if (store == nullptr) return Error::no_memory;
    Status status = store->join_session();
    if (status.ok() && !store->is_in_place()) return Error::not_found;
    if (status.ok()) status = store->open_index(options.create, true);
    // The cache is there where other versions have files, even if there is no index of ours.
    const bool may_lack_index = create == Create::no && status.error() == Error::not_found &&
                                store->access_ == Access::read_write;
    if (may_lack_index && store->has_other_formats()) status = store->open_index(Create::yes, true);
    if (!status.ok()) {
        const bool is_under_way = create == Create::yes && status.error() == Error::not_found;
        if (store->is_told_ || is_under_way) return status.error();
        options.log.write(Severity::error, "cannot open cache %s: %s; it is not used",
                          options.identifier.c_str(), error_name(status.error()));
        return status.error();
    }
    if (store->access_ == Access::read_write) TRY(guarded([&] { return store->make_writers(); }));
    return store;
}

// Throws without memory.
Status Store::make_writers() {
    const bool refuses = options_.refuse_when_full;
    account_ = std::make_unique<Account>(
        directory_,
        space_limits(options_.limit_bytes, refuses ? WhenFull::refuse : WhenFull::evict));
    writer_ = std::make_unique<Writer>(directory_, *account_);
    evictor_ = std::make_unique<Evictor>(directory_, reader_, *account_, *writer_, ghosts_, reuse_,
                                         *options_.policy);
    repair_ =
        std::make_unique<Repair>(directory_, reader_, *account_, refuses ? nullptr : evictor_.get(),
                                 options_.log, options_.identifier);
    compactor_ = std::make_unique<Compactor>(
        directory_, reader_, *account_, refuses ? Account::Purpose::copy : Account::Purpose::put);
    apply_limit(index());
    return {};
}

// After a system start, whatever was not synced may be lost or half written. The first miss or put
// starts the check, not open(): a process that only has hits needs none.
void Store::note_boot(Index &index) {
    if (access_ == Access::read_only || boot_noted_.load(std::memory_order_relaxed)) return;
    const std::uint64_t now = boot_number();
    reader_.set_boot(now);
    index.check_levels();
    index.note_boot(now);
    // Other threads go on when all is noted: they set the number in the index right, and then nothing
    // tells of the start.
    if (!boot_noted_.exchange(true)) repair_->check_in_background(index);
}

// Evicts at once when the limit is lower than before. Only then does opening take time.
void Store::apply_limit(Index &index) {
    const std::uint64_t before = index.note_limit(options_.limit_bytes);
    if (options_.refuse_when_full || before == 0 || before <= options_.limit_bytes) return;
    note_boot(index);  // evicting asks whether a rebuild is due
    while (account_->measure(index).error() == Error::full) {
        const auto progress = evictor_->step(index, UINT64_MAX);
        if (!progress.ok() || !Evictor::has_worked(progress.value())) return;
    }
}

// Holds the session byte in shared mode while the store lives. A directory that we cannot write is
// opened for reading.
Status Store::join_session() {
    auto file = access_ == Access::read_write
                    ? directory_.open_or_create_file(kLockFileName)
                    : directory_.open_file(kLockFileName, Access::read_only);
    if (file.error() == Error::corrupt && make_way(kLockFileName).ok()) {
        file = directory_.open_or_create_file(kLockFileName);
    }
    if (access_ == Access::read_write &&
        (file.error() == Error::read_only || file.error() == Error::denied ||
         file.error() == Error::corrupt)) {
        access_ = Access::read_only;
        file = directory_.open_file(kLockFileName, Access::read_only);
        // One that may not even be read excludes nobody, as one that was deleted.
        if (file.error() == Error::denied && directory_.remove_file(kLockFileName).ok()) {
            access_ = Access::read_write;
            file = directory_.open_or_create_file(kLockFileName);
        }
    }
    // A reader needs no session.
    const bool is_missing = file.error() == Error::not_found || file.error() == Error::corrupt;
    if (is_missing && access_ == Access::read_only) return {};
    if (!file.ok()) return file.error();
    Backoff backoff(kSessionPatienceUs);
    do {
        TRY_ASSIGN(const bool locked, file->try_lock(kSessionByte, LockKind::shared));
        if (locked) {  // without the lock we keep no file, so that the next call tries again
            lock_file_ = std::move(file.value());
            note_use();
            return {};
        }
    } while (backoff.pause());  // a process is wiping the cache
    // Or it is another file under this name: the writer of a segment holds what we want.
    const auto info = file->info();
    const bool is_ours = !info.ok() || (info->size_bytes == 0 && info->links == 1);
    if (is_ours || access_ == Access::read_only) return Error::busy;
    TRY(directory_.remove_file(kLockFileName));
    return join_session();
}

// Says when the format was last used, to the hour: else a cache that is only read looks unused.
void Store::note_use() const {
    if (access_ == Access::read_write && !is_recent(lock_file_.info())) (void)lock_file_.touch();
}

bool Store::has_other_formats() const {
    const auto cache = root_.open_directory(options_.identifier);
    const auto formats = cache.ok() ? list_formats(cache.value()) : cache.error();
    return formats.ok() &&
           std::ranges::any_of(formats.value(), [&](auto f) { return f != format_; });
}

// Whether the root still has our directory under this name. Another process may have renamed it, to
// delete it, after we opened it and before we joined its session. In doubt, true.
bool Store::is_in_place() const {
    if (is_format_superseded(directory_, format_)) return false;
    const auto there = root_.info(options_.identifier + "/" + format_folder(format_));
    if (!there.ok()) return there.error() != Error::not_found;
    const auto ours = directory_.info();
    return !ours.ok() || is_same_file(ours.value(), there.value());
}

// Replaces something that is no regular file and has the name of one of ours.
Status Store::make_way(const char *name) {
    const char *const identifier = options_.identifier.c_str();
    const Status status =
        access_ == Access::read_write ? directory_.make_way(name) : Status(Error::read_only);
    if (status.ok() || status.error() == Error::not_found) {
        options_.log.write(Severity::warning,
                           "cache %s: %s was a link, a directory, a pipe or the like; a file takes "
                           "its place now",
                           identifier, name);
        return {};
    }
    options_.log.write(Severity::error,
                       "cache %s: %s is a link, a directory, a pipe or the like, and nothing is "
                       "stored: remove it",
                       identifier, name);
    is_told_ = true;
    return Error::denied;
}

Status Store::open_index(Create create, bool may_wipe) {
    bool was_wiped = false;
    // Two processes must not replace each other's index: the one that comes last may have been made first,
    // and give stamps that are lower than those of entries in the other. So look again under a lock. If
    // who holds it stands still, go on without.
    std::optional<Result<IndexNameLock>> replacing;
    const auto may_replace = [&] {
        if (replacing) return true;
        replacing.emplace(IndexNameLock::acquire(directory_, kSessionPatienceUs));
        return false;
    };
    for (unsigned attempt = 0; attempt < kIndexAttempts; ++attempt) {
        auto file = options_.lent != nullptr ? options_.lent->index()
                                             : directory_.open_file(kIndexFileName, access_);
        if (access_ == Access::read_write &&
            (file.error() == Error::denied || file.error() == Error::read_only)) {
            // One that may not even be read is as good as damaged.
            const auto readable = directory_.open_file(kIndexFileName, Access::read_only);
            if (readable.error() == Error::denied) {
                if (!may_replace() || create_index(create, Replace::yes).ok()) continue;
            }
            access_ = Access::read_only;
            continue;
        }
        if (file.error() == Error::corrupt) {
            if (access_ == Access::read_only || may_replace()) TRY(make_way(kIndexFileName));
            continue;
        }
        const bool may_make = access_ == Access::read_write && create == Create::yes;
        if (file.error() == Error::not_found && may_make) {
            TRY(create_index(create, Replace::no));
            continue;
        }
        if (!file.ok()) return file.error();
        auto identity = read_index_identity(file.value(), options_.identifier);
        // Somebody has put the index of another format there.
        const bool is_strange =
            identity.ok() && options_.lent == nullptr && identity->format != format_;
        if (is_strange) identity = Error::corrupt;
        if (identity.error() == Error::corrupt && access_ == Access::read_write) {
            if (!may_replace()) continue;
            options_.log.write(Severity::warning, "cache %s: index damaged, rebuilding it",
                               options_.identifier.c_str());
            TRY(create_index(create, Replace::yes));
            continue;
        }
        if (!identity.ok()) return identity.error();
        if (!options_.any_version && identity.value().version != options_.version) {
            if (!may_wipe || access_ == Access::read_only) return Error::busy;
            if (!may_replace()) continue;
            TRY_ASSIGN(was_wiped, wipe());
            continue;
        }
        TRY_ASSIGN(std::unique_ptr<Index> index,
                   Index::open(std::move(file.value()), identity.value(), access_));
        const MutexLock lock(index_mutex_);
        version_ = identity.value().version;
        Index *const opened = index.get();
        if (was_wiped) opened->set_cleared_now();
        indexes_.push_back(std::move(index));
        index_.store(opened, std::memory_order_release);
        return {};
    }
    return Error::busy;
}

// Creates an index for the segments that are there. With any_version the identity comes from the
// segments; if they tell none, only a caller that may create a cache gets a new one.
Status Store::create_index(Create create, Replace replace) const {
    std::optional<CacheIdentity> identity;
    if (options_.any_version) {
        identity = identity_of_segments(directory_, format_, std::nullopt, options_.identifier);
        if (!identity && create == Create::no) return Error::not_found;
    }
    if (!identity) {
        identity = identity_for_new_index(directory_, format_, version_, options_.identifier);
    }
    const Status created = create_index_file(directory_, *identity, replace);
    if (created.error() == Error::exists) return {};  // another process was faster
    return created;
}

// Only a process that is alone in a cache may wipe it. Several may want to at once, as after a
// driver update. So that they do not wait for one another, each steps back for a random time.
Result<bool> Store::lock_alone() const {
    for (unsigned attempt = 0; attempt < kAloneAttempts; ++attempt) {
        TRY_ASSIGN(const bool alone, lock_file_.try_lock(kSessionByte, LockKind::exclusive));
        if (alone) return true;
        lock_file_.unlock(kSessionByte);
        std::array<std::byte, 1> moment = {};
        random_bytes(moment);
        sleep_us(100 + static_cast<unsigned>(moment[0]) * 8);
        TRY_ASSIGN(const bool shared, lock_file_.try_lock(kSessionByte, LockKind::shared));
        if (!shared) continue;  // another process is wiping it
        auto file = directory_.open_file(kIndexFileName, Access::read_only);
        if (!file.ok()) continue;
        const auto identity = read_index_identity(file.value(), options_.identifier);
        if (identity.ok() && identity->version == options_.version) return false;
    }
    options_.log.write(Severity::warning, "cache %s is open elsewhere in another version",
                       options_.identifier.c_str());
    return Error::busy;
}

// Wipes a cache of another version, if no other process has it open. False: another process has
// done it.
Result<bool> Store::wipe() {
    TRY_ASSIGN(const bool alone, lock_alone());
    if (!alone) return false;
    bool is_done = false;
    // Another process may have done it before we got the lock: look again.
    const auto file = directory_.open_file(kIndexFileName, Access::read_only);
    if (file.ok()) {
        const auto identity = read_index_identity(file.value(), options_.identifier);
        if (!identity.ok() || identity.value().version != options_.version) {
            const Status status = remove_segments();
            // Another cache_id makes them void, too.
            (void)directory_.remove_file(kGhostFileName);
            (void)directory_.remove_file(kReuseFileName);
            TRY(status);
            TRY(create_index(Create::yes, Replace::yes));
            is_done = true;
        }
    }
    TRY_ASSIGN(const bool shared, lock_file_.try_lock(kSessionByte, LockKind::shared));
    return shared ? Result<bool>(is_done) : Result<bool>(Error::busy);
}

// Opens the index that is in the directory now, and the directory that the path leads to now, after
// somebody deleted or replaced ours.
Status Store::replace_index(Create create) {
    const MutexLock lock(replace_mutex_);
    if (!index_was_deleted()) return {};
    Index &before = index();
    const bool is_directory_there = is_in_place();
    TRY(follow_directory(create));
    TRY(open_index(create == Create::yes ? create : options_.create, false));
    is_told_ = false;
    options_.log.write(Severity::info,
                       "cache %s: another index has taken the place of its own, and is used",
                       options_.identifier.c_str());
    if (options_.lent == nullptr) reader_.set_boot(boot_number());
    memory_.clear();
    ghosts_.reopen();
    reader_.segments().forget_deleted();
    if (before.access() == Access::read_only) return {};
    // Tell other processes that have it open to look whether it was deleted.
    before.count_retired();
    // One that was only renamed may come back. It must not lead to what is older by then.
    const auto info = before.file().info();
    const bool may_come_back = info.ok() && info->links != 0 && is_directory_there;
    if (may_come_back) {
        before.ask_for_rebuild();
        before.clear();
    }
    return {};
}

// Follows an `rm -rf`. Logs once why that is impossible.
Status Store::follow_directory(Create create) {
    const auto info = directory_.info();
    const auto lock = lock_file_.valid() ? lock_file_.info() : Result<FileInfo>(Error::not_found);
    const bool is_deleted = (info.ok() && info->links == 0) || !is_in_place();
    if (is_deleted) {
        auto opened = open_directories(options_, create, is_told_ ? Log() : options_.log);
        if (!opened.ok()) {
            if (opened.error() != Error::not_found) is_told_ = true;
            return opened.error();
        }
        TRY(root_.become(opened->root));
        TRY(directory_.become(opened->files.directory));
        format_ = opened->files.format;
        if (writer_ != nullptr) release_segments();
    }
    if (is_deleted || (lock.ok() && lock->links == 0)) TRY(join_session());
    return is_in_place() ? Status() : Status(Error::busy);
}

bool Store::index_was_deleted() {
    if (options_.lent != nullptr) return options_.lent->index_changed();
    return !index().seems_named(directory_);
}

// The index to publish in, which a put creates again after it was deleted.
Result<Index *> Store::writable_index() {
    if (access_ == Access::read_only) return Error::read_only;
    Status status;
    for (unsigned attempt = 0; index_was_deleted() && attempt < kFollowAttempts; ++attempt) {
        status = replace_index(Create::yes);
        // They may still be deleting what we create.
        const bool is_under_way =
            status.error() == Error::not_found || status.error() == Error::busy;
        if (!status.ok() && !is_under_way) return status.error();
    }
    if (!status.ok()) return Error::busy;
    Index &index = this->index();  // another thread may exchange it for one that may only be read
    if (index.access() == Access::read_only) return Error::read_only;
    return &index;
}

// Reports.

std::uint64_t Store::limit_bytes() const {
    const std::uint64_t stored_limit = index().limit_bytes();
    return access_ == Access::read_only && stored_limit != 0 ? stored_limit : options_.limit_bytes;
}

StoreStats Store::stats() {
    notice_retired_segments();
    StoreStats stats = {};
    stats.entries = index().count_entries();
    if (options_.lent != nullptr) {
        stats.disk_bytes = options_.lent->disk_bytes();
    } else {
        const auto use = measure_disk_use(directory_);
        if (use.ok()) stats.disk_bytes = use.value().bytes;
    }
    stats.limit_bytes = limit_bytes();
    stats.version = version_;
    stats.hits = counts_[hits].load() + memory_.found();
    stats.misses = counts_[misses].load();
    stats.puts = counts_[puts].load();
    stats.puts_refused = counts_[puts_refused].load();
    stats.damaged = counts_[damaged].load();
    stats.memory_bytes = memory_.bytes();
    stats.bytes_read = counts_[bytes_read].load() + memory_.found_bytes();
    stats.bytes_written = counts_[bytes_written].load();
    if (repair_ != nullptr) {
        stats.check_bytes_total = repair_->bytes_total();
        stats.check_bytes_left = repair_->bytes_left();
    }
    stats.evicted = evicted();
    return stats;
}

// Where another index takes the place of this one meanwhile, entries move that this one still leads to:
// the rest is found in the new one.
void Store::enumerate(const std::function<bool(const EntryInfo &)> &visit) {
    std::vector<std::uint64_t> seen;
    for (unsigned attempt = 0; attempt < kFollowAttempts; ++attempt) {
        notice_retired_segments();
        Index &index = this->index();
        std::sort(seen.begin(), seen.end());
        const auto known = static_cast<std::ptrdiff_t>(seen.size());
        const bool is_over = enumerate_index(index, [&](const EntryInfo &info) {
            const std::uint64_t hash = index.hash(info.key);
            if (std::binary_search(seen.begin(), seen.begin() + known, hash)) return true;
            seen.push_back(hash);
            return visit(info);
        });
        if (is_over || !has_left(index)) return;
        (void)notice_deleted_index();
    }
}

// Whether look-ups find the key by this slot. Damage may have moved it, so that it leads to the record of
// another key, or have hidden an entry that was stored once more.
bool Store::is_found_by(Index &index, const Index::PlacedSlot &own, std::uint64_t hash, Bytes key) {
    Index::Candidates candidates(index, hash);
    while (const auto found = candidates.next()) {
        if (found->slot.tentative()) continue;
        if (found->place.word == own.place.word)
            return found->slot.location() == own.slot.location();
        const auto other = reader_.read_key(index.identity().cache_id, found->slot, key);
        if (other.outcome == ReadOutcome::found) return false;
    }
    return false;
}

// Whether visit() has returned false.
bool Store::enumerate_index(Index &index, const std::function<bool(const EntryInfo &)> &visit) {
    bool is_over = false;
    index.for_each([&](Index::Place place, Slot slot) {
        for (Slot now = slot;; slot = now) {
            const ReadRecord read =
                reader_.read_any_key(index.identity().cache_id, slot.location());
            const RecordHeader &header = read.header;
            const bool is_entry = read.outcome == ReadOutcome::found && !reader_.is_dead(header);
            if (is_entry && is_found_by(index, {place, slot}, header.key_hash, read.blob->key())) {
                is_over = !visit({read.blob->key(), header.raw_size, header.value_size,
                                  header.stamp_ns, header.cost_us, header.pinned});
                return is_over;
            }
            // Was it copied meanwhile? Then follow the slot.
            now = Slot(place.ref().load());
            const bool moved = now.word() != kEmptySlot && now.intact() && !now.tentative() &&
                               now.tag() == slot.tag() && now.location() != slot.location();
            if (!moved) return false;
        }
    });
    return is_over;
}

}  // namespace cairn
