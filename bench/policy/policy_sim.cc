// policy_sim: replays a trace of look-ups against each eviction policy of the store, and against
// Belady's bound.
// SPDX-License-Identifier: MIT
//
// A trace has one line per look-up: KEY SIZE_BYTES COST_US, where the cost is what a miss costs.
// `cairn run --trace FILE` records one. A look-up of what is not there stores it. The policies are
// the store's own code (src/store/policy.h), in a cache of segments as the store has; Belady
// evicts, entry by entry, what is needed latest or never again, which no policy can know.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/policy.h"

namespace {

struct Request {
    std::uint32_t key;
    std::uint32_t size;
    std::uint32_t cost_us;
};

struct Trace {
    std::vector<Request> requests;
    std::uint64_t distinct_bytes = 0;
    std::uint64_t cost_us = 0;
};

struct Result {
    std::uint64_t hits = 0;
    std::uint64_t avoided_us = 0;
    std::uint64_t copied_bytes = 0;
};

std::uint64_t record_size(const Request &request) {
    return (request.size + 64 + 32 + 63) / 64 * 64;
}

bool read_trace(const char *path, Trace &trace) {
    std::ifstream file(path);
    if (!file) return false;
    std::unordered_map<std::string, std::uint32_t> numbers;
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::string key;
        Request request = {};
        if (!(words >> key >> request.size >> request.cost_us)) continue;
        const auto [place, added] =
            numbers.emplace(key, static_cast<std::uint32_t>(numbers.size()));
        request.key = place->second;
        if (added) trace.distinct_bytes += record_size(request);
        trace.cost_us += request.cost_us;
        trace.requests.push_back(request);
    }
    return true;
}

// The store's way of making room, without files.
class SegmentedCache {
  public:
    SegmentedCache(const cairn::Policy &policy, std::uint64_t limit)
        : policy_(policy), limit_(limit), segment_bytes_(limit / 64) {
        segments_.emplace_back();
    }

    Result run(const Trace &trace) {
        for (const Request &request : trace.requests) {
            const auto found = entries_.find(request.key);
            if (found != entries_.end()) {
                ++result_.hits;
                result_.avoided_us += request.cost_us;
                if (found->second.hits < 3) ++found->second.hits;
            } else {
                append({request, 0, false, ++clock_});
                while (used_ + segment_bytes_ > limit_ && segments_.size() > 1) retire();
            }
        }
        return result_;
    }

  private:
    struct Entry {
        Request request;
        unsigned hits;
        bool copied;
        std::uint64_t stamp;
    };
    struct Segment {
        std::vector<std::uint32_t> keys;
        std::uint64_t bytes = 0;
    };

    void append(const Entry &entry) {
        const std::uint64_t size = record_size(entry.request);
        if (segments_.back().bytes + size > segment_bytes_ && segments_.back().bytes > 0) {
            segments_.emplace_back();
        }
        segments_.back().keys.push_back(entry.request.key);
        segments_.back().bytes += size;
        used_ += size;
        entries_.insert_or_assign(entry.request.key, entry);
    }

    void retire() {
        const bool oldest = policy_.order == cairn::Policy::Order::oldest_segment_first;
        const auto victim = oldest ? segments_.begin() : std::prev(segments_.end(), 2);
        const Segment segment = std::move(*victim);
        segments_.erase(victim);
        used_ -= segment.bytes;
        std::vector<cairn::Candidate> candidates;
        for (const std::uint32_t key : segment.keys) {
            const Entry &entry = entries_.at(key);
            candidates.push_back({record_size(entry.request), entry.stamp, entry.request.cost_us,
                                  entry.hits, false, entry.copied});
        }
        policy_.choose(candidates, cairn::copy_allowance(segment.bytes, debt_, limit_));
        std::uint64_t kept = 0;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            Entry entry = entries_.at(segment.keys[i]);
            entries_.erase(segment.keys[i]);
            if (!candidates[i].keep) continue;
            entry.hits = cairn::hits_after_copy(entry.hits);
            entry.copied = true;
            kept += candidates[i].size_bytes;
            append(entry);
        }
        debt_ = cairn::debt_after(debt_, segment.bytes, kept);
        result_.copied_bytes += kept;
    }

    const cairn::Policy &policy_;
    const std::uint64_t limit_;
    const std::uint64_t segment_bytes_;
    std::deque<Segment> segments_;
    std::unordered_map<std::uint32_t, Entry> entries_;
    std::uint64_t used_ = 0;
    std::uint64_t debt_ = 0;
    std::uint64_t clock_ = 0;
    Result result_;
};

