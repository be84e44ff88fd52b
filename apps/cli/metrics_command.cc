// SPDX-License-Identifier: MIT
// `cairn metrics`: numbers of caches and look-ups for Prometheus.
#include "caches.h"
#include "command.h"
#include "metrics.h"
#include "named_file.h"
#include "output.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(The text is in Prometheus' format, version 0.0.4, as the textfile collector of its node exporter reads it.

Examples:
  cairn metrics
  cairn metrics --output /var/lib/prometheus/node-exporter/cairn.prom

Exit codes: 0 done (a cache that cannot be read is counted in cairn_caches_unreadable), 1 the file could not be
written, or the directory of the caches not be read, 2 wrong usage.)";

int print_metrics(const std::optional<std::string> &file) {
    const std::string root = usable_root();
    if (!file) {
        print_text(metrics_text(root));
        return kExitOk;
    }
    OutputFile output(*file);
    output.write(metrics_text(root));
    return kExitOk;
}

Run define(Arguments &take) {
    auto file = std::make_shared<std::optional<std::string>>();
    take.value("--output", *file, "Replace this file in one step, in place of standard output",
               "FILE");
    take.dir();
    take.quiet("Do not show how far it is");
    return [file] { return print_metrics(*file); };
}

}  // namespace

const Command metrics_command = {"metrics", "Print numbers for Prometheus", kFooter, define};

}  // namespace cairn::cli
