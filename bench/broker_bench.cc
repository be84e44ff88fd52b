// Compares a look-up behind a broker with one in a cache that was opened directly: the same
// entries, in one process, in turns.
// SPDX-License-Identifier: MIT
//
//     bench/broker_bench [ENTRIES [ROUNDS]]
//
// Prints medians over rounds, in ns, and the median of the ratios within a round. Every value that
// is read is compared in full before anything is timed.
#include <cairn/cairn_broker.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "bench/harness/process.h"
#include "bench/harness/stats.h"
#include "bench/samples.h"

namespace {

constexpr std::size_t kValueBytes = 6144;
constexpr std::size_t kOperations = 20'000;

[[noreturn]] void fail(const char *what) {
    std::fprintf(stderr, "broker_bench: %s\n", what);
    std::exit(1);
}

std::string value_of(std::size_t i) {
    return bench::value_of(i, kValueBytes);
}

// A folder and a broker in it, both gone at the end.
struct Setting {
    bench::Folder folder;
    bench::Process broker = bench::Process::fork([this] {
        ::execl(CAIRND_PROGRAM, "cairnd", "--socket", socket().c_str(), "--root", root().c_str(),
                "--limit-bytes", "17179869184", static_cast<char *>(nullptr));
        ::_exit(127);
    });

    ~Setting() {
        broker.signal(SIGTERM);
        broker.wait();
    }
    std::string socket() const { return folder.path + "/run/socket"; }
    std::string root() const { return folder.path + "/caches"; }

    cairn_cache *direct(std::uint64_t memory_bytes) const {
        const std::string path = root();
        cairn_options options = {};
        options.size = sizeof options;
        options.root = path.c_str();
        options.identifier = "bench";
        options.limit_bytes = 17'179'869'184;
        options.memory_bytes = memory_bytes;
        cairn_cache *cache = nullptr;
        if (cairn_open(&options, &cache) != CAIRN_OK) fail("cannot open the cache");
        return cache;
    }
    cairn_cache *behind(std::uint64_t memory_bytes) const {
        const std::string path = socket();
        cairn_broker_options options = {};
        options.size = sizeof options;
        options.socket_path = path.c_str();
        options.identifier = "bench";
        options.memory_bytes = memory_bytes;
        cairn_cache *cache = nullptr;
        for (int i = 0; i < 500; ++i) {
            if (cairn_broker_open(&options, &cache) == CAIRN_OK) return cache;
            ::usleep(10'000);
        }
        fail("the broker does not answer");
    }
};

double ns_per_operation(const std::vector<std::size_t> &order,
                        const std::function<void(std::size_t)> &operation) {
    const auto begin = std::chrono::steady_clock::now();
    for (const std::size_t i : order) operation(i);
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    return spent.count() / static_cast<double>(order.size());
}

struct Row {
    const char *name;
    std::uint64_t memory_bytes;
    std::function<void(cairn_cache *, std::size_t)> operation;
};

class Bench {
  public:
    Bench(std::size_t entries, std::size_t rounds) : rounds_(rounds) {
        for (std::size_t i = 0; i < entries; ++i) {
            keys_.push_back(bench::key_of(i));
            missing_.push_back("missing-" + keys_.back());
        }
        fill();
    }

    void run() {
        std::printf("%zu entries of %zu bytes, %zu rounds of %zu operations\n\n", keys_.size(),
                    kValueBytes, rounds_, kOperations);
        std::printf("%-24s %12s %12s %8s\n", "", "direct ns", "broker ns", "ratio");
        std::vector<char> buffer(kValueBytes);
        const auto get = [this, &buffer](cairn_cache *cache, std::size_t i) {
            std::size_t size = 0;
            const auto &key = keys_[i];
            if (cairn_get_into(cache, key.data(), key.size(), buffer.data(), buffer.size(),
                               &size) != CAIRN_OK) {
                fail("an entry was missed");
            }
        };
        measure({"get, from files", UINT64_MAX, get});
        measure({"get, private copies", 0, get});
        measure({"view, private copies", 0, [this](cairn_cache *cache, std::size_t i) {
                     cairn_blob *blob = nullptr;
                     if (cairn_get(cache, keys_[i].data(), keys_[i].size(), &blob) != CAIRN_OK)
                         fail("an entry was missed");
                     cairn_blob_free(blob);
                 }});
        measure({"miss", 0, [this](cairn_cache *cache, std::size_t i) {
                     if (cairn_contains(cache, missing_[i].data(), missing_[i].size()) !=
                         CAIRN_MISS)
                         fail("there is what nobody stored");
                 }});
    }

  private:
    void fill() {
        cairn_cache *cache = setting_.direct(UINT64_MAX);
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            const std::string value = value_of(i);
            if (cairn_put(cache, keys_[i].data(), keys_[i].size(), value.data(), value.size(),
                          nullptr) != CAIRN_OK) {
                fail("cannot store");
            }
        }
        cairn_close(cache);
    }

    void verify(cairn_cache *cache) const {
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            cairn_blob *blob = nullptr;
            if (cairn_get(cache, keys_[i].data(), keys_[i].size(), &blob) != CAIRN_OK) {
                fail("an entry was missed");
            }
            const std::string value = value_of(i);
            if (cairn_blob_size(blob) != value.size() ||
                std::memcmp(cairn_blob_data(blob), value.data(), value.size()) != 0) {
                fail("a value is wrong");
            }
            cairn_blob_free(blob);
        }
    }

    void measure(const Row &row) {
        cairn_cache *direct = setting_.direct(row.memory_bytes);
        cairn_cache *behind = setting_.behind(row.memory_bytes);
        for (int i = 0; i < 2; ++i) {  // the second time is what admits private copies
            verify(direct);
            verify(behind);
        }
        std::vector<double> direct_ns, broker_ns, ratios;
        std::mt19937_64 random(1);
        for (std::size_t round = 0; round < rounds_; ++round) {
            std::vector<std::size_t> order(kOperations);
            for (std::size_t &i : order) i = random() % keys_.size();
            const auto time = [&](cairn_cache *cache) {
                return ns_per_operation(order, [&](std::size_t i) { row.operation(cache, i); });
            };
            // In turns, who is first changing.
            double a, b;
            if (round % 2 == 0) {
                a = time(direct);
                b = time(behind);
            } else {
                b = time(behind);
                a = time(direct);
            }
            direct_ns.push_back(a);
            broker_ns.push_back(b);
            ratios.push_back(b / a);
        }
        std::printf("%-24s %12.0f %12.0f %8.2f\n", row.name, bench::median(direct_ns),
                    bench::median(broker_ns), bench::median(ratios));
        cairn_close(direct);
        cairn_close(behind);
    }

    const std::size_t rounds_;
    Setting setting_;
    std::vector<std::string> keys_, missing_;
};

}  // namespace

int main(int argc, char **argv) {
    const std::size_t entries = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000;
    const std::size_t rounds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 41;
    if (entries == 0 || rounds == 0) {
        std::fputs("Usage: broker_bench [ENTRIES [ROUNDS]]\n", stderr);
        return 2;
    }
    Bench(entries, rounds).run();
    return 0;
}
