// What the page may have done: one thing at a time, by a thread of its own.
// SPDX-License-Identifier: MIT
//
// What a command of `cairn` does is done by that command, in a process of its own: it says and refuses the same here as
// there, and nothing that goes wrong in it ends the dashboard. Such a process goes on if the dashboard ends.
//
// Thread safety: internally synchronised.
// Ownership: the destructor waits for what is done in this process.
// Failure: a Failure for what is not understood or cannot be begun; what fails later is in state().
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "base/mutex.h"
#include "os/worker.h"
#include "text.h"

namespace cairn::dashboard {

class Actions {
  public:
    // `changed` is called after each, by the thread that did it.
    Actions(std::string root, std::function<void()> changed)
        : root_(std::move(root)), changed_(std::move(changed)) {}

    // `request`: {"action": "clear", "cache": ..., "application": ..., "all": true, ...}, see docs/dashboard.md.
    // Returns the state of what was begun.
    nlohmann::ordered_json begin(const std::string &request);
    // Of the last one; null: nothing was done yet.
    nlohmann::ordered_json state();

  private:
    struct Ended {
        bool is_done = false;
        std::string message;
    };
    using Work = std::function<Ended()>;
    struct Job {
        std::uint64_t number = 0;
        std::string what;
        bool is_running = false;
        Ended ended;
    };

    Work work_for(const nlohmann::ordered_json &request, std::string &what) const;
    Ended run_command(const cli::Words &words) const;
    void work();
    nlohmann::ordered_json state_locked() const REQUIRES_LOCK(mutex_);

    // Constant after construction.
    const std::string root_;
    const std::function<void()> changed_;

    Mutex mutex_;
    Job job_ GUARDED_BY(mutex_);
    Work work_ GUARDED_BY(mutex_);
    Worker worker_{[this] { work(); }};
};

// Where a pack may be written: below the user's home, and there in no hidden folder, into a new file whose name ends in
// ".pack". A Failure that says why not.
std::string checked_pack_path(const std::string &path, const std::string &home);

}  // namespace cairn::dashboard
