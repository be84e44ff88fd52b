// Notices that processes of an application die inside a front end, and switches Cairn off for the
// application after two such crashes within a minute, or more that the cache can explain:
// docs/formats/guard.md.
// SPDX-License-Identifier: MIT
//
// Use: own_permission() (permission.h) joins the guard when the front end is loaded. Each function
// that an application can call in the front end begins with
//     const InsideFrontEnd inside;
//
// Thread safety: join_crash_guard() once, before any InsideFrontEnd; all else from any thread.
// Ownership: a process that joined keeps its place in the file until it ends.
// Failure: without the file nothing is noticed, and the application is served.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/environment.h"

namespace cairn {

// The names of these files in the root of all caches, less that of the application.
inline constexpr const char *kCrashGuardPrefix = ".guard-";

struct CrashRecord {
    std::uint64_t crashes = 0;       // noticed so far
    std::uint64_t off_since_ns = 0;  // since 1970; 0: it is not switched off
};

// Counts the crashes of earlier processes of the application. Then this process is watched, unless
// the application is switched off. Returns what the file says now; zeros where there is none.
CrashRecord join_crash_guard(const std::string &root, const std::string &application);

// What the file of an application says. not_found: it has none.
Result<CrashRecord> read_crash_record(const std::string &root, const std::string &application);

// Switches the application on again and forgets the last crash. not_found: it has no file.
Status forgive_crashes(const std::string &root, const std::string &application);

// The applications that have a file, sorted.
std::vector<std::string> guarded_applications(const std::string &root);

// Where this thread notes that it is inside.
struct GuardedThread {
    std::uint64_t *word = nullptr;  // null: not looked for yet
    unsigned depth = 0;             // a hook may call another
};
extern constinit thread_local GuardedThread t_guarded;

// Notes that the thread is inside the front end while it lives: a look at a coarse clock and a
// store, and at its end a store.
class InsideFrontEnd {
  public:
    InsideFrontEnd() {
        if (t_guarded.depth++ == 0) note(now());
    }
    ~InsideFrontEnd() {
        if (--t_guarded.depth == 0) note(0);
    }
    InsideFrontEnd(const InsideFrontEnd &) = delete;
    InsideFrontEnd &operator=(const InsideFrontEnd &) = delete;

    // Set in the time where the driver has a binary from the cache.
    static constexpr std::uint64_t kInDriverBit = 1;

  private:
    friend class DriverHasBinary;
    friend class InsideDriver;

    static std::uint64_t now() { return coarse_monotonic_ns() & ~kInDriverBit; }
    static void note(std::uint64_t time_ns) {
        if (t_guarded.word == nullptr) find_word();
        std::atomic_ref<std::uint64_t>(*t_guarded.word).store(time_ns, std::memory_order_release);
    }
    static void find_word();
};

// Notes that the thread is inside the driver, and not in the front end, while this lives: the driver
// would be called without the front end, too, and may take its time.
class InsideDriver {
  public:
    InsideDriver() {
        if (t_guarded.depth > 0) InsideFrontEnd::note(0);
    }
    ~InsideDriver() {
        if (t_guarded.depth > 0) InsideFrontEnd::note(InsideFrontEnd::now());
    }
    InsideDriver(const InsideDriver &) = delete;
    InsideDriver &operator=(const InsideDriver &) = delete;
};

// Notes that the driver has a binary from the cache while this lives. A crash then counts less: the
// next process drops that entry (docs/formats/crashes.md), and may well go on.
class DriverHasBinary {
  public:
    DriverHasBinary() {
        if (t_guarded.depth > 0) {
            InsideFrontEnd::note(InsideFrontEnd::now() | InsideFrontEnd::kInDriverBit);
        }
    }
    ~DriverHasBinary() {
        if (t_guarded.depth > 0) InsideFrontEnd::note(InsideFrontEnd::now());
    }
    DriverHasBinary(const DriverHasBinary &) = delete;
    DriverHasBinary &operator=(const DriverHasBinary &) = delete;
};

}  // namespace cairn
