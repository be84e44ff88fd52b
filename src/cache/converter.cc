// SPDX-License-Identifier: MIT
#include "cache/converter.h"

#include <algorithm>
#include <array>

#include "cache/disk_cache.h"
#include "cache/program_key.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/helper_process.h"
#include "os/text_file.h"

namespace cairn {
namespace {

// The numbers are part of every stored key: they are never reused for something else.
enum Tag : std::uint32_t { tag_id = 1, tag_version = 2, tag_option = 3, tag_input = 5 };

constexpr const char *kIdentifier = "conversions";
constexpr std::uint64_t kLayout = 1;  // raised when entries of an older one would be misread
constexpr const char *kDescriptionFileName = "converters";
constexpr std::size_t kDescriptionMax = 65536;
constexpr const char *kAbout =
    "Converted shaders (cairn_convert, `cairn convert`)\n"
    "The keys hold converter, version, options and input; docs/convert.md has the entries.\n";
constexpr const char *kSwitchedOff =
    "conversions are switched off; `cairn control --kind conversions --enable` switches them on";

std::array<std::byte, 32> key_of(const ConversionWorker::Request &request,
                                 std::string_view version) {
    ProgramKey key("conversion/2");
    key.add(tag_id, as_bytes(request.converter));
    key.add(tag_version, as_bytes(version));
    for (const std::string &option : request.options) key.add(tag_option, as_bytes(option));
    key.add(tag_input, request.input);
    return key.finish();
}

constexpr std::size_t kVersionMax = 1024;
constexpr std::size_t kMessagesMax = 65536;
constexpr std::size_t kOutputMax = 64u << 20;
constexpr std::size_t kAnswerHeadSize = 20;
constexpr std::uint32_t kAnswerMagic = 0x31414E43;  // "CNA1"
constexpr std::size_t kEntryHeadSize = 8;
constexpr std::uint32_t kEntryMagic = 0x31564E43;  // "CNV1"

// Takes off the text all up to and with the first `end`, and returns it without the `end`.
std::string_view take(std::string_view &text, char end) {
    const std::size_t size = std::min(text.find(end), text.size());
    const std::string_view taken = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    return taken;
}

// The line of a file, as the worker writes it.
std::optional<std::string> line_of(const std::string &path) {
    const auto file = File::open_configuration(path);
    const auto info = file.ok() ? file->info() : Result<FileInfo>(file.error());
    if (!info.ok()) return std::nullopt;
    return path + "\t" + std::to_string(info->device) + "\t" + std::to_string(info->inode) + "\t" +
           std::to_string(info->size_bytes) + "\t" + std::to_string(info->modified_ns);
}

}  // namespace

std::optional<std::string> WorkerDescription::version_of(std::string_view converter) const {
    std::string_view left = text_;
    while (!left.empty()) {
        std::string_view line = take(left, '\n');
        if (take(line, '\t') != "converter" || take(line, '\t') != converter) continue;
        return std::string(take(line, '\t'));
    }
    return std::nullopt;
}

bool WorkerDescription::is_current(const std::string &program) const {
    bool names_program = false;
    std::string_view left = text_;
    while (!left.empty()) {
        std::string_view line = take(left, '\n');
        if (take(line, '\t') != "file") continue;
        const std::string_view whole = line;
        const std::string path(take(line, '\t'));
        if (path.empty() || path[0] != '/' || line_of(path) != whole) return false;
        names_program = names_program || path == program;
    }
    return names_program;
}

std::optional<ConversionEntry> decode_conversion(Bytes entry) {
    if (entry.size() < kEntryHeadSize || get_le<std::uint32_t>(entry, 0) != kEntryMagic) {
        return std::nullopt;
    }
    const auto messages_size = get_le<std::uint32_t>(entry, 4);
    const Bytes rest = entry.subspan(kEntryHeadSize);
    if (messages_size > rest.size()) return std::nullopt;
    return ConversionEntry{rest.first(messages_size), rest.subspan(messages_size)};
}

Result<WorkerDescription> ConversionWorker::describe(std::uint64_t deadline_ns) const {
    TRY_ASSIGN(const HelperProcess process, HelperProcess::start(program_, {"--describe"}));
    TRY(process.end_input());
    std::string text(kDescriptionMax, '\0');
    const MutableBytes buffer = {reinterpret_cast<std::byte *>(text.data()), text.size()};
    TRY_ASSIGN(const std::size_t size, process.read(buffer, deadline_ns));
    text.resize(size);
    WorkerDescription description(std::move(text));
    // Cut, or of a program that is something else.
    if (!description.is_current(program_)) return Error::io;
    return description;
}

Result<ConversionWorker::Answer> ConversionWorker::convert(const Request &request,
                                                           std::uint64_t deadline_ns) const {
    std::vector<std::string> arguments = {"--convert", request.converter,
                                          std::to_string(request.timeout_ms / 1000 + 1),
                                          std::to_string(request.memory_bytes)};
    arguments.insert(arguments.end(), request.options.begin(), request.options.end());
    TRY_ASSIGN(const HelperProcess process, HelperProcess::start(program_, arguments));
    // A worker that does not know the converter answers without reading.
    const Status written = process.write(request.input, deadline_ns);
    if (!written.ok() && written.error() != Error::io) return written.error();
    if (written.ok()) TRY(process.end_input());

    std::array<std::byte, kAnswerHeadSize> head;
    TRY_ASSIGN(const std::size_t head_size, process.read(head, deadline_ns));
    if (head_size < head.size() || get_le<std::uint32_t>(head, 0) != kAnswerMagic) return Error::io;
    const auto outcome = get_le<std::uint32_t>(head, 4);
    const std::size_t version_size = get_le<std::uint32_t>(head, 8);
    const std::size_t messages_size = get_le<std::uint32_t>(head, 12);
    const std::size_t output_size = get_le<std::uint32_t>(head, 16);
    if (outcome > Answer::option || version_size > kVersionMax || messages_size > kMessagesMax ||
        output_size > kOutputMax) {
        return Error::io;
    }
    Answer answer = {static_cast<Answer::Outcome>(outcome), std::string(version_size, '\0'), {}};
    const MutableBytes version = {reinterpret_cast<std::byte *>(answer.version.data()),
                                  version_size};
    const std::size_t entry_size = kEntryHeadSize + messages_size + output_size;
    answer.entry = Blob::allocate(entry_size);
    if (!answer.entry) return Error::no_memory;
    const MutableBytes entry = answer.entry->buffer().first(entry_size);
    put_le(entry, 0, kEntryMagic);
    put_le(entry, 4, static_cast<std::uint32_t>(messages_size));
    answer.entry->describe(0, 0, 0, entry_size, 0);
    TRY_ASSIGN(const std::size_t version_read, process.read(version, deadline_ns));
    TRY_ASSIGN(const std::size_t rest_read,
               process.read(entry.subspan(kEntryHeadSize), deadline_ns));
    const bool is_whole = version_read == version_size && rest_read == messages_size + output_size;
    if (!is_whole) return Error::io;
    return answer;
}

Converter::Converter(const Options &options)
    : log_(options.log),
      worker_(canonical_path(options.program)),
      timeout_ms_(options.timeout_ms),
      process_bytes_(options.process_bytes),
      control_(options.root, Create::yes, Log()) {
    StoreOptions store;
    store.root = options.root;
    store.identifier = kIdentifier;
    store.version = kLayout;
    store.about = kAbout;
    store.limit_bytes = options.limit_bytes;
    store.log = options.log;
    auto cache = options.root.empty() ? Error::denied : DiskCache::open(store);
    if (!cache.ok()) {
        log_.write(Severity::warning, "conversions are not kept: %s", error_name(cache.error()));
        return;
    }
    cache_ = std::move(cache.value());
    if (auto directory = Directory::open(options.root + "/" + kIdentifier); directory.ok()) {
        directory_ = std::move(directory.value());
    }
    if (!is_on()) log_.write(Severity::warning, "%s", kSwitchedOff);
}

bool Converter::is_on() const {
    return cache_ != nullptr && (control_.disabled() & kind_conversions) == 0;
}

// The note of an earlier process, so that a hit starts none.
std::optional<WorkerDescription> Converter::noted_description() const {
    if (!is_on() || !directory_.valid()) return std::nullopt;
    auto text = read_text_file(directory_, kDescriptionFileName, kDescriptionMax);
    if (!text.ok()) return std::nullopt;
    WorkerDescription description(std::move(*text));
    if (!description.is_current(worker_.program())) return std::nullopt;
    return description;
}

Result<WorkerDescription> Converter::find_description(Deadline deadline) {
    const MutexLock lock(mutex_);
    if (description_ && description_->is_current(worker_.program())) return *description_;
    description_ = noted_description();
    if (description_) return *description_;
    auto described = worker_.describe(deadline.ns());
    if (!described.ok()) return error_of_worker(described.error());
    description_ = std::move(described.value());
    if (is_on() && directory_.valid()) {
        (void)directory_.replace_file(kDescriptionFileName, as_bytes(description_->text()));
    }
    return *description_;
}

Error Converter::error_of_worker(Error error) const {
    if (error == Error::busy || error == Error::no_memory) return error;
    const bool is_missing = error == Error::not_found || error == Error::denied;
    log_.write(Severity::error, "nothing is converted: %s %s", worker_.program().c_str(),
               is_missing ? "is not installed" : "does not work");
    return is_missing ? Error::unsupported : Error::io;
}

// Bytes that are no entry are a miss.
std::optional<Converter::Conversion> Converter::look_up(const Key &key) const {
    auto found = cache_->get(key);
    if (!found.ok() || !*found) return std::nullopt;
    const auto entry = decode_conversion((*found)->value());
    if (!entry) return std::nullopt;
    return Conversion{ConversionWorker::Answer::converted, Source::cached, std::move(*found),
                      *entry};
}

bool Converter::store(const Key &key, Bytes entry, std::uint64_t cost_ns) const {
    // It may have been switched off meanwhile.
    if (!is_on()) return false;
    PutOptions options;
    options.cost_us =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(cost_ns / 1000, UINT32_MAX));
    return cache_->put(key, entry, options).ok();
}

