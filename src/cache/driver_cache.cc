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
#include "os/text_file.h"

namespace cairn {
namespace {

constexpr const char *kFolder = ".driver";
constexpr const char *kMarkerPrefix = "placed-";
constexpr const char *kUnfinishedName = "placing.tmp";
constexpr const char *kRecordingName = "recording";
constexpr const char *kUsedName = "used";
constexpr const char *kDriverName = "driver";
constexpr const char *kLockName = "lock";
constexpr std::size_t kRecordingSizeMax = 64;
// What a new directory gets from the driver's usual one, while an application waits.
constexpr std::size_t kSeedsLookedAt = 65536;
constexpr std::size_t kSeedsMax = 4096;
constexpr std::uint64_t kSeedBytesMax = 256u << 20;
// How long a recording waits for another process of its start, or of an earlier one.
constexpr std::uint64_t kPatienceUs = 100'000;

// The layouts whose files can be put in place, by the name of the driver's directory.
struct Layout {
    DriverLayout layout;
    const char *folder;
    bool can_link;  // the driver never changes a file, it makes another one
};
constexpr Layout kLayouts[] = {{DriverLayout::mesa_files, "mesa_shader_cache", true},
                               {DriverLayout::nvidia, "GLCache", false}};

Result<Directory> open_or_make(const Directory &parent, const std::string &name) {
    auto opened = parent.open_directory(name);
    if (opened.error() != Error::not_found) return opened;
    const Status made = parent.create_directory(name);
    if (!made.ok() && made.error() != Error::exists) return made.error();
    return parent.open_directory(name);
}

// The application's directory; not_found: there is none.
Result<Directory> open_own(const std::string &root, const std::string &application) {
    TRY_ASSIGN(Directory own, Directory::open(driver_cache_path(root, application)));
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
    for (std::size_t slash; folder.ok() && (slash = name.find('/')) != std::string_view::npos;) {
        folder = open_or_make(folder.value(), std::string(name.substr(0, slash)));
        name.remove_prefix(slash + 1);
    }
    return folder;
}

// True: it was not there. REQUIRES: the lock.
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
        const std::uint64_t size = entry->value().size();
        bytes += size;
        if (++seen > kDriverFilesMax || bytes > kDriverBytesMax) return placed;
        const std::string_view name = as_text(entry->key());
        if (!is_driver_file(name) || size > kDriverFileMax) continue;
        TRY_ASSIGN(const bool is_new, place(own, name, entry->value()));
        placed += is_new ? 1 : 0;
    }
    if (seen != part.row().entry_count) return Error::io;
    return placed;
}

// Calls visit(directory, name, whole name) for each file, in order of the whole names, until it
// returns false.
using VisitName =
    std::function<bool(const Directory &, const std::string &name, const std::string &whole)>;

bool visit_names(const Directory &folder, const std::string &prefix, const VisitName &visit) {
    constexpr std::ptrdiff_t kDepthMax = 4;
    std::vector<std::string> names;
    (void)folder.list([&](const char *name) { names.emplace_back(name); });
    std::sort(names.begin(), names.end());
    const bool may_go_down = std::count(prefix.begin(), prefix.end(), '/') < kDepthMax;
    return std::ranges::all_of(names, [&](const std::string &name) {
        const std::string whole = prefix + name;
        if (is_driver_file(whole)) return visit(folder, name, whole);
        if (!may_go_down) return true;
        const auto below = folder.open_directory(name);
        return !below.ok() || visit_names(below.value(), whole + "/", visit);
    });
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
    TRY_ASSIGN(const Directory own, open_or_make(all, application));
    return open_own(root, application);
}

// Held as long as the file lives. busy: another process has it.
Result<File> lock(const Directory &own) {
    TRY_ASSIGN(File file, own.open_or_make_file(kLockName));
    TRY_ASSIGN(const bool is_ours, file.try_lock(0, LockKind::exclusive));
    if (!is_ours) return Error::busy;
    return file;
}

Status clear_layouts(const std::string &path, const Log &log) {
    Status first;
    for (const Layout &each : kLayouts) {
        const Status cleared = clear_driver_folder({each.layout, path + "/" + each.folder}, log);
        if (first.ok()) first = cleared;
    }
    return first;
}

// What packs have may be put there again.
void forget_placed(const Directory &own) {
    std::vector<std::string> names;
    (void)own.list([&](const char *name) {
        if (std::string_view(name).starts_with(kMarkerPrefix)) names.emplace_back(name);
    });
    for (const std::string &name : names) (void)own.remove_file(name);
}

