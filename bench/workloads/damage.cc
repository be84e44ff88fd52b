// Damage at rest to a closed store of 2,000 entries: 50 bits flipped, or 50 pages of 4 KiB zeroed,
// evenly over the data of all its files. A fresh process reads everything. Where the values lie end
// to end in the files, the entries whose own bytes were hit are known, and what was lost beyond
// them is told.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "bench/harness/folders.h"
#include "bench/workloads/workload.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kEntries = 2000;
constexpr unsigned kPlaces = 50;
constexpr std::uint64_t kPage = 4096;
// A record's bytes around its value count as its own, too: header and key before, checksum and
// padding behind.
constexpr std::uint64_t kOwnBefore = 128;
constexpr std::uint64_t kOwnBehind = 32;

enum class Harm { flip, zero };

struct Place {
    fs::path file;
    std::uint64_t offset;
    std::uint64_t size;
};

bool fits(const Traits &traits) {
    return traits.persistent && traits.writes;
}

std::string content_of(const fs::path &path, Extent extent) {
    std::string content(extent.size, 0);
    std::ifstream file(path, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(extent.offset));
    file.read(content.data(), static_cast<std::streamsize>(content.size()));
    return content;
}

// Where in a value to look for it: eight bytes that are not padding, as found in steps of their
// size.
std::size_t anchor_of(Bytes value) {
    constexpr std::size_t kDistinctMin = 5;
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= value.size();
         at += sizeof(std::uint64_t)) {
        std::set<std::byte> distinct(value.begin() + static_cast<std::ptrdiff_t>(at),
                                     value.begin() + static_cast<std::ptrdiff_t>(at + 8));
        if (distinct.size() >= kDistinctMin) {
            return at;
        }
    }
    return 0;
}

// Finds entries by their values' bytes.
class ValueFinder {
  public:
    explicit ValueFinder(const Dataset &dataset) : dataset_(dataset) {
        for (std::uint64_t i = 0; i < kEntries; ++i) {
            Bytes value = dataset.value(i, Shape::program);
            std::size_t anchor = anchor_of(value);
            std::uint64_t bytes;
            std::memcpy(&bytes, value.data() + anchor, sizeof(bytes));
            by_anchor_[bytes].push_back({i, anchor});
        }
    }

    // Calls found(entry, offset) for each value that lies in one piece in `content`.
    template <typename Found>
    void find(const std::string &content, Found found) const {
        for (std::size_t at = 0; at + sizeof(std::uint64_t) <= content.size(); ++at) {
            std::uint64_t bytes;
            std::memcpy(&bytes, content.data() + at, sizeof(bytes));
            auto candidates = by_anchor_.find(bytes);
            if (candidates == by_anchor_.end()) {
                continue;
            }
            for (const Candidate &candidate : candidates->second) {
                if (at >= candidate.anchor && lies_at(content, at - candidate.anchor, candidate)) {
                    found(candidate.entry, at - candidate.anchor);
                }
            }
        }
    }

  private:
    struct Candidate {
        std::uint64_t entry;
        std::size_t anchor;
    };

    bool lies_at(const std::string &content, std::size_t at, const Candidate &candidate) const {
        Bytes value = dataset_.value(candidate.entry, Shape::program);
        return at + value.size() <= content.size() &&
               std::memcmp(content.data() + at, value.data(), value.size()) == 0;
    }

    const Dataset &dataset_;
    std::unordered_map<std::uint64_t, std::vector<Candidate>> by_anchor_;
};

std::vector<Place> choose_places(const fs::path &dir, Harm harm, std::uint64_t seed) {
    std::vector<Place> extents;
    std::uint64_t total = 0;
    for (const fs::path &file : regular_files(dir)) {
        for (Extent extent : data_extents(file)) {
            extents.push_back({file, extent.offset, extent.size});
            total += extent.size;
        }
    }
    if (total == 0) {
        throw std::runtime_error("nothing to damage in " + dir.string());
    }
    Random random(seed);
    std::vector<Place> places;
    while (places.size() < kPlaces) {
        std::uint64_t position = random.below(total);
        auto extent = extents.begin();
        while (position >= extent->size) {
            position -= extent->size;
            ++extent;
        }
        std::uint64_t offset = extent->offset + position;
        if (harm == Harm::zero) {
            offset -= offset % kPage;
        }
        std::uint64_t size =
            harm == Harm::zero ? std::min(kPage, extent->offset + extent->size - offset) : 1;
        places.push_back({extent->file, offset, size});
    }
    return places;
}

