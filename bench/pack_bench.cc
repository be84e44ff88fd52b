// What packs under a cache cost: opening it with 0, 1 and 4 of them, and those of another identity
// beside it; a miss; a hit of the cache's own; a hit of the last pack.
// SPDX-License-Identifier: MIT
//
// pack_bench [ENTRIES [ROUNDS]]: medians and p99 over rounds in which the numbers of packs take
// turns. The packs have so many entries (100,000) of 4 KB each; all are in the page cache.
#include <cairn/cairn.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bench/harness/stats.h"
#include "bench/samples.h"
#include "pack/pack_writer.h"

namespace {

using bench::key_of;

double now_us() {
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

void must(cairn::Status status) {
    if (!status.ok()) std::abort();
}

void write_pack(const std::string &path, const char *identifier, std::size_t from,
                std::size_t count) {
    auto file = cairn::Directory::working().create_file(path);
    if (!file.ok()) std::abort();
    cairn::PackWriter writer(*file);
    must(writer.begin_part({cairn::PackKind::entries, identifier, 1, ""},
                           cairn::PackCompression::none, {}));
    for (std::size_t i = from; i < from + count; ++i) {
        const std::string key = key_of(i), value = bench::value_of(i, 4096);
        must(writer.add({cairn::as_bytes(key), cairn::as_bytes(value), 1000, false}));
    }
    must(writer.end_part({}));
    must(writer.finish("bench"));
}

constexpr std::size_t kPacks = 4;
constexpr std::size_t kOwn = 1000;
constexpr std::size_t kLookups = 2000;

struct Setting {
    const char *name;
    std::size_t packs;      // of this cache
    std::size_t strangers;  // of another identity, given as well
};
constexpr Setting kSettings[] = {
    {"no pack", 0, 0}, {"1 pack", 1, 0}, {"4 packs", 4, 0}, {"4 that do not fit", 0, 4}};

class Bench {
  public:
    Bench(std::size_t entries, unsigned rounds) : entries_(entries), rounds_(rounds) {
        for (std::size_t i = 0; i < kPacks; ++i) {
            write_pack(pack(i), "bench", kOwn + i * entries, entries);
            write_pack(stranger(i), "another", 0, 100);
        }
        cairn_cache *cache = open(kSettings[0]);
        for (std::size_t i = 0; i < kOwn; ++i) {
            const std::string key = key_of(i), value = bench::value_of(i, 4096);
            if (cairn_put(cache, key.data(), key.size(), value.data(), value.size(), nullptr) !=
                CAIRN_OK)
                std::abort();
        }
        cairn_close(cache);
        // Layer files are made by the first open.
        for (const Setting &setting : kSettings) cairn_close(open(setting));
    }

    void run() {
        for (unsigned round = 0; round < rounds_; ++round) {
            for (std::size_t i = 0; i < std::size(kSettings); ++i) {
                measure(kSettings[(i + round) % std::size(kSettings)], round);
            }
        }
        std::printf("%-20s %12s %12s %12s %12s   us, median (p99)\n", "", "open", "miss", "own hit",
                    "pack hit");
        for (const Setting &setting : kSettings) {
            std::printf("%-20s", setting.name);
            for (const char *row : {"open", "miss", "own", "pack"}) {
                const auto &times = times_[std::string(setting.name) + row];
                if (times.empty()) {
                    std::printf(" %14s", "-");
                } else {
                    std::printf(" %6.2f (%5.1f)", bench::median(times), percentile(times));
                }
            }
            std::printf("\n");
        }
    }

  private:
    std::string pack(std::size_t i) const { return folder_.path + "/p" + std::to_string(i); }
    std::string stranger(std::size_t i) const { return folder_.path + "/s" + std::to_string(i); }

    static double percentile(std::vector<double> times) {
        std::sort(times.begin(), times.end());
        return times[times.size() * 99 / 100];
    }

    cairn_cache *open(const Setting &setting) const {
        std::vector<std::string> paths;
        for (std::size_t i = 0; i < setting.packs; ++i) paths.push_back(pack(i));
        for (std::size_t i = 0; i < setting.strangers; ++i) paths.push_back(stranger(i));
        std::vector<const char *> layers;
        layers.reserve(paths.size());
        for (const std::string &path : paths) layers.push_back(path.c_str());
        const std::string root = folder_.path + "/root";
        cairn_options options = {};
        options.size = sizeof options;
        options.root = root.c_str();
        options.identifier = "bench";
        options.version = 1;
        options.memory_bytes = CAIRN_NONE;
        options.layers = layers.data();
        options.layer_count = layers.size();
        cairn_cache *cache = nullptr;
        if (cairn_open(&options, &cache) != CAIRN_OK) std::abort();
        return cache;
    }

    void measure(const Setting &setting, unsigned round) {
        const auto note = [&](const char *row, double time) {
            times_[std::string(setting.name) + row].push_back(time);
        };
        for (int i = 0; i < 20; ++i) {
            const double begin = now_us();
            cairn_cache *cache = open(setting);
            note("open", now_us() - begin);
            cairn_close(cache);
        }
        cairn_cache *cache = open(setting);
        const auto look_up = [&](const char *row, std::size_t base, std::size_t range, bool found) {
            for (std::size_t i = 0; i < kLookups; ++i) {
                const std::string key = key_of(base + (i * 7919 + round) % range);
                cairn_blob *blob = nullptr;
                const double begin = now_us();
                const int result = cairn_get(cache, key.data(), key.size(), &blob);
                const double end = now_us();
                if ((result == CAIRN_OK) != found) std::abort();
                cairn_blob_free(blob);
                // The first ones read pages of the index.
                if (i >= kLookups / 2) note(row, end - begin);
            }
        };
        look_up("own", 0, kOwn, true);
        look_up("miss", 900'000'000, 1'000'000, false);
        if (setting.packs != 0) {
            look_up("pack", kOwn + (setting.packs - 1) * entries_,
                    std::min<std::size_t>(entries_, 500), true);
        }
        cairn_close(cache);
    }

    const std::size_t entries_;
    const unsigned rounds_;
    const bench::Folder folder_;
    std::map<std::string, std::vector<double>> times_;
};

}  // namespace

int main(int count, char **arguments) {
    const std::size_t entries = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 100'000;
    const auto rounds =
        static_cast<unsigned>(count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 12);
    Bench(entries, rounds).run();
}
