// SPDX-License-Identifier: MIT
#include "shader.h"

#include <algorithm>
#include <cstring>

#include "cached.h"
#include "common/crash_guard.h"
#include "common/run_report.h"
#include "context.h"
#include "entry.h"
#include "record/recorder.h"
#include "settings.h"

namespace cairn::gl {
namespace {

// Gives the driver a source that was taken, as the application divided it. Where the driver refuses
// (between glBegin and glEnd), the source stays here. REQUIRES: the shader is locked.
void give(const GlFunctions &gl, Shader &shader, const SourceRef &source) {
    if (shader.driver_source == source) return;
    gl.ShaderSource(shader.name, static_cast<GLsizei>(source->strings.size()),
                    source->strings.data(), source->sizes.data());
    const auto size = static_cast<GLint>(source->text.size());
    if (shader_value(gl, shader.name, GL_SHADER_SOURCE_LENGTH) != size + 1) return;
    shader.driver_source = source;
    std::string().swap(source->text);
}

// The strings in a row, and their sizes. Nothing where the driver may have to judge them: without
// any text, or with a zero inside.
SourceRef joined(GLsizei count, const GLchar *const *strings, const GLint *sizes) {
    auto source = std::make_shared<Source>();
    for (GLsizei i = 0; strings != nullptr && i < count; ++i) {
        if (strings[i] == nullptr) return nullptr;
        const bool is_sized = sizes != nullptr && sizes[i] >= 0;
        const size_t size = is_sized ? static_cast<size_t>(sizes[i]) : strlen(strings[i]);
        if (is_sized && memchr(strings[i], '\0', size) != nullptr) return nullptr;
        source->text.append(strings[i], size);
        source->sizes.push_back(static_cast<GLint>(size));
    }
    return source->text.empty() ? nullptr : source;
}

// What people recognise a source by: what its head of directives and comments, which many sources
// have in common, is followed by.
std::string first_lines(std::string_view text) {
    constexpr size_t kSizeMax = 400;
    constexpr unsigned kLinesMax = 8;
    std::string_view left = text;
    while (!left.empty()) {
        const size_t size = std::min(left.find('\n'), left.size() - 1) + 1;
        const size_t first = left.substr(0, size).find_first_not_of(" \t\r\n");
        const bool is_head = first == std::string_view::npos || left[first] == '#' ||
                             left.substr(first).starts_with("//");
        if (!is_head) break;
        left.remove_prefix(size);
    }
    if (!left.empty()) text = left;
    size_t end = 0;
    for (unsigned lines = 0; lines < kLinesMax && end < text.size(); ++lines) {
        end = std::min(text.find('\n', end), text.size() - 1) + 1;
    }
    return std::string(text.substr(0, std::min(end, kSizeMax)));
}

SourceRef make_source(GLsizei count, const GLchar *const *strings, const GLint *sizes) {
    const uint64_t start = monotonic_ns();
    SourceRef source = joined(count, strings, sizes);
    if (source == nullptr) return nullptr;
    const size_t size = source->text.size();
    if (source->sizes.size() > 1) {
        // Behind a zero, which no text has.
        const auto *division = reinterpret_cast<const char *>(source->sizes.data());
        source->text.push_back('\0');
        source->text.append(division, source->sizes.size() * sizeof source->sizes[0]);
    }
    source->hash = hash_of_source(source->text);
    source->text.resize(size);
    if (settings().keeps_sources) source->beginning = first_lines(source->text);
    const GLchar *next = source->text.c_str();
    for (const GLint each : source->sizes) {
        source->strings.push_back(next);
        next += each;
    }
    source->hash_ns = monotonic_ns() - start;
    return source;
}

// REQUIRES: the shader is locked.
bool defer(Context &context, Shader &shader, uint64_t start_ns) {
    const Found found(context.cache, bytes_of(shader.key));
    auto report = decode_shader(found.bytes());
    if (!report) return false;
    shader.state = Shader::State::deferred;
    shader.report = std::move(*report);
    shader.compiled = shader.source;
    shader.lookup_ns = shader.source->hash_ns + monotonic_ns() - start_ns;
    return true;
}

// REQUIRES: the shader is locked.
void compile_and_store(Context &context, Shader &shader, const CompileRequest &request) {
    const uint64_t start = monotonic_ns();
    const Compiled made = make_anew(request, compile_by_driver);
    shader.note_compile_ns(made.cost_ns);
    shader.state = made.succeeded ? Shader::State::compiled : Shader::State::failed;
    if (made.succeeded && context.cache != nullptr) {
        const std::string_view key = bytes_of(shader.key);
        store(context.cache, key, new_entry(key, encode_shader(made.report), made.cost_ns));
    }
    count(&RunReport::overhead_ns, monotonic_ns() - start - made.cost_ns);
}

// Joins each line that ends in a backslash with the next one, even in the middle of a word.
std::string joined_lines(std::string_view source) {
    std::string joined;
    for (size_t at = 0; at < source.size(); ++at) {
        const bool ends_line =
            at + 1 < source.size() && (source[at + 1] == '\n' || source[at + 1] == '\r');
        if (source[at] != '\\' || !ends_line) {
            joined.push_back(source[at]);
            continue;
        }
        const bool is_pair = at + 2 < source.size() && source[at + 1] != source[at + 2] &&
                             (source[at + 2] == '\n' || source[at + 2] == '\r');
        at += is_pair ? 2 : 1;
    }
    return joined;
}

constexpr std::string_view kBlanks = " \t\v\f";
constexpr std::string_view kLineEnds = "\r\n";

// The text after the comment at its beginning; all of it where it begins with none.
std::string_view behind_comment(std::string_view text) {
    size_t end = 0;
    if (text.starts_with("//")) {
        end = text.find_first_of(kLineEnds);
    } else if (text.starts_with("/*")) {
        end = text.find("*/", 2);
        end += end == std::string_view::npos ? 0 : 2;
    }
    return text.substr(std::min(end, text.size()));
}

// The text after blanks and comments.
std::string_view behind_space(std::string_view text) {
    for (size_t size = text.size() + 1; text.size() < size;) {
        size = text.size();
        text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
        text = behind_comment(text);
    }
    return text;
}

// Drivers differ on what is a comment inside quotes. `text` follows the first quote.
bool has_quoted_comment(std::string_view text) {
    const std::string_view quoted = text.substr(0, text.find_first_of("\"\r\n"));
    return quoted.find("//") != std::string_view::npos ||
           quoted.find("/*") != std::string_view::npos;
}

bool has_include(std::string_view text) {
    bool begins_line = true;
    while (!text.empty()) {
        const std::string_view behind = behind_comment(text);
        if (behind.size() < text.size()) {
            // Drivers may also differ on whether a line begins at the end of a comment of several
            // lines.
            const std::string_view comment = text.substr(0, text.size() - behind.size());
            begins_line |= comment.find_first_of(kLineEnds) != std::string_view::npos;
            text = behind;
            continue;
        }
        const char first = text.front();
        text.remove_prefix(1);
        if ((first == '#' && begins_line && behind_space(text).starts_with("include")) ||
            (first == '"' && has_quoted_comment(text))) {
            return true;
        }
        const bool ends_line = kLineEnds.find(first) != std::string_view::npos;
        const bool is_blank = kBlanks.find(first) != std::string_view::npos;
        begins_line = ends_line || (begins_line && is_blank);
    }
    return false;
}

// Compiles by the driver, which knows the shader alone then.
void compile_untracked(const Context &context, Shader &shader, Real<void (*)(GLuint)> &compile) {
    give_source(context, shader);
    compile(shader.name);
    count(&RunReport::driver_compiles);
}

// REQUIRES: the shader is locked.
void compile_tracked(Context &context, Shader &shader, Real<void (*)(GLuint)> &compile) {
    const uint64_t start = monotonic_ns();
    const SourceRef &source = shader.source;
    shader.may_include = source != nullptr && context.group->has_named_strings &&
                         (source->text.empty() || may_include_others(source->text));
    if (source == nullptr || shader.may_include || !context.can_cache() || shader.is_binary) {
        compile_untracked(context, shader, compile);
        return;
    }
    const CompileRequest request = {.traits = context.traits,
                                    .type = shader.type,
                                    .source = source->hash,
                                    .shader = shader.name,
                                    .gl = &context.gl(),
                                    .compile = &compile};
    shader.key = key_of(request);
    shader.source_hash = source->hash;
    shader.beginning = source->beginning;
    if (context.recording != nullptr && !source->text.empty()) {
        attempt([&] { record::record_source(*source); });
    }
    if (defer(context, shader, start)) {
        // Another thread may have ended caching in the group, and not have seen this shader.
        if (!context.can_cache()) {
            force_compile(context, shader);
        }
        return;
    }
    count(&RunReport::overhead_ns, source->hash_ns + monotonic_ns() - start);
    give_source(context, shader);
    if (shader.keeps_source()) {
        compile_untracked(context, shader, compile);
    } else {
        compile_and_store(context, shader, request);
    }
}

}  // namespace

bool may_include_others(std::string_view source) {
    // Older versions of the language do not join lines.
    return has_include(source) || has_include(joined_lines(source));
}

void take_source(Context &context, Shader &shader, Real<PFNGLSHADERSOURCEPROC> &give_driver,
                 GLsizei count, const GLchar *const *strings, const GLint *sizes) {
    const MutexLock lock(shader.mutex);
    SourceRef source;
    if (context.can_cache() && !shader.is_binary) {
        attempt([&] { source = make_source(count, strings, sizes); });
    }
    if (source == nullptr) {
        // The call may fail, and leave the shader with the source that it has.
        force_compile(context, shader);
        give_source(context, shader);
        shader.driver_source = nullptr;
        give_driver(shader.name, count, strings, sizes);
    }
    shader.source = std::move(source);
}

SourceRef source_of(std::span<const GLchar *const> strings) {
    return make_source(static_cast<GLsizei>(strings.size()), strings.data(), nullptr);
}

void give_source(const Context &context, Shader &shader) {
    if (shader.source != nullptr) {
        give(context.gl(), shader, shader.source);
    }
}

void compile_shader(Context &context, Shader &shader, Real<void (*)(GLuint)> &compile) {
    const MutexLock lock(shader.mutex);
    shader.state = Shader::State::untouched;
    shader.may_include = false;
    shader.compiled = nullptr;
    const auto compile_by_cache = [&] {
        compile_tracked(context, shader, compile);
        return true;
    };
    if (guarded(compile_by_cache, [&] { return compile.was_called(); })) return;
    shader.state = Shader::State::untouched;
    compile_untracked(context, shader, compile);
}

void force_compile(Context &context, Shader &shader) {
    const MutexLock lock(shader.mutex);
    if (shader.state != Shader::State::deferred) return;
    const GlFunctions &gl = context.gl();
    give(gl, shader, shader.compiled);
    if (shader.driver_source != shader.compiled) return;
    const uint64_t start = monotonic_ns();
    {
        const InsideDriver inside;
        gl.CompileShader(shader.name);
    }
    count(&RunReport::driver_compiles);
    const bool compiled = shader_value(gl, shader.name, GL_COMPILE_STATUS) != GL_FALSE;
    shader.note_compile_ns(monotonic_ns() - start);
    shader.compiled = nullptr;
    shader.state = compiled ? Shader::State::compiled : Shader::State::failed;
    // A driver without a current context, as after a failed glXMakeCurrent, knows no shader.
    if (!compiled && context.cache != nullptr && gl.IsShader(shader.name) != GL_FALSE) {
        log().write(Severity::warning,
                    "a shader that is known to compile did not: its entry is removed");
        cairn_remove(context.cache, shader.key.data(), shader.key.size());
    }
}

}  // namespace cairn::gl
