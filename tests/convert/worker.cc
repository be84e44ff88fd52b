// cairn-convert with converters that behave as their input says.
// SPDX-License-Identifier: MIT
//
// Each start leaves a line in the file `starts` beside the program.
#include "conversions/worker.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using namespace cairn::conversions;

class Echo : public Converter {
  public:
    std::string_view id() const override { return "echo"; }
    std::string version() const override { return "1"; }
    std::string_view about() const override { return "for tests"; }
    std::vector<OptionRule> rules() const override {
        return {{"colour", {"red", "blue"}, "", "of nothing"}, {"name", {}, "main", "any"}};
    }
    Converted convert(const Options &options, std::string_view input) const override {
        std::string output;
        for (const auto &[name, value] : options) output += name + "=" + value + "|";
        // Another one at each call, so that a hit can be told.
        return {true, output.append(input) + "|" + std::to_string(::getpid()), "a warning\n"};
    }
};

class Misbehaving : public Converter {
  public:
    std::string_view id() const override { return "misbehaving"; }
    std::string version() const override { return "1"; }
    std::string_view about() const override { return "for tests"; }
    std::vector<OptionRule> rules() const override { return {}; }
    Converted convert(const Options &, std::string_view input) const override {
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
};

}  // namespace

int main(int argc, char **argv) {
    const std::string program = argv[0];
    const std::string starts = program.substr(0, program.rfind('/')) + "/starts";
    if (FILE *file = std::fopen(starts.c_str(), "ae")) {
        std::fprintf(file, "%s\n", argc > 1 ? argv[1] : "");
        std::fclose(file);
    }
    static const Echo echo;
    static const Misbehaving misbehaving;
    return is_for_worker(argc, argv) ? run_worker({&echo, &misbehaving}, argc, argv) : 2;
}
