// SPDX-License-Identifier: MIT
// Whether caches and packs can be read, and whether something has switched them off.
#include "caches.h"

#include <cairn/cairn_control.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "cache/generations.h"
#include "cache/layers.h"
#include "common/crash_guard.h"
#include "doctor/checks.h"
#include "keys.h"
#include "log_lines.h"
#include "os/root.h"
#include "os/text_file.h"
#include "output.h"
#include "pack/pack_reader.h"
#include "signature.h"
#include "text.h"

namespace cairn::cli::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPacksMax = 200;

void check_switches(const std::string &root, Findings &findings) {
    CacheLog log;
    const uint32_t disabled =
        cairn_control_disabled(open_control(root, CAIRN_CONTROL_OPEN_READ_ONLY, log).get());
    struct Named {
        uint32_t kind;
        const char *name;
        Id id;
    };
    for (const Named &each :
         {Named{CAIRN_KIND_CACHE_FOR_DRIVER, "cache-for-driver", Id::caches_off},
          Named{CAIRN_KIND_CONVERSIONS, "conversions", Id::kinds_off},
          Named{CAIRN_KIND_DRIVER_MANAGED, "driver-managed", Id::kinds_off},
          Named{CAIRN_KIND_APPLICATION_MANAGED, "application-managed", Id::kinds_off}}) {
        if ((disabled & each.kind) == 0) continue;
        findings.add(
            each.id, fmt::format("`cairn control` has switched off {}", each.name),
            fmt::format("CAIRN_DEVELOPER_MODE=1 cairn control --kind {} --enable", each.name));
    }
}

void check_crashes(const std::string &root, Findings &findings) {
    for (const std::string &name : guarded_applications(root)) {
        const auto record = read_crash_record(root, name);
        if (!record.ok() || record->off_since_ns == 0) continue;
        findings.add(Id::crashed,
                     fmt::format("{} died twice within a minute inside Cairn's front end, and is "
                                 "switched off since {}",
                                 name, format_time(record->off_since_ns / 1'000'000)),
                     fmt::format("cairn enable {}", name));
    }
}

void check_whole(const std::string &root, Findings &findings) {
    for (const std::string &name : list_caches(root)) {
        try {
            (void)open_cache(root, name, Access::read_only);
        } catch (const Failure &failure) {
            findings.add(
                Id::cache_damaged, failure.what(),
                fmt::format("start its application once, or: cairn rm {}", shell_word(name)));
        }
    }
}

// The folders of installed packs: NAME in each of the folders that the library looks in.
std::map<std::string, Words> folders_by_name(const std::string &root) {
    std::map<std::string, Words> found;
    constexpr const char *kAny = "any";
    for (const std::string &folder : pack_folders(root, kAny)) {
        std::error_code error;
        const fs::path parent = fs::path(folder).parent_path();
        if (fs::path(folder).filename() != kAny) continue;  // beside the executable
        for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
             entry.increment(error)) {
            if (entry->is_directory(error)) {
                found[entry->path().filename().string()].push_back(entry->path().string());
            }
        }
    }
    return found;
}

bool has_packs(const Words &folders) {
    return std::ranges::any_of(
        folders, [](const std::string &folder) { return !paths_in(folder, ".pack").empty(); });
}

// Of a cache's contents, as its application chose it.
uint64_t version_of(const std::string &root, const std::string &identifier) {
    try {
        return cache_stats(open_cache(root, identifier, Access::read_only)).version;
    } catch (const Failure &) {
        return 0;
    }
}

// What the library says of the packs that it would take for a cache. Whether it takes one.
bool takes_packs(const std::string &root, const Words &folders, const std::string &identifier,
                 Lines &refused) {
    const auto cache = Directory::open(root + "/" + identifier);
    if (!cache.ok()) return false;
    const LayeredSubject subject =
        subject_of(cache.value(), identifier, version_of(root, identifier));
    return !find_layers(folders, subject, {}, PackKind::entries, Log(Lines::keep, &refused))
                .empty();
}

// A pack whose key counts no more, which `cairn key revoke` would have removed.
void check_signer(const std::string &path, const std::set<std::string> &revoked,
                  Findings &findings) {
    try {
        const auto file = Directory::working().open_file(path, Access::read_only);
        const auto trailer = file.ok() ? read_trailer(file.value(), path) : std::nullopt;
        if (!trailer || !revoked.contains(fingerprint(trailer->key))) return;
        findings.add(
            Id::pack_untrusted,
            fmt::format("{} is signed with a key that you have revoked ({})", path,
                        fingerprint(trailer->key)),
            fmt::format("cairn pack remove {}", shell_word(fs::path(path).filename().string())));
    } catch (const Failure &) {
        return;
    }
}

std::set<std::string> revoked_fingerprints() {
    std::set<std::string> found;
    try {
        for (const NamedKey &each : revoked_keys().keys) found.insert(fingerprint(each.key));
    } catch (const Failure &) {
        return found;
    }
    return found;
}

void check_packs(const std::string &root, Findings &findings) {
    const auto applications = list_applications(root);
    const std::set<std::string> revoked = revoked_fingerprints();
    std::size_t looked_at = 0;
    for (const auto &[name, folders] : folders_by_name(root)) {
        if (!has_packs(folders)) continue;
        Lines refused;
        bool has_cache = false, is_taken = false;
        for (const auto &[identifier, application] : applications) {
            if (application_name(application) != application_name(name)) continue;
            has_cache = true;
            is_taken = takes_packs(root, folders, identifier, refused) || is_taken;
        }
        // Without a cache the library is asked for the sake of what it refuses.
        if (!has_cache) (void)takes_packs(root, folders, ".", refused);
        for (const std::string &line : refused.lines) {
            findings.add(Id::pack_refused, line,
                         "cairn pack verify tells more; cairn pack remove takes it away");
        }
        for (const std::string &folder : folders) {
            for (const std::string &path : paths_in(folder, ".pack")) {
                if (++looked_at <= kPacksMax) check_signer(path, revoked, findings);
            }
        }
        if (!has_cache || is_taken || !refused.lines.empty()) continue;
        findings.add(
            Id::pack_other_driver,
            fmt::format("packs of {} have nothing for the drivers that it ran with here", name),
            fmt::format("cairn warm {}, where they have recipes", name));
    }
}

}  // namespace

void check_caches(const Examined &examined, Findings &findings) {
    if (examined.root.empty() || findings.has(Id::root_refused)) return;
    check_switches(examined.root, findings);
    check_crashes(examined.root, findings);
    try {
        check_whole(examined.root, findings);
        check_packs(examined.root, findings);
    } catch (const Failure &failure) {
        findings.add(Id::cache_damaged, failure.what(), "do what the line says");
    }
}

}  // namespace cairn::cli::doctor
