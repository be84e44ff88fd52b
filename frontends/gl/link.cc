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

#include "cached.h"
#include "common/run_report.h"
#include "context.h"
#include "program.h"
#include "record/recorder.h"

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

// This link as a request, if it is of a kind that is cached.
std::optional<LinkRequest> request_of(const Context &context, const Program &program,
                                      const std::vector<ShaderRef> &shaders,
                                      Real<void (*)(GLuint)> &link) {
    if (!context.can_cache() || !program.is_understood || shaders.empty()) return std::nullopt;
    // A link of a program that a transform feedback object uses fails, and several pipelines may
    // use one program: in both cases glProgramBinary may treat the program in use differently.
    if (program.was_linked &&
        (program.is_separable || context.group->has_transform_feedback.load())) {
        return std::nullopt;
    }
    auto keys = keys_of(shaders);
    if (!keys) return std::nullopt;
    return LinkRequest{.traits = context.traits,
                       .shaders = std::move(*keys),
                       .settings = std::span(program.settings),
                       .program = program.name,
                       .gl = &context.gl(),
                       .link = &link,
                       .get_binary = context.get_program_binary};
}

// Has the driver compile the deferred shaders. Returns the time that all compiles took.
uint64_t compile_all(Context &context, const std::vector<ShaderRef> &shaders) {
    uint64_t cost = 0;
    for (const ShaderRef &shader : shaders) {
        if (shader != nullptr) {
            force_compile(context, *shader);
            const MutexLock lock(shader->mutex);
            cost += shader->compile_ns;
        }
    }
    return cost;
}

uint64_t lookups_ns(const std::vector<ShaderRef> &shaders) {
    uint64_t sum = 0;
    for (const ShaderRef &shader : shaders) {
        const MutexLock lock(shader->mutex);
        sum += shader->state == Shader::State::deferred ? shader->lookup_ns : shader->compile_ns;
    }
    return sum;
}

void count_saved(uint64_t cost_ns, uint64_t spent_ns) {
    count(&RunReport::saved_ns, cost_ns - std::min(cost_ns, spent_ns));
}

// Has the driver answer a request whose shaders took it so long to compile.
template <typename Request>
Linked make_and_store(Context &context, const ProgramKey &key, const Request &request,
                      Linked (*make)(const Request &), uint64_t compiles_ns) {
    const uint64_t start = monotonic_ns();
    Linked made = make_anew(request, make);
    attempt([&] { store_linked(context, key, made, compiles_ns + made.cost_ns); });
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

// The program from the cache, else 0.
GLuint load_shader_program(Context &context, const ProgramKey &key, GLenum type,
                           uint64_t start_ns) {
    const GlFunctions &gl = context.gl();
    if (!has_cached(context, key)) {
        count(&RunReport::misses);
        return 0;
    }
    const GLuint name = create_separable(gl, type);
    if (name == 0) return 0;
    const ProgramRef program = note_shader_program(context, name);
    const MutexLock lock(program->mutex);
    if (const auto cost = load_cached(context, *program, key)) {
        count_saved(*cost, monotonic_ns() - start_ns);
        return name;
    }
    gl.DeleteProgram(name);
    context.group->forget(name);
    return 0;
}

bool can_cache(const Context &context, GLsizei count, const GLchar *const *sources) {
    if (!context.can_cache() || count <= 0 || sources == nullptr ||
        is_missing(reinterpret_cast<void *>(context.gl().ProgramParameteri))) {
        return false;
    }
    const std::span<const GLchar *const> all(sources, static_cast<size_t>(count));
    if (std::ranges::find(all, nullptr) != all.end()) return false;
    if (!context.group->has_named_strings) return true;
    // A directive may begin in one string and end in the next.
    std::string whole;
    for (const GLchar *source : all) {
        whole.append(source);
    }
    return !may_include_others(whole);
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

void link_tracked(Context &context, Program &program, Real<void (*)(GLuint)> &link) {
    const uint64_t start = monotonic_ns();
    const MutexLock lock(program.mutex);
    const std::vector<ShaderRef> shaders = attached_shaders(context, program.name);
    const auto request = request_of(context, program, shaders, link);
    if (!request) {
        compile_all(context, shaders);
        program.forget_cached_link();
        link(program.name);
        record::record_other_link(context.recording.get(), program.name);
        program.was_linked = true;  // it may be; to ask could wait for the driver
        count(&RunReport::driver_links);
        count(&RunReport::bypassed);
        return;
    }
    const ProgramKey key = program_key_of(*request);
    const Turn turn = take_turn(context, key);
    if (const auto cost = load_cached(context, program, key)) {
        count_saved(*cost, monotonic_ns() - start + lookups_ns(shaders));
        record_link(context, program, shaders);
        return;
    }
    count(&RunReport::overhead_ns, monotonic_ns() - start);
    const uint64_t compiles_ns = compile_all(context, shaders);
    program.forget_cached_link();
    const bool succeeded =
        make_and_store(context, key, *request, link_by_driver, compiles_ns).succeeded;
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
                                    const GLchar *const *sources) {
    const uint64_t start = monotonic_ns();
    if (!can_cache(context, count_of_sources, sources)) return std::nullopt;
    const std::span strings(sources, static_cast<size_t>(count_of_sources));
    const SeparableRequest request = {.traits = context.traits,
                                      .type = type,
                                      .sources = hashes_of(strings),
                                      .strings = strings,
                                      .gl = &context.gl(),
                                      .create = &create,
                                      .get_binary = context.get_program_binary};
    const ProgramKey key = program_key_of(request);
    GLuint program = load_shader_program(context, key, type, start);
    if (program == 0) {
        count(&RunReport::overhead_ns, monotonic_ns() - start);
        program = make_and_store(context, key, request, create_by_driver, 0).program;
        if (program != 0) note_shader_program(context, program);
    }
    if (program != 0) record_separable(context, program, type, strings);
    return program;
}

}  // namespace cairn::gl