// A start may be several processes: the first of them empties the directory.
Status begin_recording(const Directory &own, const std::string &path, std::string_view name,
                       const Log &log) {
    name = name.substr(0, kRecordingSizeMax);
    const auto has_begun = [&] {
        auto last = read_text_file(own, kRecordingName, kRecordingSizeMax);
        return last.ok() && last.value() == name;
    };
    Backoff backoff(kPatienceUs);
    while (!has_begun()) {
        const auto locked = lock(own);
        if (locked.error() == Error::busy && backoff.pause()) continue;
        if (!locked.ok()) return locked.error();
        if (has_begun()) break;
        TRY(clear_layouts(path, log));
        forget_placed(own);
        TRY(own.replace_file_lazily(kRecordingName, as_bytes(name)));
    }
    return {};
}

// A file of the driver's usual directory.
struct Seed {
    const Layout *layout;
    std::string path;
    std::string name;  // below an application's directory
    std::uint64_t modified_ns, bytes;
};

std::vector<Seed> find_seeds(const std::string &own_path, const Deadline &deadline) {
    std::vector<Seed> seeds;
    for (const DriverFolder &folder : driver_folders()) {
        const auto *const layout =
            std::find_if(std::begin(kLayouts), std::end(kLayouts),
                         [&](const Layout &each) { return each.layout == folder.layout; });
        if (layout == std::end(kLayouts) || folder.path.starts_with(own_path)) continue;
        const auto usual = Directory::open(folder.path);
        if (!usual.ok()) continue;
        const std::size_t begin = std::string_view(layout->folder).size();
        (void)visit_names(
            usual.value(), std::string(layout->folder) + "/",
            [&](const Directory &directory, const std::string &name, const std::string &whole) {
                const auto info = directory.info(name);
                if (info.ok() && info->is_file && info->owner == effective_user()) {
                    seeds.push_back({layout, folder.path + whole.substr(begin), whole,
                                     info->modified_ns, info->size_bytes});
                }
                return seeds.size() < kSeedsLookedAt && !deadline.has_passed();
            });
    }
    std::sort(seeds.begin(), seeds.end(),
              [](const Seed &a, const Seed &b) { return a.modified_ns > b.modified_ns; });
    return seeds;
}

// Links the file, or copies it.
void plant(const Directory &own, const Seed &seed) {
    const auto file = Directory::working().open_file(seed.path, Access::read_only);
    if (!file.ok()) return;
    std::string_view last = seed.name;
    const auto folder = open_folder_of(own, last);
    if (!folder.ok()) return;
    if (seed.layout->can_link && folder->link_file(file.value(), std::string(last)).ok()) return;
    std::vector<std::byte> content(static_cast<std::size_t>(seed.bytes));
    const auto size = file->read_at(0, content);
    if (size.ok() && size.value() == content.size()) (void)place(own, seed.name, content);
}

// The newest files come first.
void seed(const Directory &own, const std::string &path, std::uint64_t patience_us) {
    const auto locked = lock(own);
    if (!locked.ok()) return;  // another process is at it
    const Deadline to_find = Deadline::in_us(patience_us / 2);
    const Deadline deadline = Deadline::in_us(patience_us);
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    for (const Seed &each : find_seeds(path, to_find)) {
        bytes += each.bytes;
        if (++count > kSeedsMax || bytes > kSeedBytesMax || deadline.has_passed()) break;
        if (each.bytes <= kDriverFileMax) plant(own, each);
    }
}

// Whether there is to be one for its own sake.
bool is_wished(const DriverCacheWish &wish) {
    return wish.is_users || !wish.recording.empty();
}

}  // namespace

std::string driver_caches_path(const std::string &root) {
    return root + "/" + kFolder;
}

std::string driver_cache_path(const std::string &root, const std::string &application) {
    return driver_caches_path(root) + "/" + application;
}

bool wants_driver_cache(const std::string &root, const std::string &application,
                        const DriverCacheWish &wish) {
    if (!valid_application(application)) return false;
    return is_wished(wish) || open_own(root, application).ok() ||
           has_packed_files(root, application);
}

