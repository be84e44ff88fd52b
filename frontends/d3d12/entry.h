// An entry of a cache: a key and its value, in the form in which it is stored, and the hash that it
// is stored under.
// SPDX-License-Identifier: MIT
//
// Format: docs/formats/d3d12.md.
// Thread safety: immutable. Ownership: shared by all references; the bytes live as long as one
// does. Failure: a null reference when memory cannot be had, or when a blob is not an entry.
#pragma once

#include <cairn/cairn.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"

namespace cairn::d3d12 {

// The outcome of a call on a cache, before it is an HRESULT: a cairn_result, or one of ours.
enum class Outcome : int {
    ok = CAIRN_OK,
    not_found = CAIRN_MISS,
    exists = CAIRN_EXISTS,  // the key is there already
    full = CAIRN_ERROR_FULL,
    too_large = CAIRN_ERROR_TOO_LARGE,
    no_space = CAIRN_ERROR_NO_SPACE,  // on the disk, or of the user's quota
    denied = CAIRN_ERROR_DENIED,
    read_only = CAIRN_ERROR_READ_ONLY,
    busy = CAIRN_ERROR_BUSY,  // another process is in the middle of something; later it works
    no_memory = CAIRN_ERROR_NO_MEMORY,
    failed = CAIRN_ERROR_IO,
    collision = 100,  // another key of the same hash is there
    disabled,         // by ShaderCacheControl
    other_version,    // a session of another Version is open
    cannot_open,      // the log line says why
};

using KeyHash = std::array<uint8_t, 32>;
// Tests inject weak ones, to have different keys meet.
using KeyHashFunction = KeyHash (*)(Bytes key);

// BLAKE2b-256. All zeros when memory cannot be had: different keys are told apart all the same.
KeyHash hash_key(Bytes key);

// Hexadecimal digits that stand for a text in a name.
inline constexpr size_t kShortHashSize = 12;
std::string short_hash(std::string_view text);

struct HashOfKeyHash {
    size_t operator()(const KeyHash &hash) const {
        size_t word;
        std::memcpy(&word, hash.data(), sizeof word);
        return word;
    }
};

class Entry;
using EntryRef = std::shared_ptr<const Entry>;

class Entry {
  public:
    // `cost_us`: what it took to make the value, in microseconds; 0: not known.
    static EntryRef copy(Bytes key, Bytes value, uint32_t cost_us = 0);
    // Takes the blob in any case.
    static EntryRef adopt(cairn_blob *blob);

    Bytes record() const { return record_; }
    Bytes key() const { return record_.subspan(kHeaderSize, key_size_); }
    Bytes value() const { return record_.subspan(kHeaderSize + key_size_); }
    bool has_key(Bytes other) const { return same_bytes(key(), other); }
    uint32_t cost_us() const { return cost_us_; }
    bool is_of_pack() const { return is_of_pack_; }

    static constexpr size_t kHeaderSize = 8;

  private:
    using Memory = std::unique_ptr<void, void (*)(void *)>;
    Entry(Bytes record, size_t key_size, uint32_t cost_us, bool is_of_pack, Memory memory)
        : record_(record),
          key_size_(key_size),
          cost_us_(cost_us),
          is_of_pack_(is_of_pack),
          memory_(std::move(memory)) {}

    const Bytes record_;
    const size_t key_size_;
    const uint32_t cost_us_;
    const bool is_of_pack_;
    const Memory memory_;  // that the record lies in
};

}  // namespace cairn::d3d12
