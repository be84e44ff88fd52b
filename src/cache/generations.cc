// SPDX-License-Identifier: MIT
#include "cache/generations.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "cache/crash_memory.h"
#include "cache/driver_cache.h"
#include "cache/program_key.h"
#include "history/files.h"
#include "os/configuration.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/root.h"
#include "os/text_file.h"
#include "recipe/recipe.h"
#include "store/formats.h"
#include "store/ghosts.h"
#include "store/index_file.h"
#include "store/space.h"
#include "store/store.h"

namespace cairn {
namespace {

constexpr const char *kLimitVariable = "CAIRN_LIMIT";
constexpr const char *kLimitFileName = "limit";
constexpr std::string_view kFrontEndPrefix = "gl-";
constexpr std::size_t kHashSize = 1 + 16;  // behind the application, in an identifier

std::optional<std::uint64_t> limit_of_environment(const Log &log) {
    const auto text = environment_variable(kLimitVariable);
    if (!text || text->empty()) return std::nullopt;
    const auto limit = size_from_text(*text);
    if (!limit) {
        log.write(Severity::warning, "%s is no size like 512M or 4G: it counts for nothing",
                  kLimitVariable);
    }
    return limit;
}

constexpr const char *kUpkeepFileName = ".upkeep";
constexpr std::string_view kRemovedPrefix = ".removed-";
constexpr const char *kTooMuchRoom = "more room is taken than may be";

std::optional<KnownGeneration> look_at(const Directory &root, const std::string &identifier) {
    const auto directory = root.open_directory(identifier);
    if (!directory.ok()) return std::nullopt;
    const auto head = read_text_file(directory.value(), kGenerationFileName, 256);
    const auto application = head.ok() ? application_of(head.value(), identifier) : std::nullopt;
    const auto used = directory.value().info(kGenerationFileName);
    const auto bytes = cache_bytes(directory.value());
    if (!application || !used.ok() || !bytes.ok()) return std::nullopt;
    return KnownGeneration{identifier,
                           *application,
                           used->modified_ns,
                           bytes.value(),
                           recorded_limit(directory.value()),
                           is_of_recipes(head.value()),
                           used->modified_ns};
}

// Files that a process may have mapped that holds no lock of the cache: a client of a broker that has
// ended, or an application that has closed all its descriptors. If they were cut, it would die.
bool may_be_mapped(const std::string &file) {
    return file == kIndexFileName || file == kCrashFileName || file == kHistoryFileName;
}

// Deletes a directory of ours, which nobody finds any more, maybe together with others. `cut`: gives the
// blocks of files back that somebody has open.
Status delete_removed(const Directory &root, const std::string &name, bool cut = true) {
    {
        TRY_ASSIGN(const Directory directory, root.open_directory(name));
        forget_history(directory);
        std::vector<std::string> files;
        TRY(directory.list([&](const char *file) { files.emplace_back(file); }));
        for (const std::string &file : files) {
            const Status removed = cut && !may_be_mapped(file) ? directory.discard_file(file)
                                                               : directory.remove_file(file);
            if (!removed.ok()) (void)delete_removed(directory, file, cut);
        }
    }
    return root.remove_directory(name);
}

void delete_leftovers(const Directory &root, const std::atomic<bool> &stop) {
    std::vector<std::string> names;
    (void)root.list([&](const char *name) {
        if (std::string_view(name).starts_with(kRemovedPrefix)) names.emplace_back(name);
    });
    for (const std::string &name : names) {
        if (stop.load()) return;
        (void)delete_removed(root, name);
    }
}

bool is_too_old(const KnownGeneration &generation, const Upkeep &upkeep) {
    const std::uint64_t now = wall_clock_ns();
    return now > generation.needed_ns && now - generation.needed_ns > upkeep.unused_max_ns;
}

// Tells processes that have a cache of the oldest format open: they find nothing from here on.
void empty_oldest_format(const Directory &cache, const std::string &identifier) {
    auto file = cache.open_file(kIndexFileName, Access::read_write);
    if (!file.ok()) return;
    const auto identity = read_index_identity(file.value(), identifier);
    if (!identity.ok() || identity.value().format != kOldestFormat) return;
    const auto index = Index::open(std::move(*file), identity.value(), Access::read_write);
    if (!index.ok()) return;
    index.value()->clear();
    index.value()->count_clear();
    index.value()->count_retired();
    index.value()->set_cleared_now();
}

bool is_temporary(std::string_view name) {
    return name.ends_with(".tmp");
}

// Those of the oldest format lie among files that are of all formats. The lock goes last: without it
// there is nothing of that format.
Status remove_oldest_format(const Directory &cache, const std::string &identifier) {
    empty_oldest_format(cache, identifier);
    std::vector<std::string> segments;
    std::vector<std::string> files = {kIndexFileName, kGhostFileName, kReuseFileName};
    TRY(cache.list([&](const char *name) {
        if (segment_from_file_name(name)) segments.emplace_back(name);
        if (is_temporary(name)) files.emplace_back(name);
    }));
    for (const std::string &name : segments) (void)discard_segment(cache, name);
    for (const std::string &name : files) (void)cache.remove_file(name);
    return cache.remove_file(kLockFileName);
}

// Also while processes have a cache of that format open. What files of other versions are for is not
// known, so that none of them is cut.
Status remove_format(const Directory &cache, const std::string &identifier, std::uint32_t format) {
    Status status;
    if (format == kOldestFormat) {
        status = remove_oldest_format(cache, identifier);
    } else {
        const std::string folder = format_folder(format);
        const std::string removed =
            std::string(kRemovedPrefix) + folder + "-" + std::to_string(process_number());
        status = cache.rename(folder, removed);
        // Nobody finds it any more; the next one deletes what we cannot.
        if (status.ok()) (void)delete_removed(cache, removed, format == kNewestFormat);
    }
    const bool is_gone = status.error() == Error::not_found;
    return is_gone ? Status() : status;
}

// When a file of a format was last changed; 0: not known. This library touches the lock when it opens a
// cache; older ones write to the index, but not for hits of entries that have had three.
std::uint64_t last_used_ns(const Directory &files) {
    std::uint64_t last_ns = 0;
    (void)files.list([&](const char *name) {
        const bool is_one = std::string_view(name) == kIndexFileName ||
                            std::string_view(name) == kLockFileName || segment_from_file_name(name);
        const auto info = is_one ? files.info(name) : Result<FileInfo>(Error::not_found);
        if (info.ok()) last_ns = std::max(last_ns, info->modified_ns);
    });
    return last_ns;
}

// So many times as long as a generation a format stays that nobody seems to use.
constexpr std::uint64_t kFormatPatience = 4;

// Removes the formats of a generation that other versions of Cairn have used, as they are superseded, and what
// killed processes left beside them.
void remove_unused_formats(const Directory &root, const std::string &identifier,
                           const Upkeep &upkeep, const Log &log) {
    const auto cache = root.open_directory(identifier);
    const auto formats = cache.ok() ? list_other_formats(cache.value()) : cache.error();
    if (!formats.ok()) return;
    const std::uint64_t now = wall_clock_ns();
    for (const std::uint32_t format : formats.value()) {
        const auto files = cache.value().open_directory(format_folder(format));
        const std::uint64_t used_ns = files.ok() ? last_used_ns(files.value()) : 0;
        const bool is_old = used_ns != 0 && used_ns < now &&
                            (now - used_ns) / kFormatPatience > upkeep.unused_max_ns;
        if (!is_old) continue;
        const auto locked = lock_format(files.value());
        if (!locked.ok() || !remove_format(cache.value(), identifier, format).ok()) continue;
        log.write(Severity::info,
                  "cache %s: the files of format %u are removed: nobody has used them for long",
                  identifier.c_str(), format);
    }
    std::vector<std::string> left;
    (void)cache.value().list([&](const char *name) {
        const bool is_removed = std::string_view(name).starts_with(kRemovedPrefix);
        if (is_removed || is_temporary(name)) left.emplace_back(name);
    });
    for (const std::string &name : left) {
        const auto info = cache.value().info(name);
        if (!info.ok() || info->modified_ns + kTemporaryAgeNs > now) continue;
        if (info->is_directory) {
            (void)delete_removed(cache.value(), name, false);
        } else {
            (void)cache.value().remove_file(name);
        }
    }
}

// Finds what must go for room, in this order: the least recently used generations of applications
// that take more than they were given, or than their share, then entries of the latest generation,
// and of the recipes.
class Shares {
  public:
    // `all`: the least recently used first, and an application's recipes last.
    Shares(const std::vector<KnownGeneration> &all, std::uint64_t total) : total_(total) {
        for (const KnownGeneration &each : all) {
            Application &application = applications_[each.application];
            application.bytes += each.bytes;
            if (!each.is_recipes) application.latest = each.identifier;
            application.limit = each.limit_bytes;
        }
        for (const auto &[name, application] : applications_) {
            if (application.limit) continue;
            ++sharing_;
            shared_bytes_ += application.bytes;
        }
    }
    // Bytes of a generation that are too many.
    std::uint64_t excess(const KnownGeneration &generation) const {
        const Application &application = applications_.at(generation.application);
        const std::uint64_t share =
            application.limit.value_or(total_ / std::max<std::size_t>(sharing_, 1));
        if (application.bytes <= share) return 0;
        std::uint64_t excess = std::min(application.bytes - share, generation.bytes);
        if (!application.limit) {
            excess = shared_bytes_ <= total_ ? 0 : std::min(excess, shared_bytes_ - total_);
        }
        return excess;
    }
    // Whether it only loses entries.
    bool stays(const KnownGeneration &generation) const {
        return generation.is_recipes ||
               applications_.at(generation.application).latest == generation.identifier;
    }
    void give_back(const KnownGeneration &generation, std::uint64_t bytes) {
        Application &application = applications_.at(generation.application);
        application.bytes -= bytes;
        if (!application.limit) shared_bytes_ -= bytes;
    }

