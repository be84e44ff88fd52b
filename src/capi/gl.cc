// The calls of cairn_gl.h.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_gl.h>
#include <cairn/cairn_program_cache.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <string>

#include "cache/gl_programs.h"
#include "capi/cache_handle.h"

using namespace cairn;

struct cairn_gl {
    ~cairn_gl() { cairn_close(cache); }

    const std::unique_ptr<GlPrograms> programs;
    cairn_cache *cache = nullptr;
};

namespace {

constexpr std::uint64_t kMemoryBytes = 32u << 20;  // each program is loaded once, so few are kept

int open_cache(const cairn_gl_options &options, const std::string &identity, cairn_cache **cache) {
    cairn_program_cache_options programs = {};
    programs.size = sizeof programs;
    programs.root = options.root;
    programs.application = options.application;
    programs.identity = identity.c_str();
    programs.version = 1;  // of an entry: its format, and the binary
    programs.limit_bytes = options.limit_bytes;
    programs.memory_bytes = kMemoryBytes;
    programs.log = options.log;
    programs.log_user = options.log_user;
    return cairn_program_cache_open(&programs, cache);
}

bool are_valid(const cairn_gl_input *inputs, std::size_t count) {
    return inputs != nullptr && count != 0 &&
           std::all_of(inputs, inputs + count, [](const cairn_gl_input &input) {
               return input.data != nullptr || input.size == 0;
           });
}

}  // namespace

int cairn_gl_open(const cairn_gl_options *options, cairn_gl **gl) {
    if (gl == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
    *gl = nullptr;
    if (options == nullptr || options->size < sizeof *options ||
        options->get_proc_address == nullptr)
        return CAIRN_ERROR_INVALID_ARGUMENT;
    return result_of([&]() -> int {
        auto programs = GlPrograms::find(options->get_proc_address);
        if (!programs.ok()) return result_code(programs.error());
        std::unique_ptr<cairn_gl> made(new cairn_gl{std::move(*programs)});
        const int opened = open_cache(*options, made->programs->identity(), &made->cache);
        if (opened != CAIRN_OK) return opened;
        if (!made->programs->has_binaries()) {
            const Log log(options->log, options->log_user);
            log.write(Severity::info, "this driver has no program binaries");
        }
        *gl = made.release();
        return CAIRN_OK;
    });
}

void cairn_gl_close(cairn_gl *gl) {
    delete gl;
}

cairn_cache *cairn_gl_cache(cairn_gl *gl) {
    return gl == nullptr ? nullptr : gl->cache;
}

int cairn_gl_program_load(cairn_gl *gl, uint32_t program, const cairn_gl_input *inputs,
                          size_t count, cairn_gl_link *link) {
    if (link == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
    *link = {};
    if (!are_valid(inputs, count)) return CAIRN_ERROR_INVALID_ARGUMENT;
    if (gl == nullptr) return CAIRN_MISS;
    ProgramKey key = GlPrograms::new_key();
    for (std::size_t i = 0; i < count; ++i) key.add(1, bytes(inputs[i].data, inputs[i].size));
    GlPrograms::Link made = {};
    const auto loaded = gl->programs->load(*gl->cache->cache, program, key, made);
    *link = std::bit_cast<cairn_gl_link>(made);
    return result_code(loaded);
}

int cairn_gl_program_store(cairn_gl *gl, uint32_t program, const cairn_gl_link *link) {
    if (link == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
    if (gl == nullptr) return CAIRN_ERROR_UNSUPPORTED;
    auto stored =
        gl->programs->store(*gl->cache->cache, program, std::bit_cast<GlPrograms::Link>(*link));
    if (!stored.ok()) return result_code(stored.error());
    return *stored ? result_code(**stored) : CAIRN_MISS;
}

int cairn_gl_stats_get(const cairn_gl *gl, cairn_gl_stats *stats) {
    if (gl == nullptr || stats == nullptr || stats->size < sizeof *stats)
        return CAIRN_ERROR_INVALID_ARGUMENT;
    const GlPrograms::Counts &now = gl->programs->counts();
    stats->loaded = now.loaded;
    stats->missed = now.missed;
    stats->refused = now.refused;
    stats->stored = now.stored;
    stats->store_failed = now.store_failed;
    return CAIRN_OK;
}
