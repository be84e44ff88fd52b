// The processor, as compilers for it see it: what decides which machine code they make.
// SPDX-License-Identifier: MIT
//
// A driver that draws with the processor compiles for it, and some of its binaries run nowhere else.
// The text is the same on all cores of a machine, and after each start of it: nothing is in it that
// is a core's own, and nothing that an update of microcode changes and no compiler looks at.
//
// Thread safety: any thread. The text costs nothing but words that the loader has; counting costs a
// small file of the kernel's (4 us), so count once in a process.
// Failure: what the system does not tell is 0.
#pragma once

#include <string>

namespace cairn {

// Its type and what it can do, such as `x86 family 6 model 106, features ...`.
std::string processor_text();

// How many processors this process may use, and how many the system can have. The first number
// changes with the affinity of the process's first thread (sched_setaffinity).
struct ProcessorCount {
    long usable;
    long configured;
};
ProcessorCount count_processors();

}  // namespace cairn
