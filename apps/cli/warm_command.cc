// SPDX-License-Identifier: MIT
// `cairn warm`: makes what the present driver lacks of an application's programs, from recipes, before
// anybody waits (docs/recipes.md).
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "caches.h"
#include "command.h"
#include "manifest.h"
#include "os/byte_lock.h"
#include "os/environment.h"
#include "os/helper_process.h"
#include "os/root.h"
#include "output.h"
#include "store/index_file.h"
#include "text.h"
#include "warm/environment.h"
#include "warm/player.h"
#include "warm/recipes.h"
#include "warm/unattended.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kFooter =
    R"(APPLICATION is a name as `cairn ls` shows it, or a pack with recipes. Recipes are what `cairn run --record` keeps, or
come with packs (`cairn pack create --recipes`). What is made goes to Cairn's cache and to the driver's own, as if the
application had been started. It runs at the lowest priority, and can be stopped at any time: the next one goes on.

Examples:
  cairn warm glmark2
  cairn warm game.pack --jobs 4
  cairn warm --all --if-needed         what a session's service does

Exit codes: 0 made, or nothing to do, 1 a program made the driver crash or hang, or nothing could be made, 2 wrong usage,
128 + n stopped by signal n.)";

constexpr const char *kTimeoutEnv = "CAIRN_WARM_TIMEOUT_MS";
constexpr const char *kBatchEnv = "CAIRN_WARM_BATCH_MS";
constexpr unsigned kReadyMs = 60'000, kFinishMs = 60'000;
constexpr unsigned kWorkMs = 30'000, kStateMs = 1'000;  // each state may take so long, too
constexpr unsigned kPlayersMax = 3;                     // in a row that do not even begin
constexpr unsigned kJobsMax = 64;
// So long a player works before it writes what it has made, and another one goes on.
constexpr unsigned kBatchMs = 3'000;

struct Options {
    Words applications;
    bool all = false, if_needed = false, again = false, json = false;
    std::optional<std::string> jobs;
    std::string executable;
};

std::atomic<int> g_signal = 0;
std::atomic<bool> g_stop = false;

void stop_by_signal(int number) {
    g_signal.store(number);
    g_stop.store(true);
}

void heed_signals() {
    struct sigaction action = {};
    action.sa_handler = stop_by_signal;
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
}

// A number above 0; nothing where a text is none.
std::optional<unsigned> number_of(std::string_view text) {
    unsigned number = 0;
    const char *const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && stopped == end && number > 0 ? std::optional(number)
                                                                : std::nullopt;
}

unsigned chosen_ms(const char *variable, unsigned usual_ms) {
    return number_of(environment_variable(variable).value_or("")).value_or(usual_ms);
}
// How long a player may be silent.
unsigned patience_ms(unsigned usual_ms) {
    return chosen_ms(kTimeoutEnv, usual_ms);
}

unsigned work_ms(std::size_t states) {
    return patience_ms(kWorkMs + static_cast<unsigned>(states) * kStateMs);
}

// What has become of an application's programs.
struct Tally {
    std::atomic<std::size_t> made = 0, known = 0, refused = 0, failed = 0, skipped = 0, damaged = 0;
    std::atomic<std::size_t> undrawn = 0;  // states of programs that were made

    std::size_t done() const { return made + known + refused + failed + skipped + damaged; }
};

// Makes the programs of one application.
class Warming {
  public:
    Warming(const Options &options, std::string root, std::string application, const Words &packs)
        : options_(options),
          root_(std::move(root)),
          application_(std::move(application)),
          packs_(packs),
          book_(root_, application_, packs),
          problems_(book_.refused()) {}

    const std::string &application() const { return application_; }
    std::size_t size() const { return book_.size() + book_.damaged(); }
    const Tally &tally() const { return tally_; }
    // There may be recipes in packs that are not used.
    bool lacks_packs() const { return !book_.refused().empty(); }
    // Nothing more can be kept, or nobody knows whether it is.
    bool keeps_nothing() const { return keeps_nothing_.load(); }
    std::vector<std::string> problems() const {
        const std::lock_guard lock(mutex_);
        return problems_;
    }

    void run(unsigned jobs);

