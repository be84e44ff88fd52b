// SPDX-License-Identifier: MIT
#include "history/kept_sources.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "history/files.h"
#include "os/byte_lock.h"

namespace cairn {
namespace {

constexpr std::uint64_t kPatienceUs = 20'000;
// Forged heads would cost a sum over a text each.
constexpr unsigned kWrongMax = 1000;

}  // namespace

void visit_kept_sources(std::string_view left,
                        const std::function<void(const SourcesHead &, std::string_view)> &visit) {
    unsigned wrong = 0;
    while (left.size() >= sizeof(SourcesHead) && wrong < kWrongMax) {
        SourcesHead head = {};
        std::memcpy(&head, left.data(), sizeof head);
        const std::string_view behind = left.substr(sizeof head);
        const bool is_whole = head.magic == kSourcesMagic &&
                              head.size <= std::min(behind.size(), kSourcesTextMax) &&
                              head.check == check_of_sources(head, behind.substr(0, head.size));
        if (is_whole) visit(head, behind.substr(0, head.size));
        if (!is_whole && head.magic == kSourcesMagic) ++wrong;
        // Behind damage, the next record may begin anywhere.
        left.remove_prefix(is_whole ? sizeof head + head.size : 1);
    }
}

// Another file, or one that was cut, is read from its beginning.
Status KeptSources::read_on(Known &known, const File &file, const FileInfo &info) const {
    if (info.inode != known.info.inode || info.device != known.info.device ||
        info.size_bytes < known.end) {
        known.checks.clear();
        known.end = 0;
        auto held = directory_.open_file(kSourcesFileName, Access::read_only);
        known.file = held.ok() ? std::move(held.value()) : File();
    }
    known.info = info;
    std::string bytes(static_cast<std::size_t>(info.size_bytes - known.end), '\0');
    TRY_ASSIGN(const std::size_t got,
               file.read_at(known.end, std::as_writable_bytes(std::span(bytes))));
    bytes.resize(got);
    std::vector<std::uint64_t> checks;
    visit_kept_sources(
        bytes, [&](const SourcesHead &head, std::string_view) { checks.push_back(head.check); });
    known.checks.insert(checks.begin(), checks.end());
    known.end += got;
    return {};
}

void KeptSources::keep(const decltype(SourcesHead::key) &key, std::string_view text) {
    text = text.substr(0, kSourcesTextMax);
    SourcesHead head = {kSourcesMagic, static_cast<std::uint32_t>(text.size()), key, 0};
    head.check = check_of_sources(head, text);
    Known &known = known_.get();
    const MutexLock lock(known.mutex);
    const auto opened = directory_.open_or_make_file(kSourcesFileName);
    if (!opened.ok()) return;
    const File &file = opened.value();
    const auto alone = ByteLock::acquire(file, kHistoryChangeByte, kPatienceUs);
    const auto info = file.info();
    if (!alone.ok() || !info.ok() || info->size_bytes > size_max_) return;
    if (!read_on(known, file, info.value()).ok() || known.checks.contains(head.check)) return;
    if (info->size_bytes + sizeof head + text.size() > size_max_) return;
    const std::array pieces = {std::as_bytes(std::span(&head, 1)), as_bytes(text)};
    (void)file.write_at(info->size_bytes, pieces);
}

}  // namespace cairn
