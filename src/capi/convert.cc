// The calls of cairn_convert.h: the cache `conversions`, and the program that fills it.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_control.h>
#include <cairn/cairn_convert.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "cache/conversion_worker.h"
#include "cache/program_key.h"
#include "capi/cache_handle.h"
#include "os/environment.h"
#include "os/helper_process.h"

using namespace cairn;

namespace {

// The numbers are part of every stored key: they are never reused for something else.
enum Tag : std::uint32_t { tag_id = 1, tag_version = 2, tag_option = 3, tag_input = 5 };
using Key = std::array<std::byte, CAIRN_PROGRAM_KEY_SIZE>;

constexpr const char *kIdentifier = "conversions";
constexpr std::uint64_t kLayout = 1;  // raised when entries of an older one would be misread
constexpr const char *kDescriptionFileName = "converters";
constexpr std::size_t kDescriptionMax = 65536;
constexpr const char *kAbout =
    "Converted shaders (cairn_convert, `cairn convert`)\n"
    "The keys hold converter, version, options and input; docs/convert.md has the entries.\n";
constexpr const char *kSwitchedOff =
    "conversions are switched off; `cairn control --kind conversions --enable` switches them on";
constexpr std::size_t kOptionsSizeMin = sizeof(cairn_converter_options);
constexpr std::size_t kConversionSizeMin = sizeof(cairn_conversion);
constexpr std::size_t kNameSizeMax = 256;  // of converters, of options and of their values
constexpr std::uint64_t kMillisecond = 1'000'000;

struct CloseCache {
    void operator()(cairn_cache *cache) const { cairn_close(cache); }
};
struct CloseControl {
    void operator()(cairn_control *control) const { cairn_control_close(control); }
};

std::string default_program() {
    if (auto named = environment_variable(CAIRN_CONVERT_ENV)) return *named;
    const std::string code = path_of_this_code();
    return code.substr(0, code.rfind('/') + 1) + CAIRN_CONVERT_FROM_LIB;
}

}  // namespace

struct cairn_converter {
    cairn_converter(const cairn_converter_options &options, const std::string &named)
        : log(options.log, options.log_user),
          worker(canonical_path(named)),
          timeout_ms(options.timeout_ms != 0 ? options.timeout_ms
                                             : CAIRN_CONVERT_TIMEOUT_MS_DEFAULT),
          memory_bytes(options.process_bytes != 0 ? options.process_bytes
                                                  : CAIRN_CONVERT_MEMORY_BYTES_DEFAULT) {}

    // Constant after open.
    const Log log;
    const ConversionWorker worker;
    const std::uint64_t timeout_ms, memory_bytes;
    std::unique_ptr<cairn_control, CloseControl> control;
    std::unique_ptr<cairn_cache, CloseCache> cache;  // null: nothing is kept
    Directory directory;                             // of the cache

    Mutex mutex;  // held while the worker is asked what it has
    std::optional<WorkerDescription> description GUARDED_BY(mutex);
};

