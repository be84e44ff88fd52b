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

bool to_glsl(spvc_context context, const Options &options, const std::vector<SpvId> &words,
             const char *&text) {
    spvc_parsed_ir ir = nullptr;
    spvc_compiler compiler = nullptr;
    spvc_compiler_options set = nullptr;
    const bool is_parsed =
        spvc_context_parse_spirv(context, words.data(), words.size(), &ir) == SPVC_SUCCESS &&
        spvc_context_create_compiler(context, SPVC_BACKEND_GLSL, ir,
                                     SPVC_CAPTURE_MODE_TAKE_OWNERSHIP, &compiler) == SPVC_SUCCESS &&
        spvc_compiler_create_compiler_options(compiler, &set) == SPVC_SUCCESS;
    if (!is_parsed) return false;
    const auto is_on = [&](const char *name) {
        return static_cast<spvc_bool>(options.at(name) == "yes");
    };
    spvc_compiler_options_set_uint(set, SPVC_COMPILER_OPTION_GLSL_VERSION,
                                   static_cast<unsigned>(std::stoul(options.at("version"))));
    spvc_compiler_options_set_bool(set, SPVC_COMPILER_OPTION_GLSL_ES, is_on("es"));
    spvc_compiler_options_set_bool(set, SPVC_COMPILER_OPTION_GLSL_VULKAN_SEMANTICS,
                                   is_on("vulkan"));
    return spvc_compiler_install_compiler_options(compiler, set) == SPVC_SUCCESS &&
           spvc_compiler_compile(compiler, &text) == SPVC_SUCCESS && text != nullptr;
}

Converted convert(const Options &options, std::string_view input) {
    if (input.empty() || input.size() % kWordSize != 0) {
        return {false, "", "SPIR-V consists of words of 4 bytes\n"};
    }
    std::vector<SpvId> words(input.size() / kWordSize);
    std::memcpy(words.data(), input.data(), input.size());
    spvc_context made = nullptr;
    if (spvc_context_create(&made) != SPVC_SUCCESS) return {false, "", "out of memory\n"};
    const std::unique_ptr<spvc_context_s, decltype(&spvc_context_destroy)> context(
        made, spvc_context_destroy);
    const char *text = nullptr;
    if (!to_glsl(made, options, words, text)) {
        const char *error = spvc_context_get_last_error_string(made);
        return {false, "", std::string(error == nullptr ? "not converted" : error) + "\n"};
    }
    return {true, text, ""};
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
