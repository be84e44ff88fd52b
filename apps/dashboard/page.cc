// SPDX-License-Identifier: MIT
#include "page.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "os/helper_process.h"
#include "output.h"

namespace cairn::dashboard {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, const char *>, 4> kTypes = {{
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".svg", "image/svg+xml"},
}};

fs::path find_folder() {
    const fs::path program = fs::path(canonical_path("/proc/self/exe")).parent_path();
    for (const fs::path &place : {program / CAIRN_PAGE_FROM_BIN, program / "page"}) {
        std::error_code ignored;
        if (fs::exists(place / "index.html", ignored)) return place;
    }
    throw cli::Failure(cli::kExitFailure, "the page is not installed: it is not in {}",
                       (program / CAIRN_PAGE_FROM_BIN).lexically_normal().string());
}

}  // namespace

Page Page::load() {
    Page page;
    const fs::path folder = find_folder();
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string extension = entry->path().extension().string();
        const auto *const type =
            std::ranges::find(kTypes, extension, &decltype(kTypes)::value_type::first);
        if (type == kTypes.end()) continue;
        std::ifstream file(entry->path());
        PageFile read = {type->second, {std::istreambuf_iterator<char>(file), {}}};
        if (!file) error = std::make_error_code(std::errc::io_error);
        page.files_.emplace("/" + entry->path().filename().string(), std::move(read));
    }
    if (error) {
        throw cli::Failure(cli::kExitFailure, "cannot read {}: {}", folder.string(),
                           error.message());
    }
    return page;
}

const PageFile *Page::find(std::string_view path) const {
    const auto found = files_.find(path == "/" ? std::string_view("/index.html") : path);
    return found == files_.end() ? nullptr : &found->second;
}

}  // namespace cairn::dashboard
