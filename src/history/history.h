// What a cache of programs remembers of look-ups, so that it can say why a program was made anew:
// docs/why.md. A small mapped file in the cache's directory, `history`.
// SPDX-License-Identifier: MIT
//
// It has the parts of each program's key as separate digests, the fields of contexts, the numbers of
// the last runs, and the last links that were not found. Of other generations of the application, it
// reads the programs, to tell that the driver is another one.
//
// A run is a process that looks something up. It holds the lock of a byte, which the kernel releases
// when the process ends, however it does.
//
// Thread safety: any thread. A forked child goes on in its parent's run.
// Ownership: what it maps stays mapped until it is destroyed, as other threads may be reading.
// Failure: what is damaged is not remembered, and what cannot be written is forgotten. find(),
// knows(), note() and keep_sources() throw where there is no memory; the others never do.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "history/format.h"
#include "history/kept_sources.h"
#include "history/outcome.h"
#include "history/program_table.h"
#include "os/file.h"
#include "os/mapping.h"
#include "os/per_process.h"

namespace cairn {

using LinkKey = std::array<std::uint8_t, 16>;

struct Link {
    Outcome outcome = Outcome::unknown;
    Detail detail = Detail::none;
    LinkKey key = {};  // the program's first bytes; zeroes: it has none
    std::uint64_t cost_ns = 0;
    // other_driver: the other generation, as its number. other_context: the fields that differ, a
    // bit for each ContextField. evicted, cleared: when, in seconds since 1970. Else 0.
    std::uint64_t other = 0;
};

// How a program was seen before.
struct Seen {
    enum class How : std::uint8_t { never, same, other_settings, other_context, other_driver };
    How how = How::never;
    bool was_stored = false;       // same
    std::uint64_t when_s = 0;      // since 1970, same
    std::uint64_t generation = 0;  // other_driver
    std::uint64_t fields = 0;      // other_context
};

class History {
  public:
    struct Options {
        std::string root;
        std::string identifier;    // of the cache
        std::uint64_t driver = 0;  // see HistoryHeader
        std::uint64_t limit_bytes =
            0;  // the cache's; the file takes a 192nd of it at most, or 24 KiB
    };
    // too_large: the limit is too small for any. Makes the file where there is none, or where there is
    // something else.
    static Result<std::unique_ptr<History>> open(const Options &options);
    ~History();
    History(const History &) = delete;
    History &operator=(const History &) = delete;

    // Looks for a program that is not in the cache: here, and in other generations.
    Seen find(const ProgramParts &program);
    // Whether the program of this key was noted.
    bool knows(std::uint64_t sources, std::uint32_t key);
    // From now on it was seen. False for `is_stored`: it could not be kept.
    void note(const ProgramParts &program, bool is_stored);
    void note_context(std::uint64_t digest,
                      const std::array<std::uint32_t, kContextFields> &fields);

    // Adds to the numbers of this run. Where there is no room for another run, nothing is kept.
    void add(Number number, std::uint64_t amount);
    // A thread has the driver make a program, from now on or until now.
    void note_making(bool is_making);
    // So many entries of this process, and bytes of them, are put and not on disk yet. Neither waits
    // nor opens anything. REQUIRES: one call at a time in a process.
    void note_queue(std::uint64_t entries, std::uint64_t bytes);
    // Its number; 0: it is not kept.
    std::uint64_t note_link(const Link &link);
    // What it turned out to cost to make what the link of this number and key had missed.
    void note_cost(std::uint64_t number, const LinkKey &key, std::uint64_t cost_ns);
    // Whether no whole run went before this one in what the file knows.
    bool is_first_run();
    // Whether another process goes on.
    bool has_other_run();
    // Whether a run could not store an entry.
    bool has_failed_to_store();

    // Adds the beginnings of a program's sources to the file `sources`, up to a 2048th of the limit,
    // unless it has them.
    void keep_sources(const LinkKey &key, std::string_view text);

  private:
    // A file that is mapped.
    struct View {
        std::unique_ptr<View> before;  // one that is no longer in use
        std::atomic<bool> is_lost = false;
        File file;
        FileInfo info = {};
        Mapping mapping;  // of all but the programs
        std::size_t links = 0;
        std::unique_ptr<ProgramTable> programs;
        RunRecord *run = nullptr;
        std::uint64_t run_start_ns = 0;
        bool is_first_run = false;

        bool is_in_use() const;
        HistoryHeader &header() const { return *reinterpret_cast<HistoryHeader *>(mapping.data()); }
        ContextRecord &context(std::size_t i) const {
            return reinterpret_cast<ContextRecord *>(mapping.data())[1 + i];
        }
        RunRecord &run_at(std::size_t i) const {
            return reinterpret_cast<RunRecord *>(mapping.data() + kRunsOffset)[i];
        }
        LinkRecord &link_at(std::size_t i) const {
            return reinterpret_cast<LinkRecord *>(mapping.data() + kLinksOffset)[i];
        }
        std::optional<ContextRecord> find_context(std::uint64_t digest) const {
            return cairn::find_context(digest,
                                       [this](std::size_t i) { return load_record(context(i)); });
        }
    };

    History(Options options, Directory directory);

    View *view();
    View *view_in_place();
    View *reopen();
    enum class Begin { run, continued_run };
    Result<std::unique_ptr<View>> open_file(Begin begin) const;
    Result<std::unique_ptr<View>> map(File file, const FileInfo &info, Begin begin) const;
    std::uint64_t size_max() const;
    static void begin_run(View &view, Begin begin);
    static std::uint64_t newest_link(const View &view);
    static std::uint64_t next_link(const View &view);
    // What other generations know of a program.
    struct Elsewhere {
        std::uint64_t exact = 0;   // the generation of another driver that has it in such a context
        std::uint64_t alike = 0;   // one that has it in another context, or with other settings
        std::uint64_t fields = 0;  // of another context with this driver
        bool is_other_context = false;
    };
    struct Siblings {
        Mutex mutex;
        bool are_known GUARDED_BY(mutex) = false;
        std::vector<SiblingPrograms> latest GUARDED_BY(mutex);
    };
    std::vector<SiblingPrograms> find_siblings() const;
    Elsewhere find_in_siblings(const View &own, const ProgramParts &program);

    // Constant after construction.
    const Options options_;
    const Directory directory_;

    std::atomic<View *> view_ = nullptr;      // owned; it owns those before it
    std::atomic<std::uint64_t> look_ns_ = 0;  // when to look next whether the file is in place
    std::atomic<unsigned> making_ = 0;        // threads
    TryMutex reopening_;
    std::uint64_t retry_ns_ GUARDED_BY(reopening_) = 0;
    unsigned opened_ GUARDED_BY(reopening_) = 0;
    PerProcess<Siblings> siblings_;
    KeptSources sources_;
};

}  // namespace cairn
