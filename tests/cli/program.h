// SPDX-License-Identifier: MIT
// Runs the program `cairn` for tests, with an environment and folders of its own.
// Thread safety: externally synchronised.
// Ownership: a Program that is still running at its end is killed; a Folder is removed with all
// that it holds.
// Failure: what the system refuses ends the test program with a message.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace cairn::cli_test {

class Folder {
  public:
    Folder();
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    ~Folder();

    const std::filesystem::path &path() const { return path_; }
    // A path below it.
    std::string operator/(const std::string &name) const { return (path_ / name).string(); }
    // Makes a file there and returns its path.
    std::string write(const std::string &name, const std::string &text) const;

  private:
    std::filesystem::path path_;
};

std::string read_file(const std::string &path);

// Names to be set, or, with an empty value, to be removed.
using Environment = std::map<std::string, std::string>;

// A running process, in a process group of its own.
class Program {
  public:
    // Its standard input is a file; /dev/null where none is named.
    Program(const std::vector<std::string> &command, const Environment &environment,
            const std::string &input = "/dev/null");
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;
    ~Program();

    pid_t pid() const { return pid_; }
    // The next line of its standard output without the line end; empty at the end.
    std::string read_line();
    // Waits until it has stopped; false when it ended instead.
    bool wait_until_stopped();
    // Waits until it ends and returns the exit code; 1000 + n when signal n ended it.
    int wait();

    // After wait().
    const std::string &standard_output() const { return standard_output_; }
    std::string standard_error() const { return read_file(folder_ / "stderr"); }

  private:
    Folder folder_;
    pid_t pid_ = -1;
    int output_ = -1;
    std::string standard_output_;
};

// A running process at a terminal of its own.
class TerminalProgram {
  public:
    TerminalProgram(const std::vector<std::string> &command, const Environment &environment);
    TerminalProgram(const TerminalProgram &) = delete;
    TerminalProgram &operator=(const TerminalProgram &) = delete;
    ~TerminalProgram();

    // Reads until this has been shown; false when the program ended instead.
    bool wait_for(const std::string &text);
    void type(const std::string &text) const;
    // The terminal's window has this size from now on.
    void resize(unsigned rows, unsigned columns) const;
    void send_signal(int signal) const;
    // Waits until it ends and returns the exit code, as Program does.
    int wait();
    // Everything that was shown, control characters included.
    const std::string &shown() const { return shown_; }

  private:
    bool read_more();

    pid_t pid_ = -1;
    int terminal_ = -1;
    std::string shown_;
};

struct Finished {
    int exit_code;
    std::string standard_output;
    std::string standard_error;
};

// Runs `cairn` with these arguments to its end.
Finished cairn(const std::vector<std::string> &arguments, const Environment &environment = {},
               const std::string &input = "/dev/null");

// The arguments with the path of `cairn` in front.
std::vector<std::string> cairn_command(const std::vector<std::string> &arguments);

}  // namespace cairn::cli_test