void damage(const Place &place, Harm harm, std::uint64_t random) {
    int fd = ::open(place.file.c_str(), O_RDWR | O_CLOEXEC);
    std::vector<char> bytes(place.size);
    auto offset = static_cast<off_t>(place.offset);
    bool done = fd >= 0;
    if (harm == Harm::flip) {
        done = done && ::pread(fd, bytes.data(), 1, offset) == 1;
        bytes[0] = static_cast<char>(bytes[0] ^ (1 << (random % 8)));
    }
    done = done &&
           ::pwrite(fd, bytes.data(), bytes.size(), offset) == static_cast<ssize_t>(bytes.size());
    if (fd >= 0) {
        ::close(fd);
    }
    if (!done) {
        throw std::runtime_error("cannot damage " + place.file.string());
    }
}

struct Owners {
    std::vector<char> located = std::vector<char>(kEntries);
    std::vector<char> hit = std::vector<char>(kEntries);
};

// Notes that `entry` has its value at `offset` of `file`, and whether one of the places overlaps
// it.
void note_owner(Owners &owners, std::uint64_t entry, const fs::path &file, std::uint64_t offset,
                std::uint64_t size, const std::vector<Place> &places) {
    owners.located[entry] = 1;
    for (const Place &place : places) {
        bool overlaps = place.file == file && place.offset < offset + size + kOwnBehind &&
                        place.offset + place.size + kOwnBefore > offset;
        owners.hit[entry] = static_cast<char>(owners.hit[entry] | (overlaps ? 1 : 0));
    }
}

Owners find_owners(const ValueFinder &finder, const Dataset &dataset, const fs::path &dir,
                   const std::vector<Place> &places) {
    Owners owners;
    for (const fs::path &file : regular_files(dir)) {
        for (Extent extent : data_extents(file)) {
            finder.find(content_of(file, extent), [&](std::uint64_t entry, std::uint64_t at) {
                std::uint64_t size = dataset.value(entry, Shape::program).size();
                note_owner(owners, entry, file, extent.offset + at, size, places);
            });
        }
    }
    return owners;
}

void add_trial(Session &session, const EngineKind &kind, const std::string &name,
               const Owners &owners, const ChildResult &result) {
    auto add = [&](const char *metric, double value, Summary summary) {
        session.report().add("damage", kind.name, kEntries, name + metric, value, summary);
    };
    std::string states =
        result.ok ? result.value["states"].get<std::string>() : std::string(kEntries, 'm');
    double undamaged_lost = 0;
    for (std::size_t i = 0; i < kEntries; ++i) {
        undamaged_lost += states[i] != 'r' && owners.located[i] && !owners.hit[i] ? 1 : 0;
    }
    add("_right", static_cast<double>(count_of(states, 'r')), Summary::median);
    add("_missing", static_cast<double>(count_of(states, 'm')), Summary::median);
    add("_silently_wrong", static_cast<double>(count_of(states, 'w')), Summary::worst);
    add("_hit", static_cast<double>(std::count(owners.hit.begin(), owners.hit.end(), 1)),
        Summary::median);
    add("_located",
        static_cast<double>(std::count(owners.located.begin(), owners.located.end(), 1)),
        Summary::median);
    add("_undamaged_lost", undamaged_lost, Summary::worst);
    add("_died", result.ok ? 0 : 1, Summary::sum);
    add("_takes_new", result.ok && result.value["takes_new"] ? 1 : 0, Summary::sum);
}

void run_trial(Session &session, const EngineKind &kind, const ValueFinder &finder, Harm harm,
               unsigned round) {
    auto source = session.fixture(kind, kEntries, Shape::program);
    if (!source) {
        return;
    }
    auto dir = session.scratch();
    copy_folder(*source, dir);
    auto places = choose_places(dir, harm, kSeed + round);
    Owners owners = find_owners(finder, session.dataset(), dir, places);
    Random random(kSeed ^ round);
    for (const Place &place : places) {
        damage(place, harm, random.next());
    }
    auto task = Session::task("check", kind, dir, kEntries);
    task["then_put"] = true;
    task["quiet"] = true;  // a rival that dies of an assertion need not say so here
    ChildResult result = session.start(task).wait(kTaskTimeoutS);  // dying is a result here
    session.remove(dir);
    add_trial(session, kind, harm == Harm::flip ? "flip" : "zero", owners, result);
}

}  // namespace

void run_damage(Session &session) {
    if (!session.wants("damage")) {
        return;
    }
    ValueFinder finder(session.dataset());
    for (unsigned round = 0; round < session.rounds(4, 2); ++round) {
        for (const EngineKind *kind : session.engines(round, fits)) {
            run_trial(session, *kind, finder, Harm::flip, round);
            run_trial(session, *kind, finder, Harm::zero, round);
        }
    }
}

}  // namespace bench