  private:
    // The programs of one kind of context, which players share.
    class Queue {
      public:
        explicit Queue(const RecipeGroup &group) : context(group.context) {
            for (const RecipeUnit &unit : group.units) units_.push_back(&unit);
        }
        // Null: there is none.
        const RecipeUnit *take() {
            const std::lock_guard lock(mutex_);
            if (units_.empty()) return nullptr;
            const RecipeUnit *unit = units_.front();
            units_.pop_front();
            return unit;
        }
        void give_back(const RecipeUnit *unit) {
            const std::lock_guard lock(mutex_);
            units_.push_back(unit);
        }
        bool is_empty() const {
            const std::lock_guard lock(mutex_);
            return units_.empty();
        }

        const recipe::ContextKind &context;
        std::atomic<unsigned> beginnings_failed = 0;  // in a row
        std::atomic<unsigned> endings_failed = 0;  // in a row, of players that no program has ended

      private:
        mutable std::mutex mutex_;
        std::deque<const RecipeUnit *> units_;  // guarded by mutex_
    };
    // What a player has done that drivers and caches may not have written yet.
    struct Finished {
        const RecipeUnit *unit;
        recipe::Note note;
        std::size_t undrawn;  // states
        bool is_whole;
    };
    using Batch = std::vector<Finished>;

    recipe::Application executable() const;
    void serve(Queue &queue);
    void serve_with_player(Queue &queue);
    // What comes after a program.
    enum class Then { the_next, another_player, a_dead_player };
    Then make(Player &player, cairn_cache *notes, const RecipeUnit &unit, Batch &batch);
    bool is_cache_for_notes(const std::string &identifier) const;
    void give_up(Queue &queue, const std::string &why);
    void note(cairn_cache *notes, const RecipeUnit &unit, recipe::Note note);
    bool is_noted(cairn_cache *notes, const RecipeUnit &unit) const;
    void complain_once(const std::string &problem);

    const Options &options_;
    const std::string root_, application_;
    const Words packs_;
    const RecipeBook book_;
    Words environment_;
    std::string player_;
    Tally tally_;
    std::atomic<bool> keeps_nothing_ = false;
    mutable std::mutex mutex_;
    std::vector<std::string> problems_;  // guarded by mutex_; each once
};

void Warming::complain_once(const std::string &problem) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(problems_, problem) == problems_.end()) problems_.push_back(problem);
}

bool Warming::is_noted(cairn_cache *notes, const RecipeUnit &unit) const {
    const std::string key = recipe::key_of_note(unit.hash);
    return cairn_contains(notes, key.data(), key.size()) == CAIRN_OK;
}

void Warming::note(cairn_cache *notes, const RecipeUnit &unit, recipe::Note note) {
    const std::string key = recipe::key_of_note(unit.hash);
    const int result = cairn_put(notes, key.data(), key.size(), &note, sizeof note, nullptr);
    if (result == CAIRN_OK) return;
    // Then programs are not kept either.
    complain_once(fmt::format("nothing more can be kept: {}", cairn_result_string(result)));
    keeps_nothing_.store(true);
    g_stop.store(true);
}

void Warming::give_up(Queue &queue, const std::string &why) {
    while (queue.take() != nullptr) ++tally_.skipped;
    complain_once(why);
}

// A player has died of the program where it is silent, too.
Warming::Then Warming::make(Player &player, cairn_cache *notes, const RecipeUnit &unit,
                            Batch &batch) {
    const auto found = book_.work(unit);
    if (!found) {
        ++tally_.damaged;
        return Then::the_next;
    }
    const auto done = player.work(found->work, work_ms(found->work.states.size()));
    if (g_stop.load()) return Then::the_next;
    if (!done) {
        ++tally_.failed;
        note(notes, unit, recipe::Note::failed);
        return Then::a_dead_player;
    }
    const auto outcome = static_cast<recipe::Outcome>(done->outcome);
    if (outcome == recipe::Outcome::lacking) {
        ++tally_.skipped;
        complain_once("the driver had no memory for a program; it is tried again the next time");
        return Then::another_player;
    }
    Finished finished = {&unit, recipe::Note::made, done->skipped, found->is_whole};
    if (outcome == recipe::Outcome::refused) {
        finished.note = recipe::Note::refused;
        finished.undrawn = 0;
        // The first one says enough.
        if (tally_.refused == 0) complain_once("a program does not compile: " + done->problem);
    }
    ++(finished.note == recipe::Note::made ? tally_.made : tally_.refused);
    tally_.undrawn += finished.undrawn;
    batch.push_back(finished);
    return Then::the_next;
}

