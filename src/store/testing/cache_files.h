// The files of one cache in a directory of its own, and the parts of the store over them.
// SPDX-License-Identifier: MIT
//
// Thread safety: that of the parts.
// Failure: aborts when the files cannot be made; a test cannot go on without them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/file.h"
#include "os/testing/scratch.h"
#include "store/account.h"
#include "store/index.h"
#include "store/publish.h"
#include "store/record_reader.h"
#include "store/writer.h"

namespace cairn::testing {

inline constexpr std::uint64_t kTestLimit = 64 << 20;

class CacheFiles {
  public:
    explicit CacheFiles(std::uint64_t limit_bytes = kTestLimit);

    const Scratch &scratch() const { return scratch_; }
    const Directory &directory() const { return directory_; }
    const CacheIdentity &identity() const { return identity_; }
    // The index that has the name now.
    Index &index();
    RecordReader &reader() { return *reader_; }
    Account &account() const { return *account_; }
    Writer &writer() { return *writer_; }

    // A second object for the index, as another process would have.
    std::unique_ptr<Index> open_index(Access access = Access::read_write) const;
    std::shared_ptr<Writer> open_writer() const;
    void replace_index(std::unique_ptr<Index> index);

    // Writes a record without publishing it; it may be of any age.
    Writer::Appended append(std::string_view key, std::string_view value, std::uint64_t stamp_ns);
    Slot slot_of(std::string_view key, std::string_view value, Location location) const;
    // Writes and publishes.
    Location put(std::string_view key, std::string_view value);
    Examine examiner(std::string_view key);

    // The published value.
    std::optional<std::string> get(std::string_view key);
    // Published slots whose record has the key.
    unsigned published_slots(std::string_view key);

    // Keys that share a bucket in the first level.
    std::vector<std::string> keys_of_one_bucket(std::size_t count) const;
    // Changes a file in place.
    void overwrite(const std::string &name, std::uint64_t offset, Bytes bytes) const;
    // Of the index that has the name, as damage may.
    void set_counter(Counter counter, std::uint64_t word) const;

  private:
    Scratch scratch_{Scratch::Place::memory};
    Directory directory_;
    CacheIdentity identity_;
    std::unique_ptr<Index> index_;
    std::vector<std::unique_ptr<Index>> former_;  // somebody may still use them
    std::unique_ptr<RecordReader> reader_;
    std::unique_ptr<Account> account_;
    std::unique_ptr<Writer> writer_;
};

}  // namespace cairn::testing
