// SPDX-License-Identifier: MIT
#include "support/cache.h"

#include <fcntl.h>
#include <unistd.h>

namespace cairn_test {

void LogLines::receive(void *self, int severity, const char *line) {
    auto *log = static_cast<LogLines *>(self);
    const std::lock_guard lock(log->mutex_);
    log->lines_.emplace_back(severity, line);
}

std::vector<std::pair<int, std::string>> LogLines::lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
}

std::vector<std::string> LogLines::complaints() const {
    std::vector<std::string> result;
    for (const auto &[severity, line] : lines()) {
        if (severity <= CAIRN_LOG_WARNING) result.push_back(line);
    }
    return result;
}

Cache &Cache::operator=(Cache &&other) noexcept {
    if (this != &other) {
        close();
        handle_ = std::exchange(other.handle_, nullptr);
        result_ = other.result_;
        index_file_ = std::move(other.index_file_);
    }
    return *this;
}

int Cache::open(const CacheOptions &options) {
    close();
    cairn_options plain = {};
    plain.size = sizeof(plain);
    plain.root = options.root.empty() ? nullptr : options.root.c_str();
    plain.identifier = options.identifier.c_str();
    plain.version = options.version;
    plain.mode = options.mode;
    plain.flags = options.flags;
    plain.limit_bytes = options.limit_bytes;
    plain.limit_entries = options.limit_entries;
    plain.memory_bytes = options.memory_bytes;
    if (options.log != nullptr) {
        plain.log = &LogLines::receive;
        plain.log_user = options.log;
    }
    result_ = cairn_open(&plain, &handle_);
    const bool on_disk = options.mode == CAIRN_MODE_DISK && !options.root.empty();
    index_file_ = on_disk ? options.root + "/" + options.identifier + "/format-2/cache.idx" : "";
    return result_;
}

void Cache::close() {
    cairn_close(handle_);
    handle_ = nullptr;
}

namespace {

// docs/formats/store.md: word "rebuild" of the counters page.
constexpr off_t kRebuild = 4096 + 5 * 64;
constexpr std::uint64_t kNone = 0xA36C'1E5B'97D2'F048, kDamage = 1;

}  // namespace

void Cache::ask_for_rebuild() const {
    const int file = index_file_.empty() ? -1 : ::open(index_file_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    [[maybe_unused]] const auto written = pwrite(file, &kDamage, sizeof(kDamage), kRebuild);
    ::close(file);
}

bool Cache::make_index_anew() {
    ask_for_rebuild();
    while (compress() == CAIRN_ERROR_BUSY) {  // that rebuilds first, for a while
    }
    return !rebuild_is_due();
}

bool Cache::rebuild_is_due() const {
    std::uint64_t reason = kNone;
    const int file = ::open(index_file_.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    [[maybe_unused]] const auto read = pread(file, &reason, sizeof(reason), kRebuild);
    ::close(file);
    return reason != kNone;
}

int Cache::put(ByteView key, ByteView value, std::uint32_t flags, std::uint32_t cost_us) {
    const cairn_put_options options = {sizeof(options), flags, cost_us};
    return cairn_put(handle_, key.data(), key.size(), value.data(), value.size(), &options);
}

std::optional<Blob> Cache::get(ByteView key, int *result) {
    cairn_blob *blob = nullptr;
    const int code = cairn_get(handle_, key.data(), key.size(), &blob);
    if (result != nullptr) *result = code;
    if (code != CAIRN_OK) return std::nullopt;
    return Blob(blob);
}

std::optional<ByteVector> Cache::get_into(ByteView key, std::size_t capacity, int *result) {
    ByteVector buffer(capacity);
    std::size_t size = 0;
    const int code =
        cairn_get_into(handle_, key.data(), key.size(), buffer.data(), capacity, &size);
    if (result != nullptr) *result = code;
    if (code != CAIRN_OK) return std::nullopt;
    buffer.resize(size);
    return buffer;
}

cairn_stats Cache::stats() {
    cairn_stats stats = {};
    stats.size = sizeof(stats);
    cairn_stats_get(handle_, &stats);
    return stats;
}

}  // namespace cairn_test
