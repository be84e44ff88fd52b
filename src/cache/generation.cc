// SPDX-License-Identifier: MIT
#include "cache/generation.h"

#include <array>

#include "cache/program_key.h"
#include "os/environment.h"
#include "store/root.h"

namespace cairn {
namespace {

// An hour more or less makes no difference, and a write less does.
constexpr std::uint64_t kTouchEachNs = 3600'000'000'000u;

// What is being written bears this name: nobody reads half of it.
std::string temporary_name() {
    return kGenerationFileName + std::string("-") + std::to_string(process_number()) + ".tmp";
}

bool says(const File &file, const std::string &text) {
    std::string found(text.size() + 1, '\0');
    const auto size = file.read_at(0, std::as_writable_bytes(std::span(found)));
    return size.ok() && size.value() == text.size() && found.compare(0, text.size(), text) == 0;
}

Status write(const Directory &directory, const std::string &text) {
    const std::string temporary = temporary_name();
    (void)directory.remove_file(temporary);
    TRY_ASSIGN(const File file, directory.create_file(temporary));
    Status status = file.write_whole(as_bytes(text));
    if (status.ok()) status = directory.rename(temporary, kGenerationFileName);
    if (!status.ok()) (void)directory.remove_file(temporary);
    return status;
}

}  // namespace

bool valid_application(const std::string &application) {
    return application.size() <= 64 && valid_identifier(application);
}

std::string identifier_of(const Generation &generation) {
    ProgramKey key("generation/1");
    key.add(1, as_bytes(generation.application));
    key.add(2, as_bytes(generation.build));
    key.add(3, as_bytes(generation.identity));
    const auto hash = key.finish();
    std::string identifier = generation.application + "-";
    constexpr const char *kDigits = "0123456789abcdef";
    for (std::size_t i = 0; i < 8; ++i) {
        identifier.push_back(kDigits[static_cast<unsigned>(hash[i]) >> 4]);
        identifier.push_back(kDigits[static_cast<unsigned>(hash[i]) & 15]);
    }
    return identifier;
}

std::string describe(const Generation &generation) {
    return "Cairn generation\napplication: " + generation.application +
           "\nbuild: " + generation.build + "\n\n" + generation.identity;
}

Result<bool> claim(const Directory &directory, const Generation &generation) {
    const std::string text = describe(generation);
    const auto file = directory.open_file(kGenerationFileName, Access::read_write);
    if (!file.ok() && file.error() == Error::not_found) {
        TRY(write(directory, text));
        return true;
    }
    if (file.ok() && says(file.value(), text)) {
        TRY_ASSIGN(const FileInfo info, file.value().info());
        const std::uint64_t now = wall_clock_ns();
        const bool is_due = info.modified_ns + kTouchEachNs < now || info.modified_ns > now;
        if (is_due) TRY(file.value().touch());
        return true;
    }
    TRY(write(directory, text));
    return false;
}

}  // namespace cairn
