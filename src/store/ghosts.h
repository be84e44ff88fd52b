// What became of entries that are gone: one word for each, in a small file of the cache.
// Format: docs/formats/ghosts.md.
// SPDX-License-Identifier: MIT
//
// A ghost says that the entry of a hash was evicted, or dropped as damaged, and when. There is room
// for so many; the oldest of a few that share a place goes first. One write inside a cache line makes
// a ghost, so a process that is killed leaves none half written, and no lock is taken for it. The
// file is not mapped: somebody may cut it while it is in use.
//
// The file is made before the first eviction. Other processes find it by Index::ghost_files(), which costs
// them one load where there is none.
//
// Thread safety: all methods, from any thread. Any number of processes share the file. A child of
// fork() goes on.
// Ownership: owns descriptors; that of a file that was deleted until the end, as a thread may use
// it.
// Failure: without the file, or space for it, nothing is remembered. A damaged word says something
// of one hash in 2^32, see the format.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "os/file.h"
#include "store/account.h"
#include "store/index.h"

namespace cairn {

inline constexpr const char *kGhostFileName = "ghosts";

struct Ghost {
    enum class Kind : unsigned { evicted = 1, damaged = 2 };
    Kind kind;
    std::uint64_t when_s;  // since 1970, rounded down to a minute; 0: not known
    unsigned uses;         // how often the key was looked up while its entry was there, at most 15
};

class Ghosts {
  public:
    static constexpr std::uint64_t kHeaderSize = 64;
    static constexpr std::uint64_t kWordsPerSet = 8;  // a cache line
    // With the header, which takes the place of a set, a power of two.
    static constexpr std::uint64_t kWordsMin = 512 - kWordsPerSet;
    static constexpr std::uint64_t kWordsMax = 524288 - kWordsPerSet;
    // Of the file of a cache with this limit.
    static std::uint64_t word_count(std::uint64_t limit_bytes);

    // `directory` is that of the cache, and outlives this.
    explicit Ghosts(const Directory &directory) : directory_(directory) {}
    ~Ghosts();
    Ghosts(const Ghosts &) = delete;
    Ghosts &operator=(const Ghosts &) = delete;

    // Makes the file where it is missing, or of another cache. Who evicts calls this before it
    // copies anything: then there is room, see docs/formats/ghosts.md. False: try again, as another
    // thread or process is taking disk space. After another failure nothing is remembered for now.
    bool prepare(Index &index, Account &account);
    // Remembers it, and prepares that.
    void note(Index &index, Account &account, std::uint64_t hash, Ghost::Kind kind,
              unsigned uses = 0);
    // What is remembered. Makes no file.
    std::optional<Ghost> find(const Index &index, std::uint64_t hash);
    // Forgets one hash, or all, for all processes. These make no file.
    void forget(const Index &index, std::uint64_t hash);
    void forget_all(const Index &index);
    // The directory, or what is in it, may be another one now: the file is opened anew.
    void reopen();

  private:
    using Set = std::array<std::uint64_t, kWordsPerSet>;
    // What was found when the file was looked for last. Constant once others see it.
    struct Opened {
        std::uint64_t made;  // Index::ghost_files(), before that
        std::uint64_t cache_id;
        Access access;
        File file;
        FileInfo info = {};       // of it, when it was opened
        std::uint64_t count = 0;  // of words; 0: there is no file
        Opened *next = nullptr;

        std::uint64_t offset_of_set(std::uint64_t hash) const {
            return kHeaderSize + hash % (count / kWordsPerSet) * sizeof(Set);
        }
        // Whether it has its name, and is ours: the application may have closed our descriptor, and
        // its number may stand for a file of its own by now.
        bool is_in_place() const;
        // Zeros for what cannot be read.
        Set read_set(std::uint64_t hash) const;
        // A part of it, with one write.
        void write(std::uint64_t hash, const Set &set, std::size_t begin, std::size_t end) const;
    };

    const Opened *look(const Index &index);
    const Opened *open(const Index &index);
    Status open_file(Opened &opened) const;
    const Opened *writable(const Index &index);
    Status make(Index &index, Account &account);

    const Directory &directory_;

    std::atomic<const Opened *> opened_ = nullptr;  // null: it was not looked for
    std::atomic<Opened *> all_ = nullptr;           // what was ever opened_, a list
    std::atomic<std::uint64_t> make_again_ns_ = 0;  // nothing is made before
};

}  // namespace cairn
