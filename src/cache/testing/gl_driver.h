// A GL driver that the test makes up: its programs, and its functions by glGetProcAddress.
// SPDX-License-Identifier: MIT
//
// Thread safety: belongs to one thread.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace cairn::testing {

using Function = void (*)();

inline constexpr unsigned kFormat = 0x8001;
inline constexpr unsigned kInvalidEnum = 0x0500, kInvalidOperation = 0x0502;

struct Program {
    bool linked = false;
    bool retrievable = false;
    std::string made_of;
};

// The driver: its programs, and how it behaves.
struct Driver {
    std::string version = "4.6 (Core Profile) made up 1.0";
    std::vector<std::string> extensions;
    std::vector<int32_t> formats = {kFormat};
    bool refuses_with_error = false;
    bool needs_hint = true;  // for a binary to be had
    bool dies = false;
    std::map<unsigned, Program> programs;
    std::vector<unsigned> errors;
    int binaries_given = 0;
};
inline Driver driver;

inline const unsigned char *get_string(unsigned name) {
    static std::string extensions;
    const char *text = name == 0x1F02 ? driver.version.c_str() : "made up";
    if (name == 0x1F03) {
        extensions.clear();
        for (const std::string &each : driver.extensions) extensions.append(each).append(" ");
        text = extensions.c_str();
    }
    return reinterpret_cast<const unsigned char *>(text);
}

inline const unsigned char *get_stringi(unsigned, unsigned index) {
    return reinterpret_cast<const unsigned char *>(driver.extensions.at(index).c_str());
}

inline void get_integerv(unsigned name, int32_t *values) {
    switch (name) {
        case 0x821D:
            *values = static_cast<int32_t>(driver.extensions.size());
            break;
        case 0x87FE:
            *values = static_cast<int32_t>(driver.formats.size());
            break;
        case 0x87FF:
            std::copy(driver.formats.begin(), driver.formats.end(), values);
            break;
        case 0x821E:
        case 0x9126:
            *values = 1;
            break;
        default:
            driver.errors.push_back(kInvalidEnum);
    }
}

inline unsigned get_error() {
    if (driver.errors.empty()) return 0;
    const unsigned error = driver.errors.back();
    driver.errors.pop_back();
    return error;
}

inline void get_programiv(unsigned program, unsigned name, int32_t *value) {
    const Program &own = driver.programs[program];
    if (name == 0x8B82) *value = own.linked ? 1 : 0;
    const bool has_binary = own.retrievable || !driver.needs_hint;
    if (name == 0x8741) *value = has_binary ? static_cast<int32_t>(own.made_of.size()) : 0;
}

inline void program_parameteri(unsigned program, unsigned name, int32_t value) {
    if (name == 0x8257) driver.programs[program].retrievable = value != 0;
}

inline void program_binary(unsigned program, unsigned format, const void *binary, int32_t size) {
    ++driver.binaries_given;
    if (driver.dies) {
        signal(SIGSEGV, SIG_DFL);  // a sanitizer has a handler
        raise(SIGSEGV);
    }
    const std::string given(static_cast<const char *>(binary), static_cast<size_t>(size));
    Program &own = driver.programs[program];
    own.linked = format == kFormat && given.starts_with("binary of ");
    own.made_of = given;
    if (!own.linked && driver.refuses_with_error) driver.errors.push_back(kInvalidOperation);
}

inline void get_program_binary(unsigned program, int32_t capacity, int32_t *size, unsigned *format,
                               void *binary) {
    const std::string &text = driver.programs[program].made_of;
    ASSERT_LE(text.size(), static_cast<size_t>(capacity));
    std::memcpy(binary, text.data(), text.size());
    *size = static_cast<int32_t>(text.size());
    *format = kFormat;
}

// Finds functions whether the driver's version has them or not, as GLVND does.
inline Function get_proc_address(const char *name) {
    const std::map<std::string, Function> functions = {
        {"glGetString", reinterpret_cast<Function>(get_string)},
        {"glGetStringi", reinterpret_cast<Function>(get_stringi)},
        {"glGetIntegerv", reinterpret_cast<Function>(get_integerv)},
        {"glGetError", reinterpret_cast<Function>(get_error)},
        {"glGetProgramiv", reinterpret_cast<Function>(get_programiv)},
        {"glProgramParameteri", reinterpret_cast<Function>(program_parameteri)},
        {"glProgramBinary", reinterpret_cast<Function>(program_binary)},
        {"glGetProgramBinary", reinterpret_cast<Function>(get_program_binary)},
        {"glProgramBinaryOES", reinterpret_cast<Function>(program_binary)},
        {"glGetProgramBinaryOES", reinterpret_cast<Function>(get_program_binary)},
    };
    const auto found = functions.find(name);
    return found == functions.end() ? nullptr : found->second;
}

}  // namespace cairn::testing
