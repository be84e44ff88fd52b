// SPDX-License-Identifier: MIT
#include "caches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "cache/driver_cache.h"
#include "cache/generations.h"
#include "cache/layer_file.h"
#include "cache/start_order.h"
#include "os/environment.h"
#include "os/root.h"
#include "os/text_file.h"
#include "store/formats.h"
#include "store/index_file.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kAboutFile = "about";
// Of the names that front ends for GL give applications.
constexpr std::string_view kFrontEnd = "gl-";

std::string root_of_command;  // see choose_root()

// The broker keeps what a front end stores by it in one cache for all drivers, which is named as the
// front end names the application. Other caches of front ends end in the digits of a hash.
bool is_behind_a_broker(std::string_view identifier) {
    if (!identifier.starts_with(kFrontEnd) || identifier.size() == kFrontEnd.size()) return false;
    constexpr std::size_t kHashSize = 16;
    const std::size_t dash = identifier.rfind('-');
    const std::string_view end = identifier.substr(dash + 1);
    return dash < kFrontEnd.size() || end.size() != kHashSize ||
           end.find_first_not_of("0123456789abcdef") != std::string_view::npos;
}

std::string explanation(const CacheHandle &cache, int result) {
    const std::string line = first_line(*cache.get_deleter().log);
    return line.empty() ? cairn_result_string(result) : line;
}

using Opening = std::pair<CacheHandle, int>;

// Opens it in the version that it has, since another version would empty it.
Opening try_open(const std::string &root, const std::string &identifier, uint32_t flags,
                 uint64_t limit_bytes = 0) {
    const auto log = std::make_shared<CacheLog>();
    // Who changes a cache reaches what applications ship as well.
    Words layers;
    if (const auto folder = Directory::open(root + "/" + identifier);
        folder.ok() && (flags & CAIRN_OPEN_READ_ONLY) == 0) {
        layers = layer_paths(folder.value());
    }
    std::vector<const char *> paths;
    for (const std::string &path : layers) paths.push_back(path.c_str());
    cairn_options options = {};
    options.size = sizeof(options);
    options.root = root.c_str();
    options.identifier = identifier.c_str();
    options.layers = paths.data();
    options.layer_count = paths.size();
    options.flags = flags | CAIRN_OPEN_ANY_VERSION | CAIRN_OPEN_EXISTING;
    options.memory_bytes = CAIRN_NONE;
    options.limit_bytes = limit_bytes;
    options.log = keep_first_line;
    options.log_user = log.get();
    cairn_cache *cache = nullptr;
    const int result = cairn_open(&options, &cache);
    return {CacheHandle(cache, CacheCloser{log}), result};
}

std::vector<std::uint32_t> list_formats_of(const std::string &root, const std::string &identifier) {
    const auto cache = Directory::open(root + "/" + identifier);
    auto formats = cache.ok() ? list_formats(cache.value()) : cache.error();
    return formats.ok() ? std::move(formats.value()) : std::vector<std::uint32_t>();
}

// Whether this is a cache without a usable index. Opening it for reading rebuilds none.
bool has_no_index(const std::string &root, const std::string &identifier) {
    const auto cache = Directory::open(root + "/" + identifier);
    const auto files = cache.ok() ? find_format(cache.value()) : cache.error();
    if (!valid_identifier(identifier) || !files.ok()) return false;
    auto file = files.value().directory.open_file(kIndexFileName, Access::read_only);
    const auto identity = file.ok() ? read_index_identity(file.value(), identifier)
                                    : Result<CacheIdentity>(file.error());
    const Error error =
        identity.ok()
            ? Index::open(std::move(file.value()), identity.value(), Access::read_only).error()
            : identity.error();
    return error == Error::not_found || error == Error::corrupt;
}

}  // namespace

void keep_first_line(void *user, int severity, const char *line) {
    auto *log = static_cast<CacheLog *>(user);
    const std::lock_guard lock(log->mutex);
    if (log->first_line.empty() && severity <= CAIRN_LOG_WARNING) log->first_line = line;
}

std::string first_line(CacheLog &log) {
    const std::lock_guard lock(log.mutex);
    return log.first_line;
}

void choose_root(const std::string &root) {
    root_of_command = root;
}

const std::string &chosen_root() {
    return root_of_command;
}

