// SPDX-License-Identifier: MIT
#include "common/interpreter.h"

#include <algorithm>
#include <iterator>

#include "base/words.h"
#include "common/process_start.h"
#include "common/words.h"

namespace cairn {
namespace {

// Those that draw with GL in their own process. An option that is not here is taken for one without
// a value: at worst the program goes by its value.
constexpr Interpreter kInterpreters[] = {
    {.names = "wine wine-preloader ld ld-linux.so ld-linux-x ld-linux-aarch", .is_replaced = true},
    {.names = "box64 box86 FEX FEXInterpreter"},
    {.names = "python pypy",
     .valued = "WX",
     .text = "c",
     .module = "m",
     .valued_words = "--check-hash-based-pycs"},
    {.names = "perl", .valued = "I", .attached = "0CDFMVdilmx", .text = "Ee"},
    {.names = "ruby", .valued = "CEIr", .attached = "0FKTWilx", .text = "e"},
    {.names = "lua luajit", .valued = "ejl", .attached = "OW"},
    {.names = "node nodejs",
     .valued = "Cr",
     .text = "ep",
     .valued_words = "--require --import --loader --experimental-loader --conditions --env-file",
     .text_words = "--eval --print"},
    {.names = "gjs gjs-console", .valued = "CI", .text = "c"},
    {.names = "java",
     .valued_words = "-cp -classpath --class-path -p --module-path --upgrade-module-path "
                     "--patch-module --add-modules --add-opens --add-exports --add-reads "
                     "--limit-modules --source",
     .program_words = "-jar -m --module"},
    {.names = "mono mono-sgen", .valued_words = "--config"},
    {.names = "dotnet",
     .valued_words = "--depsfile --runtimeconfig --additionalprobingpath --fx-version "
                     "--roll-forward --additional-deps"},
    {.names = "love"},
    {.names = "godot Godot_v", .program_words = "--main-pack --path", .takes_file = false},
    {.names = "electron", .valued = "r", .valued_words = "--require", .is_electron = true},
};

bool is_separator(char c) {
    return c == '-' || c == '_' || c == '.';
}

// "python3.11-dbg" is python and "luajit-2.1" luajit; "node3d" and "ruby-quest" are themselves.
std::string_view without_version(std::string_view name) {
    const size_t digit = name.find_first_of("0123456789");
    if (digit == std::string_view::npos || digit == 0) return name;
    const size_t after = std::min(name.find_first_not_of("0123456789.", digit), name.size());
    if (after < name.size() && !is_separator(name[after]) && name[after - 1] != '.') return name;
    return name.substr(0, digit - (is_separator(name[digit - 1]) ? 1 : 0));
}

// Where the program is after what was read: perhaps in the next argument but one, in the next, in
// this one, or nowhere.
enum class Place { later, after_value, next, here, nowhere };

// After the letters of an option. What is here goes to `program`.
Place after_letters(const Interpreter &interpreter, std::string_view letters,
                    std::string_view &program) {
    for (size_t i = 0; i < letters.size(); ++i) {
        const auto is_one_of = [letter = letters[i]](std::string_view all) {
            return all.find(letter) != std::string_view::npos;
        };
        const std::string_view rest = letters.substr(i + 1);
        if (is_one_of(interpreter.text)) return Place::nowhere;
        if (is_one_of(interpreter.attached)) return Place::later;
        if (is_one_of(interpreter.valued)) return rest.empty() ? Place::after_value : Place::later;
        if (is_one_of(interpreter.module)) {
            program = rest;
            return rest.empty() ? Place::next : Place::here;
        }
    }
    return Place::later;
}

Place after_option(const Interpreter &interpreter, std::string_view option,
                   std::string_view &program) {
    const std::string_view word = option.substr(0, option.find('='));
    if (has_word(interpreter.program_words, word)) {
        program = option.substr(std::min(word.size() + 1, option.size()));
        return program.empty() ? Place::next : Place::here;
    }
    if (has_word(interpreter.text_words, word)) return Place::nowhere;
    if (has_word(interpreter.valued_words, option)) return Place::after_value;
    return option.starts_with("--") ? Place::later
                                    : after_letters(interpreter, option.substr(1), program);
}

Place after_argument(const Interpreter &interpreter, std::string_view argument,
                     std::string_view &program) {
    if (argument == "-") return Place::nowhere;  // standard input has it
    if (argument == "--") return interpreter.takes_file ? Place::next : Place::nowhere;
    if (argument.starts_with('-')) return after_option(interpreter, argument, program);
    if (!interpreter.takes_file || argument.starts_with('@')) return Place::later;  // Java's lists
    program = argument;
    return Place::here;
}

Interpreted replaced(const Interpreter &interpreter, std::span<const std::string> arguments) {
    while (!arguments.empty() && find_interpreter(file_name(arguments.front())) == &interpreter) {
        arguments = arguments.subspan(1);
    }
    return arguments.empty() ? Interpreted{} : Interpreted{arguments.front(), arguments};
}

}  // namespace

const Interpreter *find_interpreter(std::string_view file_name) {
    const auto *found = std::ranges::find_if(kInterpreters, [file_name](const Interpreter &each) {
        return has_word(each.names, file_name) || has_word(each.names, without_version(file_name));
    });
    return found == std::end(kInterpreters) ? nullptr : found;
}

Interpreted interpreted(const Interpreter &interpreter, std::span<const std::string> arguments) {
    if (interpreter.is_replaced) return replaced(interpreter, arguments);
    for (size_t i = 1; i < arguments.size(); ++i) {
        std::string_view program;
        switch (after_argument(interpreter, arguments[i], program)) {
            case Place::later:
                break;
            case Place::after_value:
                ++i;
                break;
            case Place::next:
                if (i + 1 == arguments.size()) return {};
                return {arguments[i + 1], arguments.subspan(i + 1)};
            case Place::here:
                return {std::string(program), arguments.subspan(i)};
            case Place::nowhere:
                return {};
        }
    }
    return {};
}

}  // namespace cairn