  private:
    struct Application {
        std::uint64_t bytes = 0;
        std::string latest;                  // the identifier of its latest generation
        std::optional<std::uint64_t> limit;  // what that says
    };

    const std::uint64_t total_;
    std::map<std::string, Application> applications_;
    std::size_t sharing_ = 0;  // applications without a limit, and
    std::uint64_t shared_bytes_ = 0;
};

// Whether the root has anything beside this cache that upkeep could remove.
bool has_others(const Directory &root, const std::string &identifier) {
    const auto own = root.open_directory(identifier);
    const auto formats = own.ok() ? list_other_formats(own.value()) : own.error();
    bool found = formats.ok() && !formats->empty();
    (void)root.list([&](std::string_view name) {
        if (found || name == identifier) return;
        const auto is_cache = [&] {
            const auto info = root.info(std::string(name));
            return info.ok() && !info->is_file;
        };
        found = name.starts_with(kRemovedPrefix) || (valid_identifier(name) && is_cache());
    });
    return found;
}

constexpr std::uint64_t kLeastBytes = 1u << 20;  // that a generation is made smaller to

// Leaves so many bytes of a generation, of which the files of other formats have some. busy: somebody
// has it open.
Status shrink(const std::string &path, const Directory &root, const std::string &identifier,
              std::uint64_t bytes) {
    {
        TRY_ASSIGN(const Directory directory, root.open_directory(identifier));
        TRY(lock_formats(directory));
        TRY_ASSIGN(const FormatDirectory own, find_format(directory));
        TRY_ASSIGN(const DiskUse use, measure_disk_use(own.directory));
        TRY_ASSIGN(const std::uint64_t all, cache_bytes(directory));
        bytes -= std::min(bytes, all - std::min(all, use.bytes));
    }
    StoreOptions options;
    options.root = path;
    options.identifier = identifier;
    options.any_version = true;
    options.create = Create::no;
    options.limit_bytes = std::max(bytes, kLeastBytes);  // a lower limit than before holds at once
    const auto store = Store::open(options);
    return store.ok() ? Status() : Status(store.error());
}

}  // namespace

bool valid_application(const std::string &application) {
    return application.size() <= 64 && valid_identifier(application);
}

std::string identifier_of(const Generation &generation) {
    ProgramKey key("generation/1");
    key.add(1, as_bytes(generation.application));
    key.add(2, as_bytes(generation.build));
    key.add(3, as_bytes(generation.identity));
    const auto hash = key.finish();
    return generation.application + "-" + hexadecimal(Bytes(hash).first(8));
}

bool may_be_generation(std::string_view identifier) {
    return identifier.size() > kHashSize && identifier[identifier.size() - kHashSize] == '-';
}

std::string describe(const Generation &generation) {
    return "Cairn generation\napplication: " + generation.application +
           "\nbuild: " + generation.build + "\n\n" + generation.identity;
}

std::optional<std::string> application_of(std::string_view text, std::string_view identifier) {
    constexpr std::string_view kBegin = "Cairn generation\napplication: ";
    if (!text.starts_with(kBegin)) return std::nullopt;
    text.remove_prefix(kBegin.size());
    std::string application(text.substr(0, text.find('\n')));
    const bool fits = identifier.size() == application.size() + kHashSize &&
                      identifier.starts_with(application + "-");
    if (!valid_application(application) || !fits) return std::nullopt;
    return application;
}

bool is_of_recipes(std::string_view text) {
    constexpr std::string_view kEndOfHead = "\n\n";
    const std::size_t end = text.find(kEndOfHead);
    return end != std::string_view::npos &&
           text.substr(end + kEndOfHead.size()) == recipe::kIdentity;
}

LayeredSubject subject_of(const Directory &directory, const std::string &identifier,
                          std::uint64_t version) {
    const auto text = read_text_file(directory, kGenerationFileName, kPackTextMax);
    const auto application = text.ok() ? application_of(text.value(), identifier) : std::nullopt;
    if (!application) return {identifier, identifier, version, ""};
    return {*application, identifier, version, text.value()};
}

void claim(const Directory &directory, const Generation &generation) {
    const std::string own = describe(generation);
    const auto text = read_text_file(directory, kGenerationFileName, own.size() + 1);
    if (text.ok() && text.value() == own) {
        const auto file = directory.open_file(kGenerationFileName, Access::read_write);
        if (file.ok() && !is_recent(file->info())) (void)file->touch();
        return;
    }
    if (text.error() == Error::corrupt) (void)directory.make_way(kGenerationFileName);
    (void)directory.replace_file(kGenerationFileName, as_bytes(own));
}

Wishes wishes_for(std::string_view application, const Log &log) {
    if (application.starts_with(kFrontEndPrefix)) {
        application.remove_prefix(kFrontEndPrefix.size());
    }
    const Configuration configuration = Configuration::read(log);
    auto limit = limit_of_environment(log);
    if (!limit) limit = configuration.limit_bytes(application);
    if (limit) limit = std::max(*limit, kLimitLeast);
    const bool records = configuration.record(application).value_or(true);
    const bool shares = records && configuration.share(application).value_or(false);
    return {limit, configuration.compress(application), records, shares,
            shares ? configuration.ask_ms(application).value_or(0) : 0};
}

std::optional<std::uint64_t> recorded_limit(const Directory &directory) {
    const auto text = read_text_file(directory, kLimitFileName, 24);
    if (!text.ok()) return std::nullopt;
    const char *const end = text->data() + text->size();
    std::uint64_t limit = 0;
    const auto read = std::from_chars(text->data(), end, limit);
    const bool is_whole = read.ec == std::errc() && read.ptr + 1 == end && *read.ptr == '\n';
    return is_whole ? std::optional(limit) : std::nullopt;
}

bool record_limit(const Directory &directory, std::optional<std::uint64_t> limit_bytes) {
    if (recorded_limit(directory) == limit_bytes) return false;
    if (limit_bytes) {
        (void)directory.replace_file(kLimitFileName, as_bytes(std::to_string(*limit_bytes) + "\n"));
    } else {
        (void)directory.remove_file(kLimitFileName);
    }
    return true;
}

std::vector<KnownGeneration> list_generations(const Directory &root,
                                              const std::atomic<bool> *stop) {
    std::vector<std::string> names;
    (void)root.list([&](const char *name) {
        if (valid_identifier(name)) names.emplace_back(name);
    });
    std::vector<KnownGeneration> generations;
    for (const std::string &name : names) {
        if (stop != nullptr && stop->load()) break;
        if (auto found = look_at(root, name)) generations.push_back(std::move(*found));
    }
    std::map<std::string_view, std::uint64_t> used_ns;  // by application
    for (const KnownGeneration &each : generations) {
        std::uint64_t &latest = used_ns[each.application];
        latest = std::max(latest, each.used_ns);
    }
    for (KnownGeneration &each : generations) {
        if (each.is_recipes) each.needed_ns = used_ns[each.application];
    }
    return generations;
}

Status remove_generation(const Directory &root, const KnownGeneration &generation) {
    TRY_ASSIGN(const Directory directory, root.open_directory(generation.identifier));
    TRY_ASSIGN(const auto locked, lock_formats(directory));
    TRY_ASSIGN(const FileInfo used, directory.info(kGenerationFileName));
    if (used.modified_ns != generation.used_ns) return Error::busy;
    return remove_cache(root, generation.identifier);
}

Status remove_cache(const Directory &root, const std::string &identifier) {
    const std::string name =
        std::string(kRemovedPrefix) + identifier + "-" + std::to_string(process_number());
    TRY(root.rename(identifier, name));
    return delete_removed(root, name);
}

Status remove_other_formats(const Directory &cache, const std::string &identifier,
                            std::uint32_t own) {
    TRY_ASSIGN(const auto formats, list_formats(cache));
    for (const std::uint32_t format : formats) {
        if (format != own) TRY(remove_format(cache, identifier, format));
    }
    return {};
}

bool is_upkeep_due(const Directory &root, const std::string &identifier) {
    if (is_recent(root.info(kUpkeepFileName)) || !has_others(root, identifier)) return false;
    const auto file = root.open_or_make_file(kUpkeepFileName);
    return file.ok() && file.value().touch().ok();
}

void remove_superseded(const std::string &path, const Upkeep &upkeep, const std::atomic<bool> &stop,
                       const Log &log) {
    const auto root = open_root(path, Create::no, Log());
    if (!root.ok()) return;
    delete_leftovers(root.value(), stop);
    std::vector<KnownGeneration> all = list_generations(root.value(), &stop);
    std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
        return std::pair(a.needed_ns, a.is_recipes) < std::pair(b.needed_ns, b.is_recipes);
    });
    Shares shares(all, upkeep.total_bytes);
    for (const KnownGeneration &each : all) {
        if (stop.load()) break;
        const char *const identifier = each.identifier.c_str();
        const std::uint64_t excess = shares.excess(each);
        const bool is_old = is_too_old(each, upkeep);
        if (!is_old) remove_unused_formats(root.value(), each.identifier, upkeep, log);
        if (!is_old && excess == 0) continue;
        if (!is_old && shares.stays(each)) {
            if (!shrink(path, root.value(), each.identifier, each.bytes - excess).ok()) continue;
            shares.give_back(each, excess);
            log.write(Severity::info, "cache %s is made smaller: %s", identifier, kTooMuchRoom);
        } else {
            if (!remove_generation(root.value(), each).ok()) continue;
            shares.give_back(each, each.bytes);
            log.write(Severity::info, "cache %s is removed: %s", identifier,
                      is_old ? "nobody has used it for long" : kTooMuchRoom);
        }
    }
    if (!stop.load()) {
        tidy_driver_caches(path, upkeep.unused_max_ns, upkeep.total_bytes, log);
    } else {
        (void)root->remove_file(kUpkeepFileName);
    }
}

}  // namespace cairn
