// Readers and writers in processes of their own on one store of 10,000 entries, for a fixed time.
// Readers get copies of random entries; each writer puts new ones. What writers had acknowledged is
// read back by yet another process.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <thread>

#include "bench/harness/folders.h"
#include "bench/harness/stats.h"
#include "bench/workloads/workload.h"

namespace bench {
namespace {

constexpr std::uint64_t kWriterSpan =
    10'000'000;  // entries of writer i begin at (i + 1) times this
constexpr std::uint64_t kPreparedPuts = 100'000;
constexpr std::uint64_t kReadBackMax = 5000;  // per writer
constexpr int kReadyTimeoutMs = 60'000;

struct Cast {
    const char *name;
    unsigned readers;
    unsigned writers;
};

// On two processors r1w1 shows how much a writer costs a reader that has a processor of its own.
constexpr Cast kCasts[] = {{"r1", 1, 0}, {"r1w1", 1, 1}, {"r2", 2, 0},  {"r4", 4, 0},
                           {"w1", 0, 1}, {"w2", 0, 2},   {"r2w2", 2, 2}};

struct Totals {
    double reads_per_s = 0;
    double reads_per_cpu_s = 0;
    double writes_per_s = 0;
    double put_max_ns = 0;
    double wrong = 0;
    bool complete = true;
};

bool fits(const Traits &traits) {
    return traits.persistent;
}

void sleep_ms(unsigned ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

bool wait_until_ready(Session &session, unsigned count) {
    for (int waited = 0; waited < kReadyTimeoutMs; ++waited) {
        if (session.control()->ready >= count) {
            return true;
        }
        sleep_ms(1);
    }
    return false;
}

std::vector<Child> start_cast(Session &session, const EngineKind &kind,
                              const std::filesystem::path &dir, std::uint64_t entries,
                              const Cast &cast) {
    std::vector<Child> children;
    for (unsigned i = 0; i < cast.readers + cast.writers; ++i) {
        const bool reads = i < cast.readers;
        auto task = Session::task(reads ? "reader" : "writer", kind, dir, entries);
        task["number"] = i;
        task["first"] = (i + 1) * kWriterSpan;
        children.push_back(session.start(task));
    }
    return children;
}

void add_child(const nlohmann::json &value, Totals &totals) {
    const double seconds = value["seconds"];
    const double done = value["done"];
    if (value.contains("cpu_seconds")) {
        totals.reads_per_s += done / seconds;
        totals.reads_per_cpu_s += done / value["cpu_seconds"].get<double>();
    } else {
        totals.writes_per_s += done / seconds;
        totals.put_max_ns = std::max(totals.put_max_ns, value["max_ns"].get<double>());
    }
    totals.wrong += value["wrong"].get<double>();
}

double lost_puts(Session &session, const EngineKind &kind, const std::filesystem::path &dir,
                 const Cast &cast) {
    double lost = 0;
    for (unsigned i = cast.readers; i < cast.readers + cast.writers; ++i) {
        std::uint64_t count = std::min<std::uint64_t>(session.control()->progress[i], kReadBackMax);
        auto task = Session::task("check", kind, dir, count);
        task["first"] = (i + 1) * kWriterSpan;
        ChildResult result = session.run(task);
        lost += result.ok ? static_cast<double>(
                                count - count_of(result.value["states"].get<std::string>(), 'r'))
                          : static_cast<double>(count);
    }
    return lost;
}

Totals run_cast(Session &session, const EngineKind &kind, const std::filesystem::path &dir,
                std::uint64_t entries, const Cast &cast) {
    session.control().reset();
    auto children = start_cast(session, kind, dir, entries, cast);
    Totals totals;
    if (wait_until_ready(session, cast.readers + cast.writers)) {
        session.control()->go = 1;
        sleep_ms(session.settings().quick ? 400 : 1000);
    }
    session.control()->go = 1;
    session.control()->stop = 1;
    for (Child &child : children) {
        ChildResult result = child.wait(kTaskTimeoutS);
        if (result.ok) {
            add_child(result.value, totals);
        } else {
            session.complain(kind.name + " processes " + cast.name, result.error);
            totals.complete = false;
        }
    }
    totals.wrong += lost_puts(session, kind, dir, cast);
    return totals;
}

void add_totals(Session &session, const EngineKind &kind, std::uint64_t entries, const Cast &cast,
                const Totals &totals) {
    const std::string name = cast.name;
    auto add = [&](const std::string &metric, double value, Summary summary = Summary::median) {
        session.report().add("processes", kind.name, entries, metric, value, summary);
    };
    if (cast.readers > 0) {
        add(name + "_reads_per_s", totals.reads_per_s);
        add(name + "_reads_per_cpu_s", totals.reads_per_cpu_s);
    }
    if (cast.writers > 0) {
        add(name + "_writes_per_s", totals.writes_per_s);
        add(name + "_put_max_ns", totals.put_max_ns, Summary::worst);
    }
    add("wrong", totals.wrong, Summary::sum);
}

// Measures how a writer slows a reader: in time, and in the reader's processor time, which other
// programs do not disturb.
void add_loss(Session &session, const EngineKind &kind, std::uint64_t entries, const Totals &alone,
              const Totals &beside) {
    auto add = [&](const char *metric, double before, double after) {
        session.report().add("processes", kind.name, entries, metric, 100 * (1 - after / before));
    };
    add("reader_loss_percent", alone.reads_per_s, beside.reads_per_s);
    add("reader_loss_cpu_percent", alone.reads_per_cpu_s, beside.reads_per_cpu_s);
}

void run_engine(Session &session, const EngineKind &kind, std::uint64_t entries) {
    auto source = session.fixture(kind, entries, Shape::program);
    if (!source) {
        return;
    }
    Totals alone;
    for (const Cast &cast : kCasts) {
        if ((!kind.traits.shared && cast.readers + cast.writers > 1) ||
            (!kind.traits.writes && cast.writers > 0)) {
            continue;
        }
        auto dir = cast.writers > 0 ? session.scratch() : *source;
        if (cast.writers > 0) {
            copy_folder(*source, dir);
        }
        Totals totals = run_cast(session, kind, dir, entries, cast);
        if (cast.writers > 0) {
            session.remove(dir);
        }
        if (!totals.complete) {
            continue;
        }
        add_totals(session, kind, entries, cast, totals);
        if (std::strcmp(cast.name, "r1") == 0) {
            alone = totals;
        } else if (std::strcmp(cast.name, "r1w1") == 0) {
            add_loss(session, kind, entries, alone, totals);
        }
    }
}

void wait_for_go(ControlBlock &control) {
    control->ready += 1;
    while (control->go == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

double thread_cpu_seconds() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

}  // namespace

void run_processes(Session &session) {
    if (!session.wants("processes")) {
        return;
    }
    for (std::uint64_t entries : session.sizes({10000}, {10000})) {
        for (unsigned round = 0; round < session.rounds(3, 1); ++round) {
            for (const EngineKind *kind : session.engines(round, fits)) {
                run_engine(session, *kind, entries);
            }
        }
    }
}

nlohmann::json reader_task(const Task &task) {
    constexpr std::size_t kOrder = 1 << 16;  // the order repeats after this many
    const auto number = task.option<unsigned>("number", 0);
    pin_to_processor(number);
    auto engine = open_store(task);
    auto entries = task.dataset.entries(0, task.entries(), task.shape());
    auto order = uniform_order(task.entries(), kOrder, Random(number + 99));
    std::string states = read_range(*engine, task, 0, task.entries());
    std::uint64_t wrong = task.entries() - count_of(states, 'r');
    std::vector<std::byte> buffer(kBufferSize);
    std::uint64_t done = 0;
    wait_for_go(task.control);
    const double cpu_before = thread_cpu_seconds();
    const std::uint64_t start = now_ns();
    for (; task.control->stop == 0; ++done) {
        const Entry &entry = entries[order[done % kOrder]];
        std::int64_t size = engine->get(entry.key_bytes(), buffer);
        std::uint64_t head;
        std::memcpy(&head, buffer.data(), sizeof(head));
        wrong += size != entry.value_size || head != entry.value_head ? 1U : 0U;
    }
    const double seconds = static_cast<double>(now_ns() - start) / 1e9;
    const double cpu = thread_cpu_seconds() - cpu_before;
    engine->close();
    return {{"done", done}, {"seconds", seconds}, {"cpu_seconds", cpu}, {"wrong", wrong}};
}

nlohmann::json writer_task(const Task &task) {
    const auto number = task.option<unsigned>("number", 0);
    const auto first = task.option<std::uint64_t>("first", 0);
    pin_to_processor(number);
    auto engine = open_store(task, task.option("create", false));
    auto entries = task.dataset.entries(first, kPreparedPuts, task.shape());
    std::vector<Bytes> values;
    for (std::uint64_t i = 0; i < kPreparedPuts; ++i) {
        values.push_back(task.dataset.value(first + i, task.shape()));
    }
    Samples samples(kPreparedPuts);
    std::uint64_t refused = 0;
    auto &acknowledged = task.control->progress[number];
    wait_for_go(task.control);
    const std::uint64_t start = now_ns();
    for (std::size_t i = 0; i < kPreparedPuts && task.control->stop == 0 && refused == 0; ++i) {
        const std::uint64_t before = ticks();
        bool put = engine->put(entries[i].key_bytes(), values[i]);
        samples.add(ticks() - before);
        refused += put ? 0 : 1;
        acknowledged += put ? 1U : 0U;
    }
    const double seconds = static_cast<double>(now_ns() - start) / 1e9;
    engine->close();
    return {{"done", acknowledged.load()},
            {"seconds", seconds},
            {"max_ns", samples.max_ns()},
            {"wrong", refused}};
}

}  // namespace bench
