// SPDX-License-Identifier: MIT
#include "bench/link/player_process.h"

#include <malloc.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "bench/harness/process.h"
#include "bench/harness/stats.h"
#include "bench/link/context.h"
#include "common/glvnd.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr unsigned kPatienceS = 300;

json read_cbor(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    return json::from_cbor(file);
}

void write_cbor(const fs::path &path, const json &value) {
    std::ofstream file(path, std::ios::binary);
    json::to_cbor(value, file);
    if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::int64_t cpu_ns(clockid_t clock) {
    timespec time = {};
    ::clock_gettime(clock, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

json to_json(const std::vector<Binary> &binaries) {
    json list = json::array();
    for (const Binary &binary : binaries) {
        list.push_back({binary.format, json::binary({binary.bytes.begin(), binary.bytes.end()})});
    }
    return list;
}

std::vector<Binary> binaries_from(const json &list) {
    std::vector<Binary> binaries;
    for (const json &one : list) {
        const auto &bytes = one[1].get_binary();
        binaries.push_back({one[0].get<GLenum>(), std::string(bytes.begin(), bytes.end())});
    }
    return binaries;
}

void forget_settings() {
    std::vector<std::string> names;
    for (char **variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text = *variable;
        for (const char *prefix :
             {"CAIRN_", "MESA_", "__EGL_", "EGL_", "LIBGL_", "LP_", "GALLIVM_"}) {
            if (text.starts_with(prefix)) names.emplace_back(text.substr(0, text.find('=')));
        }
    }
    for (const std::string &name : names) ::unsetenv(name.c_str());
}

void set(const char *name, const std::string &value) {
    ::setenv(name, value.c_str(), 1);
}

// The C library gives memory back to the system whenever enough of it is free at the top of the heap,
// and takes it again for the next program. In a small process that happens or not by chance, and
// changes a link's time by half; the heap of a game has other things at its top.
void keep_memory() {
    constexpr int kKeptBytes = 256 << 20;
    ::mallopt(M_TRIM_THRESHOLD, kKeptBytes);
    ::mallopt(M_TOP_PAD, kKeptBytes / 8);
    ::mallopt(M_MMAP_THRESHOLD, kKeptBytes / 8);
}

// An application has several threads. In a process with one, the C library's malloc() and free() take
// no locks, which is 0.8 % of the instructions of a compile. Cairn writes in a thread of its own, and
// would be given the blame.
void have_several_threads() {
    std::thread([] {
        for (;;) ::pause();
    }).detach();
}

// A report as `cairn run` makes it.
void make_report(const std::string &path) {
    cairn::RunReport report = {};
    report.layout = cairn::kRunReportLayout;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(&report), sizeof report);
}

}  // namespace

Theatre::Theatre(std::string folder, bool driver_cache, bool hardware)
    : folder_(std::move(folder)), driver_cache_(driver_cache), hardware_(hardware) {}

// Mesa gives no program binaries where its cache is switched off by MESA_SHADER_CACHE_DISABLE. So
// it has a folder in which it can keep nothing: a folder stands in the place of the cache's index.
void Theatre::switch_off_driver_cache() const {
    fs::create_directories(folder_ + "/no-driver-cache/mesa_shader_cache/index");
    set("MESA_SHADER_CACHE_DIR", folder_ + "/no-driver-cache");
    set("MESA_DISK_CACHE_MULTI_FILE", "true");
    set("MESA_DISK_CACHE_SINGLE_FILE", "false");
    set("MESA_DISK_CACHE_DATABASE", "false");
    set("__GL_SHADER_DISK_CACHE", "0");
}

void Theatre::set_environment(const Wish &wish) const {
    forget_settings();
    if (!hardware_) set("LIBGL_ALWAYS_SOFTWARE", "1");
    // llvmpipe draws on the calling thread: the time of other threads is not the driver's.
    set("LP_NUM_THREADS", "0");
    // Nor is it measured how well it optimises what draws a picture of 16 x 16.
    set("GALLIVM_PERF", "nopt");
    set("XDG_CACHE_HOME", folder_ + "/home");
    if (driver_cache_) {
        set("MESA_SHADER_CACHE_DIR", folder_ + "/driver-cache-" + wish.family);
    } else {
        switch_off_driver_cache();
    }
    if (wish.condition == Condition::cold || wish.condition == Condition::warm) {
        set("CAIRN_DIR", wish.cache);
        set(cairn::kRunReportVariable, folder_ + "/report");
        set("__EGL_VENDOR_LIBRARY_DIRS", std::string(BENCH_FRONT_END) + ":" + cairn::kGlvndFolders +
                                             ":" + BENCH_FRONT_END + "/last");
    }
}

PlayedFamily Theatre::play(const Wish &wish) const {
    const std::string task = folder_ + "/task";
    write_cbor(task, {{"family", wish.family},
                      {"programs", wish.programs},
                      {"load", wish.condition == Condition::driver},
                      {"draw", wish.draw},
                      {"save", wish.save_binaries},
                      {"binaries", folder_ + "/binaries-" + wish.family},
                      {"result", folder_ + "/result"}});
    fs::remove(folder_ + "/result");
    make_report(folder_ + "/report");
    const int status = Process::fork([&] {
                           ::alarm(kPatienceS);
                           set_environment(wish);
                           ::execl("/proc/self/exe", "link_bench", "--play", task.c_str(), nullptr);
                       }).wait();
    if (status != 0 || !fs::exists(folder_ + "/result")) {
        throw std::runtime_error("the process of " + wish.family + " (" +
                                 kConditionNames[static_cast<std::size_t>(wish.condition)] +
                                 ") failed with status " + std::to_string(status));
    }
    const json result = read_cbor(folder_ + "/result");
    PlayedFamily played;
    played.renderer = result["renderer"];
    played.context_ns = result["context_ns"];
    played.context_cpu_ns = result["context_cpu_ns"];
    played.other_threads_ns = result["other_threads_ns"];
    for (const json &one : result["programs"]) {
        played.programs.push_back({one["name"],
                                   {one["cpu"], one["wall"]},
                                   one["linked"],
                                   one["built"],
                                   one["reflected"],
                                   one["drawn"]});
    }
    std::ifstream(folder_ + "/report", std::ios::binary)
        .read(reinterpret_cast<char *>(&played.counters), sizeof played.counters);
    return played;
}

int play_task(const std::string &path) {
    keep_memory();
    have_several_threads();
    const json task = read_cbor(path);
    const Family family = make_family(task["family"]);
    const bool load = task["load"];
    const json given = load ? read_cbor(task["binaries"].get<std::string>()) : json::array();
    json saved = json::array();
    json programs = json::array();
    const auto begin = static_cast<std::int64_t>(now_ns());
    const std::int64_t cpu_begin = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    const Context context(family.api);
    const std::int64_t context_ns = static_cast<std::int64_t>(now_ns()) - begin;
    const std::int64_t context_cpu_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
    load_gl(context.find_function(), family.way == Way::arb ? EntryPoints::arb : EntryPoints::core);
    const bool draw = task["draw"];
    const bool save = task["save"];
    Player player(family.way, {draw, draw || save});
    std::vector<Played> all;
    const std::int64_t others_before =
        cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    for (const std::size_t index : task["programs"]) {
        all.push_back(load ? player.load(binaries_from(given[index]))
                           : player.play(family.programs.at(index)));
    }
    const std::int64_t others =
        cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns(CLOCK_THREAD_CPUTIME_ID) - others_before;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string &name = family.programs[task["programs"][i].get<std::size_t>()].name;
        programs.push_back({{"name", name},
                            {"cpu", all[i].spent.cpu_ns},
                            {"wall", all[i].spent.wall_ns},
                            {"linked", all[i].linked},
                            {"built", all[i].built.lines(name)},
                            {"reflected", all[i].reflected.lines(name)},
                            {"drawn", all[i].drawn.lines(name)}});
        saved.push_back(to_json(all[i].binaries));
    }
    if (save) write_cbor(task["binaries"].get<std::string>(), saved);
    write_cbor(task["result"].get<std::string>(),
               {{"renderer", reinterpret_cast<const char *>(gl.GetString(GL_RENDERER))},
                {"context_ns", context_ns},
                {"context_cpu_ns", context_cpu_ns},
                {"other_threads_ns", others},
                {"programs", programs}});
    return 0;
}

}  // namespace bench
