// SPDX-License-Identifier: MIT
#include "os/loaded_objects.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/bytes.h"
#include "base/guarded.h"

namespace cairn {
namespace {

std::string build_id_in(Bytes notes) {
    while (notes.size() >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        std::memcpy(&note, notes.data(), sizeof note);
        if (note.n_namesz > notes.size() || note.n_descsz > notes.size()) break;
        const std::size_t description = sizeof note + align_up(std::size_t{note.n_namesz}, 4);
        const std::size_t next = description + align_up(std::size_t{note.n_descsz}, 4);
        if (next > notes.size()) break;
        constexpr std::string_view kName("GNU", sizeof "GNU");
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == kName.size() &&
            same_bytes(notes.subspan(sizeof note, kName.size()), as_bytes(kName))) {
            return hexadecimal(notes.subspan(description, note.n_descsz));
        }
        notes = notes.subspan(next);
    }
    return {};
}

// glibc rewrites addresses in the dynamic section where that section is writable, which it is on
// most machines.
std::uintptr_t address(std::uintptr_t base, std::uintptr_t value) {
    return value < base ? base + value : value;
}

void read_needed(std::uintptr_t base, const ElfW(Dyn) * dynamic, LoadedObject &object) {
    const char *strings = nullptr;
    for (const ElfW(Dyn) *item = dynamic; item->d_tag != DT_NULL; ++item) {
        if (item->d_tag == DT_STRTAB) {
            strings = reinterpret_cast<const char *>(address(base, item->d_un.d_ptr));
        }
    }
    for (const ElfW(Dyn) *item = dynamic; strings != nullptr && item->d_tag != DT_NULL; ++item) {
        if (item->d_tag == DT_NEEDED) object.needed.emplace_back(strings + item->d_un.d_val);
    }
}

LoadedObject read_object(const dl_phdr_info &info) {
    LoadedObject object;
    object.path = info.dlpi_name == nullptr ? "" : info.dlpi_name;
    object.name = object.path.substr(object.path.rfind('/') + 1);
    for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
        const ElfW(Phdr) &segment = info.dlpi_phdr[i];
        const std::uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_LOAD) {
            object.parts.emplace_back(begin, begin + segment.p_memsz);
        } else if (segment.p_type == PT_NOTE && object.build_id.empty()) {
            object.build_id =
                build_id_in({reinterpret_cast<const std::byte *>(begin), segment.p_memsz});
        } else if (segment.p_type == PT_DYNAMIC) {
            read_needed(info.dlpi_addr, reinterpret_cast<const ElfW(Dyn) *>(begin), object);
        }
    }
    return object;
}

// No exception may pass through the dynamic linker.
int add_object(dl_phdr_info *info, std::size_t, void *user) {
    const auto add = [&] {
        static_cast<std::vector<LoadedObject> *>(user)->push_back(read_object(*info));
        return 0;
    };
    return guarded(add, 1);
}

}  // namespace

bool LoadedObject::has(std::uintptr_t address) const {
    return std::ranges::any_of(
        parts, [&](const auto &part) { return address >= part.first && address < part.second; });
}

std::vector<LoadedObject> loaded_objects() {
    std::vector<LoadedObject> objects;
    if (::dl_iterate_phdr(add_object, &objects) != 0) throw_no_memory();
    return objects;
}

}  // namespace cairn
