// SPDX-License-Identifier: MIT
#include "bench/fleet/simulation.h"

#include <cairn/cairn_program_cache.h>

#include <algorithm>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <stdexcept>

#include "bench/fleet/asking.h"
#include "holdings.h"
#include "machine.h"
#include "open_remotes.h"
#include "pull.h"
#include "push.h"
#include "schedule.h"

namespace bench::fleet {
namespace {

namespace fl = cairn::fleet;
using JobKind = cairn::agent::Job::Kind;

constexpr const char *kName = "gl-game";
constexpr const char *kDriver = "a driver after its update";
constexpr std::uint32_t kCompileUs = 30'000;
constexpr std::uint32_t kFlushMs = 10'000;

std::string key_of(unsigned program) {
    return "program " + std::to_string(program);
}

// Like program binaries: 2 to 14 KB, of which a half can be compressed away.
std::string value_of(unsigned program) {
    std::mt19937_64 random(program);
    std::string value(2048 + random() % 12288, '\0');
    for (std::size_t i = 0; i < value.size(); i += 2) value[i] = static_cast<char>(random());
    return value;
}

struct CacheCloser {
    void operator()(cairn_cache *cache) const { cairn_close(cache); }
};
using Session = std::unique_ptr<cairn_cache, CacheCloser>;

Session open_session(const std::string &root) {
    cairn_program_cache_options options = {};
    options.size = sizeof options;
    options.root = root.c_str();
    options.application = kName;
    options.identity = kDriver;
    options.version = 1;
    cairn_cache *cache = nullptr;
    if (cairn_program_cache_open(&options, &cache) != CAIRN_OK) {
        throw std::runtime_error("a machine's cache cannot be opened");
    }
    return Session(cache);
}

struct SimulatedMachine {
    std::string root;
    std::unique_ptr<cairn::agent::Schedule> schedule;
    std::unique_ptr<Asking> asking;  // null: it asks nothing
    JobKind job = JobKind::pull;     // at work
    Session session;                 // null: the application does not run
    unsigned starts = 0;
    std::set<unsigned> in_process;  // programs that this start has linked
    std::uint64_t requests = 0, bytes_in = 0, bytes_out = 0;
    bool is_at_work = false, has_published = false;
};

enum class Kind { start, need, end, schedule, job_done };
struct Event {
    double at_s;
    std::uint64_t number;  // events of one time come in order
    Kind kind;
    std::size_t machine;
    unsigned program;

    bool operator<(const Event &other) const {  // the first one is on top of the queue
        return at_s != other.at_s ? at_s > other.at_s : number > other.number;
    }
};

class Simulation {
  public:
    explicit Simulation(const Plan &plan)
        : plan_(plan),
          random_(plan.seed),
          no_fetcher_(plan.folder + "/nobody", no_offers_, cairn::Log()) {
        settings_.name = "remote";
        settings_.url = plan.url;
        settings_.name_space = plan.name_space;
        settings_.writes = true;
        settings_.sign = "ci";
        machines_.resize(plan.machines);
        for (std::size_t i = 0; i < machines_.size(); ++i) {
            machines_[i].root = plan.folder + "/" + std::to_string(i);
            const auto asks = [this](const std::string &) { return plan_.way == Way::asking; };
            machines_[i].schedule = std::make_unique<cairn::agent::Schedule>(
                [this] { return uniform(1); }, [](const std::string &) { return true; }, asks);
            if (plan.way == Way::asking) machines_[i].asking = make_asking(machines_[i]);
            plan_event(uniform(plan.window_s), Kind::start, i);
        }
        compiled_.resize(plan.programs);
    }

    Outcome run() {
        while (!events_.empty()) {
            const Event event = events_.top();
            events_.pop();
            now_s_ = event.at_s;
            handle(event);
        }
        finish();
        return std::move(outcome_);
    }

  private:
    double uniform(double below) { return std::uniform_real_distribution<>(0, below)(random_); }
    std::uint64_t now_ms() const { return static_cast<std::uint64_t>(now_s_ * 1000); }
    void plan_event(double at_s, Kind kind, std::size_t machine, unsigned program = 0) {
        events_.push({at_s, ++events_planned_, kind, machine, program});
    }

    std::unique_ptr<Asking> make_asking(SimulatedMachine &machine);
    void handle(const Event &event);
    void start(std::size_t number);
    void need(std::size_t number, unsigned program);
    bool ask(std::size_t number, const std::string &key);
    void end(std::size_t number);
    void look_at_schedule(std::size_t number);
    double pull(SimulatedMachine &machine);
    double push(SimulatedMachine &machine);
    double look(SimulatedMachine &machine);
    double work(SimulatedMachine &machine);
    double account(SimulatedMachine &machine, const cairn::remotes::Traffic &traffic);
    void finish();

