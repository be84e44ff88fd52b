// Bytes on disk, counted by blocks, and the memory of a process that has read every entry.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <fstream>
#include <string>

#include "bench/harness/folders.h"
#include "bench/workloads/workload.h"

namespace bench {
namespace {

struct Memory {
    std::int64_t resident = 0;
    std::int64_t anonymous = 0;
    std::int64_t private_dirty = 0;
};

Memory memory_now() {
    Memory memory;
    std::ifstream file("/proc/self/smaps_rollup");
    std::string label;
    for (std::int64_t kib; file >> label;) {
        if (!label.ends_with(':')) {
            continue;
        }
        if (!(file >> kib)) {
            file.clear();
        } else if (label == "Rss:") {
            memory.resident = kib * 1024;
        } else if (label == "Anonymous:") {
            memory.anonymous = kib * 1024;
        } else if (label == "Private_Dirty:") {
            memory.private_dirty = kib * 1024;
        }
    }
    return memory;
}

bool fits(const Traits & /*traits*/) {
    return true;
}

void run_one(Session &session, const EngineKind &kind, std::uint64_t entries) {
    std::optional<std::filesystem::path> dir = "";
    if (kind.traits.persistent) {
        dir = session.fixture(kind, entries, Shape::program);
    }
    if (!dir) {
        return;
    }
    ChildResult result = session.run(Session::task("disk", kind, *dir, entries));
    if (!result.ok) {
        return;
    }
    Usage usage = dir->empty() ? Usage{} : disk_usage(*dir);
    const double payload = result.value["payload"];
    auto add = [&](const char *metric, double value) {
        session.report().add("disk", kind.name, entries, metric, value);
    };
    add("payload_bytes", payload);
    add("disk_bytes", static_cast<double>(usage.bytes));
    add("disk_per_payload", static_cast<double>(usage.bytes) / payload);
    add("files", static_cast<double>(usage.files));
    for (const char *metric : {"resident_bytes", "anonymous_bytes", "private_dirty_bytes"}) {
        add(metric, result.value[metric]);
    }
}

}  // namespace

void run_disk(Session &session) {
    if (!session.wants("disk")) {
        return;
    }
    for (std::uint64_t entries : session.sizes({1000, 10000, 100000}, {10000})) {
        for (const EngineKind *kind : session.engines(0, fits)) {
            run_one(session, *kind, entries);
        }
    }
}

nlohmann::json disk_task(const Task &task) {
    auto entries = task.dataset.entries(0, task.entries(), task.shape());
    std::vector<std::byte> buffer(kBufferSize);
    const Memory before = memory_now();
    auto engine = open_store(task);
    std::uint64_t payload = 0;
    for (const Entry &entry : entries) {
        payload += kKeySize + entry.value_size;
        engine->get(entry.key_bytes(), buffer);
    }
    const Memory after = memory_now();
    engine->close();
    auto grown = [](std::int64_t now, std::int64_t then) {
        return std::max<std::int64_t>(now - then, 0);
    };
    return {{"payload", payload},
            {"resident_bytes", grown(after.resident, before.resident)},
            {"anonymous_bytes", grown(after.anonymous, before.anonymous)},
            {"private_dirty_bytes", grown(after.private_dirty, before.private_dirty)}};
}

}  // namespace bench
