// Kills a broker and its clients at random instants, and checks what they promised.
// SPDX-License-Identifier: MIT
//
// Workers store numbered entries through the broker, note those that a flush has confirmed in
// memory that outlives them, and look up one another's. A worker or broker that is killed is
// started again. At the end a new client finds every confirmed entry, and nothing that nobody
// stored.
//
// Thread safety: one at a time in a process. Failure: see TortureResult.
#pragma once

#include <cstdint>

namespace cairn_test {

struct BrokerTortureOptions {
    std::uint64_t kills = 100;
    std::uint64_t seed = 1;
    bool progress = false;  // tells on standard error
};

struct BrokerTortureResult {
    std::uint64_t kills = 0;
    std::uint64_t confirmed = 0;  // entries
    std::uint64_t lost = 0;       // of those
    std::uint64_t wrong = 0;  // other bytes than were stored, calls that hang, workers that crash
    bool good() const { return kills != 0 && confirmed != 0 && lost == 0 && wrong == 0; }
};

BrokerTortureResult run_broker_torture(const BrokerTortureOptions &options);

}  // namespace cairn_test
