// SPDX-License-Identifier: MIT
#include "cache/generation.h"

#include "cache/program_key.h"
#include "os/environment.h"
#include "store/root.h"

namespace cairn {
namespace {

// An hour more or less makes no difference, and a write less does.
constexpr std::uint64_t kTouchEachNs = 3600'000'000'000u;

Result<bool> says(const File &file, const std::string &text) {
    std::string found(text.size() + 1, '\0');
    TRY_ASSIGN(const std::size_t size, file.read_at(0, std::as_writable_bytes(std::span(found))));
    return size == text.size() && found.compare(0, size, text) == 0;
}

void touch_each_hour(const File &file) {
    const auto info = file.info();
    const std::uint64_t now = wall_clock_ns();
    const bool is_recent =
        info.ok() && info->modified_ns <= now && now - info->modified_ns <= kTouchEachNs;
    if (!is_recent) (void)file.touch();
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
    return generation.application + "-" + hexadecimal(Bytes(hash).first(8));
}

std::string describe(const Generation &generation) {
    return "Cairn generation\napplication: " + generation.application +
           "\nbuild: " + generation.build + "\n\n" + generation.identity;
}

Result<bool> is_of_another(const Directory &directory, const Generation &generation) {
    const auto file = directory.open_file(kGenerationFileName, Access::read_only);
    if (file.ok()) {
        TRY_ASSIGN(const bool is_ours, says(file.value(), describe(generation)));
        return !is_ours;
    }
    if (file.error() == Error::not_found) return false;
    if (file.error() == Error::corrupt || file.error() == Error::denied) return true;
    return file.error();
}

Status claim(const Directory &directory, const Generation &generation,
             const std::function<Status()> &empty) {
    TRY_ASSIGN(const bool must_empty, is_of_another(directory, generation));
    if (must_empty) TRY(empty());
    const auto file = directory.open_file(kGenerationFileName, Access::read_write);
    if (file.ok() && !must_empty) {
        touch_each_hour(file.value());
    } else {
        if (!file.ok() && file.error() == Error::corrupt) {
            (void)directory.make_way(kGenerationFileName);
        }
        (void)directory.replace_file(kGenerationFileName, as_bytes(describe(generation)));
    }
    return {};
}

}  // namespace cairn
