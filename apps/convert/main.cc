// SPDX-License-Identifier: MIT
// The program cairn-convert: what `cairn convert` starts, and what converts for cairn_convert.h.
#include <cairn/cairn_convert.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "caches.h"
#include "command.h"
#include "conversions/converter.h"
#include "named_file.h"
#include "output.h"

namespace cairn::convert {
namespace {

using cli::Failure;
using cli::kExitFailure;
using cli::kExitUsage;
using cli::Words;
using conversions::ShaderConverter;

constexpr const char *kFooter =
    R"(INPUT and OUTPUT are files; - is standard input or output. Without --converter the input decides: SPIR-V goes to
spirv-cross, DXBC to vkd3d-shader, and text to glslang. Of x.frag, x.frag.hlsl and the like, the name gives stage and
language; --option goes before that. The messages of the converter go to standard error.

The second conversion with the same converter, options and input comes from the cache `conversions`.

Examples:
  cairn convert sky.frag sky.spv
  cairn convert -O version=310 -O es=yes sky.spv sky.glsl
  cairn convert -O stage=vertex -O entry=Main water.hlsl water.spv
  cairn convert --list

Exit codes: 0 converted, 1 the converter refused the input, or a file could not be used, 2 wrong usage.)";

struct Arguments {
    std::string converter;
    Words options;
    std::string input;
    std::string output;
    bool list = false;
    bool verbose = false;
};

void list_converters() {
    if (conversions::converters().empty()) {
        cli::print_line("This cairn was built without any converter.");
    }
    for (const ShaderConverter *converter : conversions::converters()) {
        cli::print_line("{}: {}, version {}", converter->id, converter->about,
                        converter->version());
        for (const conversions::OptionRule &rule : converter->rules) {
            const std::string values = rule.values.empty()
                                           ? rule.any_default + ", or any other identifier"
                                           : conversions::joined(rule.values, ", ");
            cli::print_line("    {}: {} ({})", rule.name, rule.about, values);
        }
    }
}

// At most as much as the library converts.
std::string read_shader(const std::string &name) {
    cli::InputFile file(name);
    std::string text;
    while (file.append_to(text)) {
        if (text.size() > CAIRN_CONVERT_INPUT_SIZE_MAX) {
            throw Failure(kExitFailure, "{} is larger than a shader may be ({} MiB)", file.name(),
                          CAIRN_CONVERT_INPUT_SIZE_MAX >> 20);
        }
    }
    return text;
}

// The converter for such an input: SPIR-V and DXBC are known by their first bytes, all else is
// text.
std::string_view converter_for(std::string_view input) {
    if (input.starts_with("DXBC")) return "vkd3d-shader";
    const bool is_spirv = input.starts_with(std::string_view("\x03\x02\x23\x07", 4)) ||
                          input.starts_with(std::string_view("\x07\x23\x02\x03", 4));
    return is_spirv ? "spirv-cross" : "glslang";
}

const ShaderConverter &choose(const Arguments &arguments, std::string_view input) {
    const std::string id =
        arguments.converter.empty() ? std::string(converter_for(input)) : arguments.converter;
    const ShaderConverter *converter = conversions::find_converter(id);
    if (converter == nullptr) {
        const bool is_asked = !arguments.converter.empty();
        throw Failure(is_asked ? kExitUsage : kExitFailure,
                      fmt::format("this cairn has no converter `{}`; `cairn convert --list` shows "
                                  "which it has",
                                  id));
    }
    return *converter;
}

// Options that follow from a file's name, such as stage=fragment from `x.frag`, as far as the
// converter has them.
conversions::Options options_from_name(const conversions::ShaderConverter &converter,
                                       const std::string &name) {
    constexpr std::pair<std::string_view, const char *> kStages[] = {
        {".vert", "vertex"},   {".tesc", "tess-control"}, {".tese", "tess-evaluation"},
        {".geom", "geometry"}, {".frag", "fragment"},     {".comp", "compute"},
    };
    conversions::Options options;
    if (converter.id != "glslang") return options;
    std::string_view rest = name;
    const bool is_hlsl = rest.ends_with(".hlsl");
    if (is_hlsl) options["language"] = "hlsl";
    if (is_hlsl || rest.ends_with(".glsl")) rest.remove_suffix(5);
    for (const auto &[ending, stage] : kStages) {
        if (rest.ends_with(ending)) options["stage"] = stage;
    }
    return options;
}

conversions::Options options_of(const Arguments &arguments, const ShaderConverter &converter) {
    conversions::Options options = options_from_name(converter, arguments.input);
    for (const std::string &text : arguments.options) {
        const size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0) {
            throw Failure(kExitUsage, "write --option NAME=VALUE, not `{}`", text);
        }
        options[text.substr(0, equals)] = text.substr(equals + 1);
    }
    std::string problem;
    conversions::Options completed = options;
    if (!conversions::complete_options(converter, completed, problem)) {
        throw Failure(kExitUsage, problem);
    }
    return options;
}

