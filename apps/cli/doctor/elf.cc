// SPDX-License-Identifier: MIT
#include "doctor/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "common/words.h"
#include "manifest.h"
#include "os/environment.h"
#include "os/file.h"

namespace cairn::cli::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSegmentsMax = 256;
constexpr std::size_t kDynamicMax = 4096;  // entries
constexpr std::size_t kNameMax = 4096;
constexpr std::size_t kNeededMax = 512;
constexpr std::size_t kFoldersMax = 64;  // each library is looked for in each of them
constexpr std::size_t kLibrariesMax = 2000;

class Reader {
  public:
    explicit Reader(const std::string &path)
        : fd_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
        struct stat status = {};
        is_file_ = fd_.valid() && ::fstat(fd_.get(), &status) == 0 && S_ISREG(status.st_mode);
    }
    bool is_file() const { return is_file_; }

    template <typename Value>
    bool read(uint64_t offset, Value &value) const {
        return offset <= INT64_MAX &&
               ::pread(fd_.get(), &value, sizeof value, static_cast<off_t>(offset)) == sizeof value;
    }
    // Up to its zero; empty where it has none within kNameMax.
    std::string name_at(uint64_t offset) const {
        std::string text(kNameMax, '\0');
        if (offset > INT64_MAX) return "";
        const ssize_t size =
            ::pread(fd_.get(), text.data(), text.size(), static_cast<off_t>(offset));
        text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
        const std::size_t end = text.find('\0');
        return end == std::string::npos ? "" : text.substr(0, end);
    }

  private:
    UniqueFd fd_;
    bool is_file_ = false;
};

struct Segment {
    uint64_t address, offset, size;
};

// Where in the file something is that the program sees at this address.
std::optional<uint64_t> offset_of(const std::vector<Segment> &loaded, uint64_t address) {
    for (const Segment &segment : loaded) {
        if (address >= segment.address && address - segment.address < segment.size) {
            return segment.offset + (address - segment.address);
        }
    }
    return std::nullopt;
}

void add_folders(Words &folders, const std::string &list, const std::string &origin) {
    for (std::string folder : split(list, ':')) {
        if (folders.size() == kFoldersMax) return;
        for (const char *word : {"$ORIGIN", "${ORIGIN}"}) {
            const std::size_t at = folder.find(word);
            if (at != std::string::npos) folder.replace(at, std::strlen(word), origin);
        }
        folders.push_back(std::move(folder));
    }
}

template <typename Header, typename ProgramHeader, typename Dynamic>
std::optional<Elf> read_as(const Reader &reader, const std::string &origin) {
    Header header = {};
    if (!reader.read(0, header) || header.e_phentsize != sizeof(ProgramHeader)) return std::nullopt;
    Elf elf;
    elf.is_64_bit = sizeof(Header) == sizeof(Elf64_Ehdr);
    elf.machine = header.e_machine;
    std::vector<Segment> loaded;
    Segment dynamic = {};
    for (std::size_t i = 0; i < std::min<std::size_t>(header.e_phnum, kSegmentsMax); ++i) {
        ProgramHeader segment = {};
        if (!reader.read(header.e_phoff + i * sizeof segment, segment)) return std::nullopt;
        const Segment place = {segment.p_vaddr, segment.p_offset, segment.p_filesz};
        if (segment.p_type == PT_LOAD) loaded.push_back(place);
        if (segment.p_type == PT_DYNAMIC) dynamic = place;
        elf.has_interpreter = elf.has_interpreter || segment.p_type == PT_INTERP;
    }
    elf.is_dynamic = dynamic.size != 0;
    std::vector<uint64_t> needed, run_paths;
    std::optional<uint64_t> names;
    const std::size_t count = std::min<uint64_t>(dynamic.size / sizeof(Dynamic), kDynamicMax);
    for (std::size_t i = 0; i < count; ++i) {
        Dynamic entry = {};
        if (!reader.read(dynamic.offset + i * sizeof entry, entry)) return std::nullopt;
        if (entry.d_tag == DT_NULL) break;
        if (entry.d_tag == DT_NEEDED && needed.size() < kNeededMax)
            needed.push_back(entry.d_un.d_val);
        const bool is_run_path = entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
        if (is_run_path && run_paths.size() < kFoldersMax) run_paths.push_back(entry.d_un.d_val);
        if (entry.d_tag == DT_STRTAB) names = offset_of(loaded, entry.d_un.d_ptr);
    }
    if (!names) return elf;
    for (const uint64_t at : needed) {
        std::string name = reader.name_at(*names + at);
        if (!name.empty()) elf.needed.push_back(std::move(name));
    }
    for (const uint64_t at : run_paths) {
        add_folders(elf.run_paths, reader.name_at(*names + at), origin);
    }
    return elf;
}

}  // namespace

