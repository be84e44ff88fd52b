// SPDX-License-Identifier: MIT
// Makes what the tests of the dashboard look at: caches, their histories and the numbers over time.
//
//     dashboard_make_root demo ROOT     some applications, as after some weeks
//     dashboard_make_root large ROOT    100 generations with 100,000 entries
#include <cairn/cairn.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "cache/generations.h"
#include "history/counters.h"
#include "history/history.h"
#include "os/environment.h"
#include "os/file.h"

namespace {

using namespace cairn;

[[noreturn]] void give_up(const char *what) {
    std::fprintf(stderr, "dashboard_make_root: %s\n", what);
    std::exit(1);
}

// The same numbers each time.
class Random {
  public:
    std::uint64_t below(std::uint64_t limit) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return (state_ >> 33) % limit;
    }

  private:
    std::uint64_t state_ = 7;
};
Random g_random;

struct Driver {
    const char *renderer, *version, *llvm;
};
constexpr std::array kDrivers = {
    Driver{"AMD Radeon RX 6700 XT (navi22, LLVM 15.0.6)", "4.6 (Core Profile) Mesa 22.3.6",
           "15.0.6"},
    Driver{"AMD Radeon RX 6700 XT (navi22, LLVM 16.0.6)", "4.6 (Core Profile) Mesa 23.2.1",
           "16.0.6"},
    Driver{"llvmpipe (LLVM 15.0.6, 256 bits)", "4.5 (Core Profile) Mesa 22.3.6", "15.0.6"},
};

std::string identity_of(const Driver &driver, const std::string &more) {
    return std::string("GL_VENDOR: Mesa\nGL_RENDERER: ") + driver.renderer +
           "\nGL_VERSION: " + driver.version + "\nlibrary libLLVM.so " + driver.llvm +
           "\nlibrary: radeonsi_dri.so 7c1e" + driver.llvm +
           "\nMESA_NO_ERROR=" + (driver.llvm[1] == '6' ? "1" : "") + "\n" + more;
}

struct Made {
    std::string identifier;
    std::string application;
    std::uint64_t number;
    LinkKey dearest = {};  // the entry that took longest to make
};

