// How long a question to the user's agent may wait, and when there is to be none.
// SPDX-License-Identifier: MIT
//
// Rules:
//  1. A question waits no longer than its caller says, and no longer than compiling usually takes.
//  2. There is none where compiling takes less than a millisecond, or less than answers usually do.
//     Once in kTryAgainNs one is put all the same: the agent may have become quicker.
//  3. After a failure there is none for a random time of up to kPauseNs, at least a tenth of it, and
//     twice as much with each further failure in a row, up to kPauseMaxNs. A success ends it.
//
// Thread safety: externally synchronised. There is no clock in here.
#pragma once

#include <cstdint>
#include <optional>

namespace cairn {

// A moving average: an eighth of what is new.
class Usual {
  public:
    void note(std::uint64_t value) { value_ = value_ ? *value_ - *value_ / 8 + value / 8 : value; }
    // nullopt: nothing was noted.
    std::optional<std::uint64_t> value() const { return value_; }

  private:
    std::optional<std::uint64_t> value_;
};

class AskingPatience {
  public:
    static constexpr std::uint64_t kPauseNs = 1'000'000'000;
    static constexpr std::uint64_t kPauseMaxNs = 300 * kPauseNs;
    static constexpr std::uint64_t kTryAgainNs = 60 * kPauseNs;
    static constexpr std::uint64_t kLeastUs = 1000;

    // nullopt: not now. `compile_us`: what compiling usually takes.
    std::optional<std::uint64_t> patience_us(std::uint64_t now_ns, std::uint64_t most_us,
                                             std::optional<std::uint64_t> compile_us) const;
    void note_answer(std::uint64_t now_ns, std::uint64_t waited_us);
    // `chance` is from 0 to below 1.
    void note_failure(std::uint64_t now_ns, double chance);

  private:
    Usual answer_us_;
    std::uint64_t asked_ns_ = 0;  // the last answer
    unsigned failures_ = 0;       // in a row
    std::uint64_t again_ns_ = 0;  // before that there is no question
};

}  // namespace cairn
