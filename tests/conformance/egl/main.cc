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
#include <string>
#include <vector>

#include "row.h"
#include "scenes.h"
#include "sequence.h"

namespace conformance {
namespace {

std::vector<Row> all_rows() {
    std::vector<Row> all;
    for (const auto rows : {control_rows(), cache_rows(), context_rows(), key_rows(), draft_rows(),
                            process_rows(), blob_rows()}) {
        all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
}

struct Counts {
    int right = 0;
    int departures = 0;
    int skipped = 0;
    int wrong = 0;
};

void say(const char *word, const Row &row, const std::string &what = "") {
    std::printf("row %-9s egl %s%s%s\n", word, row.name, what.empty() ? "" : ": ", what.c_str());
    std::fflush(stdout);
}

void judge(const Row &row, Counts &counts) {
    const bool is_reference = subject == Subject::angle;
    if (is_reference && row.reference == Reference::absent) {
        ++counts.skipped;
        return say("absent", row);
    }
    Verdict verdict;
    try {
        row.judge(verdict);
    } catch (const std::exception &error) {
        // An entry that is not there, mostly.
        verdict.expect(false, error.what());
    }
    if (!verdict.reason().empty()) {
        ++counts.skipped;
        return say("absent", row, verdict.reason());
    }
    const bool holds = verdict.failures().empty();
    const bool differs = is_reference && row.reference == Reference::differs;
    if (differs && !holds) {
        ++counts.departures;
        return say("differs", row, verdict.failures());
    }
    if (differs || !holds) {
        ++counts.wrong;
        return say("WRONG", row,
                   holds ? "the mark is stale: the reference agrees" : verdict.failures());
    }
    // Where the reference does otherwise, what is right here is a departure.
    const bool departs = row.reference == Reference::differs;
    ++(departs ? counts.departures : counts.right);
    say(departs ? "departure" : "right", row);
}

bool is_chosen(const Row &row, int count, char **names) {
    for (int i = 0; i < count; ++i) {
        if (std::strcmp(row.name, names[i]) == 0) {
            return true;
        }
    }
    return count == 0;
}

int judge_all(int count, char **names) {
    Counts counts;
    for (const Row &row : all_rows()) {
        if (is_chosen(row, count, names)) {
            judge(row, counts);
        }
    }
    std::printf("rows egl on %s: %d right, %d decided departures, %d absent, %d wrong\n",
                subject == Subject::angle ? "ANGLE" : "Cairn", counts.right, counts.departures,
                counts.skipped, counts.wrong);
    return counts.wrong == 0 && counts.right > 0 ? 0 : 1;
}

void list() {
    for (const Row &row : all_rows()) {
        std::puts(row.name);
    }
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
        list();
        return 0;
    }
    if (argc == 6 && std::strcmp(argv[1], "--sequence") == 0) {
        load_named(argv + 4);
        if (!has_control()) {
            return usage();
        }
        play_sequence(std::strtoull(argv[2], nullptr, 0), std::atoi(argv[3]));
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
    return judge_all(argc - 3, argv + 3);
}
