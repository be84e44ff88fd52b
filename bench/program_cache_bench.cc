// A program cache (cairn_program_cache.h): how long a start takes to its first hit however many
// entries there are, what a put costs its caller, and its memory level beside a plain LRU.
// SPDX-License-Identifier: MIT
//
//     bench/program_cache_bench [ROUNDS [FOLDER]]
//
// Everything is measured in turns within a round; figures are medians over rounds. Each value that
// is read is compared with what it must be outside of what is timed, or by size.
#include <cairn/cairn_program_cache.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "bench/harness/stats.h"
#include "bench/samples.h"

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kValueBytes = 2048;
constexpr std::uint64_t kLimit = std::uint64_t{4} << 30;

[[noreturn]] void fail(const char *what) {
    std::fprintf(stderr, "program_cache_bench: %s\n", what);
    std::exit(1);
}

using bench::Folder;
using bench::key_of;
using bench::median;

std::string value_of(std::size_t i) {
    return bench::value_of(i, kValueBytes);
}

double since_ns(Clock::time_point begin) {
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

enum class Load { yes, no };

cairn_cache *open_cache(const Folder &folder, const std::string &name, Load load) {
    cairn_program_cache_options options = {};
    options.size = sizeof options;
    options.root = folder.path.c_str();
    options.application = name.c_str();
    options.identity = "bench";
    options.limit_bytes = kLimit;
    options.total_bytes = UINT64_MAX;
    options.queue_bytes = 256u << 20;
    options.flags = load == Load::yes ? 0 : CAIRN_PROGRAM_CACHE_NO_LOADING;
    cairn_cache *cache = nullptr;
    if (cairn_program_cache_open(&options, &cache) != CAIRN_OK) fail("cannot open the cache");
    return cache;
}

void put(cairn_cache *cache, const std::string &key, const std::string &value) {
    if (cairn_put(cache, key.data(), key.size(), value.data(), value.size(), nullptr) != CAIRN_OK) {
        fail("cannot store");
    }
}

cairn_blob *get(cairn_cache *cache, const std::string &key) {
    cairn_blob *blob = nullptr;
    if (cairn_get(cache, key.data(), key.size(), &blob) != CAIRN_OK) fail("it is missed");
    return blob;
}

// Start-up: what opening and the first hit take, with and without the thread that loads.

struct Start {
    std::size_t entries;
    std::string name;
    std::vector<double> open_us[2], first_us[2];  // without and with loading
};

void measure_start(const Folder &folder, Start &start, Load load, std::size_t round) {
    const std::size_t wanted = round * 7919 % start.entries;
    const std::string key = key_of(wanted);
    const auto begin = Clock::now();
    cairn_cache *cache = open_cache(folder, start.name, load);
    const double open_ns = since_ns(begin);
    cairn_blob *blob = get(cache, key);
    const double first_ns = since_ns(begin);
    const std::string value = value_of(wanted);
    if (std::memcmp(cairn_blob_data(blob), value.data(), value.size()) != 0) fail("wrong value");
    cairn_blob_free(blob);
    cairn_close(cache);
    const auto which = load == Load::yes ? 1u : 0u;
    start.open_us[which].push_back(open_ns / 1000);
    start.first_us[which].push_back(first_ns / 1000);
}

void bench_start(const Folder &folder, std::size_t rounds) {
    std::vector<Start> starts;
    for (const std::size_t entries :
         {std::size_t{100}, std::size_t{10'000}, std::size_t{100'000}}) {
        starts.push_back({entries, "start" + std::to_string(entries), {}, {}});
        cairn_cache *cache = open_cache(folder, starts.back().name, Load::no);
        for (std::size_t i = 0; i < entries; ++i) {
            put(cache, key_of(i), value_of(i));
            if (i % 10'000 == 0) cairn_flush(cache, 60'000);
        }
        cairn_close(cache);
    }
    for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < starts.size(); ++i) {
            Start &start = starts[(round + i) % starts.size()];
            const bool first = (round + i) % 2 == 0;
            measure_start(folder, start, first ? Load::yes : Load::no, round);
            measure_start(folder, start, first ? Load::no : Load::yes, round);
        }
    }
    std::printf("Start-up, us: open, and open with the first hit\n");
    std::printf("%10s %26s %26s\n", "entries", "without loading", "with loading");
    for (const Start &start : starts) {
        std::printf("%10zu %12.0f %12.0f  %12.0f %12.0f\n", start.entries, median(start.open_us[0]),
                    median(start.first_us[0]), median(start.open_us[1]), median(start.first_us[1]));
    }
}

