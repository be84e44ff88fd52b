// SPDX-License-Identifier: MIT
#include "cache/pressure.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace cairn {
namespace {

// Microseconds waited of a window of two seconds, the shortest that everybody may ask for.
constexpr const char *kTrigger = "some 200000 2000000";
// Of the time in which nobody could run for lack of memory, over ten seconds.
constexpr unsigned kCriticalPercent = 5;

std::string content_of(const std::string &path) {
    const auto directory = Directory::working();
    const auto file = directory.open_file(path, Access::read_only);
    if (!file.ok()) return {};
    std::string text(4096, '\0');
    const auto size = file->read_at(0, std::as_writable_bytes(std::span(text)));
    text.resize(size.ok() ? size.value() : 0);
    return text;
}

// 0: there is none.
std::uint64_t number_behind(std::string_view name, const std::string &text) {
    const std::size_t begin = text.find(name);
    std::uint64_t number = 0;
    if (begin == std::string::npos) return number;
    (void)std::from_chars(text.data() + begin + name.size(), text.data() + text.size(), number);
    return number;
}

// The kernel tells of changes since it was read. False: the group is gone, and would be said to
// have changed at each look.
bool note_events(const File &events) {
    std::array<std::byte, 512> content;
    return events.read_at(0, content).ok();
}

// The directory of this process's cgroup of version 2: of the line "0::/PATH". One outside what the
// process may see begins with "/..", and leads to a foreign place.
std::string own_group(const std::string &root) {
    const std::string text = content_of(root + "/proc/self/cgroup");
    constexpr std::string_view kBegin = "0::/";
    const std::size_t begin = text.starts_with(kBegin) ? 0 : text.find("\n0::/") + 1;
    if (text.compare(begin, kBegin.size(), kBegin) != 0) return {};
    const std::size_t path = begin + kBegin.size() - 1;
    const std::string group = text.substr(path, text.find('\n', path) - path);
    if ((group + "/").starts_with("/../")) return {};
    return root + "/sys/fs/cgroup" + group;
}

}  // namespace

void PressureWatch::add(File file, Says says, int stand_in) {
    using Kind = Event::Other::Kind;
    if (count_ == kSourcesMax) return;
    Event::Other &source = sources_[count_];
    source.fd = stand_in >= 0 ? stand_in : file.fd();
    source.kind = stand_in >= 0                 ? Kind::readable
                  : says == Says::look_at_group ? Kind::changed
                                                : Kind::urgent;
    files_[count_] = std::move(file);
    says_[count_++] = says;
}

bool PressureWatch::open_stalls(const std::string &path, const PressureOptions &options) {
    auto trigger = open_trigger(path, kTrigger);
    if (!trigger.ok()) return false;
    stalls_ = path;
    add(File(std::move(*trigger)), Says::look_at_stalls, options.trigger_stand_in);
    return true;
}

// A process in a group feels what is short there, and what is short in all of the system is short
// there, too.
void PressureWatch::open(const PressureOptions &options) {
    if (!options.watch) return;
    group_ = own_group(options.root);
    bool has_trigger = false;
    if (!group_.empty()) {
        has_trigger = open_stalls(group_ + "/memory.pressure", options);
        const bool has_limits = number_of("memory.high") || number_of("memory.max");
        auto events = File::open_configuration(group_ + "/memory.events");
        if (has_limits && events.ok()) {
            add(std::move(*events), Says::look_at_group, options.events_stand_in);
            note_events(files_[count_ - 1]);
        }
    }
    if (!has_trigger) (void)open_stalls(options.root + "/proc/pressure/memory", options);
}

Pressure PressureWatch::look() {
    Pressure worst = Pressure::none;
    for (std::size_t i = 0; i < count_; ++i) {
        if (!sources_[i].happened) continue;
        const bool is_group = says_[i] == Says::look_at_group;
        if (is_group && !note_events(files_[i])) sources_[i].ended = true;
        worst = std::max(worst, is_group ? pressure_of_group() : pressure_of_stalls());
    }
    return worst;
}

// Its trigger has fired.
Pressure PressureWatch::pressure_of_stalls() const {
    const std::uint64_t percent = number_behind("full avg10=", content_of(stalls_));
    return percent >= kCriticalPercent ? Pressure::critical : Pressure::moderate;
}

std::optional<std::uint64_t> PressureWatch::number_of(const char *file) const {
    const std::string text = content_of(group_ + "/" + file);
    std::uint64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc()) return std::nullopt;  // "max": no limit
    return number;
}

// Its file of events has changed: a limit was met, now or a moment ago. Files in the system's
// memory fill a group up to its limit sooner or later, and go when somebody else needs the memory.
Pressure PressureWatch::pressure_of_group() const {
    const auto current = number_of("memory.current");
    if (!current) return Pressure::none;
    const std::string parts = content_of(group_ + "/memory.stat");
    const std::uint64_t files =
        number_behind("\ninactive_file ", parts) + number_behind("\nactive_file ", parts);
    const std::uint64_t used = *current - std::min(files, *current);
    const auto is_near = [&](const char *limit) {
        const auto bytes = number_of(limit);
        return bytes && used >= *bytes - *bytes / 16;
    };
    if (is_near("memory.max")) return Pressure::critical;
    return is_near("memory.high") ? Pressure::moderate : Pressure::none;
}

}  // namespace cairn
