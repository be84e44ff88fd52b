// Programs that run other people's programs, and which one they were told to run.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cairn {

// How an interpreter takes its arguments. Words and names are separated by spaces.
struct Interpreter {
    std::string_view names = {};  // of its file; a version may follow
    // Letters of options: with a value, which may be the next argument; whose value, if any, is the
    // rest of their argument; after which the program itself stands, no file; whose value it is.
    std::string_view valued = {};
    std::string_view attached = {};
    std::string_view text = {};
    std::string_view module = {};
    // The same for options that are words.
    std::string_view valued_words = {};
    std::string_view text_words = {};
    std::string_view program_words = {};
    bool takes_file = true;    // the first argument that is no option is the program
    bool is_replaced = false;  // it gives its own place among the arguments to the program
    bool is_electron = false;  // its arguments do not tell all: see application.cc
};

// The interpreter whose file has this name; null: it is none.
const Interpreter *find_interpreter(std::string_view file_name);

// The program that an interpreter with these arguments runs. The rest are that program's arguments,
// it among them; empty: they do not say.
struct Interpreted {
    std::string program;
    std::span<const std::string> arguments;
};
Interpreted interpreted(const Interpreter &interpreter, std::span<const std::string> arguments);

}  // namespace cairn
