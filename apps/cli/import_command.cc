// SPDX-License-Identifier: MIT
// `cairn import`: puts the programs of a file into the cache that they came from.
#include <cairn/cairn_egl.h>

#include <algorithm>
#include <utility>

#include "caches.h"
#include "command.h"
#include "named_file.h"
#include "output.h"
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
  zstdcat warm.set.zst | cairn import -

Exit codes: 0 imported (there may be nothing new), 1 the file or the cache cannot be used, or not all fits,
2 wrong usage.)";

[[noreturn]] void refuse_too_large(const std::string &name) {
    throw Failure(kExitFailure, "{} is too large", name);
}

// All of it; of what begins like no warm set, only the beginning.
std::string read_whole(InputFile &file) {
    if (file.size_bytes() > kWarmSetSizeMax) refuse_too_large(file.name());
    Progress progress("Reading " + file.name(), file.size_bytes());
    std::string bytes;
    size_t before = 0;
    while (file.append_to(bytes) && begins_as_warm_set(bytes)) {
        if (bytes.size() > kWarmSetSizeMax) refuse_too_large(file.name());
        progress.add(bytes.size() - std::exchange(before, bytes.size()));
    }
    return bytes;
}

WarmSet read_set(const std::string &path) {
    InputFile file(path);
    const std::string bytes = read_whole(file);
    const Progress progress("Checking " + file.name());
    std::string problem;
    auto set = decode_warm_set(as_bytes(bytes), problem);
    // Only caches of the front ends for GL have such entries; no file may write to any other.
    if (set && !set->identifier.starts_with("gl-")) {
        set.reset();
        problem = "it is for a cache that is not of the front ends for GL";
    }
    if (!set) throw Failure(kExitFailure, "{} is not imported: {}", file.name(), problem);
    return std::move(*set);
}

struct Counts {
    uint64_t added = 0;
    uint64_t known = 0;
};

// Costs decide which entries are evicted, and a file can name any. No link takes longer.
constexpr uint32_t kCostMaxUs = 10'000'000;

Counts put_all(const CacheHandle &cache, const WarmSet &set) {
    Progress progress("Importing into " + set.identifier, set.entries.size());
    Counts counts;
    for (const WarmEntry &entry : set.entries) {
        progress.add(1);
        const cairn_put_options options = {sizeof options, CAIRN_PUT_IF_ABSENT,
                                           std::min(entry.cost_us, kCostMaxUs)};
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
    say(fmt::format("Imported {} into {}; {} there already",
                    format_count(counts.added, "program", "programs"), set.identifier,
                    format_count(counts.known, "was", "were")));
}

Run define(Arguments &take) {
    auto file = std::make_shared<std::string>();
    take.required("FILE", *file, "A file that `cairn export` wrote; - is standard input");
    take.dir();
    take.quiet();
    return [file] {
        import_file(usable_root(), *file);
        return kExitOk;
    };
}

}  // namespace

const Command import_command = {"import", "Add the programs of a file to their cache", kFooter,
                                define};

}  // namespace cairn::cli
