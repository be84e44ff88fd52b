// The agent's loop: hears of starts, and has a worker do what the schedule says.
// SPDX-License-Identifier: MIT
//
// The thread of run() only waits and plans. Jobs are done one at a time on a thread of their own,
// so that notices are taken in while a remote is slow.
//
// Thread safety: one thread. The worker is called from another one, one call at a time.
// Ownership: all that it is given outlives it.
// Failure: what a worker throws is logged, and has served no remote.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <optional>
#include <string>

#include "base/log.h"
#include "notices.h"
#include "os/file.h"
#include "os/worker.h"
#include "schedule.h"

namespace cairn::agent {

// Does what takes long: it knows the remotes, and works below the limits of remotes/remote.h.
class Worker {
  public:
    virtual ~Worker() = default;
    // With all remotes that NAME has, but those to be left alone, which the result names as
    // skipped.
    virtual JobResult pull(const std::string &name, const Remotes &left_alone) = 0;
    virtual JobResult push(const std::string &name, const Remotes &left_alone) = 0;
    // Reads manifests, for questions of applications.
    virtual JobResult look(const std::string &, const Remotes &) { return {}; }
    // Called on the agent's thread when it ends: a call that is at work, or begins later, returns
    // as soon as it can.
    virtual void stop() {}
};

class Agent {
  public:
    // The NAME of the cache that a notice is about; nullopt: of none that counts.
    using NameOf = std::function<std::optional<std::string>(const AgentNotice &notice)>;
    // The NAMEs that questions were about since it was last called, and an eventfd that says so.
    struct Asked {
        int fd = -1;
        std::function<std::vector<std::string>()> take = {};
    };
    using Clock = std::function<std::uint64_t()>;  // milliseconds that only go forward

    struct Parts {
        Notices &notices;
        Worker &worker;
        NameOf name_of;
        Schedule::IsShared is_shared;
        Schedule::Random random = random_number;
        Clock clock = now_ms;
        Log log = {};
        Schedule::IsShared asks = {};  // none do
        Asked asked = {};
        std::uint64_t speed = 1;  // milliseconds of the clock in one of the system, for tests
    };

    explicit Agent(Parts parts);
    Agent(const Agent &) = delete;
    Agent &operator=(const Agent &) = delete;

    // Until the descriptor can be read from: of a signalfd, say. Then the job at work is asked to end. False: it does
    // not, as where a remote hangs. The caller has to end the process then: the destructor waits for the job.
    bool run(int until_readable);

  private:
    static double random_number();
    static std::uint64_t now_ms();

    void hear(const std::vector<AgentNotice> &notices);
    void hear_of_questions();
    void finish_job();
    void begin_job();
    void report(const JobResult &result) const;
    std::uint64_t timeout_ms() const;
    // On the thread of jobs.
    void work();

    Parts parts_;
    Schedule schedule_;
    UniqueFd done_;  // an eventfd: the job has ended
    // Of the job at work. The thread has them from its wake-up until is_done_ is set.
    std::optional<Job> job_;
    JobResult result_;
    std::exception_ptr problem_;
    std::atomic<bool> is_done_ = false;
    cairn::Worker thread_;  // last: it uses the others
};

}  // namespace cairn::agent
