// Files and directories: owning descriptors, and calls that return a Result instead of errno.
// SPDX-License-Identifier: MIT
//
// Thread safety: const methods may run concurrently; the kernel orders them.
// Ownership: a File or Directory closes its descriptor when it is destroyed.
// Failure: errno becomes an Error by error_from_errno; interrupted calls are repeated.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

struct iovec;
struct stat;

namespace cairn {

// The Error that stands for an errno value.
Error error_from_errno(int error_number);

// no_space: the process may not write as far as `size` bytes into a file (RLIMIT_FSIZE). The kernel
// would end it by SIGXFSZ if it tried, so every call below that writes asks first. Callers ask
// where an error that late would cost something.
Status check_file_size(std::uint64_t size);

class UniqueFd {
  public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) : fd_(fd) {}
    UniqueFd(UniqueFd &&other) noexcept : fd_(other.release()) {}
    UniqueFd &operator=(UniqueFd &&other) noexcept {
        reset(other.release());
        return *this;
    }
    ~UniqueFd() { reset(-1); }

    int get() const { return fd_; }
    bool valid() const { return fd_ >= 0; }
    int release() {
        const int fd = fd_;
        fd_ = -1;
        return fd;
    }
    void reset(int fd);
    // Another descriptor of the same open file.
    Result<UniqueFd> duplicate() const;
    // From now on this descriptor's number means the file that is open as `other`, for all threads
    // at once.
    Status become(const UniqueFd &other) const;

  private:
    int fd_ = -1;
};

enum class Access { read_only, read_write };
enum class LockKind { shared, exclusive };

struct FileInfo {
    std::uint64_t size_bytes;
    std::uint64_t disk_bytes;  // blocks held, preallocated ones included
    std::uint64_t links;       // 0: deleted
    std::uint64_t inode;
    std::uint64_t device;
    std::uint64_t modified_ns;  // since 1970, by the file system's clock
    std::uint64_t changed_ns;   // the same for its name (on most file systems), links, permissions
    std::uint32_t owner;
    std::uint32_t permissions;  // as in chmod
    bool writable_by_others;    // by the group or everybody
    bool without_device;        // on no block device of its own: in memory, on a network, ...
    bool is_file;               // no directory, link, pipe, socket or device
    bool is_directory;
};

class File {
  public:
    File() = default;
    explicit File(UniqueFd fd) : fd_(std::move(fd)) {}

    // Opens memory that another process shares with us under a path, such as /proc/PID/fd/N of a
    // memfd.
    static Result<File> open_shared_memory(const char *path);

    // Opens a file of the user's configuration for reading. Unlike all other files it may be a
    // link.
    static Result<File> open_configuration(const std::string &path);

    bool valid() const { return fd_.valid(); }
    int fd() const { return fd_.get(); }
    int release() { return fd_.release(); }

    // Bytes read, fewer than asked for only at the end of the file.
    Result<std::size_t> read_at(std::uint64_t offset, MutableBytes out) const;
    // The same into two places, one after the other, in one call to the kernel where it gives all
    // at once.
    Result<std::size_t> read_at(std::uint64_t offset, MutableBytes first,
                                MutableBytes second) const;
    // Reads as much as is in the system's memory, without waiting for a disk. busy: the beginning
    // is not there. unsupported: this file system cannot tell.
    Result<std::size_t> read_cached_at(std::uint64_t offset, MutableBytes out) const;
    // Writes the pieces one after the other, kPiecesMax at most. After an error any part of them may have been written.
    static constexpr std::size_t kPiecesMax = 8;
    Status write_at(std::uint64_t offset, std::span<const Bytes> pieces) const;
    Result<FileInfo> info() const;
    // Makes [0, size) part of the file, with disk blocks behind it, so that later stores to it
    // cannot fail.
    Status extend(std::uint64_t size) const;
    // The same with blocks behind [from, size) only. unsupported: this file system cannot.
    Status extend_sparsely(std::uint64_t from, std::uint64_t size) const;
    // Reserves disk blocks for [offset, offset + size) without changing the file's size.
    Status reserve(std::uint64_t offset, std::uint64_t size) const;
    // Gives the disk blocks of [offset, offset + size) back; they read as zeroes from then on. The
    // size stays, so that processes that have them mapped are not harmed.
    Status punch(std::uint64_t offset, std::uint64_t size) const;
    // The first offset from there on that is in no hole of the file. not_found: there is none.
    Result<std::uint64_t> next_data(std::uint64_t offset) const;
    // no_space, too, where it would make the file shorter and the process may have none so long.
    Status truncate(std::uint64_t size) const;
    // Fills a new, small file.
    Status write_whole(Bytes content) const;
    Status sync_data() const;
    // Lets everybody read it, and only the owner write.
    Status make_readable() const;
    // Makes now the time at which it was modified.
    Status touch() const;
    // The same with a time since 1970.
    Status set_modified(std::uint64_t ns) const;

