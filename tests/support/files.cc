// SPDX-License-Identifier: MIT
#include "support/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace cairn_test {
namespace fs = std::filesystem;
namespace {

class Descriptor {
  public:
    Descriptor(const std::string &path, int flags)
        : number_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    int number() const { return number_; }

  private:
    int number_;
};

void write_all(int descriptor, ByteView bytes, off_t offset) {
    while (!bytes.empty()) {
        const ssize_t done = pwrite(descriptor, bytes.data(), bytes.size(), offset);
        if (done <= 0) return;
        bytes = bytes.subspan(static_cast<std::size_t>(done));
        offset += done;
    }
}

}  // namespace

std::string path_in_cache(const std::string &cache, const std::string &name) {
    const bool is_of_format = name == "cache.idx" || name == "cache.lock" || name == "ghosts" ||
                              name == "reuse" || name.find(".val") != std::string::npos ||
                              name.ends_with(".tmp");
    return (is_of_format ? store_files(cache) : cache) + "/" + name;
}

std::vector<std::string> files_in(const std::string &directory, const std::string &extension) {
    std::vector<std::string> paths;
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; !error && it != end;
         it.increment(error)) {
        std::error_code ignored;
        const auto type = it->symlink_status(ignored).type();
        if (type == fs::file_type::directory &&
            it->path().filename().string().starts_with("format-")) {
            const auto below = files_in(it->path(), extension);
            paths.insert(paths.end(), below.begin(), below.end());
        }
        if (type != fs::file_type::regular) continue;
        if (extension.empty() || it->path().extension() == extension)
            paths.push_back(it->path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

ByteVector read_file(const std::string &path) {
    const Descriptor file(path, O_RDONLY);
    ByteVector bytes(static_cast<std::size_t>(file_size(path)));
    std::size_t at = 0;
    while (at < bytes.size()) {
        const ssize_t done = read(file.number(), bytes.data() + at, bytes.size() - at);
        if (done <= 0) break;
        at += static_cast<std::size_t>(done);
    }
    bytes.resize(at);
    return bytes;
}

void write_file(const std::string &path, ByteView bytes) {
    const Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
    write_all(file.number(), bytes, 0);
}

void overwrite(const std::string &path, std::uint64_t offset, ByteView bytes) {
    const Descriptor file(path, O_WRONLY);
    write_all(file.number(), bytes, static_cast<off_t>(offset));
}

void append(const std::string &path, ByteView bytes) {
    // In one step: others may be writing to its end.
    const Descriptor file(path, O_WRONLY | O_APPEND);
    write_all(file.number(), bytes, 0);
}

void flip_bit(const std::string &path, std::uint64_t bit) {
    const Descriptor file(path, O_RDWR);
    std::uint8_t byte = 0;
    const auto offset = static_cast<off_t>(bit / 8);
    if (pread(file.number(), &byte, 1, offset) != 1) return;
    byte = static_cast<std::uint8_t>(byte ^ (1u << (bit % 8)));
    write_all(file.number(), ByteView(&byte, 1), offset);
}

void cut(const std::string &path, std::uint64_t size) {
    [[maybe_unused]] const int result = truncate(path.c_str(), static_cast<off_t>(size));
}

std::uint64_t file_size(const std::string &path) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    return error ? 0 : size;
}

void copy_directory(const std::string &from, const std::string &to) {
    mkdir(to.c_str(), 0700);
    for (const auto &path : files_in(from)) {
        const std::string copy = to + "/" + fs::relative(path, from).string();
        mkdir(fs::path(copy).parent_path().c_str(), 0700);
        write_file(copy, read_file(path));
    }
}

std::uint64_t blocks_held(const std::string &directory, const std::string &extension) {
    std::uint64_t bytes = 0;
    for (const auto &path : files_in(directory, extension)) {
        struct stat info = {};
        if (lstat(path.c_str(), &info) == 0)
            bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
    }
    return bytes;
}

}  // namespace cairn_test