const char *source_text(uint32_t source) {
    if (source == CAIRN_CONVERSION_CACHED) return "from the cache";
    return source == CAIRN_CONVERSION_KEPT ? "converted, and kept" : "converted, and not kept";
}

using ConverterHandle = std::unique_ptr<cairn_converter, decltype(&cairn_converter_close)>;
using BlobHandle = std::unique_ptr<cairn_blob, decltype(&cairn_blob_free)>;

std::string_view text_of(const BlobHandle &blob) {
    return {static_cast<const char *>(cairn_blob_data(blob.get())), cairn_blob_size(blob.get())};
}

// This program does the work, too.
ConverterHandle open_converter(const std::string &root, cli::CacheLog &log) {
    std::error_code error;  // without a path, opening says what is wrong
    const std::string program = std::filesystem::canonical("/proc/self/exe", error).string();
    cairn_converter_options options = {};
    options.size = sizeof options;
    options.root = root.c_str();
    options.program = program.c_str();
    options.log = cli::keep_first_line;
    options.log_user = &log;
    cairn_converter *converter = nullptr;
    if (const int result = cairn_converter_open(&options, &converter); result != CAIRN_OK) {
        throw Failure(kExitFailure, "cannot convert: {}", cairn_result_string(result));
    }
    return {converter, cairn_converter_close};
}

void convert(const Arguments &arguments) {
    const std::string input = read_shader(arguments.input);
    const ShaderConverter &chosen = choose(arguments, input);
    const std::string id(chosen.id);
    std::vector<cairn_conversion_option> options;
    const conversions::Options given = options_of(arguments, chosen);
    for (const auto &[name, value] : given) options.push_back({name.c_str(), value.c_str()});
    cli::OutputFile file(arguments.output);
    cli::CacheLog log;
    const auto converter = open_converter(cli::resolve_root(), log);
    if (const std::string problem = cli::first_line(log); !problem.empty()) {
        cli::complain("not cached: {}", problem);
    }
    cairn_conversion conversion = {};
    conversion.size = sizeof conversion;
    conversion.converter = id.c_str();
    conversion.options = options.data();
    conversion.option_count = options.size();
    conversion.input = input.data();
    conversion.input_size = input.size();
    cairn_blob *made = nullptr;
    cairn_blob *said = nullptr;
    const int result = cairn_convert(converter.get(), &conversion, &made, &said);
    const BlobHandle output(made, cairn_blob_free), messages(said, cairn_blob_free);
    // Text of a shader may be among it.
    cli::pass_on(text_of(messages));
    if (result != CAIRN_OK) {
        throw Failure(kExitFailure,
                      result == CAIRN_NOT_CONVERTED
                          ? fmt::format("{} does not convert {}", id, arguments.input)
                          : fmt::format("{} cannot convert {}: {}", id, arguments.input,
                                        cairn_result_string(result)));
    }
    file.write(text_of(output));
    if (arguments.verbose) {
        cli::complain("{}: {} by {}", arguments.output, source_text(conversion.source), id);
    }
}

cli::Run define(cli::Arguments &take) {
    auto arguments = std::make_shared<Arguments>();
    take.value("INPUT", arguments->input, "The shader");
    take.value("OUTPUT", arguments->output, "What it is converted to");
    take.value("--converter", arguments->converter, "glslang, spirv-cross or vkd3d-shader", "ID");
    take.values("-O,--option", arguments->options,
                "An option of the converter; may be given more than once", "NAME=VALUE");
    take.flag("--list", arguments->list, "The converters, their versions and options");
    take.flag("-v,--verbose", arguments->verbose, "Say where the output came from");
    take.dir();
    return [arguments] {
        if (arguments->list) {
            list_converters();
        } else if (arguments->input.empty() || arguments->output.empty()) {
            throw Failure(kExitUsage,
                          "name the shader and the file to write; for example: cairn "
                          "convert sky.frag sky.spv");
        } else {
            convert(*arguments);
        }
        return cli::kExitOk;
    };
}

constexpr cli::Command kConvert = {
    "cairn convert", "Converts a shader into another language, once.", kFooter, define};

}  // namespace
}  // namespace cairn::convert

int main(int argc, char **argv) {
    using namespace cairn;
    struct stat output = {};
    if (fstat(STDOUT_FILENO, &output) == 0 && S_ISSOCK(output.st_mode)) {
        if (const auto code = conversions::run_worker(conversions::converters(), argc, argv)) {
            return *code;
        }
    }
    return cli::run_main(argc, argv, [](const cli::Words &words) {
        return cli::run_only_command(convert::kConvert, words);
    });
}