std::optional<std::string> open_driver_cache(const std::string &root,
                                             const std::string &application,
                                             const DriverCacheWish &wish, const Log &log) {
    if (!valid_application(application)) return std::nullopt;
    const std::string path = driver_cache_path(root, application);
    auto own = open_own(root, application);
    if (own.error() == Error::not_found) {
        if (!is_wished(wish) && !has_packed_files(root, application)) return std::nullopt;
        own = make_own(root, application, log);
        if (own.ok() && wish.recording.empty()) seed(own.value(), path, wish.seeding_us);
    }
    Status ready = own.ok() ? Status() : Status(own.error());
    if (ready.ok() && !wish.recording.empty()) {
        ready = begin_recording(own.value(), path, wish.recording, log);
    }
    if (!ready.ok()) {
        log.write(Severity::warning, "the driver's machine code stays where it is: %s: %s",
                  path.c_str(), error_name(ready.error()));
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

void note_driver(const std::string &root, const LayeredSubject &subject) {
    const auto own = open_own(root, subject.name);
    if (!own.ok()) return;
    const auto noted = read_text_file(own.value(), kDriverName, kPackTextMax);
    if (noted.ok() && noted.value() == subject.generation) return;
    (void)own.value().replace_file_lazily(kDriverName, as_bytes(subject.generation));
}

std::optional<LayeredSubject> noted_driver(const std::string &root,
                                           const std::string &application) {
    const auto own = open_own(root, application);
    if (!own.ok()) return std::nullopt;
    auto noted = read_text_file(own.value(), kDriverName, kPackTextMax);
    if (!noted.ok() || noted.value().empty()) return std::nullopt;
    return LayeredSubject{application, application, 0, std::move(noted.value())};
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
        const auto locked = lock(own.value());
        if (locked.error() == Error::busy) break;  // another process is at it
        const auto of_part = locked.ok() ? place_all(own.value(), *layer.part) : locked.error();
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
    if (!own.ok()) return;
    (void)visit_names(
        own.value(), "",
        [&](const Directory &folder, const std::string &name, const std::string &whole) {
            const auto file = folder.open_file(name, Access::read_only);
            if (file.ok()) visit(whole, file.value());
            return true;
        });
}

Result<File> open_driver_file(const std::string &root, const std::string &application,
                              const std::string &name) {
    TRY_ASSIGN(Directory folder, open_own(root, application));
    std::size_t begin = 0;
    for (std::size_t end; (end = name.find('/', begin)) != std::string_view::npos;
         begin = end + 1) {
        TRY_ASSIGN(folder, folder.open_directory(name.substr(begin, end - begin)));
    }
    return folder.open_file(name.substr(begin), Access::read_only);
}

namespace {

// Calls act(path) for the directory of an application, or for all.
Status for_each_own(const std::string &root, const std::string &application,
                    const std::function<Status(const std::string &name)> &act) {
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
        const Status acted = act(name);
        if (first.ok()) first = acted;
    }
    return first;
}

// What is not ours to know stays, and with it the directory.
void remove_own(const std::string &root, const std::string &application) {
    const auto all = Directory::open(driver_caches_path(root));
    const auto own = open_own(root, application);
    if (!all.ok() || !own.ok()) return;
    forget_placed(own.value());
    for (const char *name : {kUnfinishedName, kRecordingName, kDriverName, kUsedName, kLockName}) {
        (void)own.value().remove_file(name);
    }
    for (const Layout &each : kLayouts) (void)own.value().remove_directory(each.folder);
    (void)all.value().remove_directory(application);
}

}  // namespace

Status clear_driver_caches(const std::string &root, const std::string &application,
                           const Log &log) {
    return for_each_own(root, application, [&](const std::string &name) {
        return clear_layouts(driver_cache_path(root, name), log);
    });
}

Status remove_driver_caches(const std::string &root, const std::string &application,
                            const Log &log) {
    return for_each_own(root, application, [&](const std::string &name) -> Status {
        TRY(clear_layouts(driver_cache_path(root, name), log));
        remove_own(root, name);
        return {};
    });
}

std::uint64_t driver_cache_bytes(const std::string &root, const std::string &application) {
    std::uint64_t bytes = 0;
    const auto own = open_own(root, application);
    if (!own.ok()) return 0;
    (void)visit_names(own.value(), "",
                      [&](const Directory &folder, const std::string &name, const std::string &) {
                          const auto info = folder.info(name);
                          if (info.ok() && info->is_file) bytes += info->disk_bytes;
                          return true;
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
        if (remove_driver_caches(root, each.name, log).ok()) sum -= each.bytes;
    }
}

}  // namespace cairn
