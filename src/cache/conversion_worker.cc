// SPDX-License-Identifier: MIT
#include "cache/conversion_worker.h"

#include <algorithm>
#include <array>

#include "os/environment.h"
#include "os/file.h"
#include "os/helper_process.h"

namespace cairn {
namespace {

constexpr std::size_t kDescriptionMax = 65536;
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

}  // namespace cairn
