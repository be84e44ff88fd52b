// SPDX-License-Identifier: MIT
#include "broker/torture.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "broker/broker.h"
#include "support/process.h"
#include "support/random.h"
#include "support/stamped_value.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

constexpr unsigned kWorkers = 4;
constexpr std::uint64_t kBatch = 20;

// In memory that is shared with the workers, each of which is killed at any instant.
struct Progress {
    std::atomic<std::uint64_t> confirmed;  // entries 0 to confirmed - 1 are stored
    std::atomic<std::uint64_t> rounds;     // grows while the worker is alive
    std::atomic<std::uint64_t> wrong;
};

struct Shared {
    Progress workers[kWorkers];
};

std::string key_of(unsigned worker, std::uint64_t number) {
    return as_string(numbered_key(worker, number, 64));
}

std::string value_of(unsigned worker, std::uint64_t number) {
    // Small, so that a thousand kills do not fill the cache: what was given up is not lost.
    const std::size_t size = kStampSize + static_cast<std::size_t>((number * 7919 + worker) % 300);
    // Now and then one that takes several messages.
    const std::size_t extra = number % 997 == 0 ? 100'000 : 0;
    return as_string(stamped_value({number, worker, number, worker}, size + extra));
}

void look_around(BrokerCache &cache, Shared &shared, Progress &mine, Random &random) {
    for (unsigned i = 0; i < kBatch; ++i) {
        const auto worker = static_cast<unsigned>(random.below(kWorkers));
        const std::uint64_t there = shared.workers[worker].confirmed.load();
        const std::uint64_t number = random.below(there + kBatch);
        const auto found = cache.get(key_of(worker, number));
        if (found && *found != value_of(worker, number)) ++mine.wrong;
    }
}

// Stores a batch and notes it when the broker has it. An entry that was sent before is stored
// again.
void store_batch(BrokerCache &cache, unsigned worker, Progress &mine) {
    const std::uint64_t first = mine.confirmed.load();
    for (std::uint64_t i = first; i < first + kBatch; ++i) {
        if (cache.put(key_of(worker, i), value_of(worker, i)) != CAIRN_OK) return;
    }
    const cairn_broker_stats before = cache.stats();
    if (cairn_flush(cache.handle(), 1000) != CAIRN_OK) return;
    const cairn_broker_stats after = cache.stats();
    // A broker that was started in between has confirmed less than all of them.
    if (after.lost != before.lost || after.stored < kBatch) return;
    mine.confirmed.store(first + kBatch);
}

int work(const Broker &broker, Shared &shared, unsigned worker, std::uint64_t seed) {
    Random random(seed);
    Progress &mine = shared.workers[worker];
    BrokerCache cache;
    while (cache.handle() == nullptr) cache = BrokerCache(broker);
    for (;;) {
        store_batch(cache, worker, mine);
        look_around(cache, shared, mine, random);
        ++mine.rounds;
    }
}

class Torture {
  public:
    explicit Torture(const BrokerTortureOptions &options)
        : options_(options),
          random_(options.seed),
          shared_(static_cast<Shared *>(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                                               MAP_SHARED | MAP_ANONYMOUS, -1, 0))),
          broker_(directory_.path(),
                  {"--messages-per-second", "1e6", "--limit-bytes", "8589934592"}),
          workers_(kWorkers) {
        for (unsigned i = 0; i < kWorkers; ++i) start(i);
    }
    ~Torture() {
        for (Child &worker : workers_) worker.kill();
        ::munmap(shared_, sizeof(Shared));
    }
    Torture(const Torture &) = delete;
    Torture &operator=(const Torture &) = delete;

    BrokerTortureResult run() {
        for (std::uint64_t i = 0; i < options_.kills; ++i) {
            pause_ms(static_cast<unsigned>(random_.below(40)));
            kill_one();
            if (options_.progress && (i + 1) % 20 == 0) {
                std::fprintf(stderr, "broker: %llu kills\n",
                             static_cast<unsigned long long>(i) + 1);
            }
        }
        expect_progress();
        for (Child &worker : workers_) {
            if (worker.ended()) ++result_.wrong;
            worker.kill();
        }
        verify();
        return result_;
    }

  private:
    void start(unsigned worker) {
        const std::uint64_t seed = random_.next();
        workers_[worker] =
            Child([this, worker, seed] { return work(broker_, *shared_, worker, seed); });
    }

    void kill_one() {
        const auto victim = static_cast<unsigned>(random_.below(kWorkers + 2));
        if (victim >= kWorkers) {
            broker_.kill();
            broker_.start();
        } else {
            if (workers_[victim].ended()) ++result_.wrong;
            workers_[victim].kill();
            start(victim);
        }
        ++result_.kills;
    }

    // The workers that were not killed go on.
    void expect_progress() {
        for (Progress &worker : shared_->workers) {
            const std::uint64_t rounds = worker.rounds.load();
            const std::uint64_t confirmed = worker.confirmed.load();
            if (!eventually([&] {
                    return worker.rounds.load() > rounds + 1 && worker.confirmed.load() > confirmed;
                })) {
                ++result_.wrong;
            }
        }
    }

    void verify() {
        BrokerCache cache(broker_);
        Cache direct({.root = broker_.root(), .identifier = "app"});
        for (unsigned worker = 0; worker < kWorkers; ++worker) {
            const std::uint64_t confirmed = shared_->workers[worker].confirmed.load();
            result_.confirmed += confirmed;
            result_.wrong += shared_->workers[worker].wrong.load();
            for (std::uint64_t number = 0; number < confirmed; ++number) {
                const std::string key = key_of(worker, number);
                const auto found = cache.get(key);
                const auto there = direct.get(as_bytes(key));
                if (!found || !there) {
                    ++result_.lost;
                } else if (*found != value_of(worker, number) ||
                           as_string(there->bytes()) != *found) {
                    ++result_.wrong;
                }
            }
        }
    }

    const BrokerTortureOptions options_;
    Random random_;
    TempDirectory directory_;
    Shared *shared_;
    Broker broker_;
    std::vector<Child> workers_;
    BrokerTortureResult result_;
};

}  // namespace

BrokerTortureResult run_broker_torture(const BrokerTortureOptions &options) {
    return Torture(options).run();
}

}  // namespace cairn_test
