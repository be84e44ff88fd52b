// SPDX-License-Identifier: MIT
// A machine of a test's own for `cairn doctor`: a system below a folder, where all is as it should be until a
// test breaks something.
// Thread safety: externally synchronised. The environment is as it was at the end of each test.
// Failure: fails the test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "doctor/checks.h"
#include "program.h"

namespace cairn::cli_test {

namespace fs = std::filesystem;
namespace doctor = cairn::cli::doctor;

// The names of findings that tests have brought about.
std::set<std::string> &claimed_findings();

// Writes an ELF file of this kind, as far as a loader's search looks at one.
struct ElfText {
    bool is_64_bit = true;
    unsigned machine = 0;
    std::vector<std::string> needed;
    std::string run_path;
    bool has_interpreter = false;
    bool is_dynamic = true;
    std::string more;  // behind all else
};
void write_elf(const std::string &path, const ElfText &elf);

class DoctorTest : public testing::Test {
  protected:
    DoctorTest();
    ~DoctorTest() override;

    // Of this machine's kind.
    ElfText program(std::vector<std::string> needed) const;
    void library(const std::string &name, std::vector<std::string> needed = {}) const;
    // Makes a file below the folder of the system, and the folders above it.
    void system_file(const std::string &path, const std::string &text) const;
    void write(const std::string &path, const std::string &text) const;
    void set(const std::string &name, const std::string &value) const;
    void unset(const std::string &name) const;
    void configure(const std::string &text) const;
    // Cairn as it is installed: a folder with one manifest, and the libraries.
    void install_front_ends() const;

    // `cairn`, with what set() has set.
    Finished run(const std::vector<std::string> &arguments, const Environment &more = {}) const;
    doctor::Findings look(const std::string &application = "") const;
    // Whether there is one of this name with `text` in "WHAT -> MEND". It counts as brought about.
    bool finds(const doctor::Findings &findings, const std::string &name,
               const std::string &text = "") const;
    static std::string all_of(const doctor::Findings &findings);

    Folder folder_;
    const std::string home_ = folder_ / "home";
    const std::string root_ = folder_ / "root";
    const std::string system_ = folder_ / "system";
    const std::string installed_ = folder_ / "installed";
    const std::string programs_ = folder_ / "programs";
    const std::string libraries_ = system_ + "/usr/lib";
    const std::string manifests_ = system_ + "/usr/share/glvnd/egl_vendor.d";
    const std::string config_ = home_ + "/.config/cairn/config";
    doctor::Machine machine_;
    bool asks_driver_ = false;

  private:
    std::vector<std::string> environment_before_;
    mutable Environment set_;
};

#define EXPECT_FINDS(...) EXPECT_TRUE(finds(__VA_ARGS__))

}  // namespace cairn::cli_test
