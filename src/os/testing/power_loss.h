// A disk that can lose its power: what a machine would find after a power loss at any moment of a
// program's run.
// SPDX-License-Identifier: MIT
//
// The model, for all files and directories below one directory:
//
//  1. A file has a *current* content, which is what programs see, and a *durable* one: its content
//     when fsync or fdatasync of it last returned, or none. Stores through a mapping count as they
//     are made; an msync alone makes nothing durable.
//  2. After a power loss its length is the durable or the current one. Of its 512-byte sectors
//     each is by itself the durable one; or the current one; or torn: the current one up to some
//     byte and the durable one behind it, or the other way around; or spoilt: what differs between
//     the two is zero or noise. Bytes equal in both are never harmed: a write does not damage the
//     bytes beside it in its sector. Bytes behind a content's end count as zeroes.
//  3. write_back() makes some of the sectors that differ durable, as a kernel does of its
//     own accord.
//  4. In a directory the entries that are durable are those at its last fsync. Each creation, link,
//     removal and renaming since has happened or not: all of them, none, those up to some moment,
//     or any choice. A renaming has happened wholly or not at all. The file that a name leads to is
//     as under 2. A directory's own entry is durable only when its parent was synced.
//  5. Nothing else is durable: locks, mappings and processes are gone, and the boot id is another.
//
// This is a harsher disk than any that is sold: it knows no order at all between what was not
// synced.
//
// Use: build one above an empty directory, run the program below that directory, let capture_at()
// choose the call before which the power goes (or call capture()), then materialise() the state of
// any number of unlucky disks elsewhere, and open them.
//
// It stands in front of the table of system calls that it found (os/system_calls.h) and passes
// everything on; the program runs on undisturbed after a capture.
//
// Thread safety: the calls may come from any thread. The other methods are externally synchronised.
// Ownership: one at a time. Holds a descriptor for each file, with a description of its own.
// Failure: aborts when a file that it watches cannot be read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace cairn::testing {

class PowerLoss {
  public:
    // All below `directory`, which exists, is durable now.
    explicit PowerLoss(const std::string &directory);
    ~PowerLoss();
    PowerLoss(const PowerLoss &) = delete;
    PowerLoss &operator=(const PowerLoss &) = delete;

    // Which start of the system programs see (the boot id); different numbers, different ids.
    void set_boot(std::uint64_t boot);

    // Before the first call that the calling thread makes once `number` - 1 calls were made from
    // now on, by any thread, remembers the state of the disk and calls `captured`, which must not
    // use the library.
    void capture_at(std::uint64_t number, std::function<void()> captured);
    // Remembers the state of the disk now.
    void capture();
    bool captured() const;

    // Makes some of what is not durable durable, by chance.
    void write_back(std::uint64_t seed);

    // Writes one of the possible states after a power loss at the moment of the capture to
    // `target`, which is created. REQUIRES: captured().
    void materialise(const std::string &target, std::uint64_t seed) const;

    // Calls seen so far.
    std::uint64_t calls() const;

  private:
    class Disk;
    std::unique_ptr<Disk> disk_;
    friend struct PowerLossCalls;
    static Disk *current_;  // for the table's functions, which have no object
};

}  // namespace cairn::testing
