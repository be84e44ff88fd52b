// SPDX-License-Identifier: MIT
#include "conversions/converter.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cairn::conversions {

// built_in.inc has CAIRN_CONVERTER(name) for each converter that this build has the library of.
#define CAIRN_CONVERTER(name) const Converter *name##_converter();
#include "built_in.inc"
#undef CAIRN_CONVERTER

namespace {

bool is_identifier(const std::string &text) {
    constexpr std::size_t kSizeMax = 64;
    const auto is_allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    return !text.empty() && text.size() <= kSizeMax &&
           std::all_of(text.begin(), text.end(), is_allowed);
}

bool is_allowed(const OptionRule &rule, const std::string &value) {
    if (rule.values.empty()) return is_identifier(value);
    return std::find(rule.values.begin(), rule.values.end(), value) != rule.values.end();
}

std::string joined(const std::vector<std::string> &words) {
    std::string line;
    for (const std::string &word : words) line.append(line.empty() ? "" : ", ").append(word);
    return line;
}

struct Search {
    std::uintptr_t address;
    std::string build_id;
};

// The notes of one segment: name and description are padded to four bytes each.
std::string build_id_in(const char *note, std::size_t size) {
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) head;
        std::memcpy(&head, note, sizeof head);
        const std::size_t name_size = (std::size_t{head.n_namesz} + 3) & ~std::size_t{3};
        const std::size_t text_size = (std::size_t{head.n_descsz} + 3) & ~std::size_t{3};
        const std::size_t whole = sizeof head + name_size + text_size;
        if (whole > size) return {};
        const char *name = note + sizeof head;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
            std::memcmp(name, "GNU", 4) == 0) {
            std::string hexadecimal;
            for (std::size_t i = 0; i < head.n_descsz; ++i) {
                constexpr const char *kDigits = "0123456789abcdef";
                const auto octet = static_cast<unsigned char>(name[name_size + i]);
                hexadecimal.push_back(kDigits[octet >> 4]);
                hexadecimal.push_back(kDigits[octet & 15]);
            }
            return hexadecimal;
        }
        note += whole;
        size -= whole;
    }
    return {};
}

int look_at(dl_phdr_info *object, std::size_t, void *user) {
    auto &search = *static_cast<Search *>(user);
    bool is_it = false;
    std::string build_id;
    for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr) &segment = object->dlpi_phdr[i];
        const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_LOAD) {
            is_it |= begin <= search.address && search.address < begin + segment.p_memsz;
        } else if (segment.p_type == PT_NOTE && build_id.empty()) {
            build_id = build_id_in(reinterpret_cast<const char *>(begin), segment.p_memsz);
        }
    }
    if (is_it) search.build_id = build_id;
    return is_it ? 1 : 0;
}

}  // namespace

const std::vector<const Converter *> &converters() {
    static const std::vector<const Converter *> all = {
#define CAIRN_CONVERTER(name) name##_converter(),
#include "built_in.inc"
#undef CAIRN_CONVERTER
    };
    return all;
}

const Converter *find_converter(std::string_view id) {
    for (const Converter *converter : converters()) {
        if (converter->id() == id) return converter;
    }
    return nullptr;
}

bool complete_options(const Converter &converter, Options &options, std::string &problem) {
    Options complete;
    for (const OptionRule &rule : converter.rules()) {
        const auto given = options.find(rule.name);
        if (given == options.end()) {
            complete[rule.name] = rule.values.empty() ? rule.any_default : rule.values.front();
            continue;
        }
        if (!is_allowed(rule, given->second)) {
            problem = "the option " + rule.name + " is " +
                      (rule.values.empty() ? "an identifier of at most 64 characters"
                                           : "one of " + joined(rule.values));
            return false;
        }
        complete[rule.name] = given->second;
    }
    for (const auto &[name, value] : options) {
        if (complete.contains(name)) continue;
        std::vector<std::string> names;
        for (const OptionRule &rule : converter.rules()) names.push_back(rule.name);
        problem = std::string(converter.id()) + " has no such option; it has " + joined(names);
        return false;
    }
    options = std::move(complete);
    return true;
}

std::string build_id_at(const void *address) {
    Search search = {reinterpret_cast<std::uintptr_t>(address), {}};
    dl_iterate_phdr(look_at, &search);
    return search.build_id;
}

}  // namespace cairn::conversions
