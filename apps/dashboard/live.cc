// SPDX-License-Identifier: MIT
#include "live.h"

#include <algorithm>
#include <utility>

#include "history/reader.h"
#include "os/environment.h"
#include "os/file.h"

namespace cairn::dashboard {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kFoundFor{3};
constexpr std::size_t kEventsKept = 500;
constexpr std::size_t kEventsFirst = 100;  // as many as a page shows

Json json_of_running(const cli::ApplicationRun &run) {
    const Numbers &numbers = run.run.numbers;
    const std::uint64_t now_ns = monotonic_ns();
    Json json = {{"application", run.application},
                 {"cache", run.identifier},
                 {"process", run.run.process},
                 {"start_ms", run.run.start_ns / 1'000'000},
                 {"lookups", numbers.lookups()},
                 {"hits", numbers.hits()},
                 {"saved_ns", numbers[Number::saved_ns]},
                 {"queued_entries", run.run.queued_entries},
                 {"queued_bytes", run.run.queued_bytes},
                 {"making_ms", nullptr}};
    if (run.run.making_ns != 0 && run.run.making_ns <= now_ns) {
        json["making_ms"] = (now_ns - run.run.making_ns) / 1'000'000;
    }
    return json;
}

// 0: it is no longer known.
std::uint64_t process_of(const HistoryRead &history, const LinkRead &link) {
    const auto run = std::ranges::find(history.runs, link.run_start_ns, &RunRead::start_ns);
    return run == history.runs.end() ? 0 : run->process;
}

}  // namespace

void Live::find_caches() {
    const Clock::time_point now = Clock::now();
    if (!caches_.empty() && now - found_at_ < kFoundFor) return;
    found_at_ = now;
    caches_.clear();
    caches_ = cli::list_front_end_caches(root_);
}

Json Live::look() {
    Json running = Json::array();
    std::vector<Miss> found;
    for (const cli::FrontEndCache &cache : caches_) {
        const auto directory = Directory::open(root_ + "/" + cache.identifier);
        if (!directory.ok()) continue;
        const auto history = read_history(directory.value());
        if (!history.ok()) continue;
        cli::ApplicationRun run = {cache.application, cache.identifier, {}, {}, false};
        for (const RunRead &each : history->runs) {
            run.run = each;
            if (each.is_alive) running.push_back(json_of_running(run));
        }
        std::uint64_t &last = last_links_[cache.identifier];
        // A cache that was cleared counts from the beginning.
        if (!history->links.empty() && history->links.back().number < last) last = 0;
        for (const LinkRead &link : history->links) {
            if (link.number <= last) continue;
            last = link.number;
            run.run.process = process_of(history.value(), link);
            found.push_back({run, link});
        }
    }
    add_events(std::move(found));
    return running;
}

// Only what is kept is put into words.
void Live::add_events(std::vector<Miss> found) {
    std::ranges::stable_sort(found, {}, [](const Miss &miss) { return miss.link.time_ns; });
    const std::size_t skipped = found.size() > kEventsKept ? found.size() - kEventsKept : 0;
    for (std::size_t i = skipped; i < found.size(); ++i) {
        const auto &[run, link] = found[i];
        events_.push_back({{"number", ++last_event_},
                           {"application", run.application},
                           {"process", run.run.process},
                           {"time_ms", link.time_ns / 1'000'000},
                           {"cause", outcome_name(link.link.outcome)},
                           {"words", outcome_words(link.link.outcome)},
                           {"why", cli::details_of(root_, run, link.link)},
                           {"cost_ns", link.link.cost_ns}});
        if (events_.size() > kEventsKept) events_.pop_front();
    }
}

Json Live::since(std::uint64_t number) {
    const MutexLock lock(mutex_);
    find_caches();
    Json json = {{"now_ms", wall_clock_ns() / 1'000'000}, {"running", look()}};
    json["last"] = last_event_;
    json["events"] = Json::array();
    const std::size_t skipped =
        number == 0 && events_.size() > kEventsFirst ? events_.size() - kEventsFirst : 0;
    for (auto event = events_.begin() + static_cast<std::ptrdiff_t>(skipped);
         event != events_.end(); ++event) {
        if ((*event)["number"].get<std::uint64_t>() > number) json["events"].push_back(*event);
    }
    return json;
}

}  // namespace cairn::dashboard
