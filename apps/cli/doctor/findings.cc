// SPDX-License-Identifier: MIT
#include "doctor/findings.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cairn::cli::doctor {
namespace {

constexpr auto kKinds = std::to_array<Kind>({
#define CAIRN_FINDING(name, text, level, why) {text, Level::level, why},
    CAIRN_FINDINGS(CAIRN_FINDING)
#undef CAIRN_FINDING
});

}  // namespace

std::string_view level_name(Level level) {
    switch (level) {
        case Level::ok:
            return "ok";
        case Level::note:
            return "note";
        case Level::warning:
            return "warning";
        case Level::wrong:
            return "wrong";
    }
    return "";
}

std::string_view Kind::group() const {
    const std::string_view whole = name;
    return whole.substr(0, whole.find('.'));
}

const Kind &kind_of(Id id) {
    return kKinds.at(static_cast<std::size_t>(id));
}

std::span<const Kind> all_kinds() {
    return kKinds;
}

void Findings::add(Id id, std::string what, std::string mend) {
    const std::size_t before = count(id);
    if (before > kOfOneMax) return;
    if (before == kOfOneMax) {
        what = "there are more of these";
        mend.clear();
    }
    findings_.push_back({id, std::move(what), std::move(mend)});
}

std::size_t Findings::count(Level level) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        findings_, [&](const Finding &each) { return kind_of(each.id).level == level; }));
}

std::size_t Findings::count(Id id) const {
    return static_cast<std::size_t>(std::ranges::count(findings_, id, &Finding::id));
}

}  // namespace cairn::cli::doctor
