// The client's scenarios, each a function that notes all that can be seen of it.
// SPDX-License-Identifier: MIT
#pragma once

namespace client {

// X(name): programs.cc, objects.cc, overrides.cc, stages.cc, states.cc, desktop.cc, contexts.cc, binaries.cc.
#define CLIENT_SCENARIOS(X)   \
    X(simple)                 \
    X(old_language)           \
    X(uniforms_and_blocks)    \
    X(logs_of_failures)       \
    X(logs_of_successes)      \
    X(pending_errors)         \
    X(invalid_calls)          \
    X(relink_new_source)      \
    X(relink_in_use)          \
    X(last_compiled_source)   \
    X(deleted_shaders)        \
    X(shared_shader)          \
    X(attribute_bindings)     \
    X(detours_to_settings)    \
    X(names_used_again)       \
    X(validation)             \
    X(transform_feedback)     \
    X(feedback_relink)        \
    X(refused_varyings)       \
    X(separable)              \
    X(shader_programs)        \
    X(compute)                \
    X(geometry)               \
    X(tessellation)           \
    X(core_outputs)           \
    X(core_initial_values)    \
    X(several_of_one_type)    \
    X(old_objects)            \
    X(included_source)        \
    X(spirv)                  \
    X(assembly)               \
    X(two_contexts)           \
    X(context_goes)           \
    X(older_context)          \
    X(unlike_contexts)        \
    X(unlike_profiles)        \
    X(unlike_later)           \
    X(plain_contexts)         \
    X(context_moves)          \
    X(two_threads)            \
    X(threads_share_shader)   \
    X(contexts_come_and_go)   \
    X(own_binaries)           \
    X(binary_with_bindings)   \
    X(parallel_compile)       \
    X(states)                 \
    X(many_uniforms)          \
    X(array_names_again)      \
    X(constants_and_decoding) \
    X(display_lists)          \
    X(named_objects)          \
    X(overrides)              \
    X(deleted_attachment)     \
    X(binary_after_link)

#define X(name) void name();
CLIENT_SCENARIOS(X)
#undef X

// Links one program four times; after each of the first three the shell does what
// CLIENT_AFTER_0 and so on say.
void switched();
// Links CLIENT_PROGRAMS programs (1), in a context of the kind CLIENT_API (es3), with the attribute
// at CLIENT_LOCATION, from sources that end in CLIENT_SOURCE.
void varied();

// Writes what Cairn's own function says of the cache: its name, or nothing where there is none.
void identified();

}  // namespace client
