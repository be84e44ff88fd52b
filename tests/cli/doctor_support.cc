// SPDX-License-Identifier: MIT
#include "doctor_support.h"

#include <elf.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

namespace cairn::cli_test {
namespace {

template <typename Header, typename Segment, typename Dynamic>
std::string elf_bytes(const ElfText &elf) {
    std::string names(1, '\0');
    std::vector<Dynamic> dynamic;
    const auto add = [&](auto tag, auto value) {
        Dynamic entry = {};
        entry.d_tag = tag;
        entry.d_un.d_val = static_cast<decltype(entry.d_un.d_val)>(value);
        dynamic.push_back(entry);
    };
    for (const std::string &needed : elf.needed) {
        add(DT_NEEDED, names.size());
        names.append(needed).push_back('\0');
    }
    if (!elf.run_path.empty()) {
        add(DT_RUNPATH, names.size());
        names.append(elf.run_path).push_back('\0');
    }
    add(DT_STRTAB, 0);
    add(DT_NULL, 0);
    const std::size_t dynamic_at = sizeof(Header) + 3 * sizeof(Segment);
    const std::size_t names_at = dynamic_at + dynamic.size() * sizeof(Dynamic);
    dynamic[dynamic.size() - 2].d_un.d_ptr = static_cast<decltype(Dynamic{}.d_un.d_ptr)>(names_at);

    Header header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = elf.is_64_bit ? ELFCLASS64 : ELFCLASS32;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_machine = static_cast<uint16_t>(elf.machine);
    header.e_phoff = sizeof(Header);
    header.e_phentsize = sizeof(Segment);
    header.e_phnum = 3;
    Segment segments[3] = {};
    segments[0].p_type = PT_LOAD;
    segments[0].p_filesz = static_cast<decltype(Segment{}.p_filesz)>(names_at + names.size());
    segments[1].p_type = elf.is_dynamic ? PT_DYNAMIC : PT_NULL;
    segments[1].p_offset = segments[1].p_vaddr =
        static_cast<decltype(Segment{}.p_offset)>(dynamic_at);
    segments[1].p_filesz =
        static_cast<decltype(Segment{}.p_filesz)>(dynamic.size() * sizeof(Dynamic));
    segments[2].p_type = elf.has_interpreter ? PT_INTERP : PT_NULL;

    std::string bytes(reinterpret_cast<const char *>(&header), sizeof header);
    bytes.append(reinterpret_cast<const char *>(segments), sizeof segments);
    bytes.append(reinterpret_cast<const char *>(dynamic.data()), dynamic.size() * sizeof(Dynamic));
    return bytes.append(names).append(elf.more);
}

// What is wrong, and what mends it.
std::string told(const doctor::Finding &finding) {
    return finding.what + " -> " + finding.mend;
}

}  // namespace

std::set<std::string> &claimed_findings() {
    static std::set<std::string> claimed;
    return claimed;
}

void write_elf(const std::string &path, const ElfText &elf) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary)
        << (elf.is_64_bit ? elf_bytes<Elf64_Ehdr, Elf64_Phdr, Elf64_Dyn>(elf)
                          : elf_bytes<Elf32_Ehdr, Elf32_Phdr, Elf32_Dyn>(elf));
    fs::permissions(path, fs::perms::owner_all);
}

