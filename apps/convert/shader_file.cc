// SPDX-License-Identifier: MIT
#include "shader_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "failure.h"

namespace cairn::convert {
namespace {

using cli::error_text;
using cli::Failure;
using cli::kExitFailure;

[[noreturn]] void fail(const char *what, const std::string &name, int error) {
    throw Failure(kExitFailure, fmt::format("cannot {} {}: {}", what, name, error_text(error)));
}

void write_all(int fd, const std::string &name, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) fail("write", name, errno);
        bytes.remove_prefix(static_cast<size_t>(count));
    }
}

// A file that nobody else knows, removed unless it is given its name.
class NewFile {
  public:
    explicit NewFile(const std::string &name) : name_(name), temporary_(name + ".XXXXXX") {
        fd_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
        if (fd_ < 0) fail("write", name, errno);
    }
    NewFile(const NewFile &) = delete;
    NewFile &operator=(const NewFile &) = delete;
    ~NewFile() {
        ::close(fd_);
        if (!temporary_.empty()) ::unlink(temporary_.c_str());
    }

    void write(std::string_view bytes) const { write_all(fd_, name_, bytes); }
    // In place of one that is there it has that one's permissions.
    void commit() {
        const mode_t mask = ::umask(0);
        ::umask(mask);
        struct stat there = {};
        const bool replaces = ::stat(name_.c_str(), &there) == 0;
        ::fchmod(fd_, replaces ? there.st_mode & 07777 : 0666 & ~mask);
        if (::rename(temporary_.c_str(), name_.c_str()) != 0) fail("write", name_, errno);
        temporary_.clear();
    }

  private:
    std::string name_;
    std::string temporary_;
    int fd_ = -1;
};

}  // namespace

std::string read_shader(const std::string &name, size_t size_max) {
    const bool is_stdin = name == "-";
    const int fd = is_stdin ? ::dup(STDIN_FILENO) : ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail("read", name, errno);
    std::string text;
    std::array<char, 65536> part;
    ssize_t count = 0;
    while ((count = ::read(fd, part.data(), part.size())) != 0) {
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 || text.size() + static_cast<size_t>(count) > size_max) break;
        text.append(part.data(), static_cast<size_t>(count));
    }
    const int error = count < 0 ? errno : 0;
    ::close(fd);
    if (count < 0) fail("read", name, error);
    if (count > 0) {
        throw Failure(kExitFailure, fmt::format("{} is larger than a shader may be ({} MiB)", name,
                                                size_max >> 20));
    }
    return text;
}

void write_shader(const std::string &name, std::string_view bytes) {
    if (name == "-") {
        write_all(STDOUT_FILENO, "standard output", bytes);
        return;
    }
    // What is no file, such as /dev/null, cannot be replaced.
    std::error_code ignored;
    const auto type = std::filesystem::status(name, ignored).type();
    if (type != std::filesystem::file_type::not_found &&
        type != std::filesystem::file_type::regular) {
        const int fd = ::open(name.c_str(), O_WRONLY | O_CLOEXEC);
        if (fd < 0) fail("write", name, errno);
        write_all(fd, name, bytes);
        ::close(fd);
        return;
    }
    // Behind a link the file is replaced, not the link.
    const bool is_there = type == std::filesystem::file_type::regular;
    NewFile file(is_there ? std::filesystem::canonical(name, ignored).string() : name);
    file.write(bytes);
    file.commit();
}

std::string_view converter_for(std::string_view input) {
    if (input.starts_with("DXBC")) return "vkd3d-shader";
    const bool is_spirv = input.starts_with(std::string_view("\x03\x02\x23\x07", 4)) ||
                          input.starts_with(std::string_view("\x07\x23\x02\x03", 4));
    return is_spirv ? "spirv-cross" : "glslang";
}

conversions::Options options_from_name(const conversions::Converter &converter,
                                       const std::string &name) {
    struct Ending {
        std::string_view ending;
        const char *option;
        const char *value;
    };
    constexpr Ending kEndings[] = {
        {".vert", "stage", "vertex"},          {".tesc", "stage", "tess-control"},
        {".tese", "stage", "tess-evaluation"}, {".geom", "stage", "geometry"},
        {".frag", "stage", "fragment"},        {".comp", "stage", "compute"},
    };
    conversions::Options options;
    if (converter.id() != "glslang") return options;
    std::string_view rest = name;
    if (rest.ends_with(".hlsl")) {
        options["language"] = "hlsl";
        rest.remove_suffix(5);
    } else if (rest.ends_with(".glsl")) {
        rest.remove_suffix(5);
    }
    for (const Ending &known : kEndings) {
        if (rest.ends_with(known.ending)) options[known.option] = known.value;
    }
    return options;
}

}  // namespace cairn::convert
