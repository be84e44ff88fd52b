// The calls of cairn_gl.h, over a program cache.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_gl.h>
#include <cairn/cairn_program_cache.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/program_key.h"
#include "capi/cache_handle.h"
#include "os/environment.h"

namespace cairn {
namespace {

// Of GL's headers, which nobody should need for this.
constexpr unsigned kVendor = 0x1F00, kRenderer = 0x1F01, kVersion = 0x1F02, kExtensions = 0x1F03;
constexpr unsigned kNumExtensions = 0x821D, kContextFlags = 0x821E, kProfileMask = 0x9126;
constexpr unsigned kShadingLanguageVersion = 0x8B8C, kLinkStatus = 0x8B82;
constexpr unsigned kRetrievableHint = 0x8257, kBinaryLength = 0x8741;
constexpr unsigned kNumBinaryFormats = 0x87FE, kBinaryFormats = 0x87FF;

struct Functions {
    const unsigned char *(*GetString)(unsigned name);
    const unsigned char *(*GetStringi)(unsigned name, unsigned index);
    void (*GetIntegerv)(unsigned name, std::int32_t *values);
    unsigned (*GetError)();
    void (*GetProgramiv)(unsigned program, unsigned name, std::int32_t *value);
    void (*ProgramParameteri)(unsigned program, unsigned name, std::int32_t value);
    void (*ProgramBinary)(unsigned program, unsigned format, const void *binary, std::int32_t size);
    void (*GetProgramBinary)(unsigned program, std::int32_t capacity, std::int32_t *size,
                             unsigned *format, void *binary);
};

template <typename Function>
bool find(cairn_gl_get_proc_address get, const std::string &name, Function *&function) {
    function = reinterpret_cast<Function *>(get(name.c_str()));
    return function != nullptr;
}

std::string_view text(const unsigned char *given) {
    return given == nullptr ? std::string_view() : reinterpret_cast<const char *>(given);
}

// The version of a context's GL, by GL_VERSION: "OpenGL ES 3.2 Mesa ...", "4.5 (Core Profile) ...".
struct Version {
    explicit Version(std::string_view version) {
        constexpr std::string_view kEs = "OpenGL ES ";
        is_es = version.starts_with(kEs);
        int major = 0, minor = 0;
        const std::string numbers(is_es ? version.substr(kEs.size()) : version);
        if (std::sscanf(numbers.c_str(), "%d.%d", &major, &minor) == 2) number = major * 10 + minor;
    }
    bool is_es;
    int number = 0;  // 32 is version 3.2
};

bool has_extension(const Functions &gl, Version version, std::string_view wanted) {
    if (version.number < 30) {
        const auto between_spaces = [](std::string_view words) {
            return std::string(1, ' ').append(words).append(1, ' ');
        };
        const std::string all = between_spaces(text(gl.GetString(kExtensions)));
        return all.find(between_spaces(wanted)) != std::string::npos;
    }
    std::int32_t count = 0;
    if (gl.GetStringi == nullptr) return false;
    gl.GetIntegerv(kNumExtensions, &count);
    for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
        if (text(gl.GetStringi(kExtensions, i)) == wanted) return true;
    }
    return false;
}

// Entries begin with the binary's format, in four bytes.
constexpr std::size_t kFormatSize = 4;

}  // namespace
}  // namespace cairn

using namespace cairn;

struct cairn_gl {
    ~cairn_gl() { cairn_close(cache); }

    bool find_core(cairn_gl_get_proc_address get) {
        find(get, "glGetStringi", gl.GetStringi);
        find(get, "glProgramParameteri", gl.ProgramParameteri);
        return find(get, "glGetString", gl.GetString) &&
               find(get, "glGetIntegerv", gl.GetIntegerv) && find(get, "glGetError", gl.GetError) &&
               find(get, "glGetProgramiv", gl.GetProgramiv) && gl.GetString(kVersion) != nullptr;
    }

