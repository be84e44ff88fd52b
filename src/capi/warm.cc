// The calls of cairn_warm.h.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_warm.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/warm_process.h"
#include "capi/cache_handle.h"
#include "os/environment.h"
#include "os/helper_process.h"

using namespace cairn;

struct cairn_warm {
    WarmProcess process;
};

namespace {

constexpr std::uint32_t kJobsMax = 64;

std::string default_program() {
    if (auto named = environment_variable(CAIRN_WARM_PROGRAM_ENV)) return *named;
    const std::string code = path_of_this_code();
    return code.substr(0, code.rfind('/') + 1) + CAIRN_PROGRAM_FROM_LIB;
}

bool is_absolute(const char *path) {
    return path == nullptr || *path == '/';
}

bool is_valid(const cairn_warm_options *options) {
    return options != nullptr && options->size >= sizeof *options && options->jobs <= kJobsMax &&
           (options->flags & ~(CAIRN_WARM_IF_NEEDED | CAIRN_WARM_AGAIN)) == 0 &&
           is_absolute(options->pack) && is_absolute(options->program) &&
           is_absolute(options->executable) &&
           (options->application == nullptr || options->pack == nullptr);
}

std::vector<std::string> arguments_of(const cairn_warm_options &options) {
    std::vector<std::string> arguments;
    if (options.root != nullptr) arguments.insert(arguments.end(), {"--dir", options.root});
    if (options.executable != nullptr) {
        arguments.insert(arguments.end(), {"--executable", options.executable});
    }
    if (options.jobs != 0) {
        arguments.insert(arguments.end(), {"--jobs", std::to_string(options.jobs)});
    }
    if ((options.flags & CAIRN_WARM_IF_NEEDED) != 0) arguments.emplace_back("--if-needed");
    if ((options.flags & CAIRN_WARM_AGAIN) != 0) arguments.emplace_back("--again");
    const char *what = options.pack != nullptr ? options.pack : options.application;
    if (what == nullptr) {
        arguments.emplace_back("--all");
    } else {
        arguments.insert(arguments.end(), {"--", what});
    }
    return arguments;
}

void fill(const WarmProgress &from, cairn_warm_progress &to) {
    cairn_warm_progress progress = {};
    progress.size = to.size;
    progress.done = from.done;
    progress.total = from.total;
    progress.made = from.made;
    progress.known = from.known;
    progress.refused = from.refused;
    progress.failed = from.failed;
    progress.skipped = from.skipped;
    progress.damaged = from.damaged;
    std::memcpy(&to, &progress, std::min(to.size, sizeof progress));
}

}  // namespace

int cairn_warm_start(const cairn_warm_options *options, cairn_warm **warm) {
    if (warm == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
    *warm = nullptr;
    if (!is_valid(options)) return CAIRN_ERROR_INVALID_ARGUMENT;
    return result_of([&]() -> int {
        const std::string program =
            options->program != nullptr ? options->program : default_program();
        auto process = WarmProcess::start(program, arguments_of(*options));
        if (!process.ok()) {
            const bool is_missing =
                process.error() == Error::not_found || process.error() == Error::denied;
            return is_missing ? int{CAIRN_ERROR_UNSUPPORTED} : result_code(process.error());
        }
        *warm = new cairn_warm{std::move(process.value())};
        return CAIRN_OK;
    });
}

int cairn_warm_wait(cairn_warm *warm, uint32_t patience_ms, cairn_warm_progress *progress) {
    if (warm == nullptr || (progress != nullptr && progress->size < sizeof progress->size)) {
        return CAIRN_ERROR_INVALID_ARGUMENT;
    }
    return result_of([&]() -> int {
        const Status status =
            warm->process.wait(monotonic_ns() + std::uint64_t{patience_ms} * 1'000'000);
        if (progress != nullptr) fill(warm->process.progress(), *progress);
        if (status.ok()) return CAIRN_OK;
        return status.error() == Error::busy ? int{CAIRN_LATE} : int{CAIRN_ERROR_IO};
    });
}

void cairn_warm_end(cairn_warm *warm) {
    delete warm;
}
