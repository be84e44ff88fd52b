// SPDX-License-Identifier: MIT
#include "loaded_objects.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>

namespace cairn::egl {
namespace {

std::string hexadecimal(const unsigned char *bytes, size_t size) {
    constexpr const char *kDigits = "0123456789abcdef";
    std::string text;
    for (size_t i = 0; i < size; ++i) {
        text.push_back(kDigits[bytes[i] >> 4]);
        text.push_back(kDigits[bytes[i] & 15]);
    }
    return text;
}

size_t round_up_to_4(size_t size) {
    return (size + 3) & ~size_t{3};
}

std::string build_id_in(const char *notes, size_t size) {
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, notes, sizeof note);
        const size_t name = sizeof note;
        const size_t description = name + round_up_to_4(note.n_namesz);
        const size_t next = description + round_up_to_4(note.n_descsz);
        if (next > size) {
            break;
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
            memcmp(notes + name, "GNU", sizeof "GNU") == 0) {
            return hexadecimal(reinterpret_cast<const unsigned char *>(notes + description),
                               note.n_descsz);
        }
        notes += next;
        size -= next;
    }
    return {};
}

// glibc rewrites addresses in the dynamic section where that section is writable, which it is on
// most machines.
uintptr_t address(uintptr_t base, uintptr_t value) {
    return value < base ? base + value : value;
}

void read_needed(uintptr_t base, const ElfW(Dyn) * dynamic, LoadedObject &object) {
    const char *strings = nullptr;
    for (const ElfW(Dyn) *item = dynamic; item->d_tag != DT_NULL; ++item) {
        if (item->d_tag == DT_STRTAB) {
            strings = reinterpret_cast<const char *>(address(base, item->d_un.d_ptr));
        }
    }
    for (const ElfW(Dyn) *item = dynamic; strings != nullptr && item->d_tag != DT_NULL; ++item) {
        if (item->d_tag == DT_NEEDED) {
            object.needed.emplace_back(strings + item->d_un.d_val);
        }
    }
}

void read_segments(const dl_phdr_info &info, LoadedObject &object) {
    object.begin = UINTPTR_MAX;
    for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
        const ElfW(Phdr) &segment = info.dlpi_phdr[i];
        const uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_LOAD) {
            object.begin = std::min(object.begin, begin);
            object.end = std::max(object.end, begin + segment.p_memsz);
        } else if (segment.p_type == PT_NOTE && object.build_id.empty()) {
            object.build_id = build_id_in(reinterpret_cast<const char *>(begin), segment.p_memsz);
        } else if (segment.p_type == PT_DYNAMIC) {
            read_needed(info.dlpi_addr, reinterpret_cast<const ElfW(Dyn) *>(begin), object);
        }
    }
}

int add_object(dl_phdr_info *info, size_t, void *user) {
    LoadedObject object;
    object.path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    object.name = object.path.substr(object.path.rfind('/') + 1);
    // The program itself and the kernel's page have no path, and are no driver's.
    if (object.path.find('/') != std::string::npos) {
        read_segments(*info, object);
        static_cast<std::vector<LoadedObject> *>(user)->push_back(std::move(object));
    }
    return 0;
}

}  // namespace

std::vector<LoadedObject> loaded_objects() {
    std::vector<LoadedObject> objects;
    dl_iterate_phdr(add_object, &objects);
    return objects;
}

}  // namespace cairn::egl