Result<Converter::Conversion> Converter::make(const ConversionWorker::Request &request,
                                              Deadline deadline) const {
    const std::uint64_t begin = monotonic_ns();
    auto answer = worker_.convert(request, deadline.ns());
    if (!answer.ok()) return error_of_worker(answer.error());
    const auto entry = decode_conversion(answer->entry->value());
    if (!entry) return Error::io;
    Conversion made = {answer->outcome, Source::made, std::move(answer->entry), *entry};
    if (made.outcome != ConversionWorker::Answer::converted) return made;
    // The version is that of the converter that ran: another one may have been installed since it
    // was described.
    const Key key = key_of(request, answer->version);
    if (store(key, made.blob->value(), monotonic_ns() - begin)) made.source = Source::kept;
    return made;
}

Result<Converter::Conversion> Converter::convert(const std::string &converter,
                                                 std::vector<std::string> options, Bytes input) {
    const Deadline deadline = Deadline::in_ms(timeout_ms_);
    std::sort(options.begin(), options.end());  // of one conversion there is one key
    const ConversionWorker::Request request = {converter, std::move(options), input, timeout_ms_,
                                               process_bytes_};
    if (is_on()) {
        TRY_ASSIGN(const WorkerDescription description, find_description(deadline));
        if (const auto version = description.version_of(request.converter)) {
            if (auto found = look_up(key_of(request, *version))) return std::move(*found);
        }
    }
    return make(request, deadline);
}

Result<std::string> Converter::describe() {
    TRY_ASSIGN(const WorkerDescription description, find_description(Deadline::in_ms(timeout_ms_)));
    return description.text();
}

}  // namespace cairn
