// SPDX-License-Identifier: MIT
// Measures an engine's calls from the sources of its programs to their pictures: without Cairn, under
// Cairn with an empty cache and with a full one, and with the driver's own load alone.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string_view>

#include "bench/link/measure.h"
#include "bench/link/start.h"
#include "bench/link/tables.h"
#include "bench/samples.h"

namespace {

struct Settings {
    bench::Options options;
    std::string parent = std::filesystem::temp_directory_path();
    std::string json;
    bool driver_cache = false;
    bool hardware = false;
    bool quick = false;
    bool start = false;
};

Settings parse(int argc, char **argv) {
    Settings settings;
    bench::Options &options = settings.options;
    CLI::App app("Measures what compiling and linking GL programs costs under Cairn.");
    app.add_option("--families", options.families, "Only these families of programs")
        ->delimiter(',')
        ->check(CLI::IsMember(bench::family_names()));
    app.add_option("--rounds", options.rounds, "Rounds that take turns")
        ->check(CLI::Range(1, 1000));
    app.add_option("--programs", options.programs_max, "At most so many programs of each family")
        ->check(CLI::Range(2, 1000));
    app.add_flag("--quick", settings.quick, "3 rounds with 8 programs of each family");
    app.add_flag("--start", settings.start,
                 "Only what starting costs: cairn run, the first program");
    app.add_flag("--driver-cache", settings.driver_cache, "With Mesa's own cache, full");
    app.add_flag("--hardware", settings.hardware, "On the machine's GPU, not on llvmpipe");
    app.add_option("--dir", settings.parent, "Where caches are made while it runs");
    app.add_option("--json", settings.json, "Writes every figure to this file");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        std::exit(app.exit(error));
    }
    if (settings.quick) options.rounds = 3;
    if (settings.quick) options.programs_max = 8;
    if (options.families.empty()) options.families = bench::family_names();
    return settings;
}

// Returns how many answers differ.
std::size_t measure_all(const Settings &settings, const bench::Theatre &theatre) {
    std::vector<bench::FamilyResult> results;
    std::size_t differences = 0;
    for (const std::string &name : settings.options.families) {
        std::fprintf(stderr, "%s\n", name.c_str());
        auto result = bench::measure_family(theatre, name, settings.options);
        if (!result || result->programs == 0) {
            std::printf("%s: left out, nothing of it is installed or links\n", name.c_str());
            continue;
        }
        differences += result->differences;
        results.push_back(std::move(*result));
    }
    if (!results.empty()) {
        std::printf("driver: %s; Mesa's own cache %s\n",
                    results.front().rounds.front().front().renderer.c_str(),
                    settings.driver_cache ? "full" : "empty, and keeps nothing");
        bench::print_results(results);
    }
    if (!settings.json.empty()) bench::write_results(settings.json, results);
    std::printf("\nDifferences in answers: %zu\n", differences);
    return differences;
}

}  // namespace

int main(int argc, char **argv) {
    try {
        if (argc == 3 && std::string_view(argv[1]) == "--play") return bench::play_task(argv[2]);
        Settings settings = parse(argc, argv);
        const bench::Folder folder(settings.parent);
        settings.options.folder = folder.path;
        const bench::Theatre theatre(folder.path, settings.driver_cache, settings.hardware);
        if (settings.start) {
            bench::measure_start(theatre, folder.path, settings.quick ? 9 : 51);
            return 0;
        }
        return measure_all(settings, theatre) == 0 ? 0 : 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "link_bench: %s\n", error.what());
        return 1;
    }
}
