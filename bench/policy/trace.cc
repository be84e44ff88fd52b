// SPDX-License-Identifier: MIT
#include "policy/trace.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>

#include "store/record.h"

namespace policy_sim {
namespace {

// The keys of the replay (policy/replay.cc) have so many bytes.
constexpr std::uint32_t kKeyBytes = 16;

std::uint32_t record_bytes(std::uint32_t value_bytes) {
    cairn::RecordHeader header;
    header.key_size = kKeyBytes;
    header.value_size = value_bytes;
    return static_cast<std::uint32_t>(header.record_size());
}

}  // namespace

std::optional<Trace> read_trace(const char *path) {
    std::ifstream file(path);
    if (!file) return std::nullopt;
    Trace trace;
    std::unordered_map<std::string, Request> known;
    std::string line;
    bool is_start = true;
    while (std::getline(file, line)) {
        is_start = is_start || line == "# start";
        if (line.starts_with('#')) continue;
        std::istringstream words(line);
        std::string key;
        if (!(words >> key)) continue;
        std::uint64_t size = 0, cost_us = 0;
        const bool is_whole = static_cast<bool>(words >> size >> cost_us);
        const auto [place, added] = known.try_emplace(key);
        Request &request = place->second;
        if (added) {
            if (!is_whole) {
                known.erase(place);
                continue;
            }
            request.key = static_cast<std::uint32_t>(trace.key_count++);
            request.value_bytes = static_cast<std::uint32_t>(
                std::clamp<std::uint64_t>(size, kValueBytesMin, cairn::kValueSizeMax));
            request.record_bytes = record_bytes(request.value_bytes);
            trace.footprint_bytes += request.record_bytes;
        }
        if (is_whole) {
            request.cost_us =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(cost_us, UINT32_MAX));
        }
        request.is_start = std::exchange(is_start, false);
        trace.requests.push_back(request);
        trace.bytes += request.record_bytes;
        trace.cost_us += request.cost_us;
    }
    if (trace.requests.empty()) return std::nullopt;
    return trace;
}

}  // namespace policy_sim
