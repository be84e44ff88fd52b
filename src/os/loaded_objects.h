// The libraries that the dynamic linker has loaded into this process, and the program itself.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread; the dynamic linker's list is locked while it is used.
// Failure: throws where there is no memory.
#pragma once

#include <link.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// Reads what it is asked for from the object itself: an application may have hundreds of them, and
// each look into another one brings in pages.
class LoadedObject {
  public:
    explicit LoadedObject(const dl_phdr_info &info)
        : path(info.dlpi_name == nullptr ? "" : info.dlpi_name),
          name(path.substr(path.rfind('/') + 1)),
          base_(info.dlpi_addr),
          segments_(info.dlpi_phdr, info.dlpi_phnum) {}

    std::string_view path;  // empty: the program itself
    std::string_view name;  // the last part of the path

    bool has(std::uintptr_t address) const;
    // In hexadecimal; empty when it has none.
    std::string build_id() const;
    // Names of the libraries that it was linked with.
    std::vector<std::string_view> needed() const;

  private:
    std::uintptr_t base_;
    std::span<const ElfW(Phdr)> segments_;
};

// Calls `use` with all objects. They are valid until it returns: the dynamic linker is locked, so
// that no object is loaded or unloaded meanwhile. `use` must not load one, take a lock or wait.
void with_loaded_objects(const std::function<void(std::span<const LoadedObject>)> &use);

}  // namespace cairn
