// What a machine keeps of its fleet below a root: `<root>/.fleet/`.
// SPDX-License-Identifier: MIT
//
//     machine                   its number, made by chance when it first publishes
//     manifests/REMOTE/NAME/DRIVER/    copies of those that were read; each is named by its hash, and may be deleted
//     new-NUMBER.pack           while a pack is fetched or made
//     counts                    what remotes have done for this machine
//     packs/HASH.pack           fetched for applications that ask, see kept_packs.h
//     wanted/IDENTITY           what those may ask for (docs/formats/wanted.md)
//     NAME.lock                 held while the packs of NAME are merged
//
// All of it may be deleted at any time: then it is fetched or made again.
//
// Thread safety: externally synchronised; any number of processes may be at it.
// Failure: a Failure for the folder itself and for a full disk. A copy that cannot be written is left out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "os/byte_lock.h"
#include "os/file.h"
#include "pack/pack_format.h"
#include "text.h"

namespace cairn::fleet {

// A file that is gone at its end.
class TemporaryPack {
  public:
    explicit TemporaryPack(std::string path) : path_(std::move(path)) {}
    ~TemporaryPack();
    TemporaryPack(TemporaryPack &&other) noexcept : path_(std::move(other.path_)) {
        other.path_.clear();
    }
    TemporaryPack &operator=(TemporaryPack &&) = delete;
    TemporaryPack(const TemporaryPack &) = delete;
    TemporaryPack &operator=(const TemporaryPack &) = delete;

    const std::string &path() const { return path_; }

  private:
    std::string path_;
};

class Machine {
  public:
    // Makes the folder, and removes what processes that were killed have left in it.
    explicit Machine(std::string root);

    const std::string &root() const { return root_; }
    // The same for ever, but for a folder that was deleted.
    std::uint64_t number() const;

    // A path in the folder that no other has.
    TemporaryPack new_pack() const;
    TemporaryPack new_pack(Bytes content) const;

    // The same for a folder that is to be made, and removed by who makes it.
    std::string new_folder_path() const;

    // The copy of a manifest, which need not be whole.
    std::optional<std::string> copy_of(const std::string &shelf, const std::string &manifest) const;
    void keep_copy(const std::string &shelf, const std::string &manifest, Bytes content) const;
    // Deletes the copies of a shelf but these.
    void forget_copies(const std::string &shelf, const cli::Words &but) const;

    // A small file in the folder. One that cannot be written stays as it is.
    std::optional<std::string> read_text(const std::string &name) const;
    void write_text(const std::string &name, const std::string &text) const;
    // What applications may ask for of the cache with this identity: ascending, each once.
    void write_wanted(const PackIdentity &identity, std::span<const std::uint64_t> hashes) const;

    // While it lives, no other process has the lock of this name. A Failure where another one does not give it
    // back within a minute.
    ByteLock lock(const std::string &name) const;

  private:
    std::string path(const std::string &name) const { return root_ + "/.fleet/" + name; }
    void remove_leftovers() const;

    const std::string root_;
    Directory folder_;
};

}  // namespace cairn::fleet
