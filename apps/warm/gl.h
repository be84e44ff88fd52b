// The driver's functions, as the player calls them.
// SPDX-License-Identifier: MIT
//
// Thread safety: filled once, by load_functions(). Failure: a function that the driver does not have
// may be null, or do nothing.
#pragma once

#include <GL/gl.h>
// After gl.h, which it completes.
#include <GL/glext.h>

#define PLAYER_FUNCTIONS(X)           \
    X(ActiveTexture)                  \
    X(AlphaFunc)                      \
    X(AttachShader)                   \
    X(BindAttribLocation)             \
    X(BindBuffer)                     \
    X(BindBufferBase)                 \
    X(BindFragDataLocation)           \
    X(BindFragDataLocationIndexed)    \
    X(BindFramebuffer)                \
    X(BindImageTexture)               \
    X(BindRenderbuffer)               \
    X(BindTexture)                    \
    X(BindVertexArray)                \
    X(BlendEquation)                  \
    X(BlendEquationSeparate)          \
    X(BlendEquationSeparatei)         \
    X(BlendEquationi)                 \
    X(BlendFuncSeparate)              \
    X(BlendFuncSeparatei)             \
    X(BufferData)                     \
    X(CheckFramebufferStatus)         \
    X(ClipControl)                    \
    X(ColorMask)                      \
    X(ColorMaski)                     \
    X(CompileShader)                  \
    X(CreateProgram)                  \
    X(CreateShader)                   \
    X(CreateShaderProgramv)           \
    X(CullFace)                       \
    X(DeleteBuffers)                  \
    X(DeleteFramebuffers)             \
    X(DeleteProgram)                  \
    X(DeleteRenderbuffers)            \
    X(DeleteShader)                   \
    X(DeleteTextures)                 \
    X(DeleteVertexArrays)             \
    X(DepthFunc)                      \
    X(DepthMask)                      \
    X(Disable)                        \
    X(DisableVertexAttribArray)       \
    X(Disablei)                       \
    X(DispatchCompute)                \
    X(DrawArrays)                     \
    X(DrawArraysInstanced)            \
    X(DrawBuffers)                    \
    X(DrawElements)                   \
    X(DrawElementsInstanced)          \
    X(Enable)                         \
    X(EnableVertexAttribArray)        \
    X(Enablei)                        \
    X(Finish)                         \
    X(FramebufferParameteri)          \
    X(FramebufferRenderbuffer)        \
    X(FramebufferTexture)             \
    X(FramebufferTexture1D)           \
    X(FramebufferTexture2D)           \
    X(FramebufferTextureLayer)        \
    X(FrontFace)                      \
    X(GenBuffers)                     \
    X(GenFramebuffers)                \
    X(GenRenderbuffers)               \
    X(GenTextures)                    \
    X(GenVertexArrays)                \
    X(GetError)                       \
    X(GetIntegerv)                    \
    X(GetProgramInfoLog)              \
    X(GetProgramiv)                   \
    X(GetShaderInfoLog)               \
    X(GetShaderiv)                    \
    X(GetString)                      \
    X(GetUniformLocation)             \
    X(LineWidth)                      \
    X(LinkProgram)                    \
    X(LogicOp)                        \
    X(MinSampleShading)               \
    X(PatchParameteri)                \
    X(PointParameteri)                \
    X(PolygonMode)                    \
    X(ProgramParameteri)              \
    X(ProvokingVertex)                \
    X(RenderbufferStorage)            \
    X(RenderbufferStorageMultisample) \
    X(ShadeModel)                     \
    X(ShaderSource)                   \
    X(StencilFuncSeparate)            \
    X(StencilMaskSeparate)            \
    X(StencilOpSeparate)              \
    X(TexBuffer)                      \
    X(TexImage1D)                     \
    X(TexImage2D)                     \
    X(TexImage2DMultisample)          \
    X(TexImage3D)                     \
    X(TexImage3DMultisample)          \
    X(TexParameteri)                  \
    X(TexStorage1D)                   \
    X(TexStorage2D)                   \
    X(TexStorage2DMultisample)        \
    X(TexStorage3D)                   \
    X(TexStorage3DMultisample)        \
    X(TransformFeedbackVaryings)      \
    X(Uniform1iv)                     \
    X(UseProgram)                     \
    X(VertexAttrib1f)                 \
    X(VertexAttrib4f)                 \
    X(VertexAttribDivisor)            \
    X(VertexAttribIPointer)           \
    X(VertexAttribLPointer)           \
    X(VertexAttribPointer)            \
    X(Viewport)

namespace cairn::warm {

struct Functions {
#define FUNCTION(name) decltype(&::gl##name) name = nullptr;
    PLAYER_FUNCTIONS(FUNCTION)
#undef FUNCTION
};
extern Functions gl;

void load_functions(void (*(*find)(const char *name))());

// Forgets errors of calls that this context does not know. True: there was one.
bool take_errors();
// The same. True: the driver had no memory, or the context is lost.
bool lacks_memory();

}  // namespace cairn::warm