DoctorTest::DoctorTest() {
    for (char **each = environ; *each != nullptr; ++each) environment_before_.emplace_back(*each);
    for (const std::string &each : environment_before_) {
        const std::string name = each.substr(0, each.find('='));
        for (const char *beginning : {"CAIRN_", "__EGL", "__GL", "MESA_", "XDG_", "LD_", "SNAP",
                                      "DISPLAY", "WAYLAND", "SUDO", "container"}) {
            if (name.starts_with(beginning)) unset(name);
        }
    }
    for (const std::string &folder : {home_, root_, system_, installed_, programs_}) {
        fs::create_directories(folder);
    }
    fs::permissions(root_, fs::perms::owner_all);
    set("HOME", home_);
    set("CAIRN_DIR", root_);
    set("CAIRN_EGL_MANIFEST", installed_ + "/cairn_egl.json");
    set("EGL_PLATFORM", "surfaceless");
    set("LIBGL_ALWAYS_SOFTWARE", "1");
    machine_ = doctor::this_machine();
    machine_.root = system_;
    machine_.executable = CAIRN_PROGRAM;
    machine_.ask = [](const auto &) { return std::string(); };
    install_front_ends();
    library("libGLdispatch.so.0");
    for (const char *name : {"libEGL.so.1", "libGLX.so.0", "libGL.so.1", "libGLESv2.so.2"}) {
        library(name, {"libGLdispatch.so.0"});
    }
    library("libc.so.6");
    library("libEGL_mesa.so.0", {"libc.so.6"});
    library("libGLX_mesa.so.0", {"libc.so.6"});
    write(manifests_ + "/50_mesa.json",
          R"({"file_format_version": "1.0.0", "ICD": {"library_path": "libEGL_mesa.so.0"}})");
    system_file("/proc/self/status", "Name:\tcairn\nSeccomp:\t0\n");
    system_file("/dev/dri/renderD128", "");
    // What sanitizers let programs be linked with is not there.
    write(config_, "");
    fs::permissions(config_, fs::perms::owner_read | fs::perms::owner_write);
}

DoctorTest::~DoctorTest() {
    ::clearenv();
    for (const std::string &each : environment_before_) {
        const std::size_t equals = each.find('=');
        set(each.substr(0, equals), each.substr(equals + 1));
    }
}

ElfText DoctorTest::program(std::vector<std::string> needed) const {
    const auto own = doctor::read_elf(CAIRN_PROGRAM);
    ElfText elf;
    elf.is_64_bit = own->is_64_bit;
    elf.machine = own->machine;
    elf.needed = std::move(needed);
    elf.has_interpreter = true;
    return elf;
}

void DoctorTest::library(const std::string &name, std::vector<std::string> needed) const {
    write_elf(libraries_ + "/" + name, program(std::move(needed)));
}

void DoctorTest::system_file(const std::string &path, const std::string &text) const {
    write(system_ + path, text);
}

void DoctorTest::write(const std::string &path, const std::string &text) const {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

void DoctorTest::set(const std::string &name, const std::string &value) const {
    ::setenv(name.c_str(), value.c_str(), 1);
    set_[name] = value;
}

void DoctorTest::unset(const std::string &name) const {
    ::unsetenv(name.c_str());
    set_[name] = "";
}

void DoctorTest::configure(const std::string &text) const {
    write(config_, text);
}

void DoctorTest::install_front_ends() const {
    const auto install = [&](const char *library, const std::string &name,
                             const std::string &manifest) {
        fs::create_symlink(library, installed_ + "/" + name);
        std::string text = R"({"file_format_version": "1.0.0", "ICD": {"library_path": ")";
        text.append(installed_).append("/").append(name).append("\"}}\n");
        write(installed_ + "/" + manifest, text);
    };
    install(CLI_FRONT_END, "libEGL_cairn.so.0", "cairn_egl.json");
    install(CLI_FRONT_END_LAST, "libEGL_cairn_last.so.0", "last/cairn_egl_last.json");
    fs::create_directories(installed_ + "/cairn");
    fs::create_symlink(CLI_GLX_FRONT_END, installed_ + "/cairn/libGLX_cairn.so.0");
}

Finished DoctorTest::run(const std::vector<std::string> &arguments, const Environment &more) const {
    Environment environment = set_;
    for (const auto &[name, value] : more) environment[name] = value;
    return cairn(arguments, environment);
}

doctor::Findings DoctorTest::look(const std::string &application) const {
    return doctor::examine(doctor::Examined(machine_, application, asks_driver_));
}

bool DoctorTest::finds(const doctor::Findings &findings, const std::string &name,
                       const std::string &text) const {
    claimed_findings().insert(name);
    for (const doctor::Finding &finding : findings.all()) {
        const bool is_it = doctor::kind_of(finding.id).name == name;
        if (is_it && told(finding).find(text) != std::string::npos) return true;
    }
    ADD_FAILURE() << name << " (" << text << ") is not among\n" << all_of(findings);
    return false;
}

std::string DoctorTest::all_of(const doctor::Findings &findings) {
    std::string all;
    for (const doctor::Finding &finding : findings.all()) {
        all.append(doctor::kind_of(finding.id).name).append(": ").append(told(finding));
        all.append("\n");
    }
    return all;
}

}  // namespace cairn::cli_test