// A put: what its caller pays, beside a queue-less put.

void bench_put(const Folder &folder, std::size_t rounds) {
    constexpr std::size_t kPuts = 5000;
    std::vector<double> queued_median, queued_p99, copy_median;
    cairn_cache *cache = open_cache(folder, "put", Load::no);
    std::size_t next = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
        std::vector<double> queued, copied;
        for (std::size_t i = 0; i < kPuts; ++i, ++next) {
            const std::string key = key_of(next);
            const std::string value = value_of(next);
            auto begin = Clock::now();
            put(cache, key, value);
            queued.push_back(since_ns(begin));
            begin = Clock::now();
            const std::unique_ptr<std::string> copy(new std::string(value));
            copied.push_back(since_ns(begin));
            if (copy->size() != value.size()) fail("a copy is wrong");
        }
        cairn_flush(cache, 60'000);
        queued_median.push_back(median(queued));
        queued_p99.push_back(bench::percentile(queued, 99));
        copy_median.push_back(median(copied));
    }
    cairn_close(cache);
    std::printf(
        "\nA put of %zu bytes, ns on the calling thread: median %.0f, p99 %.0f "
        "(a copy into new memory: %.0f)\n",
        kValueBytes, median(queued_median), median(queued_p99), median(copy_median));
}

// The memory level beside what one would write.

class PlainLru {
  public:
    using Value = std::shared_ptr<const std::string>;
    void put(const std::string &key, Value value) {
        const std::lock_guard lock(mutex_);
        order_.emplace_front(key, std::move(value));
        entries_[key] = order_.begin();
    }
    Value get(const std::string &key) {
        const std::lock_guard lock(mutex_);
        const auto found = entries_.find(key);
        if (found == entries_.end()) return nullptr;
        order_.splice(order_.begin(), order_, found->second);
        return found->second->second;
    }

  private:
    using Order = std::list<std::pair<std::string, Value>>;
    std::mutex mutex_;
    Order order_;
    std::unordered_map<std::string, Order::iterator> entries_;
};

// ns for an operation of one thread, `threads` of them running.
double time_threads(unsigned threads, std::size_t operations,
                    const std::function<void(std::size_t)> &operation, std::size_t keys) {
    std::atomic<unsigned> ready = 0;
    std::atomic<bool> go = false;
    std::vector<std::thread> running;
    std::vector<double> spent(threads);
    for (unsigned t = 0; t < threads; ++t) {
        running.emplace_back([&, t] {
            std::minstd_rand random(t + 1);
            std::vector<std::size_t> order(operations);
            for (std::size_t &i : order) i = random() % keys;
            ++ready;
            while (!go) std::this_thread::yield();
            const auto begin = Clock::now();
            for (const std::size_t i : order) operation(i);
            spent[t] = since_ns(begin) / static_cast<double>(operations);
        });
    }
    while (ready != threads) std::this_thread::yield();
    go = true;
    for (std::thread &thread : running) thread.join();
    return median(spent);
}

