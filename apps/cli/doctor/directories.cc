// SPDX-License-Identifier: MIT
// Whether the folder of the caches can be used, and has room.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "caches.h"
#include "doctor/checks.h"
#include "os/environment.h"
#include "output.h"
#include "text.h"

namespace cairn::cli::doctor {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kFullBelow = 16u << 20;
constexpr uint64_t kFilesLeast = 64;

void check_room(const Examined &examined, const Machine::Disk &disk, Findings &findings) {
    const std::string &root = examined.root;
    if (disk.free_bytes < kFullBelow) {
        findings.add(
            Id::disk_full,
            fmt::format("{} is on a disk with {} free", root, format_bytes(disk.free_bytes)),
            "make room; `cairn stats` says what caches take, `cairn clear` empties them");
    } else {
        const uint64_t limit =
            examined.configuration.limit_bytes(examined.name).value_or(CAIRN_LIMIT_BYTES_DEFAULT);
        if (disk.free_bytes < limit) {
            findings.add(Id::little_space,
                         fmt::format("{} is on a disk with {} free, and caches may take {}", root,
                                     format_bytes(disk.free_bytes), format_bytes(limit)),
                         "make room, or write `limit = 256M` into the configuration");
        }
    }
    if (disk.files != 0 && disk.free_files < kFilesLeast) {
        findings.add(Id::no_inodes,
                     fmt::format("{} is on a file system that can have {} more files", root,
                                 disk.free_files),
                     "remove files there");
    }
    if (disk.is_in_memory) {
        findings.add(Id::temporary, fmt::format("{} is on a file system in memory", root),
                     "set CAIRN_DIR to a folder on a disk, if it is to last");
    }
}

// Tried with a file that nobody sees, where this process may write.
void check_behaviour(const Examined &examined, const std::string &folder, Findings &findings) {
    const FolderTrial trial = examined.machine.try_folder(folder);
    if (!trial.has_room && !findings.has(Id::disk_full)) {
        findings.add(Id::disk_full,
                     fmt::format("{} takes no mebibyte more: the disk is full, or your quota used "
                                 "up",
                                 folder),
                     "make room; `quota` says what you may have");
    }
    if (!trial.locks.empty()) {
        findings.add(Id::no_locks, fmt::format("the file system of {}: {}", folder, trial.locks),
                     "set CAIRN_DIR to a folder on a local disk");
    }
}

void check_writing(const Examined &examined, const Machine::Disk &disk, Findings &findings) {
    const std::string &root = examined.root;
    std::error_code error;
    const bool is_there = fs::is_directory(root, error);
    const std::string folder = is_there ? root : nearest_folder(root);
    const bool may_write = ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
    if (may_write && !disk.is_read_only) {
        check_behaviour(examined, folder, findings);
        return;
    }
    const char *why =
        disk.is_read_only ? "is on a file system that is read-only" : "may not be written by you";
    if (is_there) {
        findings.add(Id::not_writable, fmt::format("{} {}", root, why),
                     disk.is_read_only ? "set CAIRN_DIR to a folder that you may write"
                                       : fmt::format("chmod u+rwx {}", shell_word(root)));
    } else {
        findings.add(Id::cannot_make,
                     fmt::format("{} is not there and cannot be made: {} {}", root, folder, why),
                     "set CAIRN_DIR to a folder that you may write");
    }
}

// Where caches would be without CAIRN_DIR, or without XDG_CACHE_HOME.
void check_other_roots(const Examined &examined, Findings &findings) {
    Words others;
    if (const auto usual = xdg_directory("XDG_CACHE_HOME", "/.cache")) {
        others.push_back(*usual + "/cairn");
    }
    if (const auto home = home_directory()) others.push_back(*home + "/.cache/cairn");
    for (const std::string &other : others) {
        std::error_code error;
        if (other == examined.root || fs::equivalent(other, examined.root, error)) continue;
        std::size_t count = 0;
        try {
            count = list_caches(other).size();
        } catch (const Failure &) {
            continue;
        }
        if (count == 0) continue;
        findings.add(
            Id::other_root,
            fmt::format("{} has {}, and {} is used", other, format_count(count, "cache", "caches"),
                        examined.root),
            fmt::format("cairn rm --all --dir {}, if you need them no more", shell_word(other)));
        return;
    }
}

// The library's own lines say what to do; some have a command.
std::string mend_of(const std::string &problem) {
    constexpr std::string_view kRun = "; run: ";
    const std::size_t at = problem.find(kRun);
    return at == std::string::npos ? "set CAIRN_DIR to a folder of yours on a local disk"
                                   : problem.substr(at + kRun.size());
}

}  // namespace

void check_directories(const Examined &examined, Findings &findings) {
    if (examined.root.empty()) {
        // check_environment() tells of a relative CAIRN_DIR.
        if (!findings.has(Id::relative_root)) {
            findings.add(Id::no_place, examined.root_problem, "set CAIRN_DIR to an absolute path");
        }
        return;
    }
    if (const std::string problem = root_problem(examined.root); !problem.empty()) {
        findings.add(Id::root_refused, problem, mend_of(problem));
        return;
    }
    const auto disk = examined.machine.disk_of(examined.root);
    if (disk) check_room(examined, *disk, findings);
    check_writing(examined, disk.value_or(Machine::Disk()), findings);
    check_other_roots(examined, findings);
}

}  // namespace cairn::cli::doctor