    const Plan plan_;
    std::mt19937_64 random_;
    fl::RemoteSettings settings_;
    fl::Offers no_offers_;
    fl::Fetcher no_fetcher_;  // looks tell it which remotes answer
    std::vector<SimulatedMachine> machines_;
    std::vector<std::uint64_t> compiled_;  // how often each program was
    std::map<std::uint64_t, std::uint64_t> requests_in_second_;
    std::priority_queue<Event> events_;
    std::uint64_t events_planned_ = 0;
    double now_s_ = 0;
    Outcome outcome_;
};

std::unique_ptr<Asking> Simulation::make_asking(SimulatedMachine &machine) {
    Asking::Parts parts = {machine.root, kName, settings_, 0, {}, {}};
    parts.most_us = static_cast<std::uint64_t>(plan_.ask_s * 1e6);
    parts.account = [&](const auto &traffic) { return account(machine, traffic); };
    parts.random = [this] { return uniform(1); };
    return std::make_unique<Asking>(std::move(parts), no_fetcher_);
}

// How long a job takes that caused this.
double Simulation::account(SimulatedMachine &machine, const cairn::remotes::Traffic &traffic) {
    machine.requests += traffic.requests;
    machine.bytes_in += traffic.bytes_in;
    machine.bytes_out += traffic.bytes_out;
    for (std::uint64_t i = 0; i < traffic.requests; ++i) {
        const double at_s = now_s_ + static_cast<double>(i) * plan_.latency_s;
        ++requests_in_second_[static_cast<std::uint64_t>(at_s)];
    }
    return static_cast<double>(traffic.requests) * plan_.latency_s +
           static_cast<double>(traffic.bytes_in + traffic.bytes_out) / plan_.bytes_per_s;
}

double Simulation::pull(SimulatedMachine &machine) {
    ++outcome_.pulls;
    const fl::OpenRemotes remotes = open_remote(settings_);
    const fl::Machine own(machine.root);
    fl::PullLimits limits;
    limits.keeps = machine.asking != nullptr;
    fl::Catalogue catalogue(remotes);
    const cairn::cli::Words there = catalogue.drivers(kName);
    for (const std::string &text : fl::drivers_in_caches(machine.root, kName)) {
        const std::string driver = fl::driver_name(text);
        if (std::ranges::find(there, driver) == there.end()) continue;
        outcome_.failures += fl::pull(remotes, own, kName, driver, text, limits).troubles.size();
    }
    outcome_.failures += catalogue.troubles().size();
    return account(machine, remotes.front()->remote().traffic());
}

double Simulation::push(SimulatedMachine &machine) {
    ++outcome_.pushes;
    // What was put some moments ago is written by now, in simulated time.
    if (machine.session != nullptr) (void)cairn_flush(machine.session.get(), kFlushMs);
    const fl::OpenRemotes remotes = open_remote(settings_);
    const fl::Machine own(machine.root);
    try {
        for (const auto &[text, parts] : fl::holdings_of(machine.root, kName, fl::Recipes::no)) {
            const fl::Pushed pushed =
                fl::push(*remotes.front(), own, kName, text, parts, settings_.sign);
            machine.has_published |= pushed.packs != 0;
        }
    } catch (const cairn::remotes::RemoteFailure &) {
        ++outcome_.failures;
    }
    return account(machine, remotes.front()->remote().traffic());
}

double Simulation::look(SimulatedMachine &machine) {
    ++outcome_.looks;
    const fl::OpenRemotes remotes = open_remote(settings_);
    outcome_.failures += machine.asking->look(remotes);
    return account(machine, remotes.front()->remote().traffic());
}

double Simulation::work(SimulatedMachine &machine) {
    return machine.job == JobKind::pull   ? pull(machine)
           : machine.job == JobKind::look ? look(machine)
                                          : push(machine);
}

void Simulation::start(std::size_t number) {
    SimulatedMachine &machine = machines_[number];
    double begin_s = now_s_;
    if (plan_.way == Way::scripts) {
        (void)open_session(
            machine.root);  // as the driver's name is known from a start, or the player
        begin_s += pull(machine);
    }
    ++machine.starts;
    machine.in_process.clear();
    machine.session = open_session(machine.root);
    if (machine.asking != nullptr) machine.asking->begin_process();
    // Most of what a start needs, it needs at its beginning.
    for (unsigned program = 0; program < plan_.programs; ++program) {
        const bool is_early = program < plan_.programs * 4 / 5;
        plan_event(begin_s + uniform(is_early ? plan_.session_s / 10 : plan_.session_s), Kind::need,
                   number, program);
    }
    plan_event(begin_s + plan_.session_s, Kind::end, number);
    if (plan_.way == Way::agent || plan_.way == Way::asking) {
        machine.schedule->note_start(kName, now_ms());
        look_at_schedule(number);
    }
}

// Whether the machine has got the entry by that, and its cache has it now.
bool Simulation::ask(std::size_t number, const std::string &key) {
    SimulatedMachine &machine = machines_[number];
    if (machine.asking == nullptr) return false;
    const cairn::BlobRef found = machine.asking->find(key, now_s_);
    if (machine.asking->take_asked()) {
        machine.schedule->note_question(kName, now_ms());
        look_at_schedule(number);
    }
    if (!found) return false;
    ++outcome_.answered;
    const cairn_put_options options = {sizeof options, 0, found->cost_us()};
    (void)cairn_put(machine.session.get(), key.data(), key.size(), found->value().data(),
                    found->value().size(), &options);
    return true;
}

void Simulation::need(std::size_t number, unsigned program) {
    SimulatedMachine &machine = machines_[number];
    if (!machine.in_process.insert(program).second) return;
    const std::string key = key_of(program);
    cairn_blob *blob = nullptr;
    if (cairn_get(machine.session.get(), key.data(), key.size(), &blob) == CAIRN_OK) {
        cairn_blob_free(blob);
        return;
    }
    if (ask(number, key)) return;
    ++compiled_[program];
    ++(machine.starts == 1 ? outcome_.compiles_first : outcome_.compiles_later);
    outcome_.last_compile_s = now_s_;
    if (machine.asking != nullptr) machine.asking->note_compiled(kCompileUs);
    const std::string value = value_of(program);
    const cairn_put_options options = {sizeof options, 0, kCompileUs};
    (void)cairn_put(machine.session.get(), key.data(), key.size(), value.data(), value.size(),
                    &options);
}

void Simulation::end(std::size_t number) {
    SimulatedMachine &machine = machines_[number];
    machine.session.reset();
    if (plan_.way == Way::scripts) (void)push(machine);
    if (machine.starts < plan_.starts) {
        plan_event(now_s_ + plan_.pause_s * (0.5 + uniform(1)), Kind::start, number);
    }
}

void Simulation::look_at_schedule(std::size_t number) {
    SimulatedMachine &machine = machines_[number];
    if (machine.is_at_work) return;
    const auto job = machine.schedule->begin(now_ms());
    if (job) {
        machine.job = job->kind;
        machine.is_at_work = true;
        plan_event(now_s_ + work(machine), Kind::job_done, number);
    } else if (const auto next_ms = machine.schedule->next_ms()) {
        plan_event(std::max(now_s_, static_cast<double>(*next_ms) / 1000 + 0.001), Kind::schedule,
                   number);
    }
}

void Simulation::handle(const Event &event) {
    SimulatedMachine &machine = machines_[event.machine];
    switch (event.kind) {
        case Kind::start:
            return start(event.machine);
        case Kind::need:
            return need(event.machine, event.program);
        case Kind::end:
            return end(event.machine);
        case Kind::schedule:
            return look_at_schedule(event.machine);
        case Kind::job_done:
            machine.is_at_work = false;
            // An open cache looks for new packs once in a second, and not in one of simulated time.
            if (machine.session != nullptr && machine.job == JobKind::pull) {
                machine.session = open_session(machine.root);
            }
            machine.schedule->finish({{settings_.name}, {}, {}, machine.has_published}, now_ms());
            machine.has_published = false;
            return look_at_schedule(event.machine);
    }
}

void Simulation::finish() {
    for (const std::uint64_t count : compiled_) {
        outcome_.compiles += count;
        outcome_.most_compiles = std::max(outcome_.most_compiles, count);
    }
    for (const SimulatedMachine &each : machines_) {
        if (each.asking != nullptr) {
            outcome_.fetches += each.asking->fetches();
            outcome_.failures += each.asking->failures();
        }
        outcome_.requests.push_back(static_cast<double>(each.requests));
        outcome_.bytes_in.push_back(static_cast<double>(each.bytes_in));
        outcome_.bytes_out.push_back(static_cast<double>(each.bytes_out));
    }
    for (const auto &[second, count] : requests_in_second_) {
        outcome_.most_requests_in_a_second = std::max(outcome_.most_requests_in_a_second, count);
    }
    if (plan_.way == Way::alone) return;
    const fl::OpenRemotes remotes = open_remote(settings_);
    const fl::Machine reader(plan_.folder + "/reader");
    std::set<fl::ObjectHash> packs;
    for (const std::string &driver : remotes.front()->drivers(kName)) {
        fl::Shelf shelf(*remotes.front(), reader, kName, driver);
        for (const fl::ReadManifest &each : shelf.read_manifests()) {
            ++outcome_.manifests;
            for (const fl::ListedPack &pack : each.manifest.packs) {
                if (packs.insert(pack.hash).second) outcome_.stored_bytes += pack.size_bytes;
            }
        }
    }
    outcome_.objects = packs.size();
}

}  // namespace

Outcome simulate(const Plan &plan) {
    return Simulation(plan).run();
}

}  // namespace bench::fleet