// A cache of programs of this application, whatever the player says.
bool Warming::is_cache_for_notes(const std::string &identifier) const {
    return valid_identifier(identifier) && identifier.starts_with("gl-" + application_ + "-") &&
           identifier != book_.identifier();
}

// Until nothing is left, or the player has died, or has worked for so long that what it has made should
// be written.
void Warming::serve_with_player(Queue &queue) {
    Player player(player_, environment_, g_stop);
    const auto ready = player.open(queue.context, patience_ms(kReadyMs));
    if (g_stop.load()) return;
    if (!ready) {
        if (++queue.beginnings_failed >= kPlayersMax) {
            give_up(queue, "the driver makes no context: the player ends without an answer");
        }
        return;
    }
    queue.beginnings_failed.store(0);
    if (ready->is_ready == 0) return give_up(queue, ready->problem);
    if (!is_cache_for_notes(ready->cache)) {
        return give_up(queue,
                       "nothing would be kept: the front end does not serve " + application_);
    }
    const fs::path cache = fs::path(root_) / ready->cache;
    if (std::error_code error; !fs::is_directory(cache, error)) {
        return give_up(queue,
                       fmt::format("nothing would be kept: {} could not be made; is the disk "
                                   "full, or not to be written?",
                                   cache.string()));
    }
    const CacheHandle notes = open_cache(root_, ready->cache, Access::read_write);
    const uint64_t end_ns = monotonic_ns() + uint64_t{chosen_ms(kBatchEnv, kBatchMs)} * 1'000'000;
    Batch batch;
    Then then = Then::the_next;
    do {
        const RecipeUnit *unit = queue.take();
        if (unit == nullptr) break;
        if (!options_.again && is_noted(notes.get(), *unit)) {
            ++tally_.known;
        } else {
            if (!ready->problem.empty()) complain_once(ready->problem);
            then = make(player, notes.get(), *unit, batch);
        }
    } while (then == Then::the_next && !g_stop.load() && monotonic_ns() < end_ns);
    const bool is_alive = then != Then::a_dead_player;
    if (is_alive && player.finish(kFinishMs)) {
        queue.endings_failed.store(0);
        for (const Finished &each : batch) {
            // What lacks a state is made again when that is there again.
            if (each.is_whole) note(notes.get(), *each.unit, each.note);
        }
        return;
    }
    // What a player that dies has not written is made again, by another one.
    for (const Finished &each : batch) {
        --(each.note == recipe::Note::made ? tally_.made : tally_.refused);
        tally_.undrawn -= each.undrawn;
        queue.give_back(each.unit);
    }
    if (is_alive && !g_stop.load() && ++queue.endings_failed >= kPlayersMax) {
        keeps_nothing_.store(true);
        give_up(queue, "players do not end well: what they make may be lost");
    }
}

void Warming::serve(Queue &queue) {
    try {
        while (!g_stop.load() && !queue.is_empty()) serve_with_player(queue);
    } catch (const std::exception &error) {
        give_up(queue, error.what());
    }
}

// Drivers treat some applications by the names, or the versions, of their files.
recipe::Application Warming::executable() const {
    if (!options_.executable.empty()) return {canonical_path(options_.executable), application_};
    return complete_application(book_.application(), application_, packs_);
}

void Warming::run(unsigned jobs) {
    tally_.damaged += book_.damaged();
    environment_ = player_environment(application_, executable(), chosen_root());
    player_ = find_player();
    for (const RecipeGroup &group : book_.groups()) {
        Queue queue(group);
        std::vector<std::thread> threads;
        const std::size_t count = std::min<std::size_t>(jobs, group.units.size());
        for (std::size_t i = 0; i < count; ++i) {
            threads.emplace_back([&] { serve(queue); });
        }
        for (std::thread &thread : threads) thread.join();
    }
}

