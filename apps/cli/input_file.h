// SPDX-License-Identifier: MIT
// A FILE that the user names and a command reads; `-` is standard input.
// Thread safety: used by main only.
// Failure: a Failure that names the file and the reason.
#pragma once

#include <cstdint>
#include <string>

#include "os/file.h"

namespace cairn::cli {

class InputFile {
  public:
    explicit InputFile(const std::string &name);

    // Adds what comes next; false at the end.
    bool append_to(std::string &bytes);
    // Of a regular file; 0 of all else.
    uint64_t size_bytes() const;
    // For messages.
    const std::string &name() const { return name_; }

  private:
    std::string name_;
    UniqueFd fd_;
};

}  // namespace cairn::cli
