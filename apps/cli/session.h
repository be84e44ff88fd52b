// SPDX-License-Identifier: MIT
// The files with which a user's session starts, and what they set so that GLVND finds the front
// ends.
//
// `~/.config/environment.d/50-cairn.conf` is Cairn's own. The systemd user manager reads it, and
// all that it starts has the variables. `~/.xsessionrc` is the user's, a part of the shell script
// with which an X session of Debian starts; a marked block in it is Cairn's. Removing Cairn leaves
// a working desktop: the block looks for the libraries first, and GLVND passes over what the other
// file names in vain.
//
// Thread safety: used by main only.
// Failure: a Failure that says what to do. Nothing was changed then, or only the first of two
// files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/file.h"

namespace cairn::cli {

struct SessionVariable {
    std::string name;
    std::string value;
    std::string needs;  // the file without which the shell does not set it
};
using SessionVariables = std::vector<SessionVariable>;

// For these front ends, and the present environment; `glx_library` is empty where there is none. A
// Failure where a value holds what one of the files would take for something else.
SessionVariables session_variables(const std::string &manifest, const std::string &glx_library);

// The contents of 50-cairn.conf, and whether a text is one.
std::string environment_text(const SessionVariables &variables);
bool is_environment_text(std::string_view text);

// The text of ~/.xsessionrc with our block: in its place, or at the end. All else stays byte for
// byte, also when the block is taken out again. nullopt: there is no such file; then the text
// begins with the block. A Failure where the marks do not make a block.
std::string with_block(const std::optional<std::string> &text, const SessionVariables &variables);
std::string without_block(const std::string &text);
// Our block; empty: there is none.
std::string block_in(const std::string &text);

struct SessionFiles {
    std::string environment;  // 50-cairn.conf
    std::string shell;        // ~/.xsessionrc
};
// A Failure where the user's home is not there, or is another user's.
std::string own_home();
// The same of the files in it.
SessionFiles session_files();
// To be called before a file of the user is changed. A Failure where the file, or the nearest folder
// above it that is there, is another user's, or where sudo has made us root.
void require_own(const std::string &path);

// While it lives, no other `cairn` has the lock of this folder. The folder is made where it is
// missing. Where the file system has no locks there is none. A Failure where another `cairn` does
// not give the lock back.
class FolderLock {
  public:
    explicit FolderLock(const std::string &folder);

  private:
    UniqueFd fd_;
};

// With those above it, where they are missing; others may not write what is new.
void make_folder(const std::string &folder);

// nullopt: there is no such file. A Failure where it is something else, cannot be read, or is too
// large for a file that people write.
std::optional<std::string> read_user_file(const std::string &path);
// A file and its whole text.
struct FileText {
    std::string path;
    std::string text;
};
// Makes the folders that are missing. Links, owner and permissions stay; others may not write what is
// new. A file that cannot be written, or would be too large for read_user_file(), is found before
// the first is changed.
void write_user_files(const std::vector<FileText> &files);

// The path of a library that the dynamic loader finds in every process; empty: it finds none.
// `listing` is what `ldconfig -p` prints.
std::string library_in(const std::string &listing, const std::string &name);
// The same of a library that lies where the loader looks by itself; ldconfig need not have listed it.
std::string library_in_loader_folders(const std::string &name);
std::string find_glx_library();

// Why a library, by its path or a name that the loader looks for, cannot be loaded; empty: it can.
std::string load_problem(const std::string &library);

}  // namespace cairn::cli
