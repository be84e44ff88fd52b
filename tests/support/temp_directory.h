// A fresh directory below $TMPDIR that is removed, with all that is in it, at the end.
// SPDX-License-Identifier: MIT
//
// For looking at what a failed test has left: it stays where CAIRN_TEST_KEEP is set.
//
// Thread safety: immutable after construction.
// Failure: aborts when the directory cannot be made; a test cannot go on without it.
#pragma once

#include <string>

namespace cairn_test {

class TempDirectory {
  public:
    TempDirectory() : TempDirectory("") {}
    // Below `parent`, or $TMPDIR, or /tmp.
    explicit TempDirectory(const std::string &parent);
    ~TempDirectory();
    TempDirectory(const TempDirectory &) = delete;
    TempDirectory &operator=(const TempDirectory &) = delete;

    const std::string &path() const { return path_; }
    std::string operator/(const std::string &name) const { return path_ + "/" + name; }

  private:
    std::string path_;
    int owner_;  // a forked child that exits must not remove its parent's directory
};

// Removes a file or a directory with all that is in it, also where permissions have been taken
// away.
void remove_tree(const std::string &path);

}  // namespace cairn_test
