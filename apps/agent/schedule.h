// When the agent does what: which names it pulls and pushes, and which remotes it leaves alone.
// SPDX-License-Identifier: MIT
//
// NAME is as in docs/fleet.md. Rules:
//  1. A start of NAME has it pulled at once, unless the latest pull ended less than kPulledMs ago.
//  2. NAME is pushed kQuietMs after its last start, and at the latest kPushMs after the first start
//     that no push has followed, but not before kPushMs after the latest push. Each of these times
//     is up to a half longer, by chance: machines that start together do not push together. A push
//     that had something to publish is followed by others, after kAgainMs, twice that and so on, up to
//     kAgainMax of them without news: an application compiles for as long as it runs.
//  3. A remote in trouble is left alone for a random time, of at most kLeftAloneMs at first, and
//     twice as much with each further failure in a row, up to kLeftAloneMaxMs. Then one job tries
//     it again. A success ends it.
//  4. A job that went without a remote is done again when one of those that it lacked may be used.
//  5. One job at a time; pulls go first, since somebody waits for them, and looks before pushes.
//  6. Of a NAME whose applications ask, manifests are looked at every kLookMs while it is active: until
//     kStartedMs after a start, or kAskedMs after a question. In this time kSoonMs stands for kQuietMs
//     in rule 2, and kSoonAgainMs for kPushMs, and a push is followed by another.
//
// Times are milliseconds of a clock that only goes forward. There is no clock and no network in
// here. Memory is bounded: of kNamesMax names the least recently started one is forgotten, and of
// kRemotesMax remotes in trouble the one that may be used first.
//
// Thread safety: externally synchronised.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cairn::agent {

using Remotes = std::vector<std::string>;

struct Job {
    enum class Kind { pull, look, push };  // look: read manifests, for questions
    Kind kind;
    std::string name;
    Remotes left_alone;  // not to be used now
};

// Of the remotes that a job was about. What fails without a remote's fault is in none of them: it
// waits for the next start.
struct JobResult {
    Remotes served;    // that have done all that they were asked for
    Remotes troubled;  // unreachable, slow, full, or they refuse us
    Remotes skipped;   // of those to be left alone
    bool has_published = false;
};

class Schedule {
  public:
    static constexpr std::uint64_t kSecond = 1000, kMinute = 60 * kSecond, kHour = 60 * kMinute;
    static constexpr std::uint64_t kPulledMs = 5 * kMinute;
    static constexpr std::uint64_t kQuietMs = 60 * kSecond;
    static constexpr std::uint64_t kPushMs = 10 * kMinute;
    static constexpr std::uint64_t kAgainMs = 2 * kMinute;
    static constexpr unsigned kAgainMax = 4;
    static constexpr std::uint64_t kLookMs = 5 * kSecond;
    static constexpr std::uint64_t kStartedMs = 2 * kMinute;
    static constexpr std::uint64_t kAskedMs = 1 * kMinute;
    static constexpr std::uint64_t kSoonMs = 5 * kSecond;
    static constexpr std::uint64_t kSoonAgainMs = 30 * kSecond;
    static constexpr std::uint64_t kLeftAloneMs = 30 * kSecond;
    static constexpr std::uint64_t kLeftAloneMinMs = 1 * kSecond;
    static constexpr std::uint64_t kLeftAloneMaxMs = 1 * kHour;
    static constexpr std::size_t kNamesMax = 1000;
    static constexpr std::size_t kRemotesMax = 64;

    using Random = std::function<double()>;  // from 0 to below 1
    using IsShared = std::function<bool(const std::string &name)>;

    // Names that the user does not share are forgotten whenever they come up. `asks`: whether
    // applications of a name may ask; none do, where it is not given.
    Schedule(Random random, IsShared is_shared, IsShared asks = {})
        : random_(std::move(random)), is_shared_(std::move(is_shared)), asks_(std::move(asks)) {}

    void note_start(const std::string &name, std::uint64_t now_ms);
    void note_question(const std::string &name, std::uint64_t now_ms);
    // The job to be done now; nullopt: none. There is none until the one before was finished.
    std::optional<Job> begin(std::uint64_t now_ms);
    void finish(const JobResult &result, std::uint64_t now_ms);
    // When begin() gives the next one, as far as is known; nullopt: after a start or finish() only.
    std::optional<std::uint64_t> next_ms() const;

    bool is_left_alone(const std::string &remote, std::uint64_t now_ms) const {
        return usable_ms(remote) > now_ms;
    }
    std::size_t name_count() const { return names_.size(); }

  private:
    struct Task {
        std::optional<std::uint64_t> due_ms;   // that starts ask for it
        Remotes lacking;                       // in the latest one: it is done again with them
        std::optional<std::uint64_t> done_ms;  // when the latest one ended
    };
    struct Name {
        std::uint64_t order = 0;           // of its latest start among all
        std::uint64_t first_start_ms = 0;  // of those that no push has followed
        unsigned followed = kAgainMax;     // pushes that have followed the last one with news
        double stretch = 1;                // of the times until the next push, see rule 2
        Task pull, look, push;
        std::uint64_t active_until_ms = 0;  // 0: its applications do not ask
    };
    using Names = std::map<std::string, Name>;
    struct Breaker {
        unsigned failures = 0;  // in a row
        std::uint64_t usable_ms = 0;
    };
    struct Candidate {
        Names::iterator name;
        Job::Kind kind;
    };

    static Task &task_of(Name &name, Job::Kind kind) {
        return kind == Job::Kind::pull   ? name.pull
               : kind == Job::Kind::look ? name.look
                                         : name.push;
    }
    Name &remember(const std::string &name);
    bool is_running(const std::string &name, Job::Kind kind) const;
    void plan_pull(Task &pull, std::uint64_t now_ms) const;
    void plan_push(Name &name, std::uint64_t now_ms);
    void keep_active(Name &name, std::uint64_t until_ms, std::uint64_t now_ms);
    // What an active name needs next, once this has ended.
    void plan_next(Name &name, Job::Kind ended, std::uint64_t now_ms);
    void plan_another_push(Name &name, bool has_published, std::uint64_t now_ms);
    std::optional<Candidate> most_urgent(std::uint64_t now_ms);
    std::uint64_t usable_ms(const std::string &remote) const;
    // nullopt: never.
    std::optional<std::uint64_t> ready_ms(const Task &task) const;
    void note_trouble(const std::string &remote, std::uint64_t now_ms);

    const Random random_;
    const IsShared is_shared_;
    const IsShared asks_;
    std::uint64_t last_order_ = 0;
    Names names_;
    std::map<std::string, Breaker> breakers_;  // of remotes whose last call failed
    std::optional<Job> running_;
};

}  // namespace cairn::agent
