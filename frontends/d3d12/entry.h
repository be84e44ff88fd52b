// An entry of a cache: a key and its value, in the form in which it is stored.
// SPDX-License-Identifier: MIT
//
// Format: docs/formats/d3d12.md.
// Thread safety: immutable. Ownership: shared by all references; the bytes live as long as one
// does. Failure: a null reference when memory cannot be had, or when a blob is not an entry.
#pragma once

#include <cairn/cairn.h>

#include <memory>
#include <utility>

#include "base/bytes.h"

namespace cairn::d3d12 {

// The outcome of a call on a cache, before it is an HRESULT.
enum class Outcome {
    ok,
    not_found,
    exists,         // the key is there already
    collision,      // another key of the same hash is there
    full,           // the cache's limit, the disk, or the user's quota
    disabled,       // by ShaderCacheControl
    busy,           // another process is in the middle of something; later it works
    other_version,  // a session of another Version is open
    cannot_open,    // the log line says why
    cannot_write,   // permissions, or a read-only file system
    no_memory,
    failed,
};

class Entry;
using EntryRef = std::shared_ptr<const Entry>;

class Entry {
  public:
    static EntryRef copy(Bytes key, Bytes value);
    // Takes the blob in any case.
    static EntryRef adopt(cairn_blob *blob);

    Bytes record() const { return record_; }
    Bytes key() const { return record_.subspan(kHeaderSize, key_size_); }
    Bytes value() const { return record_.subspan(kHeaderSize + key_size_); }
    bool has_key(Bytes other) const { return same_bytes(key(), other); }

    static constexpr size_t kHeaderSize = 8;

  private:
    using Memory = std::unique_ptr<void, void (*)(void *)>;
    Entry(Bytes record, size_t key_size, Memory memory)
        : record_(record), key_size_(key_size), memory_(std::move(memory)) {}

    const Bytes record_;
    const size_t key_size_;
    const Memory memory_;  // that the record lies in
};

}  // namespace cairn::d3d12
