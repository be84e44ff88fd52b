// SPDX-License-Identifier: MIT
#include "cache/warm_process.h"

#include <charconv>
#include <utility>

#include "os/environment.h"

namespace cairn {
namespace {

constexpr std::size_t kLineMax = std::size_t{1} << 20;  // one that is longer says nothing

// A quote inside of a text has a backslash before it, so no text looks like a member.
std::uint64_t number_of(std::string_view line, std::string_view name) {
    std::string member(1, '"');
    member.append(name).append("\":");  // GCC 12 warns of what it makes of operator+ here
    const std::size_t at = line.find(member);
    std::uint64_t number = 0;
    if (at != std::string_view::npos) {
        std::from_chars(line.data() + at + member.size(), line.data() + line.size(), number);
    }
    return number;
}

}  // namespace

WarmProgress parse_progress(std::string_view line) {
    WarmProgress progress;
    progress.done = number_of(line, "done");
    progress.total = number_of(line, "total");
    progress.made = number_of(line, "made");
    progress.known = number_of(line, "known");
    progress.refused = number_of(line, "refused");
    progress.failed = number_of(line, "failed");
    progress.skipped = number_of(line, "skipped");
    progress.damaged = number_of(line, "damaged");
    progress.is_finished = line.find("\"finished\":true") != std::string_view::npos;
    return progress;
}

Result<WarmProcess> WarmProcess::start(const std::string &program,
                                       std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"warm", "--json-progress"});
    std::vector<std::string> environment;
    for (const std::string_view variable : environment_variables()) {
        environment.emplace_back(variable);
    }
    TRY_ASSIGN(HelperProcess process, HelperProcess::start(program, arguments, environment));
    return WarmProcess(std::move(process));
}

Status WarmProcess::wait(std::uint64_t deadline_ns) {
    for (;;) {
        std::byte next = {};
        TRY_ASSIGN(const std::size_t count, process_.read({&next, 1}, deadline_ns));
        if (count == 0) return progress_.is_finished ? Status() : Status(Error::io);
        if (next != std::byte{'\n'}) {
            if (line_.size() < kLineMax) line_.push_back(static_cast<char>(next));
            continue;
        }
        progress_ = parse_progress(std::exchange(line_, {}));
        // The end comes soon, or another application.
        if (!progress_.is_finished) return Error::busy;
    }
}

}  // namespace cairn
