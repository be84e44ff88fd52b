// The calls of cairn_convert.h.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_convert.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/converter.h"
#include "capi/cache_handle.h"
#include "os/environment.h"
#include "os/helper_process.h"

using namespace cairn;

struct cairn_converter {
    Converter converter;
};

namespace {

constexpr std::size_t kOptionsSizeMin = sizeof(cairn_converter_options);
constexpr std::size_t kConversionSizeMin = sizeof(cairn_conversion);
constexpr std::size_t kNameSizeMax = 256;  // of converters, of options and of their values

std::string default_program() {
    if (auto named = environment_variable(CAIRN_CONVERT_ENV)) return *named;
    const std::string code = path_of_this_code();
    return code.substr(0, code.rfind('/') + 1) + CAIRN_CONVERT_FROM_LIB;
}

Converter::Options to_options(const cairn_converter_options &options) {
    Converter::Options own;
    if (find_root(options.root, own.root) != CAIRN_OK) own.root.clear();
    own.program = options.program != nullptr ? options.program : default_program();
    own.limit_bytes = std::max<std::uint64_t>(
        or_default(options.limit_bytes, CAIRN_LIMIT_BYTES_DEFAULT), CAIRN_LIMIT_BYTES_MIN);
    own.timeout_ms = or_default(options.timeout_ms, CAIRN_CONVERT_TIMEOUT_MS_DEFAULT);
    own.process_bytes = or_default(options.process_bytes, CAIRN_CONVERT_MEMORY_BYTES_DEFAULT);
    own.log = Log(options.log, options.log_user);
    return own;
}

// NAME=VALUE; nothing where one is not possible.
std::optional<std::vector<std::string>> read_options(const cairn_conversion &conversion) {
    if (conversion.option_count > CAIRN_CONVERT_OPTIONS_MAX ||
        (conversion.option_count != 0 && conversion.options == nullptr)) {
        return std::nullopt;
    }
    std::vector<std::string> options;
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < conversion.option_count; ++i) {
        const cairn_conversion_option &option = conversion.options[i];
        if (option.name == nullptr || option.value == nullptr) return std::nullopt;
        const std::string_view name = option.name, value = option.value;
        const bool is_possible = !name.empty() && name.find('=') == std::string_view::npos &&
                                 name.size() <= kNameSizeMax && value.size() <= kNameSizeMax &&
                                 std::find(names.begin(), names.end(), name) == names.end();
        if (!is_possible) return std::nullopt;
        names.push_back(name);
        options.push_back(std::string(name).append("=").append(value));
    }
    return options;
}

bool is_valid(const cairn_conversion &conversion) {
    return conversion.size >= kConversionSizeMin && conversion.flags == 0 &&
           (conversion.input != nullptr || conversion.input_size == 0) &&
           conversion.converter != nullptr &&
           std::string_view(conversion.converter).size() <= kNameSizeMax;
}

int code_of_worker(Error error) {
    return error == Error::busy ? int{CAIRN_LATE} : result_code(error);
}

// By ConversionWorker::Answer::Outcome.
constexpr int kCodes[] = {CAIRN_OK, CAIRN_NOT_CONVERTED, CAIRN_ERROR_UNSUPPORTED,
                          CAIRN_ERROR_INVALID_ARGUMENT};
// By Converter::Source.
constexpr std::uint32_t kSources[] = {CAIRN_CONVERSION_CACHED, CAIRN_CONVERSION_KEPT,
                                      CAIRN_CONVERSION_MADE};

int convert(Converter &converter, cairn_conversion &conversion, cairn_blob **output,
            cairn_blob **messages) {
    auto options = read_options(conversion);
    if (!is_valid(conversion) || !options) return CAIRN_ERROR_INVALID_ARGUMENT;
    if (conversion.input_size > CAIRN_CONVERT_INPUT_SIZE_MAX) return CAIRN_ERROR_TOO_LARGE;
    const auto done = converter.convert(conversion.converter, std::move(*options),
                                        bytes(conversion.input, conversion.input_size));
    if (!done.ok()) return code_of_worker(done.error());
    const int result = kCodes[done->outcome];
    BlobRef said = Blob::copy({}, done->entry.messages, 0);
    BlobRef made = result == CAIRN_OK ? Blob::copy({}, done->entry.output, 0) : BlobRef();
    if (!said || (result == CAIRN_OK && !made)) return CAIRN_ERROR_NO_MEMORY;
    if (messages != nullptr) *messages = to_handle(std::move(said));
    if (result == CAIRN_OK) {
        *output = to_handle(std::move(made));
        conversion.source = kSources[static_cast<std::size_t>(done->source)];
    }
    return result;
}

}  // namespace

int cairn_converter_open(const cairn_converter_options *options, cairn_converter **converter) {
    if (converter == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
    *converter = nullptr;
    if (options == nullptr || options->size < kOptionsSizeMin || options->flags != 0) {
        return CAIRN_ERROR_INVALID_ARGUMENT;
    }
    return result_of([&]() -> int {
        const Converter::Options own = to_options(*options);
        if (own.program.empty() || own.program[0] != '/') return CAIRN_ERROR_INVALID_ARGUMENT;
        *converter = new cairn_converter{Converter(own)};
        return CAIRN_OK;
    });
}

void cairn_converter_close(cairn_converter *converter) {
    delete converter;
}

int cairn_convert(cairn_converter *converter, cairn_conversion *conversion, cairn_blob **output,
                  cairn_blob **messages) {
    if (output != nullptr) *output = nullptr;
    if (messages != nullptr) *messages = nullptr;
    if (converter == nullptr || conversion == nullptr || output == nullptr) {
        return CAIRN_ERROR_INVALID_ARGUMENT;
    }
    return result_of([&] { return convert(converter->converter, *conversion, output, messages); });
}

int cairn_converter_describe(cairn_converter *converter, cairn_blob **text) {
    if (text != nullptr) *text = nullptr;
    if (converter == nullptr || text == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
    return result_of([&]() -> int {
        const auto described = converter->converter.describe();
        if (!described.ok()) return code_of_worker(described.error());
        *text = to_handle(Blob::copy({}, as_bytes(described.value()), 0));
        return *text != nullptr ? CAIRN_OK : CAIRN_ERROR_NO_MEMORY;
    });
}
