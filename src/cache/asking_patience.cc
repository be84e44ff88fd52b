// SPDX-License-Identifier: MIT
#include "cache/asking_patience.h"

#include <algorithm>

namespace cairn {

std::optional<std::uint64_t> AskingPatience::patience_us(
    std::uint64_t now_ns, std::uint64_t most_us, std::optional<std::uint64_t> compile_us) const {
    if (now_ns < again_ns_) return std::nullopt;
    const std::uint64_t patience_us = std::min(most_us, compile_us.value_or(most_us));
    if (patience_us < kLeastUs) return std::nullopt;
    const bool is_too_slow = compile_us && answer_us_.value() && *answer_us_.value() >= *compile_us;
    if (is_too_slow && now_ns - asked_ns_ < kTryAgainNs) return std::nullopt;
    return patience_us;
}

void AskingPatience::note_answer(std::uint64_t now_ns, std::uint64_t waited_us) {
    answer_us_.note(waited_us);
    asked_ns_ = now_ns;
    failures_ = 0;
}

void AskingPatience::note_failure(std::uint64_t now_ns, double chance) {
    std::uint64_t most_ns = kPauseNs;
    for (unsigned i = 0; i < failures_ && most_ns < kPauseMaxNs; ++i) most_ns *= 2;
    most_ns = std::min(most_ns, kPauseMaxNs);
    ++failures_;
    const auto pause_ns = static_cast<std::uint64_t>(static_cast<double>(most_ns) * chance);
    again_ns_ = now_ns + std::max(pause_ns, most_ns / 10);
}

}  // namespace cairn
