// SPDX-License-Identifier: MIT
#include "os/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "os/environment.h"
#include "os/system_calls.h"

namespace cairn {
namespace {

constexpr const char *kTemporaryEnd = ".tmp";

Status status_of(int result) {
    if (result == 0) return {};
    return error_from_errno(errno);
}

Result<UniqueFd> open_at(int directory, const char *path, int flags) {
    const int fd =
        retry([&] { return system_calls->openat(directory, path, flags | O_CLOEXEC, 0600); });
    if (fd < 0) return error_from_errno(errno);
    return UniqueFd(fd);
}

Status allocate(int fd, int mode, std::uint64_t offset, std::uint64_t size) {
    return status_of(retry([&] {
        return system_calls->fallocate(fd, mode, static_cast<off_t>(offset),
                                       static_cast<off_t>(size));
    }));
}

FileInfo info_from_stat(const struct stat &status) {
    return {static_cast<std::uint64_t>(status.st_size),
            static_cast<std::uint64_t>(status.st_blocks) * 512,
            static_cast<std::uint64_t>(status.st_nlink),
            static_cast<std::uint64_t>(status.st_ino),
            static_cast<std::uint64_t>(status.st_dev),
            ns_of(status.st_mtim),
            ns_of(status.st_ctim),
            status.st_uid,
            status.st_mode & 07777u,
            (status.st_mode & (S_IWGRP | S_IWOTH)) != 0,
            major(status.st_dev) == 0,
            S_ISREG(status.st_mode),
            S_ISDIR(status.st_mode)};
}

// `call` fills in what the system says of a file.
template <typename Call>
Result<FileInfo> info_by(Call call) {
    struct stat status;
    if (retry([&] { return call(&status); }) != 0) return error_from_errno(errno);
    return info_from_stat(status);
}

Result<FileInfo> info_of(int fd) {
    return info_by([fd](struct stat *status) { return system_calls->fstat(fd, status); });
}

// Regular files only: a named pipe that somebody put in the place of a file must not make us wait.
Result<File> open_flags(int directory, const std::string &name, int flags,
                        int follow = O_NOFOLLOW) {
    auto fd = open_at(directory, name.c_str(), flags | follow | O_NONBLOCK | O_NOCTTY);
    if (!fd.ok()) {
        const bool is_irregular = errno == ELOOP || errno == ENXIO || errno == EISDIR;
        return is_irregular ? Error::corrupt : fd.error();
    }
    File file(std::move(*fd));
    TRY_ASSIGN(const FileInfo info, file.info());
    if (!info.is_file) return Error::corrupt;
    return file;
}

// A name that no other process uses.
std::string temporary_name(const std::string &name) {
    std::array<std::byte, 8> random;
    random_bytes(random);
    return name + "-" + std::to_string(get_le<std::uint64_t>(random, 0)) + kTemporaryEnd;
}

Result<Directory> open_directory_at(int directory, const std::string &path) {
    TRY_ASSIGN(UniqueFd fd, open_at(directory, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    return Directory(std::move(fd));
}

}  // namespace

Error error_from_errno(int error_number) {
    switch (error_number) {
        case ENOENT:
            return Error::not_found;
        case EEXIST:
            return Error::exists;
        case ENOMEM:
            return Error::no_memory;
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
            return Error::no_space;
        case EACCES:
        case EPERM:
        case ELOOP:    // O_NOFOLLOW met a symbolic link
        case ENOTDIR:  // the same with O_DIRECTORY
            return Error::denied;
        case EROFS:
            return Error::read_only;
        case EAGAIN:
        case EBUSY:
            return Error::busy;
        case EINVAL:
        case ENAMETOOLONG:
            return Error::invalid_argument;
        case EOPNOTSUPP:
        case ENOSYS:
            return Error::unsupported;
        default:
            return Error::io;
    }
}

// Asked anew each time: an application may change its limit at any moment.
Status check_file_size(std::uint64_t size) {
    rlimit limit = {};
    if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
    if (size > limit.rlim_cur) return Error::no_space;
    return {};
}

void UniqueFd::reset(int fd) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
}

Result<UniqueFd> UniqueFd::duplicate() const {
    const int copy = retry([&] { return ::fcntl(fd_, F_DUPFD_CLOEXEC, 0); });
    if (copy < 0) return error_from_errno(errno);
    return UniqueFd(copy);
}

Status UniqueFd::become(const UniqueFd &other) const {
    const int result = retry([&] { return ::dup3(other.fd_, fd_, O_CLOEXEC); });
    return result < 0 ? Status(error_from_errno(errno)) : Status();
}

// Follows links: the launcher names a link of the process file system.
Result<File> File::open_shared_memory(const char *path) {
    TRY_ASSIGN(UniqueFd fd, open_at(AT_FDCWD, path, O_RDWR));
    return File(std::move(fd));
}

Result<File> File::open_configuration(const std::string &path) {
    return open_flags(AT_FDCWD, path, O_RDONLY, 0);
}

Result<std::size_t> File::read_at(std::uint64_t offset, MutableBytes out) const {
    std::size_t done = 0;
    while (done < out.size()) {
        const ssize_t count = retry([&] {
            return system_calls->pread(fd_.get(), out.data() + done, out.size() - done,
                                       static_cast<off_t>(offset + done));
        });
        if (count < 0) return error_from_errno(errno);
        if (count == 0) break;
        done += static_cast<std::size_t>(count);
    }
    return done;
}

Result<std::size_t> File::read_at(std::uint64_t offset, MutableBytes first,
                                  MutableBytes second) const {
    const std::array<iovec, 2> pieces = {iovec{first.data(), first.size()},
                                         iovec{second.data(), second.size()}};
    const ssize_t count = retry([&] {
        return system_calls->preadv(fd_.get(), pieces.data(), pieces.size(),
                                    static_cast<off_t>(offset));
    });
    if (count < 0) return error_from_errno(errno);
    auto done = static_cast<std::size_t>(count);
    // The rest, piece by piece; at the end of the file there is none.
    if (done < first.size()) {
        TRY_ASSIGN(const std::size_t more, read_at(offset + done, first.subspan(done)));
        done += more;
        if (done < first.size()) return done;
    }
    TRY_ASSIGN(const std::size_t rest, read_at(offset + done, second.subspan(done - first.size())));
    return done + rest;
}

Result<std::size_t> File::read_cached_at(std::uint64_t offset, MutableBytes out) const {
    const iovec piece = {out.data(), out.size()};
    const ssize_t count = retry([&] {
        return system_calls->preadv2(fd_.get(), &piece, 1, static_cast<off_t>(offset), RWF_NOWAIT);
    });
    if (count >= 0) return static_cast<std::size_t>(count);
    return errno == EAGAIN ? Error::busy : error_from_errno(errno);
}

Status File::write_at(std::uint64_t offset, std::span<const Bytes> pieces) const {
    std::array<iovec, kPiecesMax> vectors;
    assert(pieces.size() <= vectors.size());
    std::size_t count = 0;
    std::uint64_t end = offset;
    for (const Bytes piece : pieces) {
        if (piece.empty()) continue;
        vectors[count++] = {const_cast<std::byte *>(piece.data()), piece.size()};
        end += piece.size();
    }
    iovec *next = vectors.data();
    while (count > 0) {
        TRY(check_file_size(end));
        const ssize_t written = retry([&] {
            return system_calls->pwritev(fd_.get(), next, static_cast<int>(count),
                                         static_cast<off_t>(offset));
        });
        if (written < 0) return error_from_errno(errno);
        if (written == 0) return Error::io;
        offset += static_cast<std::uint64_t>(written);
        auto left = static_cast<std::size_t>(written);
        while (count > 0 && left >= next->iov_len) {
            left -= next->iov_len;
            ++next;
            --count;
        }
        if (count > 0) {
            next->iov_base = static_cast<std::byte *>(next->iov_base) + left;
            next->iov_len -= left;
        }
    }
    return {};
}

Result<FileInfo> File::info() const {
    return info_of(fd());
}

Status File::extend(std::uint64_t size) const {
    TRY(check_file_size(size));
    const Status status = allocate(fd(), 0, 0, size);
    if (status.ok() || status.error() != Error::unsupported) return status;
    // File systems that cannot allocate do when they are written to.
    TRY_ASSIGN(const FileInfo now, info());
    static constexpr std::array<std::byte, 4096> kZeros = {};
    for (std::uint64_t offset = now.size_bytes; offset < size;) {
        const auto count =
            static_cast<std::size_t>(std::min<std::uint64_t>(size - offset, kZeros.size()));
        const Bytes pieces[] = {Bytes(kZeros).first(count)};
        TRY(write_at(offset, pieces));
        offset += count;
    }
    return {};
}

Status File::extend_sparsely(std::uint64_t from, std::uint64_t size) const {
    TRY(check_file_size(size));
    return allocate(fd(), 0, from, size - from);
}

Status File::reserve(std::uint64_t offset, std::uint64_t size) const {
    TRY(check_file_size(offset + size));
    return allocate(fd(), FALLOC_FL_KEEP_SIZE, offset, size);
}

Result<std::uint64_t> File::next_data(std::uint64_t offset) const {
    const off_t found = system_calls->lseek(fd(), static_cast<off_t>(offset), SEEK_DATA);
    if (found >= 0) return static_cast<std::uint64_t>(found);
    return errno == ENXIO ? Error::not_found : error_from_errno(errno);
}

Status File::punch(std::uint64_t offset, std::uint64_t size) const {
    return allocate(fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, size);
}

Status File::truncate(std::uint64_t size) const {
    TRY(check_file_size(size));
    return status_of(
        retry([&] { return system_calls->ftruncate(fd_.get(), static_cast<off_t>(size)); }));
}

Status File::write_whole(Bytes content) const {
    const Bytes pieces[] = {content};
    return write_at(0, pieces);
}

Status File::sync_data() const {
    return status_of(retry([&] { return system_calls->fdatasync(fd_.get()); }));
}

Status File::make_readable() const {
    return status_of(::fchmod(fd_.get(), 0644));
}

Status File::touch() const {
    return status_of(::futimens(fd_.get(), nullptr));
}

Status File::set_modified(std::uint64_t ns) const {
    constexpr std::uint64_t kNsPerS = 1'000'000'000;
    const timespec times[2] = {
        {0, UTIME_OMIT}, {static_cast<time_t>(ns / kNsPerS), static_cast<long>(ns % kNsPerS)}};
    return status_of(::futimens(fd_.get(), times));
}

namespace {

struct flock lock_range(std::uint64_t byte, short type) {
    struct flock range = {};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_start = static_cast<off_t>(byte);
    range.l_len = 1;
    return range;
}

short lock_type(LockKind kind) {
    return kind == LockKind::shared ? F_RDLCK : F_WRLCK;
}

Result<bool> try_set_lock(int fd, int command, struct flock range) {
    if (retry([&] { return system_calls->lock(fd, command, &range); }) == 0) return true;
    if (errno == EAGAIN || errno == EACCES) return false;
    return error_from_errno(errno);
}

}  // namespace

Result<bool> File::try_lock(std::uint64_t byte, LockKind kind) const {
    return try_set_lock(fd_.get(), F_OFD_SETLK, lock_range(byte, lock_type(kind)));
}

Result<bool> File::try_lock_of_process(std::uint64_t byte) const {
    return try_set_lock(fd_.get(), F_SETLK, lock_range(byte, F_WRLCK));
}

Result<std::optional<LockKind>> File::lock_held(std::uint64_t byte) const {
    struct flock range = lock_range(byte, F_WRLCK);
    const int result = retry([&] { return system_calls->lock(fd_.get(), F_OFD_GETLK, &range); });
    if (result != 0) return error_from_errno(errno);
    if (range.l_type == F_UNLCK) return std::optional<LockKind>();
    return std::optional(range.l_type == F_RDLCK ? LockKind::shared : LockKind::exclusive);
}

Result<bool> File::is_locked(std::uint64_t byte, LockKind against) const {
    TRY_ASSIGN(const auto held, lock_held(byte));
    return held && (*held == LockKind::exclusive || against == LockKind::exclusive);
}

void File::unlock(std::uint64_t byte) const {
    struct flock range = lock_range(byte, F_UNLCK);
    retry([&] { return system_calls->lock(fd_.get(), F_OFD_SETLK, &range); });
}

void File::unlock_of_process(std::uint64_t byte) const {
    struct flock range = lock_range(byte, F_UNLCK);
    retry([&] { return system_calls->lock(fd_.get(), F_SETLK, &range); });
}

bool is_recent(const Result<FileInfo> &info) {
    // An hour more or less makes no difference, and a write less does.
    constexpr std::uint64_t kTouchEachNs = 3600'000'000'000u;
    const std::uint64_t now = wall_clock_ns();
    return info.ok() && info->modified_ns <= now && now - info->modified_ns < kTouchEachNs;
}

Result<FileInfo> file_info(const std::string &path) {
    return info_by([&](struct stat *status) {
        return system_calls->fstatat(AT_FDCWD, path.c_str(), status, 0);
    });
}

Directory Directory::working() {
    return Directory(UniqueFd(AT_FDCWD));  // a negative number, which is never closed
}

Result<Directory> Directory::open(const std::string &path) {
    return open_directory_at(AT_FDCWD, path);
}

Result<Directory> Directory::open_directory(const std::string &name) const {
    return open_directory_at(fd_.get(), name);
}

Status Directory::create_directory(const std::string &name) const {
    return status_of(system_calls->mkdirat(fd_.get(), name.c_str(), 0700));
}

Result<File> Directory::open_file(const std::string &name, Access access) const {
    return open_flags(fd_.get(), name, access == Access::read_only ? O_RDONLY : O_RDWR);
}

Result<File> Directory::create_file(const std::string &name) const {
    return open_flags(fd_.get(), name, O_RDWR | O_CREAT | O_EXCL);
}

Result<File> Directory::open_or_create_file(const std::string &name) const {
    // Mostly it is there: the kernel opens it faster if it need not prepare to create it.
    auto file = open_file(name, Access::read_write);
    if (file.ok() || file.error() != Error::not_found) return file;
    return open_flags(fd_.get(), name, O_RDWR | O_CREAT);
}

Result<File> Directory::open_or_make_file(const std::string &name) const {
    auto file = open_or_create_file(name);
    if (file.ok() || file.error() != Error::corrupt) return file;
    TRY(make_way(name));
    return open_or_create_file(name);
}

Result<FileInfo> Directory::info() const {
    return info_of(fd());
}

Result<FileInfo> Directory::info(const std::string &name) const {
    return info_by([&](struct stat *status) {
        return system_calls->fstatat(fd_.get(), name.c_str(), status, AT_SYMLINK_NOFOLLOW);
    });
}

bool Directory::is_unreadable(const std::string &name) const {
    const auto there = info(name);
    if (!there.ok()) return false;
    const unsigned of_owner = S_IRUSR;
    const unsigned of_others = S_IRGRP | S_IROTH;
    const bool is_ours = there->owner == effective_user();
    return !there->is_file || (there->permissions & (is_ours ? of_owner : of_others)) == 0;
}

Status Directory::remove_file(const std::string &name) const {
    return status_of(system_calls->unlinkat(fd_.get(), name.c_str(), 0));
}

Status Directory::discard_file(const std::string &name) const {
    const auto file = open_file(name, Access::read_write);
    if (!file.ok() && file.error() == Error::busy) {
        return name.ends_with(kTemporaryEnd) ? Error::busy : rename(name, name + kTemporaryEnd);
    }
    const auto info = file.ok() ? file->info() : Result<FileInfo>(file.error());
    // One that has another name as well, such as in a backup of hard links, stays whole there.
    if (info.ok() && info->links == 1) (void)file->truncate(0);
    return remove_file(name);
}

Status Directory::remove_directory(const std::string &name) const {
    return status_of(system_calls->unlinkat(fd_.get(), name.c_str(), AT_REMOVEDIR));
}

Status Directory::rename(const std::string &from, const std::string &to) const {
    return status_of(system_calls->renameat(fd_.get(), from.c_str(), fd_.get(), to.c_str()));
}

Status Directory::link_file(const File &file, const std::string &name) const {
    const std::string path = "/proc/self/fd/" + std::to_string(file.fd());
    if (::linkat(AT_FDCWD, path.c_str(), fd_.get(), name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
        return {};
    }
    return errno == EXDEV ? Error::unsupported : error_from_errno(errno);
}

Status Directory::link(const std::string &from, const std::string &to) const {
    return status_of(system_calls->linkat(fd_.get(), from.c_str(), fd_.get(), to.c_str()));
}

// Renames first: another process may have put a file there meanwhile, which gets its name back.
Status Directory::make_way(const std::string &name) const {
    const std::string discarded = "discarded-" + temporary_name(name);
    TRY(rename(name, discarded));
    const auto info = this->info(discarded);
    if (info.ok() && info->is_file) (void)link(discarded, name);
    if (!remove_file(discarded).ok()) (void)remove_directory(discarded);
    return {};
}

// Calls take(file, temporary), which gives the temporary file its name.
template <typename Take>
Status Directory::replace_with(const std::string &name, Bytes content, Take take) const {
    const std::string temporary = temporary_name(name);
    TRY_ASSIGN(const File file, create_file(temporary));
    Status status = file.write_whole(content);
    if (status.ok()) status = take(file, temporary);
    if (!status.ok()) (void)remove_file(temporary);
    return status;
}

Status Directory::replace_file(const std::string &name, Bytes content) const {
    return replace_with(name, content, [&](const File &, const std::string &temporary) {
        return rename(temporary, name);
    });
}

Status Directory::replace_file_durably(const std::string &name, Bytes content) const {
    return replace_with(name, content, [&](const File &file, const std::string &temporary) {
        Status status = file.sync_data();
        if (status.ok()) status = rename(temporary, name);
        if (status.ok()) (void)sync();  // where a file system cannot, it does so in time
        return status;
    });
}

Status Directory::replace_file_lazily(const std::string &name, Bytes content) const {
    return replace_with(name, content, [&](const File &, const std::string &temporary) -> Status {
        const int result = system_calls->renameat2(fd_.get(), temporary.c_str(), fd_.get(),
                                                   name.c_str(), RENAME_EXCHANGE);
        // There is no file yet, or the file system cannot.
        if (result != 0) return rename(temporary, name);
        if (!remove_file(temporary).ok()) (void)remove_directory(temporary);
        return {};
    });
}

Status Directory::sync() const {
    return status_of(retry([&] { return system_calls->fsync(fd_.get()); }));
}

bool Directory::on_network() const {
    struct statfs status;
    if (system_calls->fstatfs(fd_.get(), &status) != 0) return false;
    switch (static_cast<std::uint32_t>(status.f_type)) {
        case 0x00006969:  // NFS
        case 0x0000517B:  // SMB
        case 0xFE534D42:  // SMB 2
        case 0xFF534D42:  // CIFS
        case 0x5346414F:  // AFS
        case 0x73757245:  // Coda
        case 0x00C36400:  // Ceph
        case 0x01021997:  // 9P
        case 0x0BD00BD0:  // Lustre
        case 0x47504653:  // GPFS
        case 0x01161970:  // GFS 2
        case 0x7461636F:  // OCFS 2
            return true;
        default:
            return false;
    }
}

Status Directory::list(const std::function<void(const char *)> &visit) const {
    // A description of its own: reading positions are shared between duplicates of one.
    TRY_ASSIGN(UniqueFd opened, open_at(fd(), ".", O_RDONLY | O_DIRECTORY));
    DIR *stream = ::fdopendir(opened.get());
    if (stream == nullptr) return Error::no_memory;
    (void)opened.release();
    errno = 0;
    while (const dirent *entry = ::readdir(stream)) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") visit(entry->d_name);
        errno = 0;
    }
    const int error_number = errno;
    ::closedir(stream);
    if (error_number != 0) return error_from_errno(error_number);
    return {};
}

}  // namespace cairn
