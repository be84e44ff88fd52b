// What no policy can exceed.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "policy/trace.h"

namespace policy_sim {

// An upper bound of the cost that a cache of this limit avoids, in microseconds.
//
// To hit, an entry must stay from one look-up of its key to the next. That takes its size times the
// number of look-ups in between, and the limit times all look-ups is what there is. The intervals
// that avoid most for what they take fill it, the last of them in part (a fractional knapsack). No
// policy does better, even one that knows the future, as it also has to fit at each moment.
double bound_us(const Trace &trace, std::uint64_t limit_bytes);

}  // namespace policy_sim