// A cache of a program with so many entries.
Made make_cache(const std::string &root, const std::string &application, const std::string &build,
                const std::string &identity, std::uint64_t entries, std::size_t value_bytes) {
    const Generation generation = {"gl-" + application, build, identity};
    const std::string identifier = identifier_of(generation);
    cairn_options options = {};
    options.size = sizeof options;
    options.root = root.c_str();
    options.identifier = identifier.c_str();
    options.limit_bytes = 1u << 30;
    cairn_cache *cache = nullptr;
    if (cairn_open(&options, &cache) != CAIRN_OK) give_up("cannot open a cache");
    const auto directory = Directory::open(root + "/" + identifier);
    if (!directory.ok()) give_up("cannot say what a cache is of");
    claim(directory.value(), generation);
    cairn_put_options put = {};
    put.size = sizeof put;
    std::vector<char> value(value_bytes);
    LinkKey dearest = {};
    std::uint32_t most_us = 0;
    for (std::uint64_t i = 0; i < entries; ++i) {
        std::array<std::uint64_t, 4> key = {i, entries, g_random.below(1u << 30), 5};
        for (std::size_t at = 0; at < value.size(); at += 64) {
            value[at] = static_cast<char>(g_random.below(256));
        }
        put.cost_us = static_cast<std::uint32_t>(2000 + g_random.below(60'000) * g_random.below(8));
        const std::size_t size = value.size() / 2 + g_random.below(value.size() / 2 + 1);
        if (cairn_put(cache, key.data(), sizeof key, value.data(), size, &put) != CAIRN_OK) {
            give_up("cannot store an entry");
        }
        if (put.cost_us > most_us) std::memcpy(dearest.data(), key.data(), dearest.size());
        most_us = std::max(most_us, put.cost_us);
    }
    cairn_close(cache);
    return {identifier, application, generation_number(identifier), dearest};
}

std::unique_ptr<History> open_history(const std::string &root, const Made &made) {
    History::Options options;
    options.root = root;
    options.identifier = made.identifier;
    options.limit_bytes = 1u << 30;
    auto history = History::open(options);
    if (!history.ok()) give_up("cannot open a history");
    return std::move(history.value());
}

Link link_of(Outcome outcome, std::uint64_t other = 0, Detail detail = Detail::none) {
    Link link;
    link.outcome = outcome;
    link.detail = detail;
    link.cost_ns = (3 + g_random.below(120)) * 1'000'000;
    link.other = other;
    for (auto &byte : link.key) byte = static_cast<std::uint8_t>(g_random.below(256));
    return link;
}

// Neither elements nor marks of the direction of writing may come of it.
constexpr const char *kSources =
    "vertex:\nattribute vec4 p;\nvoid main() { gl_Position = p; }\n"
    "fragment:\nprecision mediump float; // <img src=x onerror=alert(6)><script>alert(7)</script>\n"
    "uniform sampler2D image; // \xe2\x80\xae reversed, \xff no UTF-8, \x1b[2J\n"
    "void main() { gl_FragColor = texture2D(image, vec2(0.5)); }\n";

void add_run(const std::string &root, const Made &made, const Made *before, std::uint64_t hits,
             std::uint64_t misses) {
    const auto history = open_history(root, made);
    history->add(count_of(Outcome::hit_disk), hits);
    history->add(Number::saved_ns, hits * 14'000'000);
    for (std::uint64_t i = 0; i < misses; ++i) {
        const Link link = before != nullptr && i % 3 != 2
                              ? link_of(Outcome::other_driver, before->number)
                          : i % 5 == 0 ? link_of(Outcome::other_context, 2)
                          : i % 7 == 0 ? link_of(Outcome::not_cacheable, 0, Detail::linked_before)
                                       : link_of(Outcome::never_seen);
        history->add(count_of(link.outcome), 1);
        history->add(ns_of(link.outcome), link.cost_ns);
        history->note_link(link);
        if (i == 0) history->keep_sources(link.key, kSources);
    }
    history->keep_sources(made.dearest, kSources);
}

void count_days(const Made &made, std::uint64_t days, std::uint64_t programs) {
    for (std::uint64_t ago = days; ago-- > 0;) {
        if (ago % 7 == 3) continue;
        pretend_day(0);
        pretend_day(counters_today() - ago);
        DayTally tally(made.application, made.number);
        const std::uint64_t lookups = programs / 2 + g_random.below(programs);
        // A new driver came on the 20th day.
        const std::uint64_t part = ago == days - 1 ? 0 : ago == 20 ? 12 : 82 + g_random.below(17);
        const std::uint64_t hits = lookups * part / 100;
        const std::uint64_t misses = lookups - hits;
        tally.add(count_of(Outcome::hit_disk), hits * 2 / 3);
        tally.add(count_of(Outcome::hit_memory), hits - hits * 2 / 3);
        tally.add(Number::saved_ns, hits * (9'000'000 + g_random.below(6'000'000)));
        const auto add = [&](Outcome outcome, std::uint64_t count) {
            tally.add(count_of(outcome), count);
            tally.add(ns_of(outcome), count * (8'000'000 + g_random.below(9'000'000)));
        };
        if (ago == 20) {
            add(Outcome::other_driver, misses);
        } else {
            add(Outcome::never_seen, misses * 6 / 10);
            add(Outcome::other_context, misses * 2 / 10);
            add(Outcome::evicted, misses / 10);
            add(Outcome::not_cacheable, misses / 12);
        }
    }
    pretend_day(0);
}

void make_demo(const std::string &root) {
    // What is between such brackets must never become an element of the page.
    const std::string hostile = "note: <img src=x onerror=alert(1)><script>alert(2)</script>\n";
    const auto make = [&](const char *name, std::size_t driver, const char *build,
                          std::uint64_t entries, std::size_t bytes) {
        return make_cache(root, name, build, identity_of(kDrivers[driver], hostile), entries,
                          bytes);
    };
    if (!open_counters(root)) give_up("cannot count");
    const Made blender_old = make("blender", 0, "3.4", 180, 60'000);
    const Made blender = make("blender", 1, "3.4", 260, 60'000);
    const Made chromium_old = make("chromium", 0, "155", 300, 24'000);
    const Made chromium = make("chromium", 1, "156", 420, 24'000);
    const Made soft = make("chromium", 2, "156", 90, 30'000);
    const Made tux = make("supertuxkart", 1, "1.4", 140, 50'000);
    const Made kodi = make("kodi", 1, "20.0", 75, 36'000);
    const Made hostile_one =
        make_cache(root, "minetest", "5.6", "<img src=x onerror=alert(3)>\n", 60, 40'000);
    add_run(root, blender_old, nullptr, 0, 50);
    add_run(root, blender, &blender_old, 40, 45);
    add_run(root, blender, nullptr, 310, 4);
    add_run(root, chromium, &chromium_old, 220, 30);
    add_run(root, tux, nullptr, 133, 7);
    add_run(root, kodi, nullptr, 75, 0);
    add_run(root, hostile_one, nullptr, 12, 9);
    count_days(blender, 45, 300);
    count_days(chromium, 38, 500);
    count_days(tux, 21, 140);
    count_days(kodi, 12, 80);
}

void make_large(const std::string &root) {
    if (!open_counters(root)) give_up("cannot count");
    for (int i = 0; i < 100; ++i) {
        const std::string name = "application-" + std::to_string(i / 5);
        const Made made =
            make_cache(root, name, std::to_string(i % 5),
                       identity_of(kDrivers[static_cast<std::size_t>(i) % 3], ""), 1000, 400);
        add_run(root, made, nullptr, 100, 20);
        if (i % 5 == 0) count_days(made, 60, 200);
    }
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 3) give_up("demo or large, and a root");
    const std::string kind = argv[1];
    if (kind == "demo") make_demo(argv[2]);
    if (kind == "large") make_large(argv[2]);
    return 0;
}
