// A directory for one test, below $TMPDIR or in memory, removed with all that is in it at the end.
// SPDX-License-Identifier: MIT
//
// Thread safety: immutable after construction.
// Ownership: the process that made it removes it; a forked child does not.
// Failure: aborts when it cannot be made.
#pragma once

#include <string>

namespace cairn::testing {

class Scratch {
  public:
    // memory: where files cost no disk, if there is such a place, for tests that make thousands.
    enum class Place { disk, memory };

    explicit Scratch(Place place = Place::disk);
    ~Scratch();
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;

    const std::string &path() const { return path_; }
    std::string operator/(const std::string &name) const { return path_ + "/" + name; }

  private:
    std::string path_;
    int owner_;
};

}  // namespace cairn::testing
