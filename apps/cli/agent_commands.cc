// SPDX-License-Identifier: MIT
// `cairn push`, `cairn pull` and `cairn remote`: hand over to cairn-agent, a program of its own, so that this one needs
// no library for the network: `cairn run` stands before each start of an application.
#include "child.h"
#include "command.h"

namespace cairn::cli {
namespace {

template <const char *kName>
Run define(Arguments &take) {
    const Words &arguments = take.foreign();
    return [&arguments]() -> int {
        Words words = {kName};
        words.insert(words.end(), arguments.begin(), arguments.end());
        become_program(find_program("cairn-agent", "agent"), words,
                       "are libcurl and libhiredis installed?");
    };
}

constexpr char kPush[] = "push", kPull[] = "pull", kRemote[] = "remote";

}  // namespace

const Command push_command = {kPush, "Publish what this machine has compiled", "", define<kPush>,
                              Foreign::all};
const Command pull_command = {kPull, "Fetch what other machines have compiled", "", define<kPull>,
                              Foreign::all};
const Command remote_command = {kRemote, "See and tidy up the storage that machines share", "",
                                define<kRemote>, Foreign::all};

}  // namespace cairn::cli
