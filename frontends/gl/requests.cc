// SPDX-License-Identifier: MIT
#include "requests.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "common/run_report.h"

// Includes no header with a Context: the answers depend on the requests alone.

namespace cairn::gl {
namespace {

Report report_of(GLuint name, GLint log_length, PFNGLGETSHADERINFOLOGPROC get_log) {
    Report report;
    report.log_length = log_length;
    if (log_length > 0) {
        report.log.resize(static_cast<size_t>(log_length));
        GLsizei size = 0;
        get_log(name, log_length, &size, report.log.data());
        report.log.resize(static_cast<size_t>(size));
    }
    return report;
}

void read_entry(const GlFunctions &gl, PFNGLGETPROGRAMBINARYPROC get_binary, Linked &made) {
    const GLint capacity = program_value(gl, made.program, GL_PROGRAM_BINARY_LENGTH);
    if (capacity <= 0) return;
    // The format comes with the binary, and the head has the same size whatever it is.
    const Report report = program_report(gl, made.program);
    const size_t head = encode_program_head(report, 0).size();
    made.bytes.reset(new (std::nothrow) char[head + static_cast<size_t>(capacity)]);
    if (made.bytes == nullptr) return;
    GLsizei size = 0;
    GLenum format = 0;
    get_binary(made.program, capacity, &size, &format, made.bytes.get() + head);
    memcpy(made.bytes.get(), encode_program_head(report, format).data(), head);
    made.binary_size = static_cast<size_t>(std::max(size, 0));
    made.size = made.binary_size > 0 ? head + made.binary_size : 0;
}

// Asking whether the link succeeded may wait for the driver; that time is part of the cost.
void judge(const GlFunctions &gl, PFNGLGETPROGRAMBINARYPROC get_binary, uint64_t start_ns,
           Linked &made) {
    count(&RunReport::driver_links);
    made.succeeded =
        made.program != 0 && program_value(gl, made.program, GL_LINK_STATUS) != GL_FALSE;
    made.cost_ns = monotonic_ns() - start_ns;
    if (made.succeeded) {
        attempt([&] { read_entry(gl, get_binary, made); });
    }
}

}  // namespace

GLint shader_value(const GlFunctions &gl, GLuint shader, GLenum name) {
    GLint value = 0;
    gl.GetShaderiv(shader, name, &value);
    return value;
}

GLint program_value(const GlFunctions &gl, GLuint program, GLenum name) {
    GLint value = 0;
    gl.GetProgramiv(program, name, &value);
    return value;
}

Report program_report(const GlFunctions &gl, GLuint program) {
    return report_of(program, program_value(gl, program, GL_INFO_LOG_LENGTH), gl.GetProgramInfoLog);
}

Compiled compile_by_driver(const CompileRequest &request) {
    const GlFunctions &gl = **request.gl;
    const GLuint shader = *request.shader;
    Compiled made;
    const uint64_t start = monotonic_ns();
    (**request.compile)(shader);
    count(&RunReport::driver_compiles);
    made.succeeded = shader_value(gl, shader, GL_COMPILE_STATUS) != GL_FALSE;
    made.cost_ns = monotonic_ns() - start;
    if (made.succeeded) {
        made.report =
            report_of(shader, shader_value(gl, shader, GL_INFO_LOG_LENGTH), gl.GetShaderInfoLog);
    }
    return made;
}

Linked link_by_driver(const LinkRequest &request) {
    Linked made;
    made.program = *request.program;
    const uint64_t start = monotonic_ns();
    (**request.link)(made.program);
    judge(**request.gl, *request.get_binary, start, made);
    return made;
}

Linked create_by_driver(const SeparableRequest &request) {
    Linked made;
    const auto strings = *request.strings;
    const uint64_t start = monotonic_ns();
    made.program =
        (**request.create)(*request.type, static_cast<GLsizei>(strings.size()), strings.data());
    judge(**request.gl, *request.get_binary, start, made);
    return made;
}

}  // namespace cairn::gl
