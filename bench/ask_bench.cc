// What a miss costs: with ask_ms = 0, with a file of wanted entries that lacks the key, and with one that has it and an
// agent that is dead.
// SPDX-License-Identifier: MIT
//
// ask_bench [WANTED [ROUNDS]]: medians and p99 over rounds in which the three take turns, and their ratios to the first.
// The file has so many entries (100,000).
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/stats.h"
#include "bench/samples.h"
#include "cache/asking_cache.h"
#include "cache/disk_cache.h"
#include "pack/entry_hash.h"

namespace {

constexpr std::size_t kLookups = 2000;
constexpr std::uint64_t kVersion = 1;

struct Setting {
    const char *name;
    const char *identifier;
    std::uint64_t ask_ms;
    bool is_listed;  // the keys that are missed
};
constexpr Setting kSettings[] = {{"ask_ms = 0", "off", 0, false},
                                 {"not wanted", "lacks", 20, false},
                                 {"wanted, agent dead", "dead", 20, true}};

double now_us() {
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

class Bench {
  public:
    explicit Bench(std::size_t wanted) {
        ::setenv("XDG_RUNTIME_DIR", folder_.path.c_str(), 1);
        for (const Setting &setting : kSettings) {
            caches_.push_back(open(setting));
            write_wanted(setting, wanted);
        }
    }

    void run(unsigned rounds) {
        std::vector<std::vector<double>> times(std::size(kSettings));
        for (unsigned round = 0; round < rounds; ++round) {
            for (std::size_t i = 0; i < std::size(kSettings); ++i) {
                measure(*caches_[i], round, times[i]);
            }
        }
        const double first = bench::median(times[0]);
        for (std::size_t i = 0; i < std::size(kSettings); ++i) {
            std::sort(times[i].begin(), times[i].end());
            std::printf("%-20s %7.2f us, p99 %7.2f us, %5.2f times the first\n", kSettings[i].name,
                        bench::median(times[i]), times[i][times[i].size() * 99 / 100],
                        bench::median(times[i]) / first);
        }
    }

  private:
    std::string root() const { return folder_.path + "/root"; }
    static cairn::LayeredSubject subject(const Setting &setting) {
        return {setting.identifier, setting.identifier, kVersion, ""};
    }

    std::unique_ptr<cairn::Cache> open(const Setting &setting) const {
        cairn::StoreOptions options;
        options.root = root();
        options.identifier = setting.identifier;
        options.version = kVersion;
        options.limit_bytes = 64u << 20;
        auto disk = cairn::DiskCache::open(options);
        if (!disk.ok()) std::abort();
        return cairn::add_questions(std::move(disk.value()), root(), subject(setting),
                                    setting.ask_ms);
    }

    void write_wanted(const Setting &setting, std::size_t count) const {
        const auto identity = identity_of(subject(setting).of_kind(cairn::PackKind::entries));
        std::vector<std::uint64_t> hashes;
        for (std::size_t i = 0; i < count; ++i) {
            const std::string key = bench::key_of(setting.is_listed ? i : i + 1'000'000'000);
            hashes.push_back(cairn::entry_hash(identity, cairn::as_bytes(key)));
        }
        std::sort(hashes.begin(), hashes.end());
        const std::string path = cairn::wanted_path(root(), identity);
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        const auto folder = cairn::Directory::open(std::filesystem::path(path).parent_path());
        const std::string name = std::filesystem::path(path).filename();
        if (!folder.ok() || !folder->replace_file(name, cairn::encode_wanted(hashes)).ok())
            std::abort();
    }

    static void measure(cairn::Cache &cache, unsigned round, std::vector<double> &times) {
        for (std::size_t i = 0; i < kLookups; ++i) {
            const std::string key = bench::key_of((i * 7919 + round) % 100'000);
            const double begin = now_us();
            const auto found = cache.get(cairn::as_bytes(key));
            times.push_back(now_us() - begin);
            if (!found.ok()) std::abort();
        }
    }

    const bench::Folder folder_;
    std::vector<std::unique_ptr<cairn::Cache>> caches_;
};

}  // namespace

int main(int count, char **arguments) {
    const std::size_t wanted = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 100'000;
    const auto rounds =
        static_cast<unsigned>(count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 50);
    Bench(wanted).run(rounds);
}
