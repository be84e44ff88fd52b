// SPDX-License-Identifier: MIT
#include "cache/driver_cache.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <vector>

#include "cache/cache.h"
#include "cache/driver_files.h"
#include "cache/generations.h"
#include "os/deadline.h"
#include "os/environment.h"
#include "os/root.h"

namespace cairn {
namespace {

constexpr const char *kFolder = ".driver";
constexpr const char *kMarkerPrefix = "placed-";
constexpr const char *kUnfinishedName = "placing.tmp";
constexpr const char *kUsedName = "used";  // last modified when it was last used, to the hour
// Linked from the driver's usual directory when one of an application's own is made.
constexpr std::size_t kSeedsMax = 4096;
constexpr std::uint64_t kSeedingUs = 100'000;

// The layouts whose files can be put in place, by the name of the driver's directory.
struct Layout {
    DriverLayout layout;
    const char *folder;
};
constexpr Layout kLayouts[] = {{DriverLayout::mesa_files, "mesa_shader_cache"},
                               {DriverLayout::nvidia, "GLCache"}};

Result<Directory> open_or_make(const Directory &parent, const std::string &name) {
    auto opened = parent.open_directory(name);
    if (opened.error() != Error::not_found) return opened;
    const Status made = parent.create_directory(name);
    if (!made.ok() && made.error() != Error::exists) return made.error();
    return parent.open_directory(name);
}

// The application's directory; not_found: there is none.
Result<Directory> open_own(const std::string &root, const std::string &application) {
    TRY_ASSIGN(const Directory all, Directory::open(driver_caches_path(root)));
    TRY_ASSIGN(Directory own, all.open_directory(application));
    TRY_ASSIGN(const FileInfo info, own.info());
    if (info.owner != effective_user() || info.writable_by_others) return Error::denied;
    return own;
}

// Whether this names a file as a driver gives names.
bool is_driver_file(std::string_view name) {
    for (const Layout &each : kLayouts) {
        const std::string_view folder = each.folder;
        if (name.starts_with(folder) && name.size() > folder.size() && name[folder.size()] == '/') {
            return is_entry_of_driver(each.layout, name.substr(folder.size() + 1));
        }
    }
    return false;
}

// The directory of a file, made as far as it is missing, and the file's own name.
Result<Directory> open_folder_of(const Directory &own, std::string_view &name) {
    auto folder = own.open_directory(".");
    for (std::size_t slash; folder.ok() && (slash = name.find('/')) != name.npos;) {
        folder = open_or_make(folder.value(), std::string(name.substr(0, slash)));
        name.remove_prefix(slash + 1);
    }
    return folder;
}

// True: it was not there. Of two processes at once, one may fail: it begins again with its next start.
Result<bool> place(const Directory &own, std::string_view name, Bytes content) {
    TRY_ASSIGN(const Directory folder, open_folder_of(own, name));
    const std::string last(name);
    if (folder.info(last).ok()) return false;
    (void)own.remove_file(kUnfinishedName);
    TRY_ASSIGN(const File file, own.create_file(kUnfinishedName));
    Status written = file.write_whole(content);
    if (written.ok()) written = folder.link_file(file, last);
    (void)own.remove_file(kUnfinishedName);
    if (written.error() == Error::exists) return false;  // the driver was faster
    if (!written.ok()) return written.error();
    return true;
}

// io: not all of it could be read.
Result<std::uint64_t> place_all(const Directory &own, const PackPart &part) {
    std::uint64_t placed = 0, bytes = 0;
    std::uint32_t seen = 0;
    for (std::uint32_t slot = 0; slot < part.row().slot_count(); ++slot) {
        TRY_ASSIGN(const BlobRef entry, part.read(slot));
        if (!entry) continue;
        bytes += entry->value().size();
        if (++seen > kDriverFilesMax || bytes > kDriverBytesMax) return placed;
        const std::string_view name = as_text(entry->key());
        if (!is_driver_file(name)) continue;
        TRY_ASSIGN(const bool is_new, place(own, name, entry->value()));
        placed += is_new ? 1 : 0;
    }
    if (seen != part.row().entry_count) return Error::io;
    return placed;
}

void visit_folder(const Directory &folder, const std::string &prefix, unsigned depth,
                  const std::function<void(const std::string &, const File &)> &visit) {
    constexpr unsigned kDepthMax = 3;
    std::vector<std::string> names;
    (void)folder.list([&](const char *name) { names.emplace_back(name); });
    std::sort(names.begin(), names.end());
    for (const std::string &name : names) {
        const std::string whole = prefix + name;
        if (is_driver_file(whole)) {
            const auto file = folder.open_file(name, Access::read_only);
            if (file.ok()) visit(whole, file.value());
        } else if (depth < kDepthMax) {
            const auto below = folder.open_directory(name);
            if (below.ok()) visit_folder(below.value(), whole + "/", depth + 1, visit);
        }
    }
}

// Links what the driver's usual directory has: it never changes a file in place.
void seed(const Directory &own, const std::string &path) {
    const Deadline deadline = Deadline::in_us(kSeedingUs);
    std::size_t count = 0;
    for (const DriverFolder &folder : driver_folders()) {
        const auto *const layout =
            std::find_if(std::begin(kLayouts), std::end(kLayouts),
                         [&](const Layout &each) { return each.layout == folder.layout; });
        if (layout == std::end(kLayouts) || folder.path.starts_with(path)) continue;
        const auto usual = Directory::open(folder.path);
        if (!usual.ok()) continue;
        visit_folder(usual.value(), std::string(layout->folder) + "/", 1,
                     [&](const std::string &name, const File &file) {
                         if (++count > kSeedsMax || deadline.has_passed()) return;
                         std::string_view last = name;
                         const auto target = open_folder_of(own, last);
                         if (target.ok()) (void)target->link_file(file, std::string(last));
                     });
    }
}

bool has_packed_files(const std::string &root, const std::string &application) {
    for (const std::string &folder : pack_folders(root, application)) {
        for (const std::string &path : paths_in(folder, ".pack")) {
            auto file = Directory::working().open_file(path, Access::read_only);
            auto pack = file.ok() ? Pack::open(std::move(file.value())) : file.error();
            if (!pack.ok()) continue;
            const auto &rows = (*pack)->rows();
            if (std::any_of(rows.begin(), rows.end(), [](const PackRow &row) {
                    return row.kind == PackKind::driver_files;
                })) {
                return true;
            }
        }
    }
    return false;
}

Result<Directory> make_own(const std::string &root, const std::string &application,
                           const Log &log) {
    TRY_ASSIGN(const Directory top, open_root(root, Create::yes, log));
    TRY_ASSIGN(const Directory all, open_or_make(top, kFolder));
    return open_or_make(all, application);
}

}  // namespace

std::string driver_caches_path(const std::string &root) {
    return root + "/" + kFolder;
}

std::optional<std::string> open_driver_cache(const std::string &root,
                                             const std::string &application, DriverCacheWish wish,
                                             const Log &log) {
    if (!valid_application(application)) return std::nullopt;
    const std::string path = driver_caches_path(root) + "/" + application;
    auto own = open_own(root, application);
    if (own.error() == Error::not_found) {
        if (wish == DriverCacheWish::if_packed && !has_packed_files(root, application)) {
            return std::nullopt;
        }
        own = make_own(root, application, log);
        if (own.ok() && wish != DriverCacheWish::recording) seed(own.value(), path);
    }
    if (!own.ok()) {
        log.write(Severity::warning, "the driver's machine code stays where it is: %s: %s",
                  path.c_str(), error_name(own.error()));
        return std::nullopt;
    }
    if (!is_recent(own.value().info(kUsedName))) {
        const auto used = own.value().open_or_make_file(kUsedName);
        if (used.ok()) (void)used->touch();
    }
    return path;
}

LayeredSubject driver_subject(const std::string &application, std::string_view generation) {
    constexpr std::string_view kOfContexts[] = {"Programs of ",
                                                "GL_VERSION: ", "GL_SHADING_LANGUAGE_VERSION: "};
    LayeredSubject subject = {application, application, 0, ""};
    while (!generation.empty()) {
        const std::size_t size = std::min(generation.find('\n'), generation.size() - 1) + 1;
        const std::string_view line = generation.substr(0, size);
        const bool is_of_context =
            std::any_of(std::begin(kOfContexts), std::end(kOfContexts),
                        [&](std::string_view begin) { return line.starts_with(begin); });
        if (!is_of_context) subject.generation.append(line);
        generation.remove_prefix(size);
    }
    return subject;
}

std::uint64_t place_driver_files(const std::string &root, const LayeredSubject &subject,
                                 const std::vector<std::string> &paths, const Log &log) {
    const auto own = open_own(root, subject.name);
    if (!own.ok()) return 0;
    std::uint64_t placed = 0;
    for (const FoundLayer &layer : find_layers(root, subject, paths, PackKind::driver_files, log)) {
        char marker[32];
        std::snprintf(marker, sizeof marker, "%s%016" PRIx64, kMarkerPrefix,
                      layer.part->row().content_id);
        if (own.value().info(marker).ok()) continue;
        const auto of_part = place_all(own.value(), *layer.part);
        if (!of_part.ok()) {
            log.write(Severity::warning, "the driver's files in %s cannot be put in place: %s",
                      layer.path.c_str(), error_name(of_part.error()));
            continue;
        }
        placed += of_part.value();
        (void)own.value().create_file(marker);
        log.write(Severity::info, "%" PRIu64 " files of machine code were put in place from %s",
                  of_part.value(), layer.path.c_str());
    }
    return placed;
}

void visit_driver_files(
    const std::string &root, const std::string &application,
    const std::function<void(const std::string &name, const File &file)> &visit) {
    const auto own = open_own(root, application);
    if (own.ok()) visit_folder(own.value(), "", 0, visit);
}

Status clear_driver_caches(const std::string &root, const std::string &application,
                           const Log &log) {
    const auto all = Directory::open(driver_caches_path(root));
    if (!all.ok()) return all.error() == Error::not_found ? Status() : Status(all.error());
    std::vector<std::string> names;
    TRY(all.value().list([&](const char *name) {
        if (valid_application(name) && (application.empty() || name == application)) {
            names.emplace_back(name);
        }
    }));
    Status first;
    for (const std::string &name : names) {
        for (const Layout &each : kLayouts) {
            const Status cleared = clear_driver_folder(
                {each.layout, driver_caches_path(root) + "/" + name + "/" + each.folder}, log);
            if (first.ok()) first = cleared;
        }
    }
    return first;
}

std::uint64_t driver_cache_bytes(const std::string &root, const std::string &application) {
    std::uint64_t bytes = 0;
    visit_driver_files(root, application, [&](const std::string &, const File &file) {
        const auto info = file.info();
        if (info.ok()) bytes += info->disk_bytes;
    });
    return bytes;
}

void tidy_driver_caches(const std::string &root, std::uint64_t unused_max_ns,
                        std::uint64_t total_bytes, const Log &log) {
    struct Known {
        std::string name;
        std::uint64_t used_ns, bytes;
    };
    std::vector<Known> known;
    const auto all = Directory::open(driver_caches_path(root));
    if (!all.ok()) return;
    (void)all.value().list([&](const char *name) {
        const auto info = all.value().info(std::string(name) + "/" + kUsedName);
        if (!info.ok() || !valid_application(name)) return;
        known.push_back({name, info->modified_ns, driver_cache_bytes(root, name)});
    });
    std::sort(known.begin(), known.end(),
              [](const Known &a, const Known &b) { return a.used_ns > b.used_ns; });
    const std::uint64_t now = wall_clock_ns();
    std::uint64_t sum = 0;
    for (const Known &each : known) {
        sum += each.bytes;
        const bool is_old = now > each.used_ns && now - each.used_ns > unused_max_ns;
        if (!is_old && sum <= total_bytes) continue;
        if (clear_driver_caches(root, each.name, log).ok()) sum -= each.bytes;
    }
}

}  // namespace cairn
