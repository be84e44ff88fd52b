// SPDX-License-Identifier: MIT
// A FILE that the user names and a command writes: made whole, or left as it was.
//
// `-` is standard output, and so is a name of it, such as /dev/stdout. Devices, fifos and the like
// are written to. A regular file is replaced in one step by a new one with the same owner and
// permissions; a link to it stays. Where its directory allows no new file, or the new one could not
// have the same owner, it is overwritten.
//
// No signal but SIGKILL and no full disk leaves part of a new file: until it is whole it has no
// name, or where the file system requires one, signals wait.
//
// Thread safety: used by main only.
// Failure: a Failure that names the file and the reason.
#pragma once

#include <string>
#include <string_view>

#include "file_name.h"
#include "os/file.h"

namespace cairn::cli {

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

    void look_at_what_is_there(const FileName &found);
    void look_at_its_place(const FileName &found);

    std::string name_;  // for messages
    Way way_ = Way::append;
    std::string path_;  // of what is replaced
    UniqueFd fd_;       // what is there already
    bool is_standard_output_ = false;
};

}  // namespace cairn::cli
