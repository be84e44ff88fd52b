// SPDX-License-Identifier: MIT
#include "agent.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cinttypes>
#include <exception>
#include <stdexcept>
#include <utility>

#include "os/environment.h"

namespace cairn::agent {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kIdleMs = 3600'000;  // where there is nothing to do until a start

const char *verb_of(Job::Kind kind) {
    return kind == Job::Kind::pull ? "pull" : kind == Job::Kind::look ? "look at" : "push";
}

// For a job at work to end in: services are killed when they take longer, and so is what a user's session waits for.
constexpr int kEndMs = 1500;

bool is_readable(int fd, int patience_ms = 0) {
    pollfd poll = {fd, POLLIN, 0};
    return ::poll(&poll, 1, patience_ms) > 0;
}

}  // namespace

double Agent::random_number() {
    std::array<std::byte, sizeof(std::uint32_t)> bytes;
    random_bytes(bytes);
    return get_le<std::uint32_t>(bytes, 0) / 4294967296.0;
}

std::uint64_t Agent::now_ms() {
    return monotonic_ns() / kNsPerMs;
}

Agent::Agent(Parts parts)
    : parts_(std::move(parts)),
      schedule_(parts_.random, parts_.is_shared, parts_.asks),
      done_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { work(); }) {
    if (!done_.valid()) throw std::runtime_error("the system has no more descriptors");
}

bool Agent::run(int until_readable) {
    parts_.log.write(Severity::info, "waiting for applications that start");
    const std::array<int, 3> others = {until_readable, done_.get(), parts_.asked.fd};
    while (!is_readable(until_readable)) {
        hear(parts_.notices.wait(timeout_ms(), others));
        hear_of_questions();
        finish_job();
        begin_job();
    }
    parts_.log.write(Severity::info, "ending");
    if (job_) {
        parts_.worker.stop();
        if (!is_done_.load(std::memory_order_acquire) && !is_readable(done_.get(), kEndMs)) {
            parts_.log.write(Severity::info, "%s %s: cut short", verb_of(job_->kind),
                             job_->name.c_str());
            return false;
        }
    }
    thread_.stop();
    return true;
}

std::uint64_t Agent::timeout_ms() const {
    const auto next_ms = schedule_.next_ms();
    if (!next_ms) return kIdleMs;
    const std::uint64_t now = parts_.clock();
    // Rounded up: a look that is too early finds nothing to do.
    return *next_ms > now ? (*next_ms - now + parts_.speed - 1) / parts_.speed : 0;
}

void Agent::hear(const std::vector<AgentNotice> &notices) {
    for (const AgentNotice &notice : notices) {
        const auto name = parts_.name_of(notice);
        if (name) schedule_.note_start(*name, parts_.clock());
    }
}

void Agent::hear_of_questions() {
    if (!parts_.asked.take) return;
    for (const std::string &name : parts_.asked.take()) {
        schedule_.note_question(name, parts_.clock());
    }
}

void Agent::begin_job() {
    if (job_) return;
    job_ = schedule_.begin(parts_.clock());
    if (!job_) return;
    result_ = {};
    problem_ = nullptr;
    is_done_.store(false, std::memory_order_relaxed);
    if (thread_.wake()) return;
    parts_.log.write(Severity::warning, "cannot %s %s: the system has no more threads",
                     verb_of(job_->kind), job_->name.c_str());
    job_.reset();
    schedule_.finish({}, parts_.clock());
}

void Agent::finish_job() {
    // The thread may write to it after the job was found to be done: it is emptied each time.
    std::uint64_t ignored = 0;
    (void)!::read(done_.get(), &ignored, sizeof ignored);
    if (!job_ || !is_done_.load(std::memory_order_acquire)) return;
    report(result_);
    job_.reset();
    schedule_.finish(result_, parts_.clock());
}

void Agent::report(const JobResult &result) const {
    const char *const verb = verb_of(job_->kind);
    const char *const name = job_->name.c_str();
    try {
        if (problem_ != nullptr) std::rethrow_exception(problem_);
    } catch (const std::exception &error) {
        parts_.log.write(Severity::warning, "%s %s: %s", verb, name, error.what());
    }
    for (const std::string &remote : result.troubled) {
        parts_.log.write(Severity::warning, "%s %s: %s is in trouble, and left alone for a while",
                         verb, name, remote.c_str());
    }
    if (job_->kind == Job::Kind::look) return;  // it is done again and again
    for (const std::string &remote : result.served) {
        parts_.log.write(Severity::info, "%s %s: done with %s", verb, name, remote.c_str());
    }
}

void Agent::work() {
    try {
        const auto call = job_->kind == Job::Kind::pull   ? &Worker::pull
                          : job_->kind == Job::Kind::look ? &Worker::look
                                                          : &Worker::push;
        result_ = (parts_.worker.*call)(job_->name, job_->left_alone);
    } catch (const std::exception &) {
        problem_ = std::current_exception();
    }
    is_done_.store(true, std::memory_order_release);
    const std::uint64_t one = 1;
    (void)!::write(done_.get(), &one, sizeof one);
}

}  // namespace cairn::agent
