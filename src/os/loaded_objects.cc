// SPDX-License-Identifier: MIT
#include "os/loaded_objects.h"

#include <elf.h>

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

// No exception may pass through the dynamic linker.
int add_object(dl_phdr_info *info, std::size_t, void *user) {
    const auto add = [&] {
        static_cast<std::vector<LoadedObject> *>(user)->emplace_back(*info);
        return 0;
    };
    return guarded(add, 1);
}

constexpr int kUsed = 2;

// Called for the first object. The linker's lock is one that this thread may take again.
int use_all(dl_phdr_info *, std::size_t, void *user) {
    const auto use = [&] {
        std::vector<LoadedObject> objects;
        if (::dl_iterate_phdr(add_object, &objects) != 0) return 1;
        (*static_cast<const std::function<void(std::span<const LoadedObject>)> *>(user))(objects);
        return kUsed;
    };
    return guarded(use, 1);
}

}  // namespace

bool LoadedObject::has(std::uintptr_t address) const {
    return std::ranges::any_of(segments_, [&](const ElfW(Phdr) & segment) {
        return segment.p_type == PT_LOAD && address - base_ - segment.p_vaddr < segment.p_memsz;
    });
}

std::string LoadedObject::build_id() const {
    for (const ElfW(Phdr) & segment : segments_) {
        if (segment.p_type != PT_NOTE) continue;
        const auto *notes = reinterpret_cast<const std::byte *>(base_ + segment.p_vaddr);
        std::string found = build_id_in({notes, segment.p_memsz});
        if (!found.empty()) return found;
    }
    return {};
}

std::vector<std::string_view> LoadedObject::needed() const {
    const auto dynamic = std::ranges::find(segments_, ElfW(Word){PT_DYNAMIC}, &ElfW(Phdr)::p_type);
    if (dynamic == segments_.end()) return {};
    const auto *const items = reinterpret_cast<const ElfW(Dyn) *>(base_ + dynamic->p_vaddr);
    const char *strings = nullptr;
    for (const ElfW(Dyn) *item = items; item->d_tag != DT_NULL; ++item) {
        if (item->d_tag == DT_STRTAB) {
            strings = reinterpret_cast<const char *>(address(base_, item->d_un.d_ptr));
        }
    }
    std::vector<std::string_view> names;
    for (const ElfW(Dyn) *item = items; strings != nullptr && item->d_tag != DT_NULL; ++item) {
        if (item->d_tag == DT_NEEDED) names.emplace_back(strings + item->d_un.d_val);
    }
    return names;
}

void with_loaded_objects(const std::function<void(std::span<const LoadedObject>)> &use) {
    if (::dl_iterate_phdr(use_all, const_cast<void *>(static_cast<const void *>(&use))) != kUsed) {
        throw_no_memory();
    }
}

}  // namespace cairn
