// SPDX-License-Identifier: MIT
#include "schedule.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace cairn::agent {
namespace {

std::uint64_t stretched(std::uint64_t time_ms, double factor) {
    return static_cast<std::uint64_t>(static_cast<double>(time_ms) * factor);
}

}  // namespace

// The names.

Schedule::Name &Schedule::remember(const std::string &name) {
    if (!names_.contains(name) && names_.size() >= kNamesMax) {
        names_.erase(std::min_element(names_.begin(), names_.end(), [](auto &a, auto &b) {
            return a.second.order < b.second.order;
        }));
    }
    Name &known = names_[name];
    known.order = ++last_order_;
    return known;
}

bool Schedule::is_running(const std::string &name, Job::Kind kind) const {
    return running_ && running_->kind == kind && running_->name == name;
}

void Schedule::note_start(const std::string &name, std::uint64_t now_ms) {
    if (!is_shared_(name)) {
        names_.erase(name);
        return;
    }
    Name &known = remember(name);
    if (!is_running(name, Job::Kind::pull)) plan_pull(known.pull, now_ms);
    if (asks_ && asks_(name)) {
        keep_active(known, now_ms + kStartedMs, now_ms);
    } else {
        known.active_until_ms = 0;
    }
    plan_push(known, now_ms);
}

void Schedule::note_question(const std::string &name, std::uint64_t now_ms) {
    const auto found = names_.find(name);
    if (found == names_.end() || !asks_ || !asks_(name)) return;
    keep_active(found->second, now_ms + kAskedMs, now_ms);
}

void Schedule::keep_active(Name &name, std::uint64_t until_ms, std::uint64_t now_ms) {
    const bool was_active = name.active_until_ms > now_ms;
    name.active_until_ms = std::max(name.active_until_ms, until_ms);
    if (!was_active && !name.look.due_ms) name.look.due_ms = now_ms;
    if (!was_active && !name.push.due_ms) plan_push(name, now_ms);
}

void Schedule::plan_next(Name &name, Job::Kind ended, std::uint64_t now_ms) {
    if (name.active_until_ms <= now_ms) return;
    const double stretch = 1 + random_() / 2;
    if (ended == Job::Kind::look) name.look.due_ms = now_ms + stretched(kLookMs, stretch);
    if (ended == Job::Kind::push && !name.push.due_ms) {
        name.push.due_ms = now_ms + stretched(kSoonAgainMs, stretch);
    }
}

void Schedule::plan_another_push(Name &name, bool has_published, std::uint64_t now_ms) {
    if (has_published) name.followed = 0;
    if (name.push.due_ms || name.followed == kAgainMax) return;
    const double stretch = 1 + random_() / 2;
    name.push.due_ms = now_ms + stretched(kAgainMs << name.followed, stretch);
    ++name.followed;
}

void Schedule::plan_pull(Task &pull, std::uint64_t now_ms) const {
    if (pull.done_ms && now_ms < *pull.done_ms + kPulledMs) return;
    if (!pull.due_ms) pull.due_ms = now_ms;
}

void Schedule::plan_push(Name &name, std::uint64_t now_ms) {
    Task &push = name.push;
    if (!push.due_ms) {
        name.stretch = 1 + random_() / 2;
        name.first_start_ms = now_ms;
    }
    const bool is_soon = name.active_until_ms > now_ms;
    const std::uint64_t patience_ms = stretched(is_soon ? kSoonAgainMs : kPushMs, name.stretch);
    const std::uint64_t quiet_ms = stretched(is_soon ? kSoonMs : kQuietMs, name.stretch);
    push.due_ms = std::min(now_ms + quiet_ms, name.first_start_ms + patience_ms);
    if (push.done_ms) push.due_ms = std::max(*push.due_ms, *push.done_ms + patience_ms);
}

// The jobs.

std::optional<std::uint64_t> Schedule::ready_ms(const Task &task) const {
    auto ready = task.due_ms;
    for (const std::string &remote : task.lacking) {
        const std::uint64_t again_ms = usable_ms(remote);
        if (!ready || again_ms < *ready) ready = again_ms;
    }
    return ready;
}

