// SPDX-License-Identifier: MIT
// What an ELF file says of itself, and where the dynamic loader finds the libraries that it needs.
// Thread safety: used by main only.
// Failure: a file that is none, or is damaged, is nullopt. Nothing of a hostile file is believed
// further than it can be read, and no more than a few megabytes of it are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "doctor/machine.h"
#include "text.h"

namespace cairn::cli::doctor {

struct Elf {
    bool is_64_bit = false;
    uint16_t machine = 0;     // EM_X86_64 and the like
    bool is_dynamic = false;  // it has a dynamic section
    bool has_interpreter =
        false;  // it asks for the loader: a program that is linked with libraries
    Words needed;
    Words run_paths;  // folders, with $ORIGIN replaced

    bool fits(const Elf &other) const {
        return is_64_bit == other.is_64_bit && machine == other.machine;
    }
};

std::optional<Elf> read_elf(const std::string &path);

// "64-bit x86", "32-bit x86", "64-bit ARM", "of another kind of processor".
std::string machine_name(const Elf &elf);

// Finds libraries as the loader of a program of this kind does.
class LibrarySearch {
  public:
    LibrarySearch(const Machine &machine, Elf kind);

    // Where it is; "": nowhere. `run_paths` are those of the file that needs it.
    std::string find(const std::string &name, const Words &run_paths = {}) const;

    // All libraries that a file needs, with those that they need: by name, where each is, or "".
    std::map<std::string, std::string> all_of(const Elf &elf) const;

  private:
    bool is_of_kind(const std::string &path) const;

    const Machine &machine_;
    const Elf kind_;
    Words own_folders_;                               // LD_LIBRARY_PATH
    std::multimap<std::string, std::string> listed_;  // by name
};

}  // namespace cairn::cli::doctor