void bench_memory(const Folder &folder, std::size_t rounds) {
    constexpr std::size_t kKeys = 10'000;
    constexpr std::size_t kOperations = 50'000;
    std::vector<std::string> keys;
    PlainLru plain;
    cairn_cache *cache = open_cache(folder, "memory", Load::no);
    for (std::size_t i = 0; i < kKeys; ++i) {
        keys.push_back(key_of(i));
        put(cache, keys[i], value_of(i));
        plain.put(keys[i], std::make_shared<const std::string>(value_of(i)));
    }
    cairn_flush(cache, 60'000);
    const auto from_plain = [&](std::size_t i) {
        if (plain.get(keys[i])->size() != kValueBytes) fail("a value is wrong");
    };
    const auto from_cache = [&](std::size_t i) {
        cairn_blob *blob = get(cache, keys[i]);
        if (cairn_blob_size(blob) != kValueBytes) fail("a value is wrong");
        cairn_blob_free(blob);
    };
    const auto in_time = [&](std::size_t i) {
        cairn_blob *blob = nullptr;
        if (cairn_get_within(cache, keys[i].data(), keys[i].size(), 1, &blob) != CAIRN_OK) {
            fail("it is missed");
        }
        cairn_blob_free(blob);
    };
    std::printf(
        "\nA hit in memory, ns, of %zu entries: a mutex around std::list and "
        "std::unordered_map, cairn_get, cairn_get_within\n",
        kKeys);
    std::printf("%8s %12s %12s %12s %8s\n", "threads", "plain", "view", "within", "ratio");
    for (const unsigned threads : {1u, 2u, 4u}) {
        std::vector<double> plain_ns, view_ns, within_ns, ratios;
        for (std::size_t round = 0; round < rounds; ++round) {
            double a = 0, b = 0;
            const auto one = [&] { a = time_threads(threads, kOperations, from_plain, kKeys); };
            const auto other = [&] { b = time_threads(threads, kOperations, from_cache, kKeys); };
            if (round % 2 == 0) one();
            other();
            if (round % 2 != 0) one();
            plain_ns.push_back(a);
            view_ns.push_back(b);
            within_ns.push_back(time_threads(threads, kOperations, in_time, kKeys));
            ratios.push_back(b / a);
        }
        std::printf("%8u %12.0f %12.0f %12.0f %8.2f\n", threads, median(plain_ns), median(view_ns),
                    median(within_ns), median(ratios));
    }
    cairn_close(cache);
}

// A hit on disk (warm): what a bound on the wait costs beside a look-up without one.
void bench_bounded(const Folder &folder, std::size_t rounds) {
    constexpr std::size_t kKeys = 2000;
    std::vector<double> get_ns, within_ns, ratios;
    for (std::size_t round = 0; round < rounds; ++round) {
        double spent[2] = {0, 0};
        for (std::size_t turn = 0; turn < 2; ++turn) {
            const bool is_bounded = (round + turn) % 2 != 0;
            cairn_cache *cache = open_cache(folder, "start10000", Load::no);
            cairn_blob_free(get(cache, key_of(9999)));
            const auto begin = Clock::now();
            for (std::size_t i = 0; i < kKeys; ++i) {
                const std::string key = key_of(i * 4);
                cairn_blob *blob = nullptr;
                const int result =
                    is_bounded ? cairn_get_within(cache, key.data(), key.size(), 1000, &blob)
                               : cairn_get(cache, key.data(), key.size(), &blob);
                if (result != CAIRN_OK) fail("it is missed");
                cairn_blob_free(blob);
            }
            spent[is_bounded ? 1 : 0] = since_ns(begin) / kKeys;
            cairn_close(cache);
        }
        get_ns.push_back(spent[0]);
        within_ns.push_back(spent[1]);
        ratios.push_back(spent[1] / spent[0]);
    }
    std::printf(
        "\nA first hit on disk, warm, ns: cairn_get %.0f, cairn_get_within %.0f, "
        "ratio %.2f\n",
        median(get_ns), median(within_ns), median(ratios));
}

}  // namespace

int main(int argc, char **argv) {
    const std::size_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 31;
    if (rounds == 0) {
        std::fputs("Usage: program_cache_bench [ROUNDS [FOLDER]]\n", stderr);
        return 2;
    }
    const Folder folder(argc > 2 ? argv[2] : fs::temp_directory_path().c_str());
    bench_start(folder, rounds);
    bench_bounded(folder, rounds);
    bench_put(folder, rounds);
    bench_memory(folder, rounds);
    return 0;
}
