// SPDX-License-Identifier: MIT
// What the caches below a root remember of look-ups: the runs of applications, and why links missed.
// Thread safety: externally synchronised.
// Failure: a cache whose history cannot be read has none.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "history/reader.h"
#include "text.h"

namespace cairn::cli {

// A cache in which a front end looks programs up.
struct FrontEndCache {
    std::string application;  // as people know it
    std::string identifier;
    std::uint64_t disk_bytes = 0;
    std::uint64_t limit_bytes = 0;  // that its application was given; 0: none
};

// The generations of applications, and the sessions of D3D12 that have a history.
std::vector<FrontEndCache> list_front_end_caches(const std::string &root);

// A process that looked programs up in one cache.
struct ApplicationRun {
    std::string application;  // as people know it
    std::string identifier;   // of the cache
    RunRead run;
    std::vector<LinkRead> links;   // that missed, of this run; the oldest first
    bool has_older_links = false;  // there may have been more than are kept
};

// The newest first. `application`: all, where it is empty.
std::vector<ApplicationRun> read_runs(const std::string &root, const std::string &application);

// A line in which two generations differ: of the driver, its settings or the machine.
struct Difference {
    std::string field;  // "GL_VERSION", "library libLLVM-15.so.1"
    std::string from;   // empty: the older one has no such line
    std::string to;
};

// How a generation of an application differs from another one, by their numbers, the older one
// first. Empty, too, where one of them is gone.
std::vector<Difference> differences(const std::string &root, const std::string &from,
                                    const std::string &to);
// The identifier of another generation of the same application, by its number; "": it is gone.
std::string sibling_identifier(const std::string &root, const std::string &identifier,
                               std::uint64_t generation);

// What is known beyond the outcome of a link; "" for nothing. As a clause, for people.
std::string details_of(const std::string &root, const ApplicationRun &run, const Link &link);

// The beginnings of sources that a cache keeps (`cairn run --keep-sources`), by program.
using Sources = std::map<LinkKey, std::string>;
Sources sources_of(const std::string &root, const std::string &identifier);
// One of them as people read it, whatever it holds: printable lines, and no more than a front end keeps.
Words source_lines(std::string_view sources);

// As `cairn why --json` shows it (docs/cli.md).
nlohmann::ordered_json json_of(const std::string &root, const ApplicationRun &run,
                               const Sources &sources);

}  // namespace cairn::cli
