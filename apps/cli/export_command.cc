// SPDX-License-Identifier: MIT
// `cairn export`: writes a cache's programs to a file, for shipping.
#include <cairn/cairn_egl.h>

#include <algorithm>
#include <string_view>

#include "caches.h"
#include "command.h"
#include "named_file.h"
#include "output.h"
#include "text.h"
#include "warm_set.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(The programs of one driver, as the EGL front end keeps them, with their keys: what
eglProgramCachePopulateANGLE takes. Only this very driver, in this version and configuration, can use
them. An older FILE is replaced when the new one is whole; - is standard output.

Examples:
  cairn export gl-0123456789abcdef warm.set
  cairn export CACHE - | zstd > warm.set.zst
  cairn import warm.set                      on another machine, or after `cairn clear`

Exit codes: 0 written, 1 there is no such cache, it has no programs, or FILE cannot be written, 2 wrong usage.)";

struct Programs {
    WarmSet set;
    uint64_t bytes = 0;
    uint64_t too_large = 0;  // programs that no reader would take
};

void add(const cairn_entry &found, const cairn_blob *blob, Programs &programs) {
    const std::string_view binary(static_cast<const char *>(cairn_blob_data(blob)),
                                  cairn_blob_size(blob));
    // Shaders and blobs of drivers have other keys, or are no whole entries.
    if (cairn_egl_entry_check(found.key, found.key_size, binary.data(), binary.size()) !=
        CAIRN_OK) {
        return;
    }
    if (binary.size() > kWarmBinarySizeMax) {
        ++programs.too_large;
        return;
    }
    WarmEntry &entry = programs.set.entries.emplace_back();
    std::copy_n(static_cast<const uint8_t *>(found.key), entry.key.size(), entry.key.begin());
    entry.cost_us = cairn_blob_cost_us(blob);
    entry.binary = binary;
    programs.bytes += encoded_size(entry);
}

[[noreturn]] void refuse_too_many() {
    throw Failure(kExitFailure, "the programs are more than a file may hold (2 GiB)");
}

Programs collect_programs(const CacheHandle &cache, const std::string &identifier) {
    Progress progress("Reading " + identifier, cache_stats(cache).entries);
    Programs programs;
    for_each_entry(cache, fmt::format("read `{}`", identifier), [&](const cairn_entry &entry) {
        progress.add(1);
        cairn_blob *blob = nullptr;
        if (entry.key_size == WarmEntry().key.size() &&
            cairn_get(cache.get(), entry.key, entry.key_size, &blob) == CAIRN_OK) {
            add(entry, blob, programs);
            cairn_blob_free(blob);
        }
        return programs.bytes <= kWarmSetSizeMax;
    });
    if (programs.bytes > kWarmSetSizeMax) refuse_too_many();
    if (programs.set.entries.empty()) {
        throw Failure(kExitFailure, "the cache `{}` has no programs{}", identifier,
                      programs.too_large == 0 ? "" : " that a file may hold");
    }
    return programs;
}

// Returns the bytes of the file.
uint64_t write_set(const WarmSet &set, OutputFile &file) {
    const Progress progress("Writing " + set.identifier);
    const std::string bytes = encode_warm_set(set);
    if (bytes.size() > kWarmSetSizeMax) refuse_too_many();
    file.write(bytes);
    return bytes.size();
}

void export_cache(const std::string &root, const std::string &identifier, const std::string &path) {
    OutputFile file(path);
    const CacheHandle cache = open_cache(root, identifier, Access::read_only);
    Programs programs = collect_programs(cache, identifier);
    WarmSet &set = programs.set;
    set.identifier = identifier;
    set.version = cache_stats(cache).version;
    set.about = about_text(root, identifier);
    const uint64_t size = write_set(set, file);
    if (is_quiet()) return;
    const auto tell = [&file](const std::string &line) {
        file.is_standard_output() ? complain(line) : print_line(line);
    };
    tell(fmt::format("Exported {} ({}) to {}",
                     format_count(set.entries.size(), "program", "programs"), format_bytes(size),
                     path));
    if (programs.too_large != 0) {
        tell(fmt::format("Left out {} above 64 MiB",
                         format_count(programs.too_large, "program", "programs")));
    }
}

Run define(Arguments &take) {
    struct Options {
        std::string cache;
        std::string file;
    };
    auto options = std::make_shared<Options>();
    take.required("CACHE", options->cache, "Identifier of a cache, as `cairn ls` shows it");
    take.required("FILE", options->file, "The file to write; - is standard output");
    take.dir();
    take.quiet();
    return [options] {
        export_cache(usable_root(), options->cache, options->file);
        return kExitOk;
    };
}

}  // namespace

const Command export_command = {"export", "Write a cache's programs to a file", kFooter, define};

}  // namespace cairn::cli
