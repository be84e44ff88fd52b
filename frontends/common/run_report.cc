// SPDX-License-Identifier: MIT
#include "common/run_report.h"

#include "os/file.h"
#include "os/mapping.h"

namespace cairn {

RunReport *attach_run_report(const char *path) {
    const auto file = File::open_shared_memory(path);
    if (!file.ok()) return nullptr;
    const auto info = file->info();
    if (!info.ok() || info->size_bytes < sizeof(RunReport)) return nullptr;
    auto mapping = Mapping::file(file.value(), Access::read_write, 0, sizeof(RunReport));
    if (!mapping.ok()) return nullptr;
    auto *report = reinterpret_cast<RunReport *>(mapping->data());
    if (report->layout != kRunReportLayout) return nullptr;
    mapping->release();
    return report;
}

}  // namespace cairn
