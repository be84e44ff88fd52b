// SPDX-License-Identifier: MIT
#include "cache/kinds.h"

#include <vector>

#include "store/space.h"
#include "store/store.h"

namespace cairn {
namespace {

void log_failure(const Log &log, const std::string &identifier, Error error) {
    log.write(Severity::error, "cannot clear the cache %s: %s", identifier.c_str(),
              error_name(error));
}

// Opening a cache for writing sets its limit, so the present limit must be given.
std::uint64_t limit_of(StoreOptions options, std::uint64_t otherwise) {
    options.access = Access::read_only;
    options.create = Create::no;
    options.log = Log();
    auto store = Store::open(options);
    return store.ok() ? store.value()->limit_bytes() : otherwise;
}

Status clear_cache(const std::string &root, const std::string &identifier, const Log &log) {
    constexpr std::uint64_t kLimitDefault = 1u << 30;
    StoreOptions options;
    options.root = root;
    options.identifier = identifier;
    options.any_version = true;
    options.log = log;
    options.limit_bytes = limit_of(options, kLimitDefault);
    auto store = Store::open(options);
    const Status status = store.ok() ? store.value()->clear() : Status(store.error());
    if (!status.ok()) log_failure(log, identifier, status.error());
    return status;
}

// A directory with a lock file in it; files and links are none.
Result<bool> is_cache(const Directory &root, const std::string &name) {
    const auto directory = root.open_directory(name);
    const auto info = directory.ok() ? directory.value().info(kLockFileName) : directory.error();
    if (info.ok()) return true;
    if (info.error() == Error::not_found || info.error() == Error::denied) return false;
    return info.error();
}

}  // namespace

Kind kind_of_identifier(std::string_view identifier) {
    if (identifier.starts_with("egl-")) return kind_cache_for_driver;
    if (identifier == "conversions") return kind_conversions;
    if (identifier.starts_with("d3d12-")) return kind_application_managed;
    return kind_none;
}

Status clear_kinds(const std::string &path, std::uint32_t kinds, const Log &log) {
    const auto root = open_root(path, Create::no, log);
    if (!root.ok()) return root.error() == Error::not_found ? Status() : Status(root.error());
    std::vector<std::string> identifiers;
    TRY(root.value().list([&](const char *name) {
        const bool is_meant = (kind_of_identifier(name) & kinds) != 0 && valid_identifier(name);
        if (is_meant) identifiers.emplace_back(name);
    }));
    Status first;
    for (const std::string &identifier : identifiers) {
        const auto known = is_cache(root.value(), identifier);
        if (known.ok() && !known.value()) continue;
        if (!known.ok()) log_failure(log, identifier, known.error());
        const Status status =
            known.ok() ? clear_cache(path, identifier, log) : Status(known.error());
        if (first.ok()) first = status;
    }
    return first;
}

}  // namespace cairn