// With entries of different sizes the true optimum is hard to compute; evicting what is needed
// latest is the usual bound.
Result belady(const Trace &trace, std::uint64_t limit) {
    constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
    std::vector<std::uint64_t> next(trace.requests.size(), kNever);
    std::unordered_map<std::uint32_t, std::uint64_t> later;
    for (std::size_t i = trace.requests.size(); i-- > 0;) {
        const auto found = later.find(trace.requests[i].key);
        if (found != later.end()) next[i] = found->second;
        later[trace.requests[i].key] = i;
    }
    Result result;
    std::uint64_t used = 0;
    std::set<std::pair<std::uint64_t, std::uint32_t>> by_next;
    std::unordered_map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> kept;  // next, size
    for (std::size_t i = 0; i < trace.requests.size(); ++i) {
        const Request &request = trace.requests[i];
        const auto found = kept.find(request.key);
        if (found != kept.end()) {
            ++result.hits;
            result.avoided_us += request.cost_us;
            by_next.erase({found->second.first, request.key});
            used -= found->second.second;
            kept.erase(found);
        }
        if (next[i] == kNever) continue;
        const std::uint64_t size = record_size(request);
        used += size;
        kept[request.key] = {next[i], size};
        by_next.insert({next[i], request.key});
        while (used > limit) {
            const auto last = std::prev(by_next.end());
            used -= kept.at(last->second).second;
            kept.erase(last->second);
            by_next.erase(last);
        }
    }
    return result;
}

void print(const char *name, const Trace &trace, const Result &result) {
    const auto requests = static_cast<double>(trace.requests.size());
    std::printf(
        "%-10s %8.2f %% %10.3f s of %.3f s (%5.2f %%) %10.1f MiB copied\n", name,
        100.0 * static_cast<double>(result.hits) / requests,
        static_cast<double>(result.avoided_us) / 1e6, static_cast<double>(trace.cost_us) / 1e6,
        trace.cost_us == 0
            ? 0.0
            : 100.0 * static_cast<double>(result.avoided_us) / static_cast<double>(trace.cost_us),
        static_cast<double>(result.copied_bytes) / 1048576.0);
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 3) {
        std::fprintf(
            stderr,
            "usage: policy_sim TRACE LIMIT\n"
            "  TRACE  lines of KEY SIZE_BYTES COST_US, as `cairn run --trace FILE` writes\n"
            "  LIMIT  bytes, or a part of the bytes of all keys such as 25%%\n");
        return 2;
    }
    Trace trace;
    if (!read_trace(argv[1], trace) || trace.requests.empty()) {
        std::fprintf(stderr, "policy_sim: no look-ups in %s\n", argv[1]);
        return 1;
    }
    char *end = nullptr;
    const double number = std::strtod(argv[2], &end);
    const bool percent = *end == '%';
    const auto limit = static_cast<std::uint64_t>(
        percent ? number / 100 * static_cast<double>(trace.distinct_bytes) : number);
    if (limit < 64 * 1024) {
        std::fprintf(stderr, "policy_sim: the limit is to be 65536 bytes at least\n");
        return 2;
    }
    std::printf("%zu look-ups, %.1f MiB of distinct entries, limit %.1f MiB\n",
                trace.requests.size(), static_cast<double>(trace.distinct_bytes) / 1048576.0,
                static_cast<double>(limit) / 1048576.0);
    std::printf("policy          hits   stall time avoided\n");
    for (const char *name : {"default", "lru", "fifo", "mru"}) {
        print(name, trace, SegmentedCache(*cairn::policy_by_name(name), limit).run(trace));
    }
    print("belady", trace, belady(trace, limit));
    return 0;
}
