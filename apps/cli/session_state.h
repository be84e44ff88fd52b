// SPDX-License-Identifier: MIT
// Whether a session uses Cairn: the one that this process is in, by its environment, and the next
// one, by the files with which it will start.
//
// Thread safety: used by main only.
// Failure: what cannot be found out is in the answer.
#pragma once

#include <string>
#include <vector>

namespace cairn::cli {

// Of EGL or GLX, for a process that this session starts now.
struct Interface {
    std::string by;       // what names our library; empty: nothing does, it is off
    std::string library;  // as the dynamic loader is asked for it
    std::string problem;  // why it cannot be loaded

    bool is_on() const { return !by.empty() && problem.empty(); }
};

// These load the libraries in processes of their own.
Interface find_egl();
Interface find_glx();

// A file that speaks of Cairn, or may do so, and what it switches on at the next log-in.
struct Source {
    std::string file;
    bool has_egl = false;
    bool has_glx = false;
    std::string problem;   // why it does not switch on all that it names
    bool is_known = true;  // false: the file cannot be read

    bool is_on() const { return has_egl || has_glx; }
};

std::vector<Source> find_sources();

}  // namespace cairn::cli
