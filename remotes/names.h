// The names of objects, taken apart into the folders that lead to them.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions.
// Failure: the require functions throw a RemoteFailure for a name that no object may have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::remotes {

// Where a listing has an entry: `entry` is the last part, and of a folder it ends in a slash.
struct Place {
    std::string folder;
    std::string entry;
};

// Of `a/b/c`: `c` in `a/b`, `b/` in `a`, and `a/` in the top. In this order nothing is listed above that
// is not listed below.
std::vector<Place> places_of(const std::string &name);

// Whether a listing may have this entry: a part, with or without a slash at its end.
bool is_entry(std::string_view entry);

void require_object_name(const std::string &remote, const std::string &name);
// The top, whose name is empty, is a folder, too.
void require_folder_name(const std::string &remote, const std::string &folder);

}  // namespace cairn::remotes
