// SPDX-License-Identifier: MIT
#include "command.h"

#include <cairn/cairn_convert.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "caches.h"
#include "command_line.h"
#include "conversions/converter.h"
#include "failure.h"
#include "manifest.h"
#include "output.h"
#include "output_file.h"
#include "shader_file.h"

namespace cairn::convert {
namespace {

using cli::Failure;
using cli::kExitFailure;
using cli::kExitUsage;
using conversions::Converter;

constexpr const char *kFooter =
    R"(INPUT and OUTPUT are files; - is standard input or output. Without --converter the input decides: SPIR-V goes to
spirv-cross, DXBC to vkd3d-shader, and text to glslang. Of x.frag, x.frag.hlsl and the like, the name gives stage and
language; --option goes before that. What the converter says is printed to standard error.

What was converted once, with the same converter, options and input, comes from the cache `conversions`.

Examples:
  cairn convert sky.frag sky.spv
  cairn convert -O version=310 -O es=yes sky.spv sky.glsl
  cairn convert -O stage=vertex -O entry=Main water.hlsl water.spv
  cairn convert --list

Exit codes: 0 converted, 1 the converter refused the input, or a file could not be used, 2 wrong usage.)";

struct Arguments {
    std::string dir;
    std::string converter;
    std::vector<std::string> options;
    std::string input;
    std::string output;
    bool list = false;
    bool verbose = false;
};

void list_converters() {
    if (conversions::converters().empty()) {
        cli::print_line("This cairn was built without any converter.");
    }
    for (const Converter *converter : conversions::converters()) {
        cli::print_line(fmt::format("{}: {}, version {}", converter->id(), converter->about(),
                                    converter->version()));
        for (const conversions::OptionRule &rule : converter->rules()) {
            std::string values;
            for (const std::string &value : rule.values) {
                values += (values.empty() ? "" : ", ") + value;
            }
            if (rule.values.empty()) {
                values = rule.any_default + ", or any other identifier";
            }
            cli::print_line(fmt::format("    {}: {} ({})", rule.name, rule.about, values));
        }
    }
}

const Converter &choose(const Arguments &arguments, std::string_view input) {
    const std::string id =
        arguments.converter.empty() ? std::string(converter_for(input)) : arguments.converter;
    const Converter *converter = conversions::find_converter(id);
    if (converter == nullptr) {
        const bool is_asked = !arguments.converter.empty();
        throw Failure(is_asked ? kExitUsage : kExitFailure,
                      fmt::format("this cairn has no converter `{}`; `cairn convert --list` shows "
                                  "which it has",
                                  id));
    }
    return *converter;
}

conversions::Options options_of(const Arguments &arguments, const Converter &converter) {
    conversions::Options options = options_from_name(converter, arguments.input);
    for (const std::string &text : arguments.options) {
        const size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0) {
            throw Failure(kExitUsage, fmt::format("write --option NAME=VALUE, not `{}`", text));
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
    switch (source) {
        case CAIRN_CONVERSION_CACHED:
            return "from the cache";
        case CAIRN_CONVERSION_KEPT:
            return "converted, and kept";
        default:
            return "converted, and not kept";
    }
}

struct CloseConverter {
    void operator()(cairn_converter *converter) const { cairn_converter_close(converter); }
};
struct FreeBlob {
    void operator()(cairn_blob *blob) const { cairn_blob_free(blob); }
};
using BlobHandle = std::unique_ptr<cairn_blob, FreeBlob>;

std::string_view text_of(const BlobHandle &blob) {
    return {static_cast<const char *>(cairn_blob_data(blob.get())), cairn_blob_size(blob.get())};
}

// This program does the work, too.
std::unique_ptr<cairn_converter, CloseConverter> open_converter(const std::string &root,
                                                                cli::CacheLog &log) {
    const std::string program = cli::executable_path();
    cairn_converter_options options = {};
    options.size = sizeof options;
    options.root = root.c_str();
    options.program = program.c_str();
    options.log = cli::keep_first_line;
    options.log_user = &log;
    cairn_converter *converter = nullptr;
    if (const int result = cairn_converter_open(&options, &converter); result != CAIRN_OK) {
        throw Failure(kExitFailure, fmt::format("cannot convert: {}", cairn_result_string(result)));
    }
    return std::unique_ptr<cairn_converter, CloseConverter>(converter);
}

void convert(const Arguments &arguments) {
    const std::string input = read_shader(arguments.input, CAIRN_CONVERT_INPUT_SIZE_MAX);
    const std::string id(choose(arguments, input).id());
    std::vector<cairn_conversion_option> options;
    const conversions::Options given = options_of(arguments, *conversions::find_converter(id));
    for (const auto &[name, value] : given) options.push_back({name.c_str(), value.c_str()});
    cli::OutputFile file(arguments.output);
    cli::CacheLog log;
    const auto converter = open_converter(cli::resolve_root(arguments.dir), log);
    if (const std::string problem = cli::first_line(log); !problem.empty()) {
        cli::complain(fmt::format("not cached: {}", problem));
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
    const BlobHandle output(made), messages(said);
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
        cli::complain(
            fmt::format("{}: {} by {}", arguments.output, source_text(conversion.source), id));
    }
}

}  // namespace

void add_convert_options(CLI::App &app) {
    auto arguments = std::make_shared<Arguments>();
    app.footer(kFooter);
    app.add_option("INPUT", arguments->input, "The shader")->type_name("");
    app.add_option("OUTPUT", arguments->output, "What it is converted to")->type_name("");
    app.add_option("--converter", arguments->converter, "glslang, spirv-cross or vkd3d-shader")
        ->type_name("ID");
    app.add_option("-O,--option", arguments->options,
                   "An option of the converter; may be given more than once")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    app.add_flag("--list", arguments->list, "The converters, their versions and options");
    app.add_flag("-v,--verbose", arguments->verbose, "Say where the output came from");
    cli::add_dir_option(app, arguments->dir);
    app.callback([arguments] {
        if (arguments->list) {
            list_converters();
            return;
        }
        if (arguments->input.empty() || arguments->output.empty()) {
            throw Failure(kExitUsage,
                          "name the shader and the file to write; for example: cairn "
                          "convert sky.frag sky.spv");
        }
        convert(*arguments);
    });
}

}  // namespace cairn::convert