std::string resolve_root() {
    if (chosen_root().starts_with('/')) return chosen_root();
    if (!chosen_root().empty()) {
        throw Failure(kExitFailure,
                      "the working directory is gone, so that `--dir {}` leads nowhere; give an "
                      "absolute path",
                      chosen_root());
    }
    const std::string directory = environment_variable("CAIRN_DIR").value_or("");
    if (!directory.empty() && !directory.starts_with('/')) {
        std::error_code error;
        // The library would ignore it without a word, and use another directory.
        throw Failure(kExitFailure,
                      "CAIRN_DIR is `{}`, which is no absolute path; set it to `{}`, or "
                      "unset it",
                      directory, (fs::current_path(error) / directory).lexically_normal().string());
    }
    const auto root = default_root();
    if (!root) {
        throw Failure(kExitFailure,
                      "there is no place for caches, as the user has no home directory; set "
                      "CAIRN_DIR to an absolute path");
    }
    return *root;
}

std::string root_problem(const std::string &root) {
    // Looking for a cache asks the library itself. It does not matter whether that cache is there.
    const auto [cache, result] = try_open(root, "cairn.probe", CAIRN_OPEN_READ_ONLY);
    const bool usable = result == CAIRN_OK || result == CAIRN_ERROR_NOT_FOUND;
    return usable ? "" : explanation(cache, result);
}

std::string usable_root() {
    std::string root = resolve_root();
    if (const std::string problem = root_problem(root); !problem.empty()) {
        throw Failure(kExitFailure, problem);
    }
    return root;
}

Words list_caches(const std::string &root) {
    Words identifiers;
    std::error_code error;
    fs::directory_iterator entry(root, error);
    if (error == std::errc::no_such_file_or_directory) return identifiers;
    for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
        std::error_code ignored;
        std::string name = entry->path().filename().string();
        if (!valid_identifier(name) ||
            entry->symlink_status(ignored).type() != fs::file_type::directory) {
            continue;
        }
        if (!list_formats_of(root, name).empty()) identifiers.push_back(std::move(name));
    }
    if (error) throw Failure(kExitFailure, "cannot read {}: {}", root, error.message());
    std::sort(identifiers.begin(), identifiers.end());
    return identifiers;
}

Failure no_such_cache(const std::string &root, const std::string &identifier) {
    return {kExitFailure, "there is no cache `{}` in {}{}; `cairn ls` lists them", identifier, root,
            did_you_mean(identifier, list_caches(root))};
}

std::string application_name(const std::string &application) {
    return application.starts_with(kFrontEnd) ? application.substr(kFrontEnd.size()) : application;
}

bool is_of_application(const std::string &application, const std::string &meant) {
    return meant.empty() || application_name(application) == application_name(meant);
}

uint64_t driver_caches_bytes(const std::string &root, const std::string &application) {
    uint64_t bytes = 0;
    const auto all = Directory::open(driver_caches_path(root));
    if (!all.ok()) return 0;
    (void)all.value().list([&](const char *name) {
        if (is_of_application(name, application)) bytes += driver_cache_bytes(root, name);
    });
    return bytes;
}

std::map<std::string, std::string> list_applications(const std::string &root) {
    std::map<std::string, std::string> applications;
    if (const auto directory = Directory::open(root); directory.ok()) {
        for (const KnownGeneration &each : list_generations(directory.value())) {
            applications.emplace(each.identifier, each.application);
        }
    }
    for (const std::string &identifier : list_caches(root)) {
        if (is_behind_a_broker(identifier)) applications.emplace(identifier, identifier);
    }
    return applications;
}

std::string about_text(const std::string &root, const std::string &identifier) {
    constexpr std::size_t kSizeMax = 256 * 1024;  // whatever somebody has put there
    const auto folder = Directory::open(root + "/" + identifier);
    if (!folder.ok()) return "";
    const auto text_of = [&](const char *name) {
        auto text = read_text_file(folder.value(), name, kSizeMax);
        return text.ok() ? std::move(text.value()) : std::string();
    };
    // A generation's file says more; what is about the driver follows an empty line.
    const std::string text = text_of(kGenerationFileName);
    const size_t end_of_head = text.find("\n\n");
    if (end_of_head != std::string::npos) return text.substr(end_of_head + 2);
    return text_of(kAboutFile);
}

namespace {

// The limit that a cache has. A process that opens it for writing would change it; 0: not known.
uint64_t limit_of(const std::string &root, const std::string &identifier) {
    const auto [cache, result] = try_open(root, identifier, CAIRN_OPEN_READ_ONLY);
    return result == CAIRN_OK ? cache_stats(cache).limit_bytes : 0;
}

}  // namespace