    // Leaves `formats` empty where there are no program binaries. A loader may give functions for
    // names that the driver does not know, so version and extensions decide.
    void find_binaries(cairn_gl_get_proc_address get, Version version) {
        const bool in_core = version.number >= (version.is_es ? 30 : 41);
        const char *suffix = "";
        if (!in_core) {
            suffix = version.is_es ? "OES" : "";
            if (!has_extension(
                    gl, version,
                    version.is_es ? "GL_OES_get_program_binary" : "GL_ARB_get_program_binary"))
                return;
            if (version.is_es) gl.ProgramParameteri = nullptr;
        }
        if (!find(get, std::string("glProgramBinary") + suffix, gl.ProgramBinary) ||
            !find(get, std::string("glGetProgramBinary") + suffix, gl.GetProgramBinary))
            return;
        std::int32_t count = 0;
        gl.GetIntegerv(kNumBinaryFormats, &count);
        formats.resize(static_cast<std::size_t>(std::max(count, 0)));
        if (!formats.empty()) gl.GetIntegerv(kBinaryFormats, formats.data());
    }

    std::string identity(Version version) const {
        std::string all;
        for (const unsigned name : {kRenderer, kVendor, kVersion, kShadingLanguageVersion}) {
            all += text(gl.GetString(name));
            all += '\n';
        }
        if (version.is_es || version.number < 32) return all;
        for (const unsigned name : {kProfileMask, kContextFlags}) {
            std::int32_t value = 0;
            gl.GetIntegerv(name, &value);
            all += std::to_string(value) + '\n';
        }
        return all;
    }

    bool is_linked(unsigned program) const {
        std::int32_t linked = 0;
        gl.GetProgramiv(program, kLinkStatus, &linked);
        return linked != 0;
    }

    // Whether the driver accepts an entry. REQUIRES: the crash note is made.
    bool give(unsigned program, Bytes entry) const {
        if (entry.size() <= kFormatSize || entry.size() > INT32_MAX) return false;
        const auto format = get_le<std::uint32_t>(entry, 0);
        // Anything else would be an error of GL's.
        if (std::find(formats.begin(), formats.end(), static_cast<std::int32_t>(format)) ==
            formats.end())
            return false;
        gl.ProgramBinary(program, format, entry.data() + kFormatSize,
                         static_cast<std::int32_t>(entry.size() - kFormatSize));
        if (is_linked(program)) return true;
        // A few at most: without a context, there is an error each time that one asks.
        for (int i = 0; i < 8 && gl.GetError() != 0; ++i) {
        }
        return false;
    }

    Functions gl = {};
    std::vector<std::int32_t> formats;
    cairn_cache *cache = nullptr;
    std::atomic<std::uint64_t> loaded = 0, missed = 0, refused = 0, stored = 0, store_failed = 0;
};

