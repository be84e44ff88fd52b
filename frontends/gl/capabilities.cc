// SPDX-License-Identifier: MIT
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "account.h"
#include "base/checksum.h"
#include "caches.h"
#include "common/words.h"
#include "context.h"
#include "driver_cache.h"
#include "identity.h"
#include "record/recorder.h"
#include "requests.h"
#include "settings.h"

namespace cairn::gl {
namespace {

struct ContextVersion {
    bool is_es = false;
    int number = 0;  // 100 * major + minor
};

// "4.5 (Core Profile) Mesa 22.3.6", "OpenGL ES 3.2 Mesa 22.3.6". OpenGL ES 1 says "OpenGL
// ES-CM 1.1" and gives 0.
ContextVersion parse_version(const std::string &text) {
    constexpr std::string_view kEs = "OpenGL ES";
    ContextVersion version;
    version.is_es = text.starts_with(kEs);
    const char *number = text.c_str() + (version.is_es ? kEs.size() : 0);
    char *end = nullptr;
    const long major = strtol(number, &end, 10);
    if (end != number && end[0] == '.' && end[1] != '\0') {
        version.number = 100 * static_cast<int>(major) + (end[1] - '0');
    }
    return version;
}

std::string string_of(const GlFunctions &gl, GLenum name) {
    const GLubyte *text = gl.GetString(name);
    return text == nullptr ? std::string() : reinterpret_cast<const char *>(text);
}

GLint integer_of(const GlFunctions &gl, GLenum name) {
    GLint number = 0;
    gl.GetIntegerv(name, &number);
    return number;
}

// Each followed by a space.
std::string extensions_of(const GlFunctions &gl, ContextVersion version) {
    if (version.number < 300) return string_of(gl, GL_EXTENSIONS) + " ";
    std::string all;
    const GLint count = integer_of(gl, GL_NUM_EXTENSIONS);
    for (GLint i = 0; i < count; ++i) {
        const GLubyte *name = gl.GetStringi(GL_EXTENSIONS, static_cast<GLuint>(i));
        all.append(name == nullptr ? "" : reinterpret_cast<const char *>(name)).append(" ");
    }
    return all;
}

// OpenGL ES 2 has program binaries only by an extension, whose functions have names of their own.
void find_binary_functions(Context &context, ContextVersion version,
                           const std::string &extensions) {
    const GlFunctions &gl = context.gl();
    const bool core = version.number >= (version.is_es ? 300 : 401) ||
                      has_word(extensions, "GL_ARB_get_program_binary");
    context.has_hint = core;
    if (core) {
        context.program_binary = gl.ProgramBinary;
        context.get_program_binary = gl.GetProgramBinary;
    } else if (has_word(extensions, "GL_OES_get_program_binary")) {
        context.program_binary = gl.ProgramBinaryOES;
        context.get_program_binary = gl.GetProgramBinaryOES;
    } else {
        return;
    }
    const GLint count = integer_of(gl, GL_NUM_PROGRAM_BINARY_FORMATS);
    if (count > 0 && !is_missing(reinterpret_cast<void *>(context.program_binary)) &&
        !is_missing(reinterpret_cast<void *>(context.get_program_binary))) {
        std::vector<GLint> formats(static_cast<size_t>(count));
        gl.GetIntegerv(GL_PROGRAM_BINARY_FORMATS, formats.data());
        context.binary_formats.assign(formats.begin(), formats.end());
    }
}

void find_limits(Context &context, ContextVersion version, const std::string &extensions) {
    context.attributes_max = integer_of(context.gl(), GL_MAX_VERTEX_ATTRIBS);
    if (version.number >= 300) {
        context.draw_buffers_max = integer_of(context.gl(), GL_MAX_DRAW_BUFFERS);
    }
    if (version.number >= 300 || has_word(extensions, "GL_EXT_transform_feedback")) {
        context.separate_varyings_max =
            integer_of(context.gl(), GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS);
    }
}

ContextTraits traits_of(const Context &context, ContextVersion version, const DriverNames &names,
                        const std::string &extensions, const std::string &identity) {
    const GlFunctions &gl = context.gl();
    const auto number_if = [&gl](bool is_known, GLenum name) {
        return is_known ? std::optional(static_cast<GLuint>(integer_of(gl, name))) : std::nullopt;
    };
    return {.identity = std::string_view(identity),
            .request = std::string_view(context.request),
            .version = names.version,
            .language = names.language,
            .extensions = std::string_view(extensions),
            .flags = number_if(version.number >= (version.is_es ? 302 : 300), GL_CONTEXT_FLAGS),
            .profile = number_if(!version.is_es && version.number >= 302, GL_CONTEXT_PROFILE_MASK)};
}

// Digests of the fields but for the driver, of which the first half is what was asked for.
std::array<uint32_t, kContextFields> field_digests(const ContextTraits &traits) {
    const auto of_text = [](std::string_view text) {
        return static_cast<uint32_t>(checksum(as_bytes(text), text.size()));
    };
    const auto of_number = [](std::optional<GLuint> number) { return number ? *number + 1 : 0; };
    return {of_text(*traits.request),    of_text(*traits.version), of_text(*traits.language),
            of_text(*traits.extensions), of_number(*traits.flags), of_number(*traits.profile)};
}

uint64_t context_digest(const std::array<uint32_t, kContextFields> &fields) {
    const auto field = [&](ContextField which) { return fields[static_cast<size_t>(which)]; };
    const auto digest = [](std::span<const uint32_t> words) {
        return checksum(std::as_bytes(words), words.size()) >> 32;
    };
    const std::array asked = {field(ContextField::request), field(ContextField::flags),
                              field(ContextField::profile)};
    const std::array told = {field(ContextField::version), field(ContextField::language),
                             field(ContextField::extensions)};
    return digest(asked) << 32 | digest(told);
}

void begin_recording(Context &context, ContextVersion version, record::DriverName driver) {
    const ContextOptions &options = context.options;
    const recipe::ContextKind kind = {.is_es = options.is_es ? 1u : 0u,
                                      .major = static_cast<uint32_t>(options.major),
                                      .minor = static_cast<uint32_t>(options.minor),
                                      .profile = options.profile,
                                      .flags = options.flags,
                                      .others = options.others};
    context.recording = std::make_shared<record::Recording>(context.gl(), *context.driver->recorded,
                                                            kind, version.number, std::move(driver),
                                                            context.group->recorded_objects());
    context.recording->tracker().draw_to_window(context.window);
}

}  // namespace

std::string ContextOptions::bytes() const {
    const uint32_t numbers[] = {is_es ? 1u : 0u, profile, flags};
    return std::string(reinterpret_cast<const char *>(numbers), sizeof numbers) + others;
}

void describe(Context &context) {
    if (context.is_described) return;
    context.is_described = true;
    const GlFunctions &gl = context.gl();
    const ContextVersion version = parse_version(string_of(gl, GL_VERSION));
    context.has_control = context.offers_control && version.number >= 200;
    if (!context.has_control) return;
    const std::string extensions = extensions_of(gl, version);
    context.adds_control = !has_word(extensions, kControlExtension);
    context.numbers_extensions = version.number >= 300;
}

void prepare(Context &context) {
    context.is_prepared = true;
    context.no_cache_because = Detail::no_binaries;
    const GlFunctions &gl = context.gl();
    const std::string version_text = string_of(gl, GL_VERSION);
    const ContextVersion version = parse_version(version_text);
    if (version.number < 200) {
        return;  // where asking for the language is an error
    }
    const DriverNames names = {.vendor = string_of(gl, GL_VENDOR),
                               .renderer = string_of(gl, GL_RENDERER),
                               .version = version_text,
                               .language = string_of(gl, GL_SHADING_LANGUAGE_VERSION)};
    const std::string extensions = extensions_of(gl, version);
    find_binary_functions(context, version, extensions);
    find_limits(context, version, extensions);
    const Processor processor =
        draws_with_processor(names.renderer) ? Processor::type_and_number : Processor::unimportant;
    const std::string identity = driver_identity(context.driver->code, names, processor);
    place_driver_files(identity);
    const ContextTraits traits = traits_of(context, version, names, extensions, identity);
    context.traits = key_of(traits);
    const auto fields = field_digests(traits);
    context.digest = context_digest(fields);
    if (!context.group->accept(context.traits)) {
        log().write(Severity::info,
                    "contexts that share objects differ: programs are not cached in them");
        context.no_cache_because = Detail::contexts_differ;
        return;
    }
    if (context.programs == nullptr) return;
    if (settings().replaces_sources) {
        context.no_cache_because = Detail::sources_replaced;
        log().write(Severity::info, "MESA_SHADER_READ_PATH is set: not cached");
        return;
    }
    if (context.binary_formats.empty()) {
        log().write(Severity::info, "%s gives no program binaries: not cached",
                    names.version.c_str());
        return;
    }
    context.has_cache = true;
    if (context.driver->recorded != nullptr) {
        attempt([&] {
            begin_recording(context, version, record::driver_name(identity, names.renderer));
        });
    }
    if (settings().persists) {
        const ProgramMemory &programs = *context.programs;
        context.disk =
            cache_for(identity, programs.leaves_room_for_blobs ? kProgramsPercent : kAllPercent);
        context.cache = programs.is_kept_off_disk ? nullptr : context.disk;
        if (!programs.is_kept_off_disk) context.account = &account_for(identity);
        if (History *const history = context.account->history()) {
            history->note_context(context.digest, fields);
        }
    }
}

}  // namespace cairn::gl
