// A small cache for the damage torture: what was stored under each key, in which order, and where in
// the files it lies. It has every kind of file that a cache's directory can have.
// SPDX-License-Identifier: MIT
//
// Thread safety: immutable after construction.
// Ownership: the files are in a directory of the sample's own; cases damage copies of them.
// Failure: aborts when the sample cannot be made; no case can go on without it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "damage/sample_cache.h"
#include "support/temp_directory.h"

namespace cairn_test {

// A plain cache has `about` and a pack under it; a program cache has the files that only such has.
enum class SampleKind : unsigned { plain, program, count };

// What was done with a key, in this order. The n-th operation stores the n-th version.
struct SampleStep {
    enum class What { put, remove } what = What::put;
    Range record = {};  // what the operation wrote, or the record that it marked as removed
};

class TortureSample {
  public:
    static constexpr std::uint64_t kKeys = 64;
    static constexpr std::uint64_t kFamily = 71;
    static constexpr unsigned kSegments = 3;

    // "": in a directory that goes with the sample. Else there, or what is there already, so that a case
    // finds the same bytes again.
    TortureSample(SampleKind kind, const std::string &directory);

    SampleKind kind() const { return kind_; }
    const std::string &identifier() const { return identifier_; }
    // Of a key, the steps that it has gone through.
    const std::vector<SampleStep> &steps(std::uint64_t key) const { return steps_[key]; }
    std::string directory() const { return root_ + "/" + identifier_; }
    std::string older() const { return root_ + "/older"; }
    std::string other() const { return root_ + "/other"; }
    const std::string &pack() const { return pack_; }
    // Names of the files, sorted.
    const std::vector<std::string> &names() const { return names_; }

    // Makes `root` hold a copy of the cache.
    void copy_to(const std::string &root) const;

    static ByteVector key(std::uint64_t number);
    static ByteVector value(std::uint64_t number, std::uint64_t version);
    // Of an entry whose value is damaged.
    static ByteVector ghost_key();

  private:
    void make();
    void make_companions() const;
    void leave_a_ghost() const;
    void leave_a_sample_of_reuse() const;
    void make_other() const;
    void make_pack() const;
    void locate();

    const SampleKind kind_;
    std::unique_ptr<TempDirectory> temporary_;
    std::string root_;
    std::string identifier_;
    std::string pack_;
    std::vector<std::vector<SampleStep>> steps_;
    std::vector<std::string> names_;
    std::map<std::string, ByteVector> contents_;
};

// A program cache of the torture, for its own front door: `order`, `crashes`, `history` are read then.
int use_as_programs(const std::string &root, std::uint64_t rounds);

}  // namespace cairn_test