nlohmann::ordered_json json_of(const Warming &warming, bool is_finished) {
    const Tally &tally = warming.tally();
    return {{"application", warming.application()},
            {"done", tally.done()},
            {"total", warming.size()},
            {"made", tally.made.load()},
            {"known", tally.known.load()},
            {"refused", tally.refused.load()},
            {"failed", tally.failed.load()},
            {"skipped", tally.skipped.load()},
            {"damaged", tally.damaged.load()},
            {"undrawn", tally.undrawn.load()},
            {"problems", warming.problems()},
            {"finished", is_finished}};
}

// A line for programs, at once.
void say_json(const nlohmann::ordered_json &json) {
    print_line(printable_json(json, -1));
    std::fflush(stdout);
}

std::string summary_of(const Warming &warming, uint64_t ns) {
    const Tally &tally = warming.tally();
    std::string text =
        fmt::format("{}: {} made in {:.1f} s", warming.application(),
                    format_count(tally.made, "program", "programs"), static_cast<double>(ns) / 1e9);
    const auto add = [&](std::size_t count, const char *what) {
        if (count > 0) text += fmt::format(", {} {}", count, what);
    };
    add(tally.known, "were there already");
    add(tally.refused, "do not compile with this driver");
    add(tally.failed, "made the driver crash or hang, and are left out from now on");
    add(tally.skipped, "skipped");
    add(tally.damaged, "damaged");
    add(tally.undrawn, "states were not drawn");
    return text;
}

// Only one makes programs of an application at a time. Nothing: another one does, and nobody waits.
std::optional<ByteLock> lock_application(const Options &options, const std::string &root,
                                         const std::string &application) {
    const auto folder = open_root(root, Create::yes, Log());
    if (!folder.ok()) throw Failure(kExitFailure, "{}: {}", root, error_name(folder.error()));
    auto opened = folder.value().open_or_make_file(".warm-" + application);
    if (!opened.ok()) {
        throw Failure(kExitFailure, "cannot write to {}: {}", root, error_name(opened.error()));
    }
    const auto file = std::make_shared<const File>(std::move(opened.value()));
    bool is_said = false;
    for (;;) {
        auto lock = ByteLock::acquire(file, 0, 100'000);
        if (lock.ok()) return std::optional<ByteLock>(std::move(lock.value()));
        if (options.if_needed || g_stop.load()) return std::nullopt;
        if (!is_said && !options.json)
            say(application + ": another `cairn warm` is at it; waiting");
        is_said = true;
    }
}

// Shows how far it is until it has ended, and looks whether it has to rest.
void watch(const Options &options, Warming &warming, const std::atomic<bool> &has_ended) {
    std::optional<Progress> progress;
    if (!options.json && !options.if_needed) {
        progress.emplace("Making programs of " + warming.application(), warming.size());
    }
    std::size_t shown = 0;
    for (uint64_t looks = 1; !has_ended.load(); ++looks) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const std::size_t done = warming.tally().done();
        if (progress) progress->add(done - shown);
        const bool is_time = looks % 10 == 0 && done != shown;
        if (options.json && is_time) say_json(json_of(warming, false));
        if (progress || is_time) shown = done;
        if (options.if_needed && looks % 50 == 0 && !reason_to_rest().empty()) g_stop.store(true);
    }
}

struct Target {
    std::string application;
    Words packs;
};

// Returns the exit code; nothing where another one is at it.
std::optional<int> warm(const Options &options, const std::string &root, const Target &target,
                        unsigned jobs) {
    const auto lock = lock_application(options, root, target.application);
    if (!lock) return std::nullopt;
    Warming warming(options, root, target.application, target.packs);
    const uint64_t start = monotonic_ns();
    std::atomic<bool> has_ended = false;
    std::optional<Failure> failure;
    std::thread runner([&] {
        try {
            warming.run(jobs);
        } catch (const Failure &thrown) {
            failure.emplace(thrown);
        } catch (const std::exception &error) {
            failure.emplace(kExitFailure, std::string(error.what()));
        }
        has_ended.store(true);
    });
    watch(options, warming, has_ended);
    runner.join();
    if (failure) throw Failure(*failure);
    const Tally &tally = warming.tally();
    if (options.json) {
        say_json(json_of(warming, true));
    } else if (!options.if_needed || tally.made + tally.failed > 0) {
        say(summary_of(warming, monotonic_ns() - start));
    }
    // Nobody waits for what this machine will lack tomorrow, too.
    const bool is_useless = !options.if_needed && tally.made + tally.known == 0 &&
                            (tally.skipped > 0 || warming.lacks_packs());
    const bool is_bad = tally.failed > 0 || is_useless || warming.keeps_nothing();
    for (const std::string &problem : warming.problems()) {
        if (is_bad || !options.if_needed) complain("{}: {}", target.application, problem);
    }
    return is_bad ? kExitFailure : kExitOk;
}

