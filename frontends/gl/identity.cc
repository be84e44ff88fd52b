// SPDX-License-Identifier: MIT
#include "identity.h"

#include <errno.h>
#include <regex.h>
#include <string.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/bytes.h"
#include "base/checksum.h"
#include "common/application.h"
#include "common/words.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/loaded_objects.h"
#include "os/processor.h"
#include "os/text_file.h"
#include "settings.h"

namespace cairn::gl {
namespace {

// Parts of drivers that vendor libraries load by name, without being linked with them. Mesa draws
// through Vulkan drivers, too.
bool is_mesas_part(std::string_view name) {
    constexpr std::string_view kBeginnings[] = {"libgallium", "libdril", "libvulkan_"};
    return name.ends_with("_dri.so") || starts_with_any(name, kBeginnings);
}
bool is_nvidias_part(std::string_view name) {
    return name.starts_with("libnvidia-");
}
bool is_any_part(std::string_view name) {
    return is_mesas_part(name) || is_nvidias_part(name) || name.starts_with("libmali");
}

// What a vendor's library of this name may load. Mesa's and NVIDIA's have the window system in that
// library, and all that compiles in such parts.
struct Family {
    bool (*has)(std::string_view part);
    bool is_in_parts;
};
Family family_of(std::string_view vendor) {
    constexpr std::string_view kMesa[] = {"libEGL_mesa", "libGLX_mesa", "libGLX_indirect"};
    constexpr std::string_view kNvidia[] = {"libEGL_nvidia", "libGLX_nvidia"};
    if (starts_with_any(vendor, kMesa)) return {is_mesas_part, true};
    if (starts_with_any(vendor, kNvidia)) return {is_nvidias_part, true};
    return {is_any_part, false};
}

// Libraries that drivers need and that do not influence compiled programs. They are updated often,
// and such an update keeps the cache.
bool is_unimportant(std::string_view name) {
    constexpr std::string_view kBeginnings[] = {
        "ld-linux",     "libX",      "libbsd",   "libbz2",       "libc.so",    "libdl.",
        "libedit",      "libelf",    "libexpat", "libffi",       "libgcc_s",   "libicu",
        "liblzma",      "libm.so",   "libmd.so", "libpciaccess", "libpthread", "librt.",
        "libsensors",   "libstdc++", "libtinfo", "libwayland",   "libxcb",     "libxml2",
        "libxshmfence", "libz"};
    return starts_with_any(name, kBeginnings);
}

// Mesa installs one file under the names of many drivers, and which name is loaded depends on the
// window system.
std::string_view common_name(std::string_view name) {
    constexpr std::string_view kMesa = "_dri.so";
    return name.ends_with(kMesa) ? kMesa : name;
}

// The driver's parts, or the vendor's library, or both, and all that these need.
std::set<std::string> driver_libraries(std::span<const LoadedObject> objects, const void *code) {
    const auto vendor = std::ranges::find_if(objects, [code](const LoadedObject &object) {
        return object.has(reinterpret_cast<uintptr_t>(code));
    });
    const Family family = family_of(vendor == objects.end() ? "" : vendor->name);
    std::vector<const LoadedObject *> queue;
    for (const LoadedObject &object : objects) {
        // The program itself and the kernel's page have no path, and are no driver's.
        const bool is_library = object.path.find('/') != std::string_view::npos;
        if (is_library && family.has(object.name)) queue.push_back(&object);
    }
    if (vendor != objects.end() && (queue.empty() || !family.is_in_parts)) {
        queue.push_back(&*vendor);
    }
    std::set<std::string> lines;
    while (!queue.empty()) {
        const LoadedObject &object = *queue.back();
        queue.pop_back();
        std::string line(common_name(object.name));
        const std::string build_id = object.build_id();
        line.append(" ").append(build_id.empty() ? "no build-id" : build_id);
        if (!lines.insert(std::move(line)).second) continue;
        for (const std::string_view name : object.needed()) {
            if (is_unimportant(name)) continue;
            const auto needed = std::ranges::find(objects, name, &LoadedObject::name);
            if (needed != objects.end()) queue.push_back(&*needed);
        }
    }
    return lines;
}

constexpr const char *kFolder = "/usr/share/drirc.d";
constexpr const char *kSystemFile = "/etc/drirc";
// Debian's file has 60 KB.
constexpr size_t kFileSizeMax = 4 * 1024 * 1024;

// memmem() finds a text in files of this size three times as fast as std::string does.
size_t find_text(std::string_view text, std::string_view part, size_t from) {
    const void *found = from >= text.size() ? nullptr
                                            : memmem(text.data() + from, text.size() - from,
                                                     part.data(), part.size());
    return found == nullptr ? std::string_view::npos
                            : static_cast<size_t>(static_cast<const char *>(found) - text.data());
}

using Names = std::span<const std::string>;

// The number of the first name that the expression matches, or of names.
size_t first_match(const std::string &expression, Names names) {
    regex_t compiled;
    if (regcomp(&compiled, expression.c_str(), REG_EXTENDED | REG_NOSUB) != 0) return names.size();
    const auto found = std::ranges::find_if(names, [&](const std::string &name) {
        return regexec(&compiled, name.c_str(), 0, nullptr, 0) == 0;
    });
    regfree(&compiled);
    return static_cast<size_t>(found - names.begin());
}

// The number of the first name to which the attribute whose name goes on at `at` can apply, or of
// names. An attribute that is not written as in Mesa's own files can apply to all.
size_t first_in_attribute(std::string_view text, size_t at, Names names) {
    constexpr std::string_view kExpression = "_regexp";
    const bool is_expression = text.compare(at, kExpression.size(), kExpression) == 0;
    at += is_expression ? kExpression.size() : 0;
    const size_t sign = text.find_first_not_of(" \t\r\n", at);
    if (sign == std::string_view::npos || text[sign] != '=') {
        return names.size();  // of a comment, or a declaration
    }
    if (text.compare(at, 2, "=\"") != 0) return 0;
    const size_t begin = at + 2;
    const std::string_view value = text.substr(begin, text.find('"', begin) - begin);
    if (value.find('&') != std::string_view::npos) return 0;
    if (is_expression) return first_match(std::string(value), names);
    return static_cast<size_t>(std::ranges::find(names, value) - names.begin());
}

// The executable's file, since some workarounds are for one version of it only.
std::string application_line(const std::string &name) {
    const auto info = file_info(is_player() ? application_executable() : "/proc/self/exe");
    const uint64_t size_bytes = info.ok() ? info->size_bytes : 0;
    const uint64_t modified_ns = info.ok() ? info->modified_ns : 0;
    return "application: " + name + " of " + std::to_string(size_bytes) + " bytes and " +
           std::to_string(modified_ns / 1'000'000'000) + " seconds\n";
}

// The files that Mesa reads, in its order.
std::vector<std::string> configuration_files() {
    const std::string folder =
        settings().drirc_folder.empty() ? std::string(kFolder) : settings().drirc_folder;
    std::vector<std::string> files = paths_in(folder, ".conf");
    files.emplace_back(kSystemFile);
    if (!settings().home.empty()) {
        files.push_back(settings().home + "/.drirc");
    }
    return files;
}

// The lines for this process, computed once.
const std::string &driver_configuration() {
    static const auto *the_lines = new std::string(configuration_lines(
        configuration_files(), names_for_mesa(program_invocation_name, application_executable())));
    return *the_lines;
}

}  // namespace

const std::string *mentioned_executable(const std::string &text, Names names) {
    size_t first = names.size();
    constexpr std::string_view kAttribute = "executable";
    for (size_t at = find_text(text, kAttribute, 0); at != std::string::npos && first != 0;
         at = find_text(text, kAttribute, at + 1)) {
        first = first_in_attribute(text, at + kAttribute.size(), names.first(first));
    }
    return first == names.size() ? nullptr : &names[first];
}

std::vector<std::string> names_for_mesa(const std::string &invocation, const std::string &file) {
    const bool is_file = !file.empty() && invocation.starts_with(file);
    std::vector<std::string> names;
    for (const std::string &path : {is_file ? file : invocation, file}) {
        for (const char separator : {'/', '\\'}) {
            std::string name = path.substr(path.rfind(separator) + 1);
            if (!name.empty() && std::ranges::find(names, name) == names.end()) {
                names.push_back(std::move(name));
            }
        }
    }
    return names;
}

bool is_of_context(std::string_view line) {
    constexpr std::string_view kBeginnings[] = {"Programs of ",
                                                "GL_VERSION:", "GL_SHADING_LANGUAGE_VERSION:"};
    return starts_with_any(line, kBeginnings);
}

std::string configuration_lines(const std::vector<std::string> &files,
                                const std::vector<std::string> &names) {
    std::string lines;
    const std::string *mentioned = nullptr;
    for (const std::string &path : files) {
        const auto read = read_text_file(path, kFileSizeMax);
        if (!read.ok()) continue;
        const std::string &text = read.value();
        lines.append("configuration: ").append(path.substr(path.rfind('/') + 1));
        lines.append(" ").append(std::to_string(checksum(as_bytes(text), 0))).append("\n");
        if (mentioned == nullptr) mentioned = mentioned_executable(text, names);
    }
    return mentioned == nullptr ? lines : lines + application_line(*mentioned);
}

bool draws_with_processor(std::string_view name) {
    constexpr std::string_view kNames[] = {"llvmpipe", "softpipe",    "lavapipe",
                                           "swrast",   "SwiftShader", "Software Rasterizer"};
    // As a display's driver zink draws through any driver for Vulkan; as a renderer it says which.
    return name == "zink" || std::ranges::any_of(kNames, [name](std::string_view part) {
               return name.find(part) != std::string_view::npos;
           });
}

std::string processor_lines(Processor processor) {
    if (processor == Processor::unimportant) return {};
    static const auto *the_type = new std::string("processor: " + processor_text() + "\n");
    if (processor == Processor::type) return *the_type;
    static const ProcessorCount count = count_processors();
    return *the_type + "processors: " + std::to_string(count.usable) + " of " +
           std::to_string(count.configured) + "\n";
}

std::string driver_identity(const void *code, const DriverNames &names, Processor processor) {
    const auto &[vendor, renderer, version, language] = names;  // each of them is written below
    // Lists of caches show the first line.
    std::string text = "Programs of " + renderer + ", " + version + "\n";
    text.append("Kept by Cairn's front ends for GL.\n");
    text.append("GL_VENDOR: ").append(vendor).append("\n");
    text.append("GL_RENDERER: ").append(renderer).append("\n");
    text.append("GL_VERSION: ").append(version).append("\n");
    text.append("GL_SHADING_LANGUAGE_VERSION: ").append(language).append("\n");
    with_loaded_objects([&](std::span<const LoadedObject> objects) {
        for (const std::string &library : driver_libraries(objects, code)) {
            text.append("library: ").append(library).append("\n");
        }
    });
    text.append(processor_lines(processor));
    return text.append(driver_configuration()).append(settings().driver_options);
}

}  // namespace cairn::gl
