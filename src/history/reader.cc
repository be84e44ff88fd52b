// SPDX-License-Identifier: MIT
#include "history/reader.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "history/files.h"
#include "history/kept_sources.h"
#include "os/text_file.h"

namespace cairn {
namespace {

template <typename Record>
Record record_at(std::string_view bytes, std::size_t offset) {
    Record record = {};
    if (offset + sizeof record <= bytes.size()) {
        std::memcpy(&record, bytes.data() + offset, sizeof record);
    }
    return record;
}

void read_run(const File &file, std::string_view bytes, std::size_t place, HistoryRead &history) {
    const auto run = record_at<RunRecord>(bytes, kRunsOffset + place * sizeof(RunRecord));
    if (run.start_ns == 0 || run.check != check_of(run)) return;
    const auto is_alive = file.is_locked(kFirstRunByte + place, LockKind::exclusive);
    RunRead &read = history.runs.emplace_back();
    read.start_ns = run.start_ns;
    read.last_ns = read_checked(run.last_ms, kLastPlace) * 1'000'000;
    read.process = run.process;
    read.making_ns = read_checked(run.making_us, kMakingPlace) * 1000;
    read.is_alive = is_alive.ok() && is_alive.value();
    read.numbers = run.tally.read();
    if (!read.is_alive) return;  // what was queued is lost
    read.queued_entries = read_checked(run.queued_entries, kQueuedEntriesPlace);
    read.queued_bytes = read_checked(run.queued_bytes, kQueuedBytesPlace);
}

void read_link(std::string_view bytes, std::size_t place, HistoryRead &history) {
    const auto record = record_at<LinkRecord>(bytes, kLinksOffset + place * sizeof(LinkRecord));
    if (record.number == 0 || record.check != check_of(record)) return;
    LinkRead read = {record.number, record.run_start_ns, record.time_ns, {}};
    read.link.outcome = static_cast<Outcome>(record.what % kOutcomes);
    read.link.detail = static_cast<Detail>(record.what >> 8 & 0xff);
    read.link.key = std::bit_cast<LinkKey>(record.key);
    read.link.cost_ns = (record.what >> 16) * 1000;
    read.link.other = record.other;
    history.links.push_back(read);
}

}  // namespace

Result<HistoryRead> read_history(const Directory &cache) {
    TRY_ASSIGN(const File file, cache.open_file(kHistoryFileName, Access::read_only));
    std::string bytes(programs_offset(kLinksLarge, 0), '\0');
    TRY_ASSIGN(const std::size_t size, file.read_at(0, std::as_writable_bytes(std::span(bytes))));
    bytes.resize(size);
    const auto header = record_at<HistoryHeader>(bytes, 0);
    const bool is_known = header.magic == kHistoryMagicSmall || header.magic == kHistoryMagicLarge;
    if (!is_known || header.is_void != 0) return Error::not_found;
    HistoryRead history;
    for (std::size_t i = 0; i < kRunRecords; ++i) read_run(file, bytes, i, history);
    history.links_max = links_of(header.magic);
    for (std::size_t i = 0; i < history.links_max; ++i) read_link(bytes, i, history);
    std::sort(history.runs.begin(), history.runs.end(),
              [](const RunRead &a, const RunRead &b) { return a.start_ns < b.start_ns; });
    std::sort(history.links.begin(), history.links.end(),
              [](const LinkRead &a, const LinkRead &b) { return a.number < b.number; });
    return history;
}

std::map<LinkKey, std::string> read_sources(const Directory &cache) {
    std::map<LinkKey, std::string> found;
    const auto bytes = read_text_file(cache, kSourcesFileName, kSourcesSizeMax);
    if (!bytes.ok()) return found;
    visit_kept_sources(bytes.value(), [&](const SourcesHead &head, std::string_view text) {
        found[head.key] = text;
    });
    return found;
}

}  // namespace cairn