    // Locks one byte of the file (an open-file-description lock, which the kernel releases with the
    // last descriptor). False: another description holds it. Locking again changes the kind.
    Result<bool> try_lock(std::uint64_t byte, LockKind kind) const;
    // The kind of lock that another description holds; nullopt: none does. Asking locks nothing, so it
    // misleads no other process.
    Result<std::optional<LockKind>> lock_held(std::uint64_t byte) const;
    // Whether that keeps us from a lock of this kind.
    Result<bool> is_locked(std::uint64_t byte, LockKind against) const;
    void unlock(std::uint64_t byte) const;
    // The same, exclusively, for this process (the classic lock of fcntl): threads do not exclude
    // one another, a forked child does not have it, and all that the process has in a file go when
    // it closes any descriptor of it.
    Result<bool> try_lock_of_process(std::uint64_t byte) const;
    void unlock_of_process(std::uint64_t byte) const;

  private:
    UniqueFd fd_;
};

// Of the file that a path leads to, through links. The file need not be readable.
Result<FileInfo> file_info(const std::string &path);
// Whether what a file's time says was within the hour, which is as exact as such times are.
bool is_recent(const Result<FileInfo> &info);

class Directory {
  public:
    Directory() = default;
    explicit Directory(UniqueFd fd) : fd_(std::move(fd)) {}

    bool valid() const { return fd_.valid(); }
    int fd() const { return fd_.get(); }

    // The working directory, for the calls that take a path.
    static Directory working();
    // The directory at `path` (absolute, or relative to this one); symbolic links in its last part
    // are refused: denied.
    static Result<Directory> open(const std::string &path);
    Result<Directory> open_directory(const std::string &name) const;
    Status create_directory(
        const std::string &name) const;  // exists: there is something of that name

    // Regular files only; corrupt: there is something else of that name.
    Result<File> open_file(const std::string &name, Access access) const;
    Result<File> create_file(
        const std::string &name) const;  // exists; opened for reading and writing, mode 0600
    Result<File> open_or_create_file(const std::string &name) const;
    // The same past something else of that name: see make_way().
    Result<File> open_or_make_file(const std::string &name) const;

    Result<FileInfo> info() const;
    Result<FileInfo> info(const std::string &name) const;
    // Whether it is no file, or its permissions keep us from reading it; false in doubt. Ask after
    // `denied`, which may also have a cause that passes, such as a sandbox.
    bool is_unreadable(const std::string &name) const;
    Status remove_file(const std::string &name) const;
    // Removes a file, and gives its blocks back even if a process has it open. While a process has
    // a lease on the file, it cannot be opened. Then it is renamed to `name.tmp`, to be discarded
    // later, when the kernel has ended the lease. busy: there is a lease, and the name ends so.
    Status discard_file(const std::string &name) const;
    Status remove_directory(const std::string &name) const;
    // Frees a name that a file is to have: removes a link, a pipe or an empty directory. A
    // directory that is not empty stays under another name. A file stays as it is, and so does a
    // link's target.
    Status make_way(const std::string &name) const;
    Status rename(const std::string &from, const std::string &to) const;
    Status link(const std::string &from, const std::string &to) const;  // exists
    // Gives an open file, of this file system and user, another name here. exists; unsupported: it
    // is of another file system.
    Status link_file(const File &file, const std::string &name) const;
    // Gives a file a new content as a whole, or leaves it as it is, so that no process reads half
    // of it. Several may do so at once. A process that is killed may leave a file
    // `name-NUMBER.tmp`.
    Status replace_file(const std::string &name, Bytes content) const;
    // As replace_file(), for a file that must outlast a power loss: once it has returned, the name has
    // the new content; until then the old one or the new one.
    Status replace_file_durably(const std::string &name, Bytes content) const;
    // As replace_file(), for a file that can be lost: ext4 writes a file to the disk at once when
    // it is renamed over another one, and not when the two are exchanged. So a power loss may leave
    // neither content.
    Status replace_file_lazily(const std::string &name, Bytes content) const;
    Status sync() const;
    // Becomes the other directory, in use or not. For one that was deleted and made again.
    Status become(const Directory &other) const { return fd_.become(other.fd_); }
    // Whether other machines may change the files below, unseen by a mapping of ours.
    bool on_network() const;

    // Calls `visit` with each name but "." and "..".
    Status list(const std::function<void(const char *)> &visit) const;

  private:
    template <typename Take>
    Status replace_with(const std::string &name, Bytes content, Take take) const;

    UniqueFd fd_;
};

}  // namespace cairn
