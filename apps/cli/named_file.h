// SPDX-License-Identifier: MIT
// A FILE that the user names. `-` is standard input or output, and so is a name of it, such as
// /dev/stdout.
//
// Thread safety: used by main only.
// Failure: a Failure that names the file and the reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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

// It gets its new content as a whole, or stays as it was.
//
// Devices, fifos and the like are written to. A regular file is replaced in one step by a new one
// with the same owner and permissions; a link to it stays. Where its directory allows no new file,
// or the new one could not have the same owner, it is overwritten.
//
// No signal but SIGKILL and no full disk leaves part of a new file: until it is whole it has no
// name, or where the file system requires one, signals wait.
class OutputFile {
  public:
    // Looks at what is there, so that a command finds a wrong name before it begins its work. Waits
    // for the reader of a fifo. Nothing is changed.
    explicit OutputFile(const std::string &name);

    // Gives the file this content. To be called once.
    void write(std::string_view bytes);

    bool is_standard_output() const { return is_standard_output_; }

  private:
    enum class Way { append, replace, overwrite };

    std::string name_;  // for messages
    Way way_ = Way::append;
    std::string path_;  // of what is replaced
    UniqueFd fd_;       // what is there already
    bool is_standard_output_ = false;
};

}  // namespace cairn::cli
