// SPDX-License-Identifier: MIT
#include "os/text_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace cairn {
namespace {

Result<std::string> read_text(const File &file, std::size_t size_max) {
    TRY_ASSIGN(const FileInfo info, file.info());
    // Files of the process file system say that they are empty.
    const auto size_now =
        static_cast<std::size_t>(std::min<std::uint64_t>(info.size_bytes, size_max));
    std::string text(size_now == 0 ? size_max : size_now, '\0');
    TRY_ASSIGN(const std::size_t size,
               file.read_at(0, {reinterpret_cast<std::byte *>(text.data()), text.size()}));
    text.resize(size);
    return text;
}

}  // namespace

Result<std::string> read_text_file(const std::string &path, std::size_t size_max) {
    TRY_ASSIGN(const File file, File::open_configuration(path));
    return read_text(file, size_max);
}

Result<std::string> read_text_file(const Directory &directory, const std::string &name,
                                   std::size_t size_max) {
    TRY_ASSIGN(const File file, directory.open_file(name, Access::read_only));
    return read_text(file, size_max);
}

std::vector<std::string> paths_in(const std::string &directory, std::string_view ending) {
    std::vector<std::string> paths;
    const auto opened = Directory::open(directory + "/.");  // also where it is a link
    if (!opened.ok()) return paths;
    (void)opened->list([&](const char *name) {
        if (std::string_view(name).ends_with(ending)) paths.push_back(directory + "/" + name);
    });
    std::sort(paths.begin(), paths.end());
    return paths;
}

void append_to_file(const std::string &path, std::string_view text) {
    const UniqueFd fd(
        ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (fd.valid()) (void)!::write(fd.get(), text.data(), text.size());
}

void write_to_standard_error(std::string_view text) {
    (void)!::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace cairn
