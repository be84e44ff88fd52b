// SPDX-License-Identifier: MIT
#include "cache/driver_files.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "os/environment.h"
#include "os/file.h"
#include "os/root.h"

namespace cairn {
namespace {

enum class Name { foreign, file, directory };

bool is_hex(std::string_view text, std::initializer_list<std::size_t> sizes) {
    return std::find(sizes.begin(), sizes.end(), text.size()) != sizes.end() &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string_view without(std::string_view text, std::string_view end) {
    if (text.ends_with(end)) text.remove_suffix(end.size());
    return text;
}

// Two digits of a key of 20 or 32 bytes name a directory, the others a file in it.
Name mesa_files_name(unsigned depth, std::string_view name) {
    if (depth == 0 && (name == "index" || name == "marker")) return Name::file;
    if (depth == 0) return is_hex(name, {2}) ? Name::directory : Name::foreign;
    return is_hex(without(name, ".tmp"), {38, 62}) ? Name::file : Name::foreign;
}

// The directories bear the names of drivers and GPUs, which may be any.
Name mesa_single_name(unsigned depth, std::string_view name) {
    if (name == "foz_cache.foz" || name == "foz_cache_idx.foz") return Name::file;
    if (depth == 0 && name == "marker") return Name::file;
    return depth < 2 ? Name::directory : Name::foreign;
}

Name mesa_database_name(unsigned depth, std::string_view name) {
    if (name == "mesa_cache.db" || name == "mesa_cache.idx") return Name::file;
    if (depth != 0) return Name::foreign;
    if (name == "marker") return Name::file;
    const bool is_part = name.starts_with("part") && name.size() > 4 && name.size() <= 8 &&
                         name.substr(4).find_first_not_of("0123456789") == std::string_view::npos;
    return is_part ? Name::directory : Name::foreign;
}

Name nvidia_name(unsigned depth, std::string_view name) {
    if (depth < 2) return is_hex(name, {16, 32}) ? Name::directory : Name::foreign;
    const std::string_view stem = without(without(name, ".bin"), ".toc");
    return stem.size() + 4 == name.size() && is_hex(stem, {16, 32}) ? Name::file : Name::foreign;
}

// By DriverLayout.
constexpr Name (*kNameOf[])(unsigned depth, std::string_view name) = {
    mesa_files_name, mesa_single_name, mesa_database_name, nvidia_name};

class Clearing {
  public:
    Clearing(const DriverFolder &folder, const Log &log) : folder_(folder), log_(log) {}

    Status run() {
        const auto top = Directory::open(folder_.path);
        if (!top.ok() && top.error() == Error::not_found) return {};
        if (!top.ok()) {
            fail("", top.error());
            return first_;
        }
        clear(top.value(), 0);
        if (files_ != 0) {
            log_.write(Severity::info, "deleted %zu files in %s", files_, folder_.path.c_str());
        }
        return first_;
    }

  private:
    void fail(const std::string &name, Error error) {
        if (error == Error::not_found) return;  // the driver, or somebody else, was faster
        log_.write(Severity::warning, "cannot delete %s%s%s: %s", folder_.path.c_str(),
                   name.empty() ? "" : ": ", name.c_str(), error_name(error));
        if (first_.ok()) first_ = error;
    }

    static bool is_own(const Result<FileInfo> &info) {
        return info.ok() && info->owner == effective_user();
    }

    void clear(const Directory &directory, unsigned depth) {
        if (!is_own(directory.info())) return;
        std::vector<std::string> names;
        const Status listed = directory.list([&](const char *name) { names.emplace_back(name); });
        if (!listed.ok()) fail("", listed.error());
        for (const std::string &name : names) {
            switch (kNameOf[static_cast<std::size_t>(folder_.layout)](depth, name)) {
                case Name::file:
                    remove(directory, name);
                    break;
                case Name::directory:
                    descend(directory, name, depth + 1);
                    break;
                case Name::foreign:
                    break;
            }
        }
    }

    // Opening refuses links and whatever else is no regular file. Should one take its place now, it
    // is the link that goes, and nothing behind it.
    void remove(const Directory &directory, const std::string &name) {
        const auto file = directory.open_file(name, Access::read_only);
        if (!file.ok() || !is_own(file.value().info())) return;
        const Status removed = directory.remove_file(name);
        removed.ok() ? void(++files_) : fail(name, removed.error());
    }

    void descend(const Directory &directory, const std::string &name, unsigned depth) {
        const auto below = directory.open_directory(name);
        if (!below.ok()) return;  // a link, a file, or not ours to read
        clear(below.value(), depth);
        // Only an empty one goes. Names that may be anything are left.
        if (folder_.layout != DriverLayout::mesa_single) (void)directory.remove_directory(name);
    }

    const DriverFolder &folder_;
    const Log &log_;
    Status first_;
    std::size_t files_ = 0;
};

void add_mesa(std::vector<DriverFolder> &folders, const std::string &base) {
    folders.push_back({DriverLayout::mesa_files, base + "/mesa_shader_cache"});
    folders.push_back({DriverLayout::mesa_single, base + "/mesa_shader_cache_sf"});
    folders.push_back({DriverLayout::mesa_database, base + "/mesa_shader_cache_db"});
}

}  // namespace

std::vector<DriverFolder> driver_folders() {
    std::vector<DriverFolder> folders;
    auto mesa = path_from_environment("MESA_SHADER_CACHE_DIR");
    if (!mesa) mesa = path_from_environment("MESA_GLSL_CACHE_DIR");
    const auto cache = xdg_directory("XDG_CACHE_HOME", "/.cache");
    if (!mesa) mesa = cache;
    if (mesa) add_mesa(folders, *mesa);
    if (const auto path = path_from_environment("__GL_SHADER_DISK_CACHE_PATH")) {
        folders.push_back({DriverLayout::nvidia, *path + "/GLCache"});
        return folders;
    }
    if (cache) folders.push_back({DriverLayout::nvidia, *cache + "/nvidia/GLCache"});
    if (const auto home = home_directory()) {
        folders.push_back({DriverLayout::nvidia, *home + "/.nv/GLCache"});
    }
    return folders;
}

bool is_entry_of_driver(DriverLayout layout, std::string_view path) {
    const auto name_of = kNameOf[static_cast<std::size_t>(layout)];
    unsigned depth = 0;
    for (std::size_t slash; (slash = path.find('/')) != std::string_view::npos; ++depth) {
        if (name_of(depth, path.substr(0, slash)) != Name::directory) return false;
        path.remove_prefix(slash + 1);
    }
    return depth != 0 && name_of(depth, path) == Name::file && !path.ends_with(".tmp");
}

Status clear_driver_folder(const DriverFolder &folder, const Log &log) {
    return Clearing(folder, log).run();
}

}  // namespace cairn
