// What was stored and removed under each key of a damaged cache, in memory that its processes share:
// written before a call and after it, so that it holds when the process is killed in between.
// SPDX-License-Identifier: MIT
//
// Thread safety: any number of processes read. One at a time changes a key.
// Failure: a key with kStepsMax steps takes no more, and begin() says so.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "damage/damage_kinds.h"
#include "damage/torture_sample.h"

namespace cairn_test {

enum class StepState : std::uint8_t {
    begun,      // the call has not returned: it may have an effect, now or at a rebuild
    done,       // the call returned CAIRN_OK
    not_found,  // a removal that returned CAIRN_MISS
    refused,    // the call returned an error
    nothing     // the call had nothing to do, as a put if absent
};

// When the step was made: before the damage, beside it, or after it.
enum class Phase : std::uint8_t { sample, beside, after };

class DamageLedger {
  public:
    static constexpr std::uint64_t kKeysNew = 96;
    static constexpr std::uint64_t kKeys = TortureSample::kKeys + kKeysNew;
    static constexpr unsigned kStepsMax = 40;

    struct Step {
        std::atomic<SampleStep::What> what = SampleStep::What::put;
        std::atomic<StepState> state = StepState::begun;
        std::atomic<Phase> phase = Phase::sample;
    };

    void reset(const TortureSample &sample);

    // The version that the step stores, from 1 on; nullopt: the key takes no more.
    std::optional<std::uint64_t> begin(std::uint64_t key, SampleStep::What what, Phase phase);
    // Of the latest step of the key.
    void end(std::uint64_t key, StepState state);

    unsigned count(std::uint64_t key) const { return keys_[key].count; }
    const Step &step(std::uint64_t key, std::uint64_t version) const {
        return keys_[key].steps[version - 1];
    }

  private:
    struct Key {
        std::atomic<unsigned> count = 0;
        std::array<Step, kStepsMax> steps{};
    };
    std::array<Key, kKeys> keys_{};
};

// What a look-up of a key may find, by the ledger.
struct Expectation {
    bool allows(std::uint64_t version) const;
    bool may_miss = false;
    // The latest acknowledged step; 0: there is none.
    std::uint64_t decisive = 0;
    // A removal did not find what the decisive step stored.
    bool was_not_found = false;

    static Expectation of(const DamageLedger &ledger, std::uint64_t key);

  private:
    std::array<bool, DamageLedger::kStepsMax + 1> allowed_{};
};

}  // namespace cairn_test
