// SPDX-License-Identifier: MIT
#include "gl_hooks.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "program_hooks.h"
#include "shader_hooks.h"
#include "state_hooks.h"

namespace cairn::egl {
namespace {

struct Hook {
    const char *name;
    void *function;
};

// X(function as in gl_functions.inc, hook). A hook that is a template is told whose function it
// stands in front of.
#define GL_HOOKS(X)                                                    \
    X(ActiveVaryingNV, active_varying)                                 \
    X(BeginTransformFeedback, begin_transform_feedback)                \
    X(BeginTransformFeedbackEXT, begin_transform_feedback)             \
    X(BeginTransformFeedbackNV, begin_transform_feedback)              \
    X(BindAttribLocation, bind_attrib_location)                        \
    X(BindAttribLocationARB, bind_attrib_location)                     \
    X(BindFragDataLocation, bind_frag_data_location)                   \
    X(BindFragDataLocationEXT, bind_frag_data_location)                \
    X(BindFragDataLocationIndexed, bind_frag_data_location_indexed)    \
    X(BindFragDataLocationIndexedEXT, bind_frag_data_location_indexed) \
    X(BlobCacheCallbacksANGLE, blob_cache_callbacks)                   \
    X(CompileShader, compile_shader_hook)                              \
    X(CompileShaderARB, compile_shader_hook)                           \
    X(CompileShaderIncludeARB, compile_shader_include)                 \
    X(CreateProgram, create_program)                                   \
    X(CreateProgramObjectARB, create_program)                          \
    X(CreateShader, create_shader)                                     \
    X(CreateShaderObjectARB, create_shader)                            \
    X(CreateShaderProgramEXT, create_shader_program_of_one)            \
    X(CreateShaderProgramv, create_shader_program_hook)                \
    X(CreateShaderProgramvEXT, create_shader_program_hook)             \
    X(DeleteObjectARB, delete_object)                                  \
    X(DeleteProgram, delete_program)                                   \
    X(DeleteShader, delete_shader)                                     \
    X(GetBooleanv, get_boolean_v)                                      \
    X(GetDoublev, get_double_v)                                        \
    X(GetFloatv, get_float_v)                                          \
    X(GetInfoLogARB, get_info_log)                                     \
    X(GetInteger64v, get_integer64_v)                                  \
    X(GetInteger64vAPPLE, get_integer64_v)                             \
    X(GetInteger64vEXT, get_integer64_v)                               \
    X(GetIntegerv, get_integer_v)                                      \
    X(GetObjectParameterfvARB, get_object_parameter_fv)                \
    X(GetObjectParameterivARB, get_object_parameter_iv)                \
    X(GetProgramInfoLog, get_program_info_log)                         \
    X(GetProgramiv, get_program_iv)                                    \
    X(GetShaderInfoLog, get_shader_info_log)                           \
    X(GetShaderiv, get_shader_iv)                                      \
    X(GetString, get_string)                                           \
    X(GetStringi, get_string_i)                                        \
    X(GetTranslatedShaderSourceANGLE, get_translated_source)           \
    X(IsEnabled, is_enabled)                                           \
    X(LinkProgram, link_program_hook)                                  \
    X(LinkProgramARB, link_program_hook)                               \
    X(NamedStringARB, named_string)                                    \
    X(ProgramBinary, program_binary)                                   \
    X(ProgramBinaryOES, program_binary)                                \
    X(ProgramParameteri, program_parameter)                            \
    X(ProgramParameteriARB, program_parameter)                         \
    X(ProgramParameteriEXT, program_parameter)                         \
    X(ShaderBinary, shader_binary)                                     \
    X(SpecializeShader, specialize_shader)                             \
    X(SpecializeShaderARB, specialize_shader)                          \
    X(TransformFeedbackVaryings, transform_feedback_varyings)          \
    X(TransformFeedbackVaryingsEXT, transform_feedback_varyings)       \
    X(TransformFeedbackVaryingsNV, transform_feedback_varyings_nv)     \
    X(ValidateProgram, validate_program)                               \
    X(ValidateProgramARB, validate_program)

#define X(function, hook) {"gl" #function, reinterpret_cast<void *>(&hook<&GlFunctions::function>)},
// In order of name, which gl_hook() searches by halving.
const Hook kHooks[] = {GL_HOOKS(X)};
#undef X

}  // namespace

void *gl_hook(const char *name) {
    const auto *found = std::lower_bound(
        std::begin(kHooks), std::end(kHooks), name,
        [](const Hook &hook, const char *wanted) { return strcmp(hook.name, wanted) < 0; });
    const bool is_hooked = found != std::end(kHooks) && strcmp(found->name, name) == 0;
    return is_hooked ? found->function : nullptr;
}

}  // namespace cairn::egl