std::optional<Elf> read_elf(const std::string &path) {
    const Reader reader(path);
    unsigned char ident[EI_NIDENT] = {};
    if (!reader.is_file() || !reader.read(0, ident)) return std::nullopt;
    if (std::memcmp(ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
    std::error_code error;
    const fs::path whole = fs::canonical(path, error);
    const std::string origin = whole.parent_path().string();
    Elf other;
    other.is_64_bit = ident[EI_CLASS] == ELFCLASS64;
    // Of no machine that this code runs on.
    if (ident[EI_DATA] != ELFDATA2LSB) return other;
    return other.is_64_bit ? read_as<Elf64_Ehdr, Elf64_Phdr, Elf64_Dyn>(reader, origin)
                           : read_as<Elf32_Ehdr, Elf32_Phdr, Elf32_Dyn>(reader, origin);
}

std::string machine_name(const Elf &elf) {
    const char *bits = elf.is_64_bit ? "64-bit" : "32-bit";
    switch (elf.machine) {
        case EM_X86_64:
        case EM_386:
            return std::string(bits) + " x86";
        case EM_AARCH64:
        case EM_ARM:
            return std::string(bits) + " ARM";
        default:
            return "of another kind of processor";
    }
}

LibrarySearch::LibrarySearch(const Machine &machine, Elf kind)
    : machine_(machine), kind_(std::move(kind)) {
    own_folders_ = split(environment_variable("LD_LIBRARY_PATH").value_or(""), ':');
    for (const std::string &line : split(machine.ask({"/sbin/ldconfig", "-p"}), '\n')) {
        const std::size_t arrow = line.find(" => ");
        const std::size_t first = line.find_first_not_of(" \t");
        if (arrow == std::string::npos || first == std::string::npos) continue;
        const std::size_t end = line.find(' ', first);
        listed_.emplace(line.substr(first, end - first), line.substr(arrow + 4));
    }
}

bool LibrarySearch::is_of_kind(const std::string &path) const {
    const auto elf = read_elf(path);
    return elf && elf->fits(kind_);
}

std::string LibrarySearch::find(const std::string &name, const Words &run_paths) const {
    if (name.find('/') != std::string::npos) return is_of_kind(name) ? name : "";
    for (const Words *folders : {&run_paths, &own_folders_}) {
        for (const std::string &folder : *folders) {
            std::string path = folder;
            path.append("/").append(name);
            if (is_of_kind(path)) return path;
        }
    }
    const auto [first, last] = listed_.equal_range(name);
    for (auto each = first; each != last; ++each) {
        std::string path = machine_.at(each->second);
        if (is_of_kind(path)) return path;
    }
    for (const char *folder : kLoaderFolders) {
        std::string path = machine_.at(folder);
        path.append("/").append(name);
        if (is_of_kind(path)) return path;
    }
    return "";
}

std::map<std::string, std::string> LibrarySearch::all_of(const Elf &elf) const {
    std::map<std::string, std::string> found;
    std::vector<Elf> open = {elf};
    while (!open.empty() && found.size() < kLibrariesMax) {
        const Elf next = std::move(open.back());
        open.pop_back();
        Words run_paths = next.run_paths;
        // The program's own hold for all, as with DT_RPATH: too much rather than a false alarm.
        run_paths.insert(run_paths.end(), elf.run_paths.begin(), elf.run_paths.end());
        for (const std::string &name : next.needed) {
            if (found.contains(name)) continue;
            const std::string path = find(name, run_paths);
            found.emplace(name, path);
            if (auto library = path.empty() ? std::nullopt : read_elf(path)) {
                open.push_back(std::move(*library));
            }
        }
    }
    return found;
}

}  // namespace cairn::cli::doctor
