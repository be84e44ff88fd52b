// cairn-convert with converters that behave as their input says.
// SPDX-License-Identifier: MIT
//
// Each start leaves a line in the file `starts` beside the program.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "conversions/converter.h"

namespace {

using namespace cairn::conversions;

std::string version() {
    return "1";
}

Converted echo(const Options &options, std::string_view input) {
    std::string output;
    for (const auto &[name, value] : options) output += name + "=" + value + "|";
    // Another one at each call, so that a hit can be told.
    return {true, output.append(input) + "|" + std::to_string(::getpid()), "a warning\n"};
}

Converted misbehave(const Options &, std::string_view input) {
    if (input == "crash") std::abort();
    while (input == "hang") ::pause();
    if (input == "exit") ::_exit(0);
    if (input == "flood") return {true, std::string(std::size_t{80} << 20, 'x'), ""};
    if (input == "memory") {
        std::vector<std::string> all;
        for (;;) all.emplace_back(std::size_t{16} << 20, 'x');
    }
    return {false, "half", "refused\n"};
}

const ShaderConverter kEcho = {
    "echo",
    "for tests",
    {{"colour", {"red", "blue"}, "", "of nothing"}, {"name", {}, "main", "any"}},
    version,
    echo};
const ShaderConverter kMisbehaving = {"misbehaving", "for tests", {}, version, misbehave};

}  // namespace

int main(int argc, char **argv) {
    const std::string program = argv[0];
    const std::string starts = program.substr(0, program.rfind('/')) + "/starts";
    if (FILE *file = std::fopen(starts.c_str(), "ae")) {
        std::fprintf(file, "%s\n", argc > 1 ? argv[1] : "");
        std::fclose(file);
    }
    return run_worker({&kEcho, &kMisbehaving}, argc, argv).value_or(2);
}
