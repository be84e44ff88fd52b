// The requests whose answers are cached. To add a field to a key, add a member here; see
// docs/egl.md.
// SPDX-License-Identifier: MIT
//
// Thread safety: as the driver's functions. Ownership: requests borrow what they point to.
// Failure: the functions that ask the driver throw where memory cannot be had (hook.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "entry.h"
#include "functions.h"
#include "hook.h"
#include "recipe/recipe.h"
#include "request.h"

namespace cairn::gl {

using GlObject = Unhashed<Because::it_names_an_object, GLuint>;
template <typename T>
using OfDriver = Unhashed<Because::it_is_the_driver, T>;

// A context: two contexts with the same key compile everything alike.
struct ContextTraits {
    static constexpr const char *kDomain = "gl-context/1";
    Hashed<Tag::identity, std::string_view> identity;  // of the driver, see identity.h
    Hashed<Tag::request, std::string_view> request;    // what the application asked for
    Hashed<Tag::version, std::string> version;         // GL_VERSION
    Hashed<Tag::language, std::string> language;       // GL_SHADING_LANGUAGE_VERSION
    Hashed<Tag::extensions, std::string_view> extensions;
    Hashed<Tag::flags, std::optional<GLuint>> flags;      // GL_CONTEXT_FLAGS
    Hashed<Tag::profile, std::optional<GLuint>> profile;  // GL_CONTEXT_PROFILE_MASK
};

// glCompileShader.
struct CompileRequest {
    static constexpr const char *kDomain = "gl-shader/3";
    Hashed<Tag::traits, Key> traits;
    Hashed<Tag::type, GLenum> type;
    Hashed<Tag::source, Key> source;  // its hash; the source includes no other
    GlObject shader;
    OfDriver<const GlFunctions *> gl;
    OfDriver<Real<void (*)(GLuint)> *> compile;
};

using recipe::SettingKind;

// A call that set something for the next link; see program.h.
struct Call {
    Hashed<Tag::setting, SettingKind> setting;
    // The calls that it meets are about the same: a name without "[0]", a parameter.
    Unhashed<Because::it_is_in_another, std::string> subject;
    // The call sets this: the whole name, the parameter.
    Unhashed<Because::it_is_in_another, std::string> target;
    Hashed<Tag::arguments, std::string> arguments;  // all of them
    bool operator==(const Call &) const = default;
};

// glLinkProgram.
struct LinkRequest {
    static constexpr const char *kDomain = "gl-program/1";
    Hashed<Tag::traits, Key> traits;
    Hashed<Tag::shader, std::vector<Key>> shaders;  // by type, then as attached
    Hashed<Tag::setting, std::span<const Call>> settings;
    GlObject program;
    OfDriver<const GlFunctions *> gl;
    OfDriver<Real<void (*)(GLuint)> *> link;
    OfDriver<PFNGLGETPROGRAMBINARYPROC> get_binary;
};

// glCreateShaderProgramv.
struct SeparableRequest {
    static constexpr const char *kDomain = "gl-shader-program/3";
    Hashed<Tag::traits, Key> traits;
    Hashed<Tag::type, GLenum> type;
    // The hash of each string: a source that is divided into other strings is another one.
    Hashed<Tag::source, std::vector<Key>> sources;
    Unhashed<Because::it_is_in_another, std::span<const GLchar *const>> strings;
    OfDriver<const GlFunctions *> gl;
    OfDriver<Real<PFNGLCREATESHADERPROGRAMVPROC> *> create;
    OfDriver<PFNGLGETPROGRAMBINARYPROC> get_binary;
};

struct Compiled {
    bool succeeded = false;
    uint64_t cost_ns = 0;  // the driver's time
    Report report;
};
Compiled compile_by_driver(const CompileRequest &request);

struct Linked {
    bool succeeded = false;
    GLuint program = 0;
    uint64_t cost_ns = 0;
    // The entry, not yet sealed; empty where the driver gives no binary.
    std::unique_ptr<char[]> bytes;
    size_t size = 0;
    size_t binary_size = 0;  // of these, the driver's
};
Linked link_by_driver(const LinkRequest &request);
Linked create_by_driver(const SeparableRequest &request);

GLint shader_value(const GlFunctions &gl, GLuint shader, GLenum name);
GLint program_value(const GlFunctions &gl, GLuint program, GLenum name);
// The log of a program, as the driver has it.
Report program_report(const GlFunctions &gl, GLuint program);

}  // namespace cairn::gl