bool is_pack(const std::string &name) {
    return name.ends_with(".pack") || name.find('/') != std::string::npos;
}

std::vector<Target> targets_of(const Options &options, const std::string &root) {
    const Words known = applications_with_recipes(root);
    std::vector<Target> targets;
    if (options.all) {
        for (const std::string &application : known) targets.push_back({application, {}});
        return targets;
    }
    if (options.applications.empty()) {
        throw Failure(kExitUsage, "name an application or a pack, or use --all; {}",
                      known.empty()
                          ? "no application has recipes yet"
                          : fmt::format("there are recipes of {}", fmt::join(known, ", ")));
    }
    for (const std::string &name : options.applications) {
        if (is_pack(name)) {
            const std::string path = canonical_path(name);
            targets.push_back({application_of_pack(path), {path}});
        } else if (std::ranges::find(known, name) != known.end()) {
            targets.push_back({name, {}});
        } else {
            throw Failure(kExitFailure,
                          "there are no recipes of `{}`{}; `cairn run --record -- {}` records them",
                          name, did_you_mean(name, known), name);
        }
    }
    return targets;
}

unsigned jobs_of(const Options &options) {
    if (!options.jobs) return 1;
    const auto jobs = number_of(*options.jobs);
    if (!jobs || *jobs > kJobsMax) {
        throw Failure(kExitUsage, "--jobs `{}`: write a number from 1 to {}", *options.jobs,
                      kJobsMax);
    }
    return *jobs;
}

int run(const Options &options) {
    const unsigned jobs = jobs_of(options);
    if (!options.executable.empty() && !is_program(options.executable)) {
        throw Failure(kExitUsage, "--executable `{}`: that is no program", options.executable);
    }
    const std::string root = usable_root();
    std::vector<Target> targets = targets_of(options, root);
    if (options.if_needed && !reason_to_rest().empty()) targets.clear();
    make_signals_errors();
    heed_signals();
    int code = kExitOk;
    bool is_done = false;
    for (const Target &target : targets) {
        if (g_stop.load()) break;
        try {
            const auto result = warm(options, root, target, jobs);
            is_done = result.has_value();
            code = std::max(code, result.value_or(kExitOk));
        } catch (const Failure &failure) {  // the others may do better
            complain("{}: {}", target.application, failure.what());
            if (options.json) {
                say_json({{"application", target.application},
                          {"done", 0},
                          {"total", 0},
                          {"problems", Words{failure.what()}},
                          {"finished", true}});
            }
            is_done = true;
            code = std::max(code, failure.exit_code());
        }
    }
    // Who waits for the end is told of it.
    if (options.json && !is_done) say_json({{"done", 0}, {"total", 0}, {"finished", true}});
    return g_signal.load() != 0 ? kExitSignalBase + g_signal.load() : code;
}

Run define(Arguments &take) {
    auto options = std::make_shared<Options>();
    CLI::Option *names =
        take.values("APPLICATION", options->applications, "Applications with recipes, or packs");
    CLI::Option *all = take.flag("--all", options->all, "All applications with recipes");
    take.exclusive({names, all});
    take.value("--executable", options->executable,
               "The file that the application runs, where it was never recorded here", "FILE");
    take.value("--jobs", options->jobs, "So many players at once; 1 where nothing is said", "N");
    take.flag(
        "--if-needed", options->if_needed,
        "Nobody waits: say nothing where nothing is to be done, and rest on battery, and where "
        "memory is short");
    take.flag("--again", options->again, "Make all of them, also those that were made");
    take.flag("--json-progress", options->json, "Say how far it is in lines of JSON");
    take.dir();
    take.quiet();
    return [options] { return run(*options); };
}

}  // namespace

const Command warm_command = {"warm", "Make an application's programs before it is started",
                              kFooter, define};

}  // namespace cairn::cli
