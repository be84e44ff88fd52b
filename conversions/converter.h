// Converters of shaders from one language to another, and their options.
// SPDX-License-Identifier: MIT
//
// Converters are other projects' libraries, made for input that means well. So sandbox.h runs them
// in processes of their own.
//
// Thread safety: constants; convert() is called once at a time in a process.
// Failure: an outcome with messages; converters may also throw, crash, or never return.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::conversions {

// An option and what it may be set to. The first value is the default.
struct OptionRule {
    std::string name;
    std::vector<std::string> values;  // none: any identifier, by default `any_default`
    std::string any_default;
    std::string about;
};

// Every option with its value.
using Options = std::map<std::string, std::string>;

struct Converted {
    bool ok = false;
    std::string output;    // bytes; empty unless ok
    std::string messages;  // of the converter, which may have some when it succeeds, too
};

struct ShaderConverter {
    // A short name that never changes.
    std::string_view id;
    std::string_view about;
    std::vector<OptionRule> rules;
    // Changes whenever the library could give another output: its version and its build-id.
    std::string (*version)();
    // REQUIRES: options as complete_options() gives them.
    std::function<Converted(const Options &options, std::string_view input)> convert;
};

// The converters of this build, in order of id.
const std::vector<const ShaderConverter *> &converters();
// Null where there is none of this id.
const ShaderConverter *find_converter(
    std::string_view id, const std::vector<const ShaderConverter *> &among = converters());

// Completes the options by the defaults. False: `problem` says which is wrong and what it may be.
bool complete_options(const ShaderConverter &converter, Options &options, std::string &problem);

// The words with the separator between them.
std::string joined(const std::vector<std::string> &words, const char *separator);

// The build-id of the program or library that `address` lies in, in hexadecimal; empty where it has
// none.
std::string build_id_at(const void *address);

// The work of cairn-convert for the library: lists the converters, or converts once. The library
// has the other end of standard input and output, which are one socket; docs/convert.md has what is
// said on it. When it closes its end, the work is given up.
//
// REQUIRES: the process has no other thread. Returns its exit code; nothing where the arguments are
// not the library's.
std::optional<int> run_worker(const std::vector<const ShaderConverter *> &converters, int argc,
                              const char *const *argv);

}  // namespace cairn::conversions
