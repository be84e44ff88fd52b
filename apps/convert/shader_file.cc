// SPDX-License-Identifier: MIT
#include "shader_file.h"

#include <fmt/format.h>

#include "failure.h"
#include "input_file.h"

namespace cairn::convert {

std::string read_shader(const std::string &name, size_t size_max) {
    cli::InputFile file(name);
    std::string text;
    while (file.append_to(text)) {
        if (text.size() > size_max) {
            throw cli::Failure(cli::kExitFailure,
                               fmt::format("{} is larger than a shader may be ({} MiB)",
                                           file.name(), size_max >> 20));
        }
    }
    return text;
}

std::string_view converter_for(std::string_view input) {
    if (input.starts_with("DXBC")) return "vkd3d-shader";
    const bool is_spirv = input.starts_with(std::string_view("\x03\x02\x23\x07", 4)) ||
                          input.starts_with(std::string_view("\x07\x23\x02\x03", 4));
    return is_spirv ? "spirv-cross" : "glslang";
}

conversions::Options options_from_name(const conversions::Converter &converter,
                                       const std::string &name) {
    struct Ending {
        std::string_view ending;
        const char *option;
        const char *value;
    };
    constexpr Ending kEndings[] = {
        {".vert", "stage", "vertex"},          {".tesc", "stage", "tess-control"},
        {".tese", "stage", "tess-evaluation"}, {".geom", "stage", "geometry"},
        {".frag", "stage", "fragment"},        {".comp", "stage", "compute"},
    };
    conversions::Options options;
    if (converter.id() != "glslang") return options;
    std::string_view rest = name;
    if (rest.ends_with(".hlsl")) {
        options["language"] = "hlsl";
        rest.remove_suffix(5);
    } else if (rest.ends_with(".glsl")) {
        rest.remove_suffix(5);
    }
    for (const Ending &known : kEndings) {
        if (rest.ends_with(known.ending)) options[known.option] = known.value;
    }
    return options;
}

}  // namespace cairn::convert
