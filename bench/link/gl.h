// SPDX-License-Identifier: MIT
// The GL functions that the benchmark calls. All are found at run time, so that one program measures
// every kind of context and window system.
// Thread safety: load_gl() is called once, before any function; constant after that.
// Failure: std::runtime_error where a function that every context has is missing.
#pragma once

#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>

#include <functional>
#include <string>

namespace bench {

// Functions whose ARB_shader_objects twin has the same name with ARB behind it.
#define BENCH_GL_SAME_ARB_NAMES(X) \
    X(BindAttribLocation)          \
    X(CompileShader)               \
    X(GetActiveAttrib)             \
    X(GetActiveUniform)            \
    X(GetAttribLocation)           \
    X(GetShaderSource)             \
    X(GetUniformLocation)          \
    X(LinkProgram)                 \
    X(ShaderSource)                \
    X(Uniform1f)                   \
    X(Uniform2f)                   \
    X(Uniform3f)                   \
    X(Uniform4f)                   \
    X(UniformMatrix4fv)

// X(name, name of the ARB_shader_objects twin).
#define BENCH_GL_OTHER_ARB_NAMES(X)          \
    X(AttachShader, AttachObjectARB)         \
    X(CreateProgram, CreateProgramObjectARB) \
    X(CreateShader, CreateShaderObjectARB)   \
    X(DeleteProgram, DeleteObjectARB)        \
    X(DeleteShader, DeleteObjectARB)         \
    X(GetProgramInfoLog, GetInfoLogARB)      \
    X(GetProgramiv, GetObjectParameterivARB) \
    X(GetShaderInfoLog, GetInfoLogARB)       \
    X(GetShaderiv, GetObjectParameterivARB)  \
    X(UseProgram, UseProgramObjectARB)

#define BENCH_GL_PLAIN(X)        \
    X(BindBuffer)                \
    X(BindFramebuffer)           \
    X(BindRenderbuffer)          \
    X(BindVertexArray)           \
    X(BufferData)                \
    X(Clear)                     \
    X(ClearColor)                \
    X(DrawArrays)                \
    X(EnableVertexAttribArray)   \
    X(FramebufferRenderbuffer)   \
    X(GenBuffers)                \
    X(GenFramebuffers)           \
    X(GenRenderbuffers)          \
    X(GenVertexArrays)           \
    X(GetError)                  \
    X(GetProgramBinary)          \
    X(GetString)                 \
    X(ProgramBinary)             \
    X(ReadPixels)                \
    X(RenderbufferStorage)       \
    X(VertexAttribPointer)       \
    X(Viewport)                  \
    X(BindBufferBase)            \
    X(GetActiveUniformBlockName) \
    X(GetActiveUniformBlockiv)   \
    X(GetUniformBlockIndex)      \
    X(ActiveShaderProgram)       \
    X(BindProgramPipeline)       \
    X(CreateShaderProgramv)      \
    X(DeleteProgramPipelines)    \
    X(GenProgramPipelines)       \
    X(GetProgramInterfaceiv)     \
    X(GetProgramResourceName)    \
    X(GetProgramResourceiv)      \
    X(ProgramParameteri)         \
    X(UseProgramStages)

struct Gl {
#define X(name) decltype(&::gl##name) name = nullptr;
    BENCH_GL_SAME_ARB_NAMES(X)
    BENCH_GL_PLAIN(X)
#undef X
#define X(name, arb_name) decltype(&::gl##name) name = nullptr;
    BENCH_GL_OTHER_ARB_NAMES(X)
#undef X
};

extern Gl gl;

using FindFunction = std::function<void (*(const std::string &name))()>;

enum class EntryPoints { core, arb };

// With `arb`, all that ARB_shader_objects has is called by its names. Tokens, handles and types are
// the same there.
void load_gl(const FindFunction &find, EntryPoints entry_points);

}  // namespace bench
