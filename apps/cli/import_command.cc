// SPDX-License-Identifier: MIT
// `cairn import`: puts the programs of a file into the cache that they came from.
#include <cairn/cairn_egl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "caches.h"
#include "command_line.h"
#include "failure.h"
#include "text.h"
#include "warm_set.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(Every entry is checked as a link would check it, and the file as a whole: if anything is wrong with it,
nothing is imported. What the cache has already stays as it is, and nothing is evicted for what is
new. The cache is made if there is none.

Examples:
  cairn import warm.set

Exit codes: 0 imported (there may be nothing new), 1 the file or the cache cannot be used, or not all fits,
2 wrong usage.)";

struct CloseFile {
    void operator()(FILE *file) const { std::fclose(file); }
};

[[noreturn]] void refuse_too_large(const std::string &path) {
    throw Failure(kExitFailure, fmt::format("{} is too large", printable_line(path)));
}

bool is_too_large(FILE *file) {
    struct stat status = {};
    return ::fstat(::fileno(file), &status) == 0 && S_ISREG(status.st_mode) &&
           static_cast<uint64_t>(status.st_size) > kWarmSetSizeMax;
}

// All of it; of what begins like no warm set, only the beginning.
std::string read_whole(const std::string &path) {
    const std::unique_ptr<FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
    if (file != nullptr && is_too_large(file.get())) {
        refuse_too_large(path);
    }
    std::string bytes;
    char buffer[65536];
    size_t got = 0;
    errno = 0;
    while (file != nullptr && (got = std::fread(buffer, 1, sizeof buffer, file.get())) != 0) {
        bytes.append(buffer, got);
        if (!begins_as_warm_set(bytes)) {
            return bytes;
        }
        if (bytes.size() > kWarmSetSizeMax) {
            refuse_too_large(path);
        }
    }
    if (file == nullptr || std::ferror(file.get()) != 0) {
        throw Failure(kExitFailure,
                      fmt::format("cannot read {}: {}", printable_line(path), error_text(errno)));
    }
    return bytes;
}

WarmSet read_set(const std::string &path) {
    const std::string bytes = read_whole(path);
    std::string problem;
    auto set = decode_warm_set(std::as_bytes(std::span(bytes)), problem);
    // Only caches of the EGL front end have such entries; no file may write to any other.
    if (set && !set->identifier.starts_with("egl-")) {
        set.reset();
        problem = "it is for a cache that is not the EGL front end's";
    }
    if (!set) {
        throw Failure(kExitFailure,
                      fmt::format("{} is not imported: {}", printable_line(path), problem));
    }
    return std::move(*set);
}

struct Counts {
    uint64_t added = 0;
    uint64_t known = 0;
};

// Costs decide what is evicted; whoever makes a file can write any. No link takes longer.
constexpr uint32_t kCostMaxUs = 10'000'000;

Counts put_all(const CacheHandle &cache, const WarmSet &set) {
    Counts counts;
    for (const WarmEntry &entry : set.entries) {
        cairn_put_options options = {};
        options.size = sizeof options;
        options.flags = CAIRN_PUT_IF_ABSENT;
        options.cost_us = std::min(entry.cost_us, kCostMaxUs);
        const int result = cairn_put(cache.get(), entry.key.data(), entry.key.size(),
                                     entry.binary.data(), entry.binary.size(), &options);
        if (result == CAIRN_EXISTS) {
            ++counts.known;
            continue;
        }
        require_ok(cache, result,
                   fmt::format("import more than {} of {} programs", counts.added + counts.known,
                               set.entries.size()));
        ++counts.added;
    }
    return counts;
}

void import_file(const std::string &root, const std::string &path) {
    const WarmSet set = read_set(path);
    const CacheHandle cache =
        open_cache_to_fill(root, {set.identifier, set.version, printable_text(set.about)});
    const Counts counts = put_all(cache, set);
    fmt::print("Imported {} into {}; {} there already\n",
               format_count(counts.added, "program", "programs"), set.identifier,
               format_count(counts.known, "was", "were"));
}

}  // namespace

void add_import_command(CLI::App &app) {
    struct Options {
        std::string dir;
        std::string file;
    };
    CLI::App *command = app.add_subcommand("import", "Add the programs of a file to their cache");
    auto options = std::make_shared<Options>();
    command->footer(kFooter);
    command->add_option("FILE", options->file, "A file that `cairn export` wrote")
        ->type_name("")
        ->required();
    add_dir_option(*command, options->dir);
    command->callback([options] {
        const std::string root = resolve_root(options->dir);
        require_usable_root(root);
        import_file(root, options->file);
    });
}

}  // namespace cairn::cli
