// SPDX-License-Identifier: MIT
#include "damage/damage_ledger.h"

namespace cairn_test {

void DamageLedger::reset(const TortureSample &sample) {
    for (std::uint64_t i = 0; i < kKeys; ++i) {
        keys_[i].count = 0;
        if (i >= TortureSample::kKeys) continue;
        for (const SampleStep &step : sample.steps(i)) {
            (void)begin(i, step.what, Phase::sample);
            end(i, StepState::done);
        }
    }
}

std::optional<std::uint64_t> DamageLedger::begin(std::uint64_t key, SampleStep::What what,
                                                 Phase phase) {
    Key &entry = keys_[key];
    const unsigned at = entry.count;
    if (at == kStepsMax) return std::nullopt;
    entry.steps[at].what = what;
    entry.steps[at].state = StepState::begun;
    entry.steps[at].phase = phase;
    entry.count = at + 1;
    return at + 1;
}

void DamageLedger::end(std::uint64_t key, StepState state) {
    Key &entry = keys_[key];
    entry.steps[entry.count - 1].state = state;
}

bool Expectation::allows(std::uint64_t version) const {
    return version < allowed_.size() && allowed_[version];
}

// From the latest step down to the first that was acknowledged.
Expectation Expectation::of(const DamageLedger &ledger, std::uint64_t key) {
    Expectation expected;
    for (std::uint64_t version = ledger.count(key); version > 0; --version) {
        const auto &step = ledger.step(key, version);
        const StepState state = step.state;
        if (state == StepState::nothing) continue;
        const bool is_put = step.what == SampleStep::What::put;
        if (is_put) expected.allowed_[version] = true;
        if (state == StepState::done) {
            expected.may_miss |= !is_put;
            expected.decisive = version;
            return expected;
        }
        // It removed nothing. What it did not see, it leaves.
        if (state == StepState::not_found) {
            expected.was_not_found = true;
        } else {
            expected.may_miss |= !is_put;
        }
    }
    expected.may_miss = true;  // nothing was acknowledged
    return expected;
}

}  // namespace cairn_test
