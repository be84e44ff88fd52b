// SPDX-License-Identifier: MIT
// GLSL and HLSL -> SPIR-V, by glslang.
#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>

#include <map>

#include "conversions/converter.h"

namespace cairn::conversions {
namespace {

const std::map<std::string, EShLanguage> kStages = {{"vertex", EShLangVertex},
                                                    {"tess-control", EShLangTessControl},
                                                    {"tess-evaluation", EShLangTessEvaluation},
                                                    {"geometry", EShLangGeometry},
                                                    {"fragment", EShLangFragment},
                                                    {"compute", EShLangCompute}};

struct Target {
    glslang::EShClient client;
    glslang::EShTargetClientVersion version;
    glslang::EShTargetLanguageVersion language;
};
const std::map<std::string, Target> kTargets = {
    {"vulkan1.0",
     {glslang::EShClientVulkan, glslang::EShTargetVulkan_1_0, glslang::EShTargetSpv_1_0}},
    {"vulkan1.1",
     {glslang::EShClientVulkan, glslang::EShTargetVulkan_1_1, glslang::EShTargetSpv_1_3}},
    {"vulkan1.2",
     {glslang::EShClientVulkan, glslang::EShTargetVulkan_1_2, glslang::EShTargetSpv_1_5}},
    {"vulkan1.3",
     {glslang::EShClientVulkan, glslang::EShTargetVulkan_1_3, glslang::EShTargetSpv_1_6}},
    {"opengl",
     {glslang::EShClientOpenGL, glslang::EShTargetOpenGL_450, glslang::EShTargetSpv_1_0}}};

constexpr int kDialect = 100;  // of the rules for the client, as glslang numbers them

std::string version() {
    const glslang::Version now = glslang::GetVersion();
    return std::to_string(now.major) + "." + std::to_string(now.minor) + "." +
           std::to_string(now.patch) + now.flavor + " " +
           build_id_at(reinterpret_cast<const void *>(&glslang::GetVersion));
}

EShMessages messages_of(bool is_hlsl, const Target &target) {
    unsigned messages = EShMsgSpvRules;
    if (target.client == glslang::EShClientVulkan) messages |= EShMsgVulkanRules;
    if (is_hlsl) messages |= EShMsgReadHlsl;
    return static_cast<EShMessages>(messages);
}

Converted convert(const Options &options, std::string_view input) {
    const bool is_hlsl = options.at("language") == "hlsl";
    const EShLanguage stage = kStages.at(options.at("stage"));
    const Target &target = kTargets.at(options.at("target"));
    const EShMessages messages = messages_of(is_hlsl, target);
    glslang::InitializeProcess();
    glslang::TShader shader(stage);
    const char *text = input.data();
    const int size = static_cast<int>(input.size());
    shader.setStringsWithLengths(&text, &size, 1);
    const std::string &entry = options.at("entry");
    if (is_hlsl) {
        shader.setEntryPoint(entry.c_str());
        shader.setSourceEntryPoint(entry.c_str());
    }
    shader.setEnvInput(is_hlsl ? glslang::EShSourceHlsl : glslang::EShSourceGlsl, stage,
                       target.client, kDialect);
    shader.setEnvClient(target.client, target.version);
    shader.setEnvTarget(glslang::EShTargetSpv, target.language);
    // Of bindings and locations that the text leaves open, OpenGL and D3D have rules of their own.
    shader.setAutoMapBindings(true);
    shader.setAutoMapLocations(true);
    Converted result;
    // Nothing is included: a text that wants to is refused.
    glslang::TShader::ForbidIncluder includer;
    const bool parsed = shader.parse(GetDefaultResources(), kDialect, false, messages, includer);
    result.messages = shader.getInfoLog();
    if (!parsed) return result;
    glslang::TProgram program;
    program.addShader(&shader);
    const bool linked = program.link(messages) && program.mapIO();
    result.messages += program.getInfoLog();
    if (!linked) return result;
    std::vector<unsigned> words;
    spv::SpvBuildLogger logger;
    glslang::SpvOptions how;
    how.disableOptimizer = true;
    glslang::GlslangToSpv(*program.getIntermediate(stage), words, &logger, &how);
    result.messages += logger.getAllMessages();
    result.output.assign(reinterpret_cast<const char *>(words.data()),
                         words.size() * sizeof(unsigned));
    result.ok = !words.empty();
    return result;
}

}  // namespace

extern const ShaderConverter glslang_converter = {
    "glslang",
    "GLSL or HLSL to SPIR-V",
    {{"entry", {}, "main", "the function to begin with, in HLSL"},
     {"language", {"glsl", "hlsl"}, "", "of the input"},
     {"stage",
      {"vertex", "tess-control", "tess-evaluation", "geometry", "fragment", "compute"},
      "",
      "of the pipeline"},
     {"target",
      {"vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3", "opengl"},
      "",
      "where the output is to be used"}},
    version,
    convert};

}  // namespace cairn::conversions