namespace {

void open_cache(cairn_converter &handle, const cairn_converter_options &options) {
    cairn_control_options control = {};
    control.size = sizeof control;
    std::string root;
    if (find_root(options.root, root) == CAIRN_OK) control.root = root.c_str();
    cairn_control *opened_control = nullptr;
    (void)cairn_control_open(&control, &opened_control);
    handle.control.reset(opened_control);

    cairn_options cache = {};
    cache.size = sizeof cache;
    cache.root = options.root;
    cache.identifier = kIdentifier;
    cache.version = kLayout;
    cache.about = kAbout;
    cache.limit_bytes = options.limit_bytes;
    cache.memory_bytes = CAIRN_NONE;
    cache.log = options.log;
    cache.log_user = options.log_user;
    cairn_cache *opened = nullptr;
    if (const int result = cairn_open(&cache, &opened); result != CAIRN_OK) {
        handle.log.write(Severity::warning, "conversions are not kept: %s",
                         cairn_result_string(result));
        return;
    }
    handle.cache.reset(opened);
    if (auto directory = Directory::open(root + "/" + kIdentifier); directory.ok()) {
        handle.directory = std::move(directory.value());
    }
}

bool is_on(const cairn_converter &handle) {
    return handle.cache != nullptr &&
           (cairn_control_disabled(handle.control.get()) & CAIRN_KIND_CONVERSIONS) == 0;
}

// What a process before this one noted, so that a hit starts none.
std::optional<WorkerDescription> noted_description(const cairn_converter &handle) {
    if (!is_on(handle) || !handle.directory.valid()) return std::nullopt;
    const auto file = handle.directory.open_file(kDescriptionFileName, Access::read_only);
    if (!file.ok()) return std::nullopt;
    std::string text(kDescriptionMax, '\0');
    const auto size = file->read_at(0, {reinterpret_cast<std::byte *>(text.data()), text.size()});
    if (!size.ok()) return std::nullopt;
    text.resize(size.value());
    WorkerDescription description(std::move(text));
    if (!description.is_current(handle.worker.program())) return std::nullopt;
    return description;
}

Result<WorkerDescription> describe(cairn_converter &handle, std::uint64_t deadline_ns) {
    const MutexLock lock(handle.mutex);
    if (handle.description && handle.description->is_current(handle.worker.program())) {
        return *handle.description;
    }
    handle.description = noted_description(handle);
    if (!handle.description) {
        TRY_ASSIGN(handle.description, handle.worker.describe(deadline_ns));
        if (is_on(handle) && handle.directory.valid()) {
            (void)handle.directory.replace_file(kDescriptionFileName,
                                                as_bytes(handle.description->text()));
        }
    }
    return *handle.description;
}

int code_of_worker(const cairn_converter &handle, Error error) {
    if (error == Error::busy) return CAIRN_LATE;
    if (error == Error::no_memory) return CAIRN_ERROR_NO_MEMORY;
    const bool is_missing = error == Error::not_found || error == Error::denied;
    handle.log.write(Severity::error, "nothing is converted: %s %s",
                     handle.worker.program().c_str(),
                     is_missing ? "is not installed" : "does not work");
    return is_missing ? CAIRN_ERROR_UNSUPPORTED : CAIRN_ERROR_IO;
}

// NAME=VALUE, sorted; nothing where one is not possible.
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
        const bool is_possible = !name.empty() && name.find('=') == name.npos &&
                                 name.size() <= kNameSizeMax && value.size() <= kNameSizeMax &&
                                 std::find(names.begin(), names.end(), name) == names.end();
        if (!is_possible) return std::nullopt;
        names.push_back(name);
        options.push_back(std::string(name).append("=").append(value));
    }
    std::sort(options.begin(), options.end());
    return options;
}

bool read_request(const cairn_conversion &conversion, ConversionWorker::Request &request) {
    if (conversion.size < kConversionSizeMin || conversion.flags != 0 ||
        (conversion.input == nullptr && conversion.input_size != 0) ||
        conversion.converter == nullptr) {
        return false;
    }
    request.input = bytes(conversion.input, conversion.input_size);
    request.converter = conversion.converter;
    auto options = read_options(conversion);
    if (options) request.options = std::move(*options);
    return options.has_value() && request.converter.size() <= kNameSizeMax;
}

Key key_of(const ConversionWorker::Request &request, std::string_view version) {
    ProgramKey key("conversion/2");
    key.add(tag_id, as_bytes(request.converter));
    key.add(tag_version, as_bytes(version));
    for (const std::string &option : request.options) key.add(tag_option, as_bytes(option));
    key.add(tag_input, request.input);
    return key.finish();
}

struct Results {
    cairn_blob **output;
    cairn_blob **messages;
};

bool give(Bytes content, cairn_blob **blob) {
    if (blob == nullptr) return true;
    *blob = to_handle(Blob::copy({}, content, 0));
    return *blob != nullptr;
}

void take_back(const Results &results) {
    for (cairn_blob **blob : {results.output, results.messages}) {
        if (blob == nullptr) continue;
        cairn_blob_free(*blob);
        *blob = nullptr;
    }
}

int give_entry(const ConversionEntry &entry, int result, const Results &results) {
    if (!give(entry.messages, results.messages)) return CAIRN_ERROR_NO_MEMORY;
    if (result != CAIRN_OK || give(entry.output, results.output)) return result;
    return CAIRN_ERROR_NO_MEMORY;
}

// CAIRN_MISS, also for what is no entry.
int look_up(const cairn_converter &handle, const Key &key, const Results &results) {
    cairn_blob *found = nullptr;
    if (cairn_get(handle.cache.get(), key.data(), key.size(), &found) != CAIRN_OK) {
        return CAIRN_MISS;
    }
    const BlobRef blob = BlobRef::adopt(from_handle(found));
    const auto entry = decode_conversion(blob->value());
    return entry ? give_entry(*entry, CAIRN_OK, results) : CAIRN_MISS;
}

