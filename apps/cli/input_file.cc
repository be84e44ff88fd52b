// SPDX-License-Identifier: MIT
#include "input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "failure.h"
#include "file_name.h"

namespace cairn::cli {
namespace {

[[noreturn]] void refuse(const std::string &name, int error_number) {
    throw Failure(kExitFailure, fmt::format("cannot read {}: {}", name, error_text(error_number)));
}

}  // namespace

InputFile::InputFile(const std::string &name)
    : name_(name == "-" ? std::string("standard input") : name) {
    const int descriptor = look_up(name, STDIN_FILENO).descriptor;
    fd_.reset(descriptor >= 0 ? ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                              : ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!fd_.valid()) {
        refuse(name_, errno);
    }
}

bool InputFile::append_to(std::string &bytes) {
    std::array<char, 65536> part;
    ssize_t size = 0;
    do {
        size = ::read(fd_.get(), part.data(), part.size());
    } while (size < 0 && errno == EINTR);
    if (size < 0) {
        refuse(name_, errno);
    }
    bytes.append(part.data(), static_cast<size_t>(size));
    return size > 0;
}

uint64_t InputFile::size_bytes() const {
    struct stat status = {};
    const bool is_known = ::fstat(fd_.get(), &status) == 0 && S_ISREG(status.st_mode);
    return is_known ? static_cast<uint64_t>(status.st_size) : 0;
}

}  // namespace cairn::cli
