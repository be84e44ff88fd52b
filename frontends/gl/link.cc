// SPDX-License-Identifier: MIT
// Links a program by a binary from the cache, or else by the driver, and stores the driver's
// result.
#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "account.h"
#include "base/checksum.h"
#include "cached.h"
#include "common/run_report.h"
#include "context.h"
#include "program.h"
#include "record/recorder.h"
#include "settings.h"

namespace cairn::gl {
namespace {

// Null for each that is not tracked.
std::vector<ShaderRef> attached_shaders(const Context &context, GLuint program) {
    const GlFunctions &gl = context.gl();
    std::vector<GLuint> names(
        static_cast<size_t>(std::max(program_value(gl, program, GL_ATTACHED_SHADERS), 0)));
    GLsizei count = 0;
    gl.GetAttachedShaders(program, static_cast<GLsizei>(names.size()), &count, names.data());
    names.resize(std::min(static_cast<size_t>(count), names.size()));
    std::vector<ShaderRef> shaders;
    shaders.reserve(names.size());
    for (const GLuint name : names) {
        shaders.push_back(context.group->shader(name));
    }
    return shaders;
}

// The keys of the shaders, if all are tracked and have been compiled successfully. A linker treats
// shaders of different types alike in any order, so the keys are sorted by type. The order of
// shaders of one type stays: it may change the locations that a linker assigns.
std::optional<std::vector<Key>> keys_of(std::vector<ShaderRef> shaders) {
    if (std::ranges::find(shaders, nullptr) != shaders.end()) return std::nullopt;
    const auto type = [](const ShaderRef &each) { return each->type; };
    // Mostly they are, and sorting allocates.
    if (!std::ranges::is_sorted(shaders, std::greater(), type)) {
        std::ranges::stable_sort(shaders, std::greater(), type);
    }
    std::vector<Key> keys;
    for (const ShaderRef &shader : shaders) {
        const MutexLock lock(shader->mutex);
        if (shader->state != Shader::State::deferred && shader->state != Shader::State::compiled) {
            return std::nullopt;
        }
        keys.push_back(shader->key);
    }
    return keys;
}

// Why these shaders have no keys.
Detail why_no_keys(const std::vector<ShaderRef> &shaders) {
    for (const ShaderRef &shader : shaders) {
        if (shader == nullptr) continue;
        const MutexLock lock(shader->mutex);
        if (shader->may_include) return Detail::includes_others;
    }
    return Detail::shader_not_known;
}

// This link as a request, if it is of a kind that is cached; else `why_not` says why.
std::optional<LinkRequest> request_of(const Context &context, const Program &program,
                                      const std::vector<ShaderRef> &shaders,
                                      Real<void (*)(GLuint)> &link, Detail &why_not) {
    why_not = context.why_not();
    if (why_not != Detail::none) return std::nullopt;
    why_not = Detail::program_not_known;
    if (!program.is_understood) return std::nullopt;
    why_not = Detail::shader_not_known;
    if (shaders.empty()) return std::nullopt;
    // A link of a program that a transform feedback object uses fails, and several pipelines may
    // use one program: in both cases glProgramBinary may treat the program in use differently.
    if (program.was_linked &&
        (program.is_separable || context.group->has_transform_feedback.load())) {
        why_not = Detail::linked_before;
        return std::nullopt;
    }
    auto keys = keys_of(shaders);
    if (!keys) {
        why_not = why_no_keys(shaders);
        return std::nullopt;
    }
    return LinkRequest{.traits = context.traits,
                       .shaders = std::move(*keys),
                       .settings = std::span(program.settings),
                       .program = program.name,
                       .gl = &context.gl(),
                       .link = &link,
                       .get_binary = context.get_program_binary};
}

struct CompileTimes {
    uint64_t all_ns = 0;  // of all shaders
    uint64_t new_ns = 0;  // of these, what no other link was accounted with
};
// Has the driver compile the deferred shaders.
CompileTimes compile_all(Context &context, const std::vector<ShaderRef> &shaders) {
    CompileTimes times;
    for (const ShaderRef &shader : shaders) {
        if (shader != nullptr) {
            force_compile(context, *shader);
            const MutexLock lock(shader->mutex);
            times.all_ns += shader->compile_ns;
            times.new_ns += std::exchange(shader->unaccounted_ns, 0);
        }
    }
    return times;
}

// Of the sources of all stages, in the order of the request, whatever the context and driver.
uint64_t sources_digest(const std::vector<ShaderRef> &shaders) {
    uint64_t digest = 0;
    for (const ShaderRef &shader : shaders) {
        const MutexLock lock(shader->mutex);
        // As a sum, so that the order of stages does not matter.
        digest += checksum(as_bytes(bytes_of(shader->source_hash)), shader->type);
    }
    return digest;
}

uint64_t sources_digest(GLenum type, const std::vector<Key> &sources) {
    uint64_t digest = GL_PROGRAM_SEPARABLE;
    for (const Key &source : sources) digest = checksum(as_bytes(bytes_of(source)), digest ^ type);
    return digest;
}

// Keeps the beginnings of sources that had to be compiled, where the user wants that.
void keep_sources(Context &context, const ProgramKey &key, std::string_view text) {
    History *const history = context.account->history();
    if (history != nullptr) history->keep_sources(link_key(key), text);
}

const char *stage_name(GLenum type) {
    switch (type) {
        case GL_VERTEX_SHADER:
            return "vertex";
        case GL_FRAGMENT_SHADER:
            return "fragment";
        case GL_GEOMETRY_SHADER:
            return "geometry";
        case GL_TESS_CONTROL_SHADER:
            return "tessellation control";
        case GL_TESS_EVALUATION_SHADER:
            return "tessellation evaluation";
        case GL_COMPUTE_SHADER:
            return "compute";
        default:
            return "other";
    }
}

void keep_beginnings(Context &context, const ProgramKey &key,
                     const std::vector<ShaderRef> &shaders) {
    if (!settings().keeps_sources) return;
    attempt([&] {
        std::string text;
        for (const ShaderRef &shader : shaders) {
            const MutexLock lock(shader->mutex);
            text.append(stage_name(shader->type)).append(":\n").append(shader->beginning);
            if (!text.ends_with('\n')) text.push_back('\n');
        }
        keep_sources(context, key, text);
    });
}

uint64_t lookups_ns(const std::vector<ShaderRef> &shaders) {
    uint64_t sum = 0;
    for (const ShaderRef &shader : shaders) {
        const MutexLock lock(shader->mutex);
        sum += shader->state == Shader::State::deferred ? shader->lookup_ns : shader->compile_ns;
    }
    return sum;
}

// Has the driver answer a request whose shaders took it so long to compile, and accounts for it.
template <typename Request>
Linked make_and_store(Context &context, const LookedFor &wanted, const Request &request,
                      Linked (*make)(const Request &), CompileTimes compiles, Link why) {
    const uint64_t start = monotonic_ns();
    Linked made = make_anew(request, make);
    bool is_kept = false;
    attempt(
        [&] { is_kept = store_linked(context, wanted.key, made, compiles.all_ns + made.cost_ns); });
    const uint64_t spent_ns = compiles.new_ns + made.cost_ns;
    if (made.size == 0) {
        const Detail detail = made.succeeded ? Detail::no_binaries : Detail::not_linked;
        account_made(&context, nullptr, not_cacheable(detail), spent_ns, false);
    } else {
        account_made(&context, &wanted, why, spent_ns, is_kept);
    }
    count(&RunReport::overhead_ns, monotonic_ns() - start - made.cost_ns);
    return made;
}

// As glCreateShaderProgramv does it: the shader takes a name of its own before the program does.
GLuint create_separable(const GlFunctions &gl, GLenum type) {
    const GLuint shader = gl.CreateShader(type);
    const GLuint program = gl.CreateProgram();
    gl.DeleteShader(shader);
    if (program != 0) {
        gl.ProgramParameteri(program, GL_PROGRAM_SEPARABLE, GL_TRUE);
    }
    return program;
}

// The program from the cache, else 0, and what is known of why.
GLuint load_shader_program(Context &context, const LookedFor &wanted, GLenum type,
                           uint64_t start_ns, Outcome &outcome) {
    const GlFunctions &gl = context.gl();
    outcome = Outcome::never_seen;
    if (!has_cached(context, wanted.key)) {
        count(&RunReport::misses);
        return 0;
    }
    const GLuint name = create_separable(gl, type);
    if (name == 0) return 0;
    const ProgramRef program = note_shader_program(context, name);
    const MutexLock lock(program->mutex);
    const Loaded loaded = load_cached(context, *program, wanted.key);
    outcome = loaded.outcome;
    if (is_hit(outcome)) {
        account_hit(context, wanted, outcome, loaded.cost_ns, monotonic_ns() - start_ns);
        return name;
    }
    gl.DeleteProgram(name);
    context.group->forget(name);
    return 0;
}

// Why a program of these sources cannot be cached; none: it can.
Detail why_not(const Context &context, GLsizei count, const GLchar *const *sources) {
    const Detail of_context = context.why_not();
    if (of_context != Detail::none) return of_context;
    if (count <= 0 || sources == nullptr ||
        is_missing(reinterpret_cast<void *>(context.gl().ProgramParameteri))) {
        return Detail::shader_not_known;
    }
    const std::span<const GLchar *const> all(sources, static_cast<size_t>(count));
    if (std::ranges::find(all, nullptr) != all.end()) return Detail::shader_not_known;
    if (!context.group->has_named_strings) return Detail::none;
    // A directive may begin in one string and end in the next.
    std::string whole;
    for (const GLchar *source : all) {
        whole.append(source);
    }
    return may_include_others(whole) ? Detail::includes_others : Detail::none;
}

std::vector<Key> hashes_of(std::span<const GLchar *const> strings) {
    std::vector<Key> hashes;
    hashes.reserve(strings.size());
    for (const GLchar *text : strings) {
        hashes.push_back(hash_of_source(text));
    }
    return hashes;
}

// What was linked is recorded where somebody records. REQUIRES: the program is locked.
void record_link(Context &context, const Program &program, const std::vector<ShaderRef> &shaders) {
    if (context.recording == nullptr) return;
    attempt([&] {
        std::vector<record::LinkedStage> stages;
        for (const ShaderRef &shader : shaders) {
            const MutexLock lock(shader->mutex);
            stages.push_back({shader->type, shader->source_hash});
        }
        record::record_program(*context.recording, program.name, std::move(stages),
                               program.settings, false);
    });
}

// glCreateShaderProgramv. A single string is the source; of several, the division counts.
void record_separable(const Context &context, GLuint name, GLenum type,
                      std::span<const GLchar *const> strings) {
    if (context.recording == nullptr) return;
    attempt([&] {
        const SourceRef source = source_of(strings);
        if (source == nullptr) return;
        record::record_source(*source);
        record::record_program(*context.recording, name, {{type, source->hash}}, {}, true);
    });
}

}  // namespace

void count_bypassed(Context *context, Detail why, uint64_t spent_ns) {
    count(&RunReport::driver_links);
    count(&RunReport::bypassed);
    account_made(context, nullptr, not_cacheable(why), spent_ns, false);
}

void link_tracked(Context &context, Program &program, Real<void (*)(GLuint)> &link) {
    const uint64_t start = monotonic_ns();
    const MutexLock lock(program.mutex);
    const std::vector<ShaderRef> shaders = attached_shaders(context, program.name);
    Detail why_not = Detail::none;
    const auto request = request_of(context, program, shaders, link, why_not);
    if (!request) {
        const CompileTimes compiles = compile_all(context, shaders);
        const uint64_t link_start = monotonic_ns();
        program.forget_cached_link();
        link(program.name);
        record::record_other_link(context.recording.get(), program.name);
        program.was_linked = true;  // it may be; to ask could wait for the driver
        count_bypassed(&context, why_not, compiles.new_ns + monotonic_ns() - link_start);
        return;
    }
    const ProgramKey key = program_key_of(*request);
    const LookedFor wanted = {key, sources_digest(shaders), program.settings};
    bool is_late = false;
    const Turn turn = take_turn(context, key, is_late);
    const Loaded loaded = load_cached(context, program, key);
    if (is_hit(loaded.outcome)) {
        account_hit(context, wanted, loaded.outcome, loaded.cost_ns,
                    monotonic_ns() - start + lookups_ns(shaders));
        record_link(context, program, shaders);
        return;
    }
    const bool is_unexplained = loaded.outcome == Outcome::never_seen;
    const Link why =
        why_missed(context, wanted, is_unexplained && is_late ? Outcome::late : loaded.outcome);
    count(&RunReport::overhead_ns, monotonic_ns() - start);
    const Making making(context);
    const CompileTimes compiles = compile_all(context, shaders);
    program.forget_cached_link();
    const bool succeeded =
        make_and_store(context, wanted, *request, link_by_driver, compiles, why).succeeded;
    keep_beginnings(context, key, shaders);
    program.was_linked |= succeeded;
    if (succeeded) record_link(context, program, shaders);
}

ProgramRef note_shader_program(Context &context, GLuint name) {
    ProgramRef program = context.group->add_program(name);
    const MutexLock lock(program->mutex);
    program->is_understood = false;
    program->is_separable = true;
    program->was_linked = true;
    return program;
}

void compile_attached(Context &context, GLuint program) {
    // Else the link is an error, which is the driver's to report.
    if (context.gl().IsProgram(program) != GL_FALSE) {
        compile_all(context, attached_shaders(context, program));
    }
}

std::optional<GLuint> create_cached(Context &context, Real<PFNGLCREATESHADERPROGRAMVPROC> &create,
                                    GLenum type, GLsizei count_of_sources,
                                    const GLchar *const *sources, Detail &why_not) {
    const uint64_t start = monotonic_ns();
    why_not = gl::why_not(context, count_of_sources, sources);
    if (why_not != Detail::none) return std::nullopt;
    const std::span strings(sources, static_cast<size_t>(count_of_sources));
    const SeparableRequest request = {.traits = context.traits,
                                      .type = type,
                                      .sources = hashes_of(strings),
                                      .strings = strings,
                                      .gl = &context.gl(),
                                      .create = &create,
                                      .get_binary = context.get_program_binary};
    const ProgramKey key = program_key_of(request);
    const LookedFor wanted = {key, sources_digest(type, *request.sources), {}};
    Outcome outcome = Outcome::never_seen;
    GLuint program = load_shader_program(context, wanted, type, start, outcome);
    if (program == 0) {
        const Link why = why_missed(context, wanted, outcome);
        count(&RunReport::overhead_ns, monotonic_ns() - start);
        const Making making(context);
        program = make_and_store(context, wanted, request, create_by_driver, {}, why).program;
        if (settings().keeps_sources) {
            attempt([&] {
                if (const SourceRef source = source_of(strings)) {
                    keep_sources(context, key,
                                 std::string(stage_name(type)) + ":\n" + source->beginning);
                }
            });
        }
        if (program != 0) note_shader_program(context, program);
    }
    if (program != 0) record_separable(context, program, type, strings);
    return program;
}

}  // namespace cairn::gl
