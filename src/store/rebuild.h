// Builds a new index from the segments, when a part of the old one was lost.
// SPDX-License-Identifier: MIT
//
//  1. It makes an index beside the old one, which nobody else knows.
//  2. It lists all records by their headers, and puts a slot for each key into the new index: of the
//     record that the old index leads to; else of the newest one (store/record.h says which).
//  3. Under the eviction lock it brings the new index up to date with what was written meanwhile.
//  4. It seals the old index, and takes over what was published before that. A put or a removal
//     that finds the seal, after it changed the old index, waits until that has lost its name, and
//     begins again in the new one.
//  5. It gives the new index the name of the old one. At the end no rebuild is due.
//
// Until 5 everybody uses the old index, and a look-up may miss what damage hides. Only a put or a
// removal waits, and only from 4 to 5. A rebuild whose process dies leaves a temporary file, and
// perhaps a seal. The damage is still there, or what asks for a rebuild, and another process begins
// anew. An entry that is removed meanwhile is marked in its record, which look-ups see, whatever
// index leads to it.
//
// It runs in steps, so that it delays the look-up that needs it by a bounded time. Several processes
// may rebuild at once; the first one to come to 5 ends the work of the others. It takes 24 bytes of
// memory for each record while it lasts, and 48 for each that loses against another one.
//
// Thread safety: Rebuild is externally synchronised; see store/repair.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "os/environment.h"
#include "os/file.h"
#include "store/account.h"
#include "store/evictor.h"
#include "store/index.h"
#include "store/index_file.h"
#include "store/listing.h"
#include "store/publish.h"
#include "store/record_reader.h"

namespace cairn {

class Rebuild {
  public:
    // All outlive the Rebuild. `index` is the one to be replaced. `evictor` makes room; null: then
    // `full` is an error.
    Rebuild(const Directory &directory, Index &index, RecordReader &reader, Account &account,
            Evictor *evictor)
        : directory_(directory),
          old_(index),
          reader_(reader),
          account_(account),
          evictor_(evictor),
          listing_(directory, index, reader) {}
    ~Rebuild();
    Rebuild(const Rebuild &) = delete;
    Rebuild &operator=(const Rebuild &) = delete;

    // Continues until another index has the name (true), or the time is up or others hold the
    // eviction lock (false). full: there is no room for another index, even for a moment. Another
    // error means that a file could not be read or made.
    Result<bool> step(std::uint64_t deadline_ns);

    const Index &index() const { return old_; }
    // Whether this process has begun it, and not the one that forked it.
    bool is_ours() const { return process_ == process_number(); }
    // Entries that the old index did not lead to.
    std::uint64_t recovered() const { return recovered_; }
    std::uint64_t bytes_total() const { return listing_.bytes_total(); }
    std::uint64_t bytes_left() const { return listing_.bytes_left(); }

  private:
    // What is found where a record was listed.
    enum class State { whole, dead, not_whole, gone };
    struct Found {
        State state;
        unsigned size_class = 0;
        bool is_removed = false;  // and dead
    };
    // The record of a key that counts.
    struct Choice {
        Listed listed;
        bool is_entry;  // else it is dead: there is no entry
        unsigned size_class;
        std::optional<Slot> slot;  // of the old index, if that leads to it
    };

    Status begin();
    Status settle_key();
    Result<std::optional<Choice>> choose();
    Result<std::optional<Listed>> dead_copy_of(const Listed &listed);
    static Listed as_dead(Listed listed, const Found &found);
    void note_if_undecided();
    bool was_removed_after(std::uint64_t stamp_ns) const;
    std::optional<Slot> slot_of(const Listed &listed) const;
    static Slot slot_for(const Choice &choice);
    Result<Found> look_at(const Listed &listed);
    template <typename Change>
    Status growing(std::uint64_t hash, Change change);
    template <typename Take>
    Status with_room(Take take);
    Status take_newer();
    Status update_key(std::uint64_t hash);
    Status take_away(std::uint64_t hash, std::uint64_t stamp_ns, const Examine &examine);
    Examine examiner(Bytes key);
    Status publish_in_new(const Listed &winner, Slot slot, std::uint64_t stamp_max_ns,
                          const Examine &examine);
    static Listed listed_at(std::uint64_t hash, const PublishedSlot &found);
    Result<bool> put_in_place();
    Status take_place();
    void drop_slots_of_lost_segments();
    void note_losers(const Listed &winner);
    void forget_winners();
    void mark_losers();

    const Directory &directory_;
    Index &old_;
    RecordReader &reader_;
    Account &account_;
    Evictor *const evictor_;
    const std::uint64_t process_ = process_number();

    std::optional<IndexUnderConstruction> made_;
    bool is_locked_ = false;  // we hold the eviction lock
    bool is_in_place_ = false;
    std::uint64_t due_ = 0;  // the request in the new index
    // After a system start the slots of the old index may be older than the records.
    bool newest_first_ = false;
    Listing listing_;
    std::size_t settled_ = 0;  // of the first listing
    std::vector<Listed> key_;  // the records of the key being settled, newest first
    struct Loser {
        Listed listed;
        Listed winner;
    };
    std::vector<Loser> losers_;  // records that do not say yet that they do not count, and why
    std::uint64_t recovered_ = 0;
};

}  // namespace cairn
