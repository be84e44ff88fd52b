// SPDX-License-Identifier: MIT
// What Cairn knows of itself, for Prometheus.
// Thread safety: used by main only.
// Failure: a Failure where the root cannot be read. A cache that cannot be read is counted, and has
// no metrics.
#pragma once

#include <string>

namespace cairn::cli {

// All metrics of a root in Prometheus' text format, version 0.0.4: docs/cli.md has their list.
std::string metrics_text(const std::string &root);
inline constexpr const char *kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace cairn::cli