namespace {

constexpr std::uint64_t kMemoryBytes = 32u << 20;  // each program is loaded once, so few are kept

int open_cache(const cairn_gl_options &options, const std::string &identity, cairn_gl &gl) {
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
    return cairn_program_cache_open(&programs, &gl.cache);
}

bool are_valid(const cairn_gl_input *inputs, std::size_t count) {
    return inputs != nullptr && count != 0 &&
           std::all_of(inputs, inputs + count, [](const cairn_gl_input &input) {
               return input.data != nullptr || input.size == 0;
           });
}

void make_key(const cairn_gl_input *inputs, std::size_t count, cairn_gl_link &link) {
    ProgramKey key("cairn-gl/1");
    for (std::size_t i = 0; i < count; ++i) key.add(1, bytes(inputs[i].data, inputs[i].size));
    const auto digest = key.finish();
    static_assert(sizeof digest == sizeof link.key);
    std::memcpy(link.key, digest.data(), digest.size());
}

int load(cairn_gl &gl, std::uint32_t program, const cairn_gl_link &link) {
    Cache &cache = *gl.cache->cache;
    const Bytes key = bytes(link.key, sizeof link.key);
    const auto found = cache.get(key);
    if (!found.ok() || !found.value()) {
        ++gl.missed;
        return found.ok() ? int{CAIRN_MISS} : result_code(found.error());
    }
    const std::uint32_t ticket = cache.begin_use(key);
    const bool accepted = gl.give(program, found.value()->value());
    cache.end_use(ticket);
    ++(accepted ? gl.loaded : gl.refused);
    if (!accepted) (void)cache.remove(key);
    return accepted ? CAIRN_OK : CAIRN_MISS;
}

int store(const cairn_gl &gl, std::uint32_t program, const cairn_gl_link &link) {
    const std::uint64_t cost_us = (monotonic_ns() - link.begin_ns) / 1000;
    std::int32_t size = 0;
    if (!gl.is_linked(program)) return CAIRN_MISS;
    gl.gl.GetProgramiv(program, kBinaryLength, &size);
    if (size <= 0) return CAIRN_MISS;
    std::vector<std::byte> entry(kFormatSize + static_cast<std::size_t>(size));
    std::int32_t written = 0;
    unsigned format = 0;
    gl.gl.GetProgramBinary(program, size, &written, &format, entry.data() + kFormatSize);
    if (written <= 0) return CAIRN_MISS;
    put_le(MutableBytes(entry), 0, std::uint32_t{format});
    cairn_put_options put = {};
    put.size = sizeof put;
    put.cost_us = static_cast<std::uint32_t>(std::min<std::uint64_t>(cost_us, UINT32_MAX));
    return cairn_put(gl.cache, link.key, sizeof link.key, entry.data(),
                     kFormatSize + static_cast<std::size_t>(written), &put);
}

}  // namespace

int cairn_gl_open(const cairn_gl_options *options, cairn_gl **gl) {
    if (gl == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
    *gl = nullptr;
    if (options == nullptr || options->size < sizeof *options ||
        options->get_proc_address == nullptr)
        return CAIRN_ERROR_INVALID_ARGUMENT;
    return result_of([&]() -> int {
        auto made = std::make_unique<cairn_gl>();
        if (!made->find_core(options->get_proc_address)) return CAIRN_ERROR_UNSUPPORTED;
        const Version version(text(made->gl.GetString(kVersion)));
        made->find_binaries(options->get_proc_address, version);
        const int opened = open_cache(*options, made->identity(version), *made);
        if (opened != CAIRN_OK) return opened;
        if (made->formats.empty() && options->log != nullptr) {
            options->log(options->log_user, CAIRN_LOG_INFO, "this driver has no program binaries");
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
    if (gl == nullptr || gl->formats.empty()) return CAIRN_MISS;
    make_key(inputs, count, *link);
    const int result = result_of([&] { return load(*gl, program, *link); });
    if (result != CAIRN_OK && gl->gl.ProgramParameteri != nullptr)
        gl->gl.ProgramParameteri(program, kRetrievableHint, 1);
    link->begin_ns = monotonic_ns();
    return result;
}

int cairn_gl_program_store(cairn_gl *gl, uint32_t program, const cairn_gl_link *link) {
    if (link == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
    if (gl == nullptr || gl->formats.empty()) return CAIRN_ERROR_UNSUPPORTED;
    // The load made no key.
    if (link->begin_ns == 0) return CAIRN_ERROR_INVALID_ARGUMENT;
    const int result = result_of([&] { return store(*gl, program, *link); });
    if (result != CAIRN_MISS) ++(result == CAIRN_OK ? gl->stored : gl->store_failed);
    return result;
}

int cairn_gl_stats_get(const cairn_gl *gl, cairn_gl_stats *stats) {
    if (gl == nullptr || stats == nullptr || stats->size < sizeof *stats)
        return CAIRN_ERROR_INVALID_ARGUMENT;
    stats->loaded = gl->loaded;
    stats->missed = gl->missed;
    stats->refused = gl->refused;
    stats->stored = gl->stored;
    stats->store_failed = gl->store_failed;
    return CAIRN_OK;
}
