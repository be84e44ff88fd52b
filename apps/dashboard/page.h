// The files of the page, as they are installed: plain HTML, CSS and modules.
// SPDX-License-Identifier: MIT
//
// They are read once. No request names a path: what is not among them is not there.
//
// Thread safety: const methods at once.
// Failure: a Failure where there is no page.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace cairn::dashboard {

struct PageFile {
    std::string type;
    std::string text;
};

class Page {
  public:
    // The installed one, or that of a build tree: by where this program is.
    static Page load();

    // Null: there is none. "/" is that of the page itself.
    const PageFile *find(std::string_view path) const;

  private:
    std::map<std::string, PageFile, std::less<>> files_;
};

}  // namespace cairn::dashboard
