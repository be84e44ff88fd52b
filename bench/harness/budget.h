// The design's budget table, filled with what was measured.
// SPDX-License-Identifier: MIT
#pragma once

#include "bench/harness/report.h"

namespace bench {

// Prints each row of the budget with the measured ratio and whether it is met, for every number of
// entries measured; rows that were not measured are left out. Adds the ratios to the report as
// workload "budget". Returns how many are not met.
unsigned judge_budget(Report &report);

// How often Cairn gave wrong bytes, lost an acknowledged entry or died: any is a failure of the
// run.
double cairn_failures(const Report &report);

}  // namespace bench
