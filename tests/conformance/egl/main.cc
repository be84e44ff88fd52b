// SPDX-License-Identifier: MIT
// Judges an EGL library by the rows of the matrix, or plays a random sequence on it.
//
// Usage: egl_conformance cairn|angle LIBRARY             one line a row; the last has the counts
//        egl_conformance cairn|angle LIBRARY ROW...      these rows
//        egl_conformance --list                          the names of all rows
//        egl_conformance --sequence SEED STEPS cairn|angle LIBRARY
//        egl_conformance --play SCENE cairn LIBRARY      for process_rows.cc
//
// Exit code 0: every row is right or a decided departure.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "row.h"
#include "scenes.h"
#include "sequence.h"

namespace conformance {
namespace {

std::vector<Row> all_rows() {
    return joined<Row>({control_rows(), cache_rows(), context_rows(), key_rows(), draft_rows(),
                        process_rows(), blob_rows()});
}

Judged judge(const Row &row) {
    const bool is_reference = subject == Subject::angle;
    if (is_reference && row.reference == Reference::absent) {
        return {Outcome::absent, ""};
    }
    Verdict verdict;
    try {
        row.judge(verdict);
    } catch (const std::exception &error) {
        // An entry that is not there, mostly.
        verdict.expect(false, error.what());
    }
    if (!verdict.reason().empty()) {
        return {Outcome::absent, verdict.reason()};
    }
    const bool holds = verdict.failures().empty();
    const bool differs = row.reference == Reference::differs;
    if (is_reference && differs) {
        return holds ? Judged{Outcome::wrong, "the mark is stale: the reference agrees"}
                     : Judged{Outcome::differs, verdict.failures()};
    }
    if (!holds) {
        return {Outcome::wrong, verdict.failures()};
    }
    // Where the reference does otherwise, what is right here is a departure.
    return {differs ? Outcome::departure : Outcome::right, ""};
}

int usage() {
    std::fprintf(stderr,
                 "usage: egl_conformance [--list | --sequence SEED STEPS | --play SCENE] "
                 "cairn|angle LIBRARY [ROW...]\n");
    return 2;
}

void load_named(char **arguments) {
    load(std::strcmp(arguments[0], "angle") == 0 ? Subject::angle : Subject::cairn, arguments[1]);
}

}  // namespace
}  // namespace conformance

int main(int argc, char **argv) {
    using namespace conformance;
    set_own_path(argv[0]);
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
        return list_rows(all_rows());
    }
    if (argc == 6 && std::strcmp(argv[1], "--sequence") == 0) {
        load_named(argv + 4);
        if (!has_control()) {
            return usage();
        }
        play_sequence(std::strtoull(argv[2], nullptr, 0),
                      static_cast<int>(std::strtol(argv[3], nullptr, 10)));
        return 0;
    }
    if (argc == 5 && std::strcmp(argv[1], "--play") == 0) {
        load_named(argv + 3);
        return play_scene(argv[2]);
    }
    if (argc < 3 || argv[1][0] == '-') {
        return usage();
    }
    load_named(argv + 1);
    if (!has_control()) {
        std::fprintf(stderr, "there is no EGL_ANGLE_program_cache_control\n");
        return 3;
    }
    return judge_rows(all_rows(), std::span(argv + 3, argv + argc), "egl",
                      subject == Subject::angle ? " on ANGLE" : " on Cairn", judge);
}