CacheHandle open_cache(const std::string &root, const std::string &identifier, Access access) {
    auto [cache, result] = access == Access::read_only
                               ? try_open(root, identifier, CAIRN_OPEN_READ_ONLY)
                               : try_open(root, identifier, 0, limit_of(root, identifier));
    if (result != CAIRN_OK && has_no_index(root, identifier)) {
        throw Failure(kExitFailure,
                      "the index of the cache `{}` is missing or damaged; the next "
                      "application that uses the cache rebuilds it",
                      identifier);
    }
    if (result == CAIRN_ERROR_NOT_FOUND && !list_formats_of(root, identifier).empty()) {
        throw Failure(
            kExitFailure,
            "the cache `{}` was made by another version of Cairn, and only that can read it; "
            "`cairn clear {}` empties it",
            identifier, identifier);
    }
    if (result == CAIRN_ERROR_NOT_FOUND || result == CAIRN_ERROR_INVALID_ARGUMENT) {
        throw no_such_cache(root, identifier);
    }
    require_ok(cache, result, fmt::format("open the cache `{}`", identifier));
    return std::move(cache);
}

void require_ok(const CacheHandle &cache, int result, const std::string &what) {
    if (result != CAIRN_OK) {
        throw Failure(kExitFailure, "cannot {}: {}", what, explanation(cache, result));
    }
}

cairn_stats cache_stats(const CacheHandle &cache) {
    cairn_stats stats = {};
    stats.size = sizeof(stats);
    require_ok(cache, cairn_stats_get(cache.get(), &stats), "count the entries");
    return stats;
}

void for_each_entry(const CacheHandle &cache, const std::string &what,
                    const std::function<bool(const cairn_entry &)> &visit) {
    using Visit = std::function<bool(const cairn_entry &)>;
    const auto call = [](void *user, const cairn_entry *entry) {
        return (*static_cast<const Visit *>(user))(*entry) ? 0 : 1;
    };
    require_ok(cache, cairn_enumerate(cache.get(), call, const_cast<Visit *>(&visit)), what);
}

namespace {

uint64_t last_used_ms(const Directory &cache) {
    uint64_t latest_ns = 0;
    const auto look = [&](const Directory &files) {
        (void)files.list([&](const char *name) {
            const auto info = files.info(name);
            latest_ns = std::max(latest_ns, info.ok() ? info->modified_ns : 0);
        });
    };
    look(cache);
    if (const auto files = find_format(cache); files.ok()) look(files.value().directory);
    return latest_ns / 1'000'000;
}

CacheSummary summarize(const std::string &root, const std::string &identifier,
                       const std::string &application) {
    CacheSummary summary;
    summary.identifier = identifier;
    summary.application = application_name(application);
    const std::string about = about_text(root, identifier);
    summary.about = about.substr(0, about.find('\n'));
    if (const auto files = Directory::open(root + "/" + identifier); files.ok()) {
        summary.used_at_ms = last_used_ms(files.value());
        summary.crashes = CrashMemory::read_counts(files.value());
        summary.start_keys = read_order(files.value()).size();
    }
    try {
        summary.stats = cache_stats(open_cache(root, identifier, Access::read_only));
    } catch (const Failure &failure) {
        summary.problem = failure.what();
    }
    return summary;
}

}  // namespace

std::vector<CacheSummary> summarize_caches(const std::string &root) {
    const Words identifiers = list_caches(root);
    auto applications = list_applications(root);
    Progress progress("Counting entries", identifiers.size());
    std::vector<CacheSummary> caches;
    for (const std::string &identifier : identifiers) {
        caches.push_back(summarize(root, identifier, applications[identifier]));
        progress.add(1);
    }
    return caches;
}

nlohmann::ordered_json json_of(const std::string &root, const std::vector<CacheSummary> &caches) {
    nlohmann::ordered_json json = {{"root", root}, {"caches", nlohmann::ordered_json::array()}};
    for (const CacheSummary &cache : caches) {
        nlohmann::ordered_json &made = json["caches"].emplace_back();
        made = {{"identifier", cache.identifier},
                {"application", nullptr},
                {"about", cache.about},
                {"used_at_ms", cache.used_at_ms}};
        if (!cache.application.empty()) made["application"] = cache.application;
        if (!cache.problem.empty()) {
            made["problem"] = cache.problem;
            continue;
        }
        made["entries"] = cache.stats.entries;
        made["disk_bytes"] = cache.stats.disk_bytes;
        made["limit_bytes"] = cache.stats.limit_bytes;
        made["version"] = cache.stats.version;
        made["crashes_dropped"] = cache.crashes.dropped;
        made["crashes_kept_out"] = cache.crashes.kept_out;
        made["start_keys"] = cache.start_keys;
    }
    return json;
}

