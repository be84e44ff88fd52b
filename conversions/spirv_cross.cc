// SPDX-License-Identifier: MIT
// SPIR-V -> GLSL, by SPIRV-Cross.
#include <spirv_cross/spirv_cross_c.h>

#include <cstring>
#include <memory>

#include "conversions/converter.h"

namespace cairn::conversions {
namespace {

constexpr std::size_t kWordSize = sizeof(SpvId);

std::string version() {
    unsigned major = 0;
    unsigned minor = 0;
    unsigned patch = 0;
    spvc_get_version(&major, &minor, &patch);
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch) + " " +
           build_id_at(reinterpret_cast<const void *>(&spvc_get_version));
}

struct DestroyContext {
    void operator()(spvc_context context) const { spvc_context_destroy(context); }
};
using Context = std::unique_ptr<spvc_context_s, DestroyContext>;

spvc_result to_glsl(spvc_context context, const Options &options, const std::vector<SpvId> &words,
                    const char *&text) {
    spvc_parsed_ir ir = nullptr;
    if (const auto result = spvc_context_parse_spirv(context, words.data(), words.size(), &ir);
        result != SPVC_SUCCESS) {
        return result;
    }
    spvc_compiler compiler = nullptr;
    if (const auto result = spvc_context_create_compiler(
            context, SPVC_BACKEND_GLSL, ir, SPVC_CAPTURE_MODE_TAKE_OWNERSHIP, &compiler);
        result != SPVC_SUCCESS) {
        return result;
    }
    spvc_compiler_options set = nullptr;
    if (const auto result = spvc_compiler_create_compiler_options(compiler, &set);
        result != SPVC_SUCCESS) {
        return result;
    }
    const auto is_on = [&](const char *name) {
        return static_cast<spvc_bool>(options.at(name) == "yes");
    };
    spvc_compiler_options_set_uint(set, SPVC_COMPILER_OPTION_GLSL_VERSION,
                                   static_cast<unsigned>(std::stoul(options.at("version"))));
    spvc_compiler_options_set_bool(set, SPVC_COMPILER_OPTION_GLSL_ES, is_on("es"));
    spvc_compiler_options_set_bool(set, SPVC_COMPILER_OPTION_GLSL_VULKAN_SEMANTICS,
                                   is_on("vulkan"));
    if (const auto result = spvc_compiler_install_compiler_options(compiler, set);
        result != SPVC_SUCCESS) {
        return result;
    }
    return spvc_compiler_compile(compiler, &text);
}

Converted convert(const Options &options, std::string_view input) {
    Converted result;
    if (input.empty() || input.size() % kWordSize != 0) {
        result.messages = "SPIR-V consists of words of 4 bytes\n";
        return result;
    }
    std::vector<SpvId> words(input.size() / kWordSize);
    std::memcpy(words.data(), input.data(), input.size());
    spvc_context made = nullptr;
    if (spvc_context_create(&made) != SPVC_SUCCESS) {
        result.messages = "out of memory\n";
        return result;
    }
    const Context context(made);
    const char *text = nullptr;
    if (to_glsl(made, options, words, text) != SPVC_SUCCESS || text == nullptr) {
        const char *error = spvc_context_get_last_error_string(made);
        result.messages = std::string(error == nullptr ? "not converted" : error) + "\n";
        return result;
    }
    result.output = text;
    result.ok = true;
    return result;
}

}  // namespace

extern const ShaderConverter spirv_cross_converter = {
    "spirv-cross",
    "SPIR-V to GLSL",
    {{"es", {"no", "yes"}, "", "OpenGL ES instead of desktop OpenGL"},
     {"version",
      {"450", "100", "120", "130", "140", "150", "300", "310", "320", "330", "400", "410", "420",
       "430", "440", "460"},
      "",
      "of GLSL"},
     {"vulkan", {"no", "yes"}, "", "keep what only Vulkan's GLSL can say"}},
    version,
    convert};

}  // namespace cairn::conversions
