// SPDX-License-Identifier: MIT
#include "run_report.h"

#include <cairn/cairn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "os/environment.h"
#include "os/root.h"
#include "output.h"

namespace cairn::cli {
namespace {

static_assert(sizeof(RunReport) % sizeof(uint64_t) == 0);
static_assert(sizeof(RunReport) <= 4096, "fits the one page that memory is had in");

constexpr std::string_view kPrefix = ".report-";
// The launcher that made the report has a lock on it.
constexpr uint64_t kOwnerByte = 0;

[[noreturn]] void fail(const char *what) {
    throw Failure(kExitRunFailed, "cannot count what is saved: {}: {}", what, error_text(errno));
}

bool lock(const File &file) {
    const auto locked = file.try_lock(kOwnerByte, LockKind::exclusive);
    return locked.ok() && locked.value();
}

// Removes the files of launchers that were killed.
void remove_left(const Directory &root) {
    Words names;
    (void)root.list([&](const char *name) {
        if (std::string_view(name).starts_with(kPrefix)) names.emplace_back(name);
    });
    for (const std::string &name : names) {
        const auto file = root.open_file(name, Access::read_write);
        if (file.ok() && lock(file.value())) (void)root.remove_file(name);
    }
}

// How an application drew that was not seen by the front end, as far as that is known.
std::string drew_past_us(const RunResult &result) {
    const Seen &seen = result.seen;
    if (seen.glx && result.glx.empty()) {
        return "a process drew through GLX, and Cairn's library for GLX (libGLX_cairn.so.0) is not "
               "installed";
    }
    if (seen.cleared_environment) {
        return "a process drew whose environment was cleared, so that Cairn was not reached";
    }
    if (seen.of_32_bits) {
        return "a 32-bit program drew, and Cairn's libraries for 32-bit programs are not installed "
               "or cannot be loaded (`make install-i386` installs them)";
    }
    if (seen.past_us) {
        return "a process drew that cannot see or load Cairn's library, as in a container (`cairn "
               "doctor` looks for the reason)";
    }
    if (seen.vulkan) return "the application used Vulkan, which is not covered";
    return "the application was not seen to use EGL or GLX through this `cairn run` (Vulkan and "
           "set-user-id programs are not covered; the application, or another `cairn run` inside, "
           "may have changed the variables); `cairn doctor APP` tells more";
}

std::string nothing_linked(const RunResult &result) {
    const RunReport &report = result.report;
    if (report.contexts == 0 && result.seen.anything()) return drew_past_us(result);
    if (report.contexts > 0) {
        std::string text =
            fmt::format("{} created, but nothing was linked",
                        format_count(report.contexts, "context was", "contexts were"));
        if (report.own_binaries > 0) {
            text += fmt::format("; the application has a cache of its own, {} came from that",
                                format_count(report.own_binaries, "program", "programs"));
        }
        return text;
    }
    if (report.displays > 0) return "EGL was used, but no context was created";
    if (report.loads > 0) return "EGL or GLX was loaded, but no display was initialised";
    return drew_past_us(result);
}

// Why a process had a problem, as it says.
std::string problem_text(const RunReport &report) {
    // Other processes wrote it.
    const size_t size = strnlen(report.problem_text, sizeof report.problem_text);
    return printable_line(std::string_view(report.problem_text, size));
}

// Why there is nothing to tell; empty when there is.
std::string nothing_passed(const RunResult &result) {
    const RunReport &report = result.report;
    if (!result.problem.empty()) return fmt::format("ran uncached: {}", result.problem);
    if (report.link_calls == 0 && report.problem == kProblemNotServed) {
        return "ran uncached: " + problem_text(report);
    }
    if (report.link_calls == 0) {
        return "no GL program passed through: " + nothing_linked(result);
    }
    return "";
}

// Why the cache was not used, or entries were not stored; empty when all went well.
std::string problem_line(const RunReport &report) {
    std::string why = problem_text(report);
    if (report.problem == kProblemNotServed) return "a process ran uncached: " + why;
    if (report.problem == kProblemNotUsed) {
        // A process may have several, and the application several processes.
        return fmt::format("{} cache could not be used: {}",
                           report.hits + report.stored > 0 ? "a" : "the", why);
    }
    if (report.store_failed == 0) return "";
    if (report.problem != kProblemNotStored) why = "see `cairn stats`";
    return fmt::format("{} could not be stored: {}",
                       format_count(report.store_failed, "entry", "entries"), why);
}

// The sum can be a little below zero where hits were slower than compiling; in the counter that is
// a huge number.
uint64_t saved_ns(const RunReport &report) {
    return static_cast<int64_t>(report.saved_ns) < 0 ? 0 : report.saved_ns;
}

std::string outcome_line(const RunReport &report) {
    std::string line = fmt::format("{} of {} from the cache", report.hits,
                                   format_count(report.link_calls, "program", "programs"));
    const auto add = [&line](uint64_t count, const char *what) {
        if (count > 0) line += fmt::format(", {} {}", count, what);
    };
    add(report.misses, "not found");
    add(report.rejected, "refused by the driver");
    add(report.bypassed, "of a kind that is not cached");
    add(report.own_binaries, "more from a cache of the application's own");
    if (report.stored > 0) {
        line += fmt::format("; {} stored", format_count(report.stored, "entry", "entries"));
    }
    return line;
}

// Why programs had to be compiled; empty where none had to be. Why a cache is unusable is a line of
// its own.
std::string reasons_line(const RunReport &report) {
    std::string line;
    for (size_t i = 0; i < kOutcomes; ++i) {
        const auto outcome = static_cast<Outcome>(i);
        const bool is_told = is_hit(outcome) || outcome == Outcome::unusable;
        if (is_told || report.outcomes[i] == 0) continue;
        line += fmt::format("{}{} {} ({})", line.empty() ? "compiled: " : ", ", report.outcomes[i],
                            outcome_words(outcome), format_duration_ns(report.outcome_ns[i]));
    }
    return line.empty() || report.remembered == 0 ? line : line + "; `cairn why` says more";
}

std::string time_line(const RunReport &report) {
    std::string line =
        fmt::format("{} and {} took {}", format_count(report.compile_calls, "compile", "compiles"),
                    format_count(report.link_calls, "link", "links"),
                    format_duration_ns(report.compile_ns + report.link_ns));
    if (report.hits > 0) {
        line += fmt::format("; about {} saved", format_duration_ns(saved_ns(report)));
    }
    if (report.glx_contexts > 0) {
        line += report.glx_contexts < report.contexts ? "; through EGL and GLX" : "; through GLX";
    }
    return line;
}

nlohmann::ordered_json outcomes_json(const RunReport &report) {
    nlohmann::ordered_json json;
    for (size_t i = 0; i < kOutcomes; ++i) {
        json[outcome_name(static_cast<Outcome>(i))] = {{"programs", report.outcomes[i]},
                                                       {"spent_ns", report.outcome_ns[i]}};
    }
    return json;
}

nlohmann::ordered_json counters_json(const RunReport &report) {
    return {{"processes", report.processes},
            {"contexts", report.contexts},
            {"compile_calls", report.compile_calls},
            {"compile_ns", report.compile_ns},
            {"link_calls", report.link_calls},
            {"link_ns", report.link_ns},
            {"driver_compiles", report.driver_compiles},
            {"driver_links", report.driver_links},
            {"hits", report.hits},
            {"misses", report.misses},
            {"rejected", report.rejected},
            {"stored", report.stored},
            {"store_failed", report.store_failed},
            {"bypassed", report.bypassed},
            {"saved_ns", saved_ns(report)},
            {"bytes_read", report.bytes_read},
            {"bytes_written", report.bytes_written},
            {"overhead_ns", report.overhead_ns},
            {"loads", report.loads},
            {"displays", report.displays},
            {"own_binaries", report.own_binaries},
            {"glx_contexts", report.glx_contexts},
            {"outcomes", outcomes_json(report)}};
}

}  // namespace

SharedReport::SharedReport(const std::string &root) {
    if (root.empty() || !make_file(root)) make_memory();
    auto mapping = Mapping::file(file_, Access::read_write, 0, sizeof(RunReport));
    if (!mapping.ok()) fail("mmap");
    mapping_ = std::move(mapping.value());
    reinterpret_cast<RunReport *>(mapping_.data())->layout = kRunReportLayout;
}

SharedReport::~SharedReport() {
    if (directory_.valid()) (void)directory_.remove_file(name_);
}

// A file with blocks behind it, so that nothing that counts can fail. They are written, not
// reserved: file systems that find blocks late mostly need none before the file is removed. It is
// locked before it is written to; another launcher that had it in its hands meanwhile has removed it.
bool SharedReport::make_file(const std::string &root) {
    auto directory = open_root(root, Create::yes, Log());
    if (!directory.ok()) return false;
    remove_left(directory.value());
    if (directory->on_network()) return false;
    std::array<std::byte, 8> chance = {};
    random_bytes(chance);
    name_ = std::string(kPrefix) + hexadecimal(chance);
    auto file = directory->create_file(name_);
    if (!file.ok()) return false;
    const RunReport zeros = {};
    const bool is_ours =
        lock(file.value()) && file->write_whole(std::as_bytes(std::span(&zeros, 1))).ok();
    const auto info = file->info();
    if (!is_ours || !info.ok() || info->links == 0) {
        (void)directory->remove_file(name_);
        return false;
    }
    file_ = std::move(file.value());
    directory_ = std::move(directory.value());
    path_ = root + "/" + name_;
    return true;
}

// It cannot be resized by anybody: a mapping of it never faults.
void SharedReport::make_memory() {
    file_ = File(UniqueFd(memfd_create("cairn-report", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
    if (!file_.valid()) fail("memfd_create");
    if (!file_.truncate(sizeof(RunReport)).ok()) fail("ftruncate");
    if (fcntl(file_.fd(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        fail("sealing");
    }
    path_ = fmt::format("/proc/{}/fd/{}", getpid(), file_.fd());
}

RunReport SharedReport::read() const {
    // Others may still be counting, so each number is read in one piece.
    RunReport copy = {};
    auto *from = reinterpret_cast<uint64_t *>(mapping_.data());
    auto *to = reinterpret_cast<uint64_t *>(&copy);
    for (size_t i = 0; i < sizeof(RunReport) / sizeof(uint64_t); ++i) {
        to[i] = std::atomic_ref<uint64_t>(from[i]).load(std::memory_order_relaxed);
    }
    return copy;
}

std::vector<std::string> report_lines(const RunResult &result) {
    if (std::string reason = nothing_passed(result); !reason.empty()) return {reason};
    std::vector<std::string> lines = {outcome_line(result.report), time_line(result.report)};
    if (std::string reasons = reasons_line(result.report); !reasons.empty()) {
        lines.insert(lines.begin() + 1, std::move(reasons));
    }
    if (std::string problem = problem_line(result.report); !problem.empty()) {
        lines.push_back(std::move(problem));
    }
    return lines;
}

nlohmann::ordered_json report_json(const RunResult &result) {
    const auto text_or_null = [](const std::string &text) {
        return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
    };
    nlohmann::ordered_json json;
    json["cairn"] = cairn_version_string();
    json["command"] = result.command;
    json["exit_code"] = result.exit_code;
    json["signal"] = result.signal ? nlohmann::ordered_json(*result.signal) : nullptr;
    json["wall_ns"] = result.wall_ns;
    json["root"] = result.root;
    json["manifest"] = text_or_null(result.manifest);
    json["glx"] = text_or_null(result.glx);
    json["problem"] = text_or_null(result.problem);
    json["cache_problem"] = text_or_null(problem_line(result.report));
    json["report"] = counters_json(result.report);
    return json;
}

}  // namespace cairn::cli