int exit_code_of(const std::vector<CacheSummary> &caches) {
    const bool is_whole = std::all_of(caches.begin(), caches.end(), [](const CacheSummary &cache) {
        return cache.problem.empty();
    });
    return is_whole ? kExitOk : kExitFailure;
}

ControlHandle open_control(const std::string &root, uint32_t flags, CacheLog &log) {
    cairn_control_options options = {};
    options.size = sizeof options;
    options.root = root.c_str();
    options.flags = flags;
    options.log = keep_first_line;
    options.log_user = &log;
    cairn_control *control = nullptr;
    if (const int result = cairn_control_open(&options, &control); result != CAIRN_OK) {
        throw Failure(kExitFailure, "cannot control the caches: {}", cairn_result_string(result));
    }
    return {control, cairn_control_close};
}

namespace {

Words caches_of(const std::string &application, const std::string &root) {
    Words identifiers;
    for (const auto &[identifier, name] : list_applications(root)) {
        if (name == application || application_name(name) == application) {
            identifiers.push_back(identifier);
        }
    }
    return identifiers;
}

Words selected(const Selection &selection, const std::string &root) {
    if (selection.all) return list_caches(root);
    if (!selection.application.empty()) return caches_of(selection.application, root);
    Words names;
    for (const std::string &name : selection.names) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
}

// Why nothing was selected.
std::string nothing_there(const Selection &selection, const std::string &root) {
    std::set<std::string> known;
    for (const auto &[identifier, name] : list_applications(root)) {
        known.insert(application_name(name));
    }
    if (selection.application.empty()) return fmt::format("no caches in {}", root);
    const Words names(known.begin(), known.end());
    return fmt::format("no caches of `{}` in {}{}; {}", selection.application, root,
                       did_you_mean(selection.application, names),
                       names.empty()
                           ? "there are none of any application"
                           : fmt::format("there are caches of {}", fmt::join(names, ", ")));
}

void ask_about_all(const std::string &root, const char *verb, size_t count) {
    const std::string question =
        fmt::format("{}{} all of {} in {}?", static_cast<char>(std::toupper(*verb)), verb + 1,
                    format_count(count, "cache", "caches"), root);
    if (!is_confirmed(question)) throw Failure(kExitFailure, "nothing was changed");
}

}  // namespace

void add_selection(Arguments &take, Selection &selection, const char *about_names, Asks asks) {
    take.exclusive(
        {take.values("CACHE", selection.names, about_names),
         take.value("--application", selection.application,
                    "Every program cache of an application, as `cairn ls` shows its name", "NAME"),
         take.flag("--all", selection.all, "Every cache in the directory")});
    take.dir();
    take.quiet();
    selection.asks = asks;
    if (asks == Asks::yes) {
        take.flag("-y,--yes", selection.yes,
                  "With --all: do not ask (without a terminal nobody is asked)");
    }
}

Words selected_caches(const Selection &selection, const char *verb, const std::string &root) {
    if (selection.names.empty() && !selection.all && selection.application.empty()) {
        throw Failure(kExitUsage, "name the cache to {} (`cairn ls` lists them), or use --all",
                      verb);
    }
    Words names = selected(selection, root);
    if (names.empty()) say(fmt::format("Nothing to {}: {}", verb, nothing_there(selection, root)));
    return names;
}

void change_selected_driver_caches(const Selection &selection, DriverChange change) {
    if (!selection.all && selection.application.empty()) return;
    const std::string root = usable_root();
    const Words names = selection.all ? Words{""}  // all of them
                                      : Words{selection.application, "gl-" + selection.application};
    for (const std::string &name : names) {
        const Status changed = change(root, name, Log());
        if (!changed.ok()) {
            throw Failure(kExitFailure, "cannot delete the driver's machine code in {}: {}",
                          driver_caches_path(root), error_name(changed.error()));
        }
    }
}

int change_selected(const Selection &selection, const char *verb, const Change &change) {
    const std::string root = usable_root();
    const Words names = selected_caches(selection, verb, root);
    const bool asks = selection.asks == Asks::yes && selection.all && !selection.yes;
    if (asks && !names.empty()) ask_about_all(root, verb, names.size());
    int exit_code = kExitOk;
    for (const std::string &name : names) {
        try {
            say(change(root, name));
        } catch (const Failure &failure) {
            complain(failure.what());
            exit_code = kExitFailure;
        }
    }
    return exit_code;
}

}  // namespace cairn::cli