int code_of_outcome(ConversionWorker::Answer::Outcome outcome) {
    switch (outcome) {
        case ConversionWorker::Answer::converted:
            return CAIRN_OK;
        case ConversionWorker::Answer::refused:
            return CAIRN_NOT_CONVERTED;
        case ConversionWorker::Answer::no_converter:
            return CAIRN_ERROR_UNSUPPORTED;
        case ConversionWorker::Answer::option:
            return CAIRN_ERROR_INVALID_ARGUMENT;
    }
    return CAIRN_ERROR_IO;
}

bool store(const cairn_converter &handle, const Key &key, Bytes entry, std::uint64_t cost_ns) {
    // It may have been switched off meanwhile.
    if (!is_on(handle)) return false;
    cairn_put_options options = {};
    options.size = sizeof options;
    options.cost_us =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(cost_ns / 1000, UINT32_MAX));
    return cairn_put(handle.cache.get(), key.data(), key.size(), entry.data(), entry.size(),
                     &options) == CAIRN_OK;
}

int make(const cairn_converter &handle, const ConversionWorker::Request &request,
         std::uint64_t deadline_ns, std::uint32_t &source, const Results &results) {
    const std::uint64_t begin = monotonic_ns();
    const auto answer = handle.worker.convert(request, deadline_ns);
    if (!answer.ok()) return code_of_worker(handle, answer.error());
    const Bytes whole = answer->entry->value();
    const auto entry = decode_conversion(whole);
    if (!entry) return CAIRN_ERROR_IO;
    const int result = give_entry(*entry, code_of_outcome(answer->outcome), results);
    if (result != CAIRN_OK) return result;
    // The version is that of the converter that ran: another one may have been installed since it
    // was described.
    const Key key = key_of(request, answer->version);
    source = store(handle, key, whole, monotonic_ns() - begin) ? CAIRN_CONVERSION_KEPT
                                                               : CAIRN_CONVERSION_MADE;
    return CAIRN_OK;
}

int convert(cairn_converter &handle, cairn_conversion &conversion, const Results &results) {
    ConversionWorker::Request request;
    if (!read_request(conversion, request)) return CAIRN_ERROR_INVALID_ARGUMENT;
    if (request.input.size() > CAIRN_CONVERT_INPUT_SIZE_MAX) return CAIRN_ERROR_TOO_LARGE;
    request.timeout_ms = handle.timeout_ms;
    request.memory_bytes = handle.memory_bytes;
    const std::uint64_t deadline = monotonic_ns() + handle.timeout_ms * kMillisecond;
    if (is_on(handle)) {
        const auto description = describe(handle, deadline);
        if (!description.ok()) return code_of_worker(handle, description.error());
        if (const auto version = description->version_of(request.converter)) {
            const int found = look_up(handle, key_of(request, *version), results);
            if (found == CAIRN_OK) conversion.source = CAIRN_CONVERSION_CACHED;
            if (found != CAIRN_MISS) return found;
        }
    }
    return make(handle, request, deadline, conversion.source, results);
}

}  // namespace

int cairn_converter_open(const cairn_converter_options *options, cairn_converter **converter) {
    if (converter == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
    *converter = nullptr;
    if (options == nullptr || options->size < kOptionsSizeMin || options->flags != 0) {
        return CAIRN_ERROR_INVALID_ARGUMENT;
    }
    return result_of([&]() -> int {
        const std::string program =
            options->program != nullptr ? options->program : default_program();
        if (program.empty() || program[0] != '/') return CAIRN_ERROR_INVALID_ARGUMENT;
        auto handle = std::make_unique<cairn_converter>(*options, program);
        open_cache(*handle, *options);
        if (handle->cache != nullptr && !is_on(*handle)) {
            handle->log.write(Severity::warning, "%s", kSwitchedOff);
        }
        *converter = handle.release();
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
    const Results results = {output, messages};
    const int result = result_of([&] { return convert(*converter, *conversion, results); });
    if (result == CAIRN_ERROR_NO_MEMORY) take_back(results);
    return result;
}

int cairn_converter_describe(cairn_converter *converter, cairn_blob **text) {
    if (text != nullptr) *text = nullptr;
    if (converter == nullptr || text == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
    return result_of([&]() -> int {
        const auto description =
            describe(*converter, monotonic_ns() + converter->timeout_ms * kMillisecond);
        if (!description.ok()) return code_of_worker(*converter, description.error());
        return give(as_bytes(description->text()), text) ? CAIRN_OK : CAIRN_ERROR_NO_MEMORY;
    });
}
