// SPDX-License-Identifier: MIT
// The machine as the checks of `cairn doctor` see it. Tests give them another one.
// Thread safety: used by main only.
// Failure: what cannot be read is empty.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "text.h"

namespace cairn::cli::doctor {

// How a program that was started has ended.
struct Ended {
    std::string output;    // of standard output, the first megabyte
    int exit_code = -1;    // -1: it did not end by itself, or was not started
    int signal = 0;        // that ended it
    bool is_late = false;  // it was ended, since it did not end in time
    int start_error = 0;   // why it could not be started
};

// Starts a program with this environment, and ends it, with what it has started, when its time is over.
// Its standard error is not heard.
Ended run_with_patience(const Words &command, const Words &environment, unsigned patience_ms);

// What a file in a folder can do, tried with a file that has no name and leaves nothing behind.
struct FolderTrial {
    bool could_be_tried = false;  // this file system has unnamed files
    std::string locks;            // why locks or mappings do not work; empty: they do
    bool has_room = true;         // for a mebibyte: no, too, where a quota is used up
};

struct Machine {
    std::string root;               // before the paths of the system; empty: the machine itself
    std::string executable;         // of the command
    unsigned patience_ms = 20'000;  // with a driver
    // What a command of the system prints: "" where it is not there, or does not end in time.
    std::function<std::string(const Words &command)> ask;
    std::function<FolderTrial(const std::string &folder)> try_folder;
    // Of the file system that a path is on, or will be; nullopt: nobody knows.
    struct Disk {
        std::uint64_t free_bytes = 0;
        std::uint64_t files = 0, free_files = 0;  // 0 files: it does not count them
        bool is_read_only = false;
        bool is_in_memory = false;
    };
    std::function<std::optional<Disk>(const std::string &path)> disk_of;

    // Where a path of the system is.
    std::string at(const std::string &path) const { return root + path; }
    bool has(const std::string &path) const;
    // The beginning of a file of the system; "" where it is none.
    std::string text_of(const std::string &path) const;
};

Machine this_machine();

// A regular file's first bytes, through links, without waiting for anything. nullopt: it cannot be read.
std::optional<std::string> read_beginning(const std::string &path, std::size_t size_max);

// The first folder above a path, or itself, that is there.
std::string nearest_folder(const std::string &path);

}  // namespace cairn::cli::doctor