std::optional<std::uint64_t> Schedule::next_ms() const {
    if (running_) return std::nullopt;
    std::optional<std::uint64_t> next;
    for (const auto &[name, known] : names_) {
        for (const Task *task : {&known.pull, &known.look, &known.push}) {
            const auto ready = ready_ms(*task);
            if (ready && (!next || *ready < *next)) next = ready;
        }
    }
    return next;
}

std::optional<Schedule::Candidate> Schedule::most_urgent(std::uint64_t now_ms) {
    for (const Job::Kind kind : {Job::Kind::pull, Job::Kind::look, Job::Kind::push}) {
        std::optional<Candidate> found;
        std::uint64_t found_ms = 0;
        for (auto name = names_.begin(); name != names_.end(); ++name) {
            const auto ready = ready_ms(task_of(name->second, kind));
            if (!ready || *ready > now_ms || (found && *ready >= found_ms)) continue;
            found = {name, kind};
            found_ms = *ready;
        }
        if (found) return found;
    }
    return std::nullopt;
}

std::optional<Job> Schedule::begin(std::uint64_t now_ms) {
    if (running_) return std::nullopt;
    for (auto next = most_urgent(now_ms); next; next = most_urgent(now_ms)) {
        if (!is_shared_(next->name->first)) {
            names_.erase(next->name);
            continue;
        }
        Job job = {next->kind, next->name->first, {}};
        for (const auto &[remote, breaker] : breakers_) {
            if (breaker.usable_ms > now_ms) job.left_alone.push_back(remote);
        }
        Task &task = task_of(next->name->second, next->kind);
        task.due_ms.reset();
        task.lacking.clear();
        running_ = job;
        return job;
    }
    return std::nullopt;
}

void Schedule::finish(const JobResult &result, std::uint64_t now_ms) {
    assert(running_);
    const Job job = *std::exchange(running_, std::nullopt);
    for (const std::string &remote : result.served) breakers_.erase(remote);
    for (const std::string &remote : result.troubled) note_trouble(remote, now_ms);
    const auto found = names_.find(job.name);
    if (found == names_.end()) return;  // forgotten meanwhile
    Name &name = found->second;
    Task &task = task_of(name, job.kind);
    task.done_ms = now_ms;
    // There was a start while this was pushed.
    if (task.due_ms) {
        const bool is_soon = name.active_until_ms > now_ms;
        task.due_ms = std::max(*task.due_ms,
                               now_ms + stretched(is_soon ? kSoonAgainMs : kPushMs, name.stretch));
    }
    plan_next(name, job.kind, now_ms);
    if (job.kind == Job::Kind::push) plan_another_push(name, result.has_published, now_ms);
    // The next look comes by itself.
    if (job.kind == Job::Kind::look) return;
    task.lacking = result.troubled;
    for (const std::string &remote : result.skipped) {
        // Others would be tried again at once, and for ever.
        if (std::ranges::find(job.left_alone, remote) != job.left_alone.end()) {
            task.lacking.push_back(remote);
        }
    }
}

// The remotes.

std::uint64_t Schedule::usable_ms(const std::string &remote) const {
    const auto found = breakers_.find(remote);
    return found == breakers_.end() ? 0 : found->second.usable_ms;
}

void Schedule::note_trouble(const std::string &remote, std::uint64_t now_ms) {
    if (!breakers_.contains(remote) && breakers_.size() >= kRemotesMax) {
        breakers_.erase(std::min_element(breakers_.begin(), breakers_.end(), [](auto &a, auto &b) {
            return a.second.usable_ms < b.second.usable_ms;
        }));
    }
    Breaker &breaker = breakers_[remote];
    std::uint64_t most_ms = kLeftAloneMs;
    for (unsigned i = 0; i < breaker.failures && most_ms < kLeftAloneMaxMs; ++i) most_ms *= 2;
    most_ms = std::min(most_ms, kLeftAloneMaxMs);
    ++breaker.failures;
    breaker.usable_ms = now_ms + std::max(stretched(most_ms, random_()), kLeftAloneMinMs);
}

}  // namespace cairn::agent
