// SPDX-License-Identifier: MIT
#include "cache/control_file.h"

#include <bit>

#include "os/deadline.h"
#include "os/environment.h"

namespace cairn {
namespace {

constexpr std::uint64_t kLookIntervalNs = 100'000'000;
constexpr unsigned kAttempts = 8;  // each has lost to somebody who deleted the file meanwhile
constexpr std::uint64_t kLookPatienceUs = 10'000;
constexpr std::size_t kStateWord = 0;
constexpr std::size_t kFirstClearsWord = 1;
// Above any number of clearings, so that another file has greater numbers than the one before.
constexpr unsigned kEpochShift = 48;

}  // namespace

Kind kind_of_identifier(std::string_view identifier) {
    if (identifier.starts_with("gl-") || identifier.starts_with("egl-")) {
        return kind_cache_for_driver;
    }
    if (identifier == "conversions") return kind_conversions;
    if (identifier.starts_with("d3d12-")) return kind_application_managed;
    return kind_none;
}

std::atomic_ref<std::uint64_t> ControlFile::View::word(std::size_t index) const {
    auto *words = reinterpret_cast<std::uint64_t *>(mapping.data());
    return std::atomic_ref<std::uint64_t>(words[index]);
}

ControlFile::ControlFile(std::string root, Create create, const Log &log)
    : root_(std::move(root)), path_(root_ + "/" + kControlFileName), log_(log) {
    if (root_.empty()) return;
    if (create == Create::yes) {
        (void)open_for_change();  // if that fails it may still be there, and readable
    } else {
        (void)open_root(root_, Create::no, log_);  // says what is wrong with it
    }
    (void)look();
    const View *view = view_.load();
    if (view == nullptr || view->mapping.data() == nullptr) return;
    const std::uint64_t state = view->word(kStateWord).load();
    if (state != encode_state(decode_state(state))) {
        log_.write(Severity::warning,
                   "%s is damaged: all caches are enabled; the next change mends it, or delete it",
                   path_.c_str());
    }
}

Result<ControlFile::View> ControlFile::map(const File &file, Access access) {
    TRY_ASSIGN(const FileInfo info, file.info());
    if (info.size_bytes < kControlFileSize) return Error::corrupt;
    View view;
    TRY_ASSIGN(view.mapping, Mapping::file(file, access, 0, kControlFileSize));
    view.inode = info.inode;
    view.device = info.device;
    return view;
}

// Two processes may make it at once, and either may be killed in between: zeros are all it needs.
Result<File> ControlFile::open_for_change() const {
    TRY_ASSIGN(const Directory root, open_root(root_, Create::yes, log_));
    auto file = root.open_or_create_file(kControlFileName);
    if (!file.ok()) {
        log_.write(
            Severity::warning, "cannot use %s: %s%s", path_.c_str(), error_name(file.error()),
            file.error() == Error::corrupt ? "; remove what is there, which is no file" : "");
        return file.error();
    }
    TRY_ASSIGN(const FileInfo info, file->info());
    if (info.size_bytes < kControlFileSize) TRY(file->extend(kControlFileSize));
    return file;
}

// A thread holds the mutex for a moment. In a child that was forked in that moment it stays locked,
// and the child keeps the view that it has.
Status ControlFile::follow(View view) const {
    const View *now = view_.load(std::memory_order_acquire);
    view.epoch = now == nullptr ? 0 : now->epoch + 1;
    auto kept = std::unique_ptr<View>(new (std::nothrow) View(std::move(view)));
    if (kept == nullptr) return Error::no_memory;
    view_.store(kept.get(), std::memory_order_release);
    views_.push_back(std::move(kept));
    return {};
}

// A file that is gone leaves everything enabled; its view stays, for its epoch.
bool ControlFile::look() const {
    if (!looking_.try_lock()) return false;
    const AdoptedLock lock(looking_);
    const View *now = view_.load(std::memory_order_acquire);
    const auto info = Directory::working().info(path_);
    const bool is_same = now != nullptr && now->mapping.data() != nullptr && info.ok() &&
                         info->inode == now->inode && info->device == now->device;
    if (!is_same) {
        View view;
        const auto root = open_root(root_, Create::no, Log());
        if (root.ok()) {
            const auto file = root.value().open_file(kControlFileName, Access::read_only);
            auto mapped = file.ok() ? map(file.value(), Access::read_only) : file.error();
            if (mapped.ok()) view = std::move(mapped.value());
        }
        const bool is_news =
            view.mapping.data() != nullptr || (now != nullptr && now->mapping.data() != nullptr);
        if (is_news) (void)follow(std::move(view));
    }
    return true;
}

void ControlFile::look_if_due() const {
    const std::uint64_t now = coarse_monotonic_ns();
    std::uint64_t due = next_look_ns_.load(std::memory_order_relaxed);
    if (now < due || root_.empty()) return;
    if (next_look_ns_.compare_exchange_strong(due, now + kLookIntervalNs)) (void)look();
}

std::uint32_t ControlFile::disabled() const {
    look_if_due();
    const View *view = view_.load(std::memory_order_acquire);
    if (view == nullptr || view->mapping.data() == nullptr) return 0;
    return decode_state(view->word(kStateWord).load(std::memory_order_acquire));
}

std::uint64_t ControlFile::clears(Kind kind) const {
    look_if_due();
    const View *view = view_.load(std::memory_order_acquire);
    if (view == nullptr) return 0;
    const std::uint64_t epoch = view->epoch << kEpochShift;
    if (view->mapping.data() == nullptr) return epoch;
    const auto number = static_cast<unsigned>(std::countr_zero(std::uint32_t{kind}));
    const std::uint64_t count =
        view->word(kFirstClearsWord + number).load(std::memory_order_acquire);
    return epoch + (count & ((std::uint64_t{1} << kEpochShift) - 1));
}

// Calls `change` with the file that bears the name when it is done.
template <typename Change>
Status ControlFile::change(Change change) {
    if (root_.empty()) return Error::not_found;
    for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
        TRY_ASSIGN(const File file, open_for_change());
        auto view = map(file, Access::read_write);
        if (!view.ok() && view.error() == Error::corrupt) continue;  // cut short just now
        if (!view.ok()) return view.error();
        change(view.value());
        const Status synced = view->mapping.sync();
        const auto info = Directory::working().info(path_);
        if (!info.ok() || info->inode != view->inode || info->device != view->device) continue;
        // The next question must see the change.
        Backoff backoff(kLookPatienceUs);
        while (!look() && backoff.pause()) {
        }
        return synced;
    }
    return Error::busy;
}

Result<std::uint32_t> ControlFile::set(std::uint32_t disable, std::uint32_t enable) {
    std::uint32_t unchanged = 0;
    TRY(change([&](const View &view) {
        auto state = view.word(kStateWord);
        std::uint64_t before = state.load();
        std::uint32_t disabled = 0;
        do {
            disabled = decode_state(before);
        } while (
            !state.compare_exchange_weak(before, encode_state((disabled | disable) & ~enable)));
        unchanged = (disabled & disable) | (~disabled & enable);
    }));
    return unchanged;
}

Status ControlFile::count_clears(std::uint32_t kinds) {
    return change([&](const View &view) {
        for (unsigned kind = 0; kind < kKindCount; ++kind) {
            if ((kinds >> kind & 1) != 0) view.word(kFirstClearsWord + kind).fetch_add(1);
        }
    });
}

}  // namespace cairn
