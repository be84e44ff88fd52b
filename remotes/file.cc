// A remote in a shared folder, such as one of NFS: file:///absolute/folder.
// SPDX-License-Identifier: MIT
//
// The top has to be there, and may be reached through links. Below it folders are made, and no link is followed, so that
// nobody who may write there can lead a reader elsewhere. An object comes under a name with a dot first, which no listing
// shows, and is renamed when its bytes are on the disk.
//
// Thread safety, failure: as remote.h says. One thing no program can do: a call to a file server that
// hangs does not end before the server, or its mount's own time limit, lets it.
#include "os/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <random>
#include <system_error>

#include "remotes/call_clock.h"
#include "remotes/engines.h"
#include "remotes/failure.h"
#include "remotes/names.h"

namespace cairn::remotes {
namespace {

constexpr std::string_view kTemporaryBegin = ".cairn-";
constexpr std::string_view kTemporaryEnd = ".tmp";
// No put() takes so long.
constexpr std::int64_t kTemporaryAgeMaxS = 24 * 3600;
// Between two looks at the clock.
constexpr std::size_t kPieceSize = 1 << 20;

enum class Make { yes, no };

std::string temporary_name() {
    std::random_device chance;
    const std::uint64_t number = (static_cast<std::uint64_t>(chance()) << 32) | chance();
    return std::string(kTemporaryBegin) + std::to_string(number) + std::string(kTemporaryEnd);
}

bool is_temporary(std::string_view name) {
    return name.starts_with(kTemporaryBegin) && name.ends_with(kTemporaryEnd);
}

class FileRemote final : public Remote {
  public:
    FileRemote(const Url &url, const Limits &limits)
        : shown_(url.shown), top_(url.path), limits_(limits) {}

    std::optional<std::string> get(const std::string &name, std::uint64_t size_max) override;
    void put(const std::string &name, Bytes content) override;
    std::vector<Listed> list(const std::string &folder) override;
    void remove(const std::string &name) override;
    Traffic traffic() const override { return traffic_; }

  private:
    [[noreturn]] void fail_of(int error_number, const std::string &action) const;
    void check(CallClock &clock) const;
    // An invalid one: there is no such folder.
    UniqueFd open_folder(const std::string &folder, Make make) const;
    UniqueFd open_top() const;
    static mode_t mode_of(int file);
    std::string read(int file, const std::string &name, std::uint64_t size);
    void write(int file, Bytes content);
    void remove_if_stale(int folder, const char *name, std::int64_t modified_s) const;
    // By the file server's clock, as far as it is known.
    std::int64_t now_s() const { return std::time(nullptr) + server_ahead_s_; }

    const std::string shown_;
    const std::string top_;
    const Limits limits_;
    Traffic traffic_;
    // How far the server's clock is ahead of ours: what the last file that we wrote there shows.
    std::int64_t server_ahead_s_ = 0;
};

void FileRemote::fail_of(int error_number, const std::string &action) const {
    const std::string text =
        "cannot " + action + ": " + std::generic_category().message(error_number);
    switch (error_number) {
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
            fail(Trouble::full, shown_, text);
        case EACCES:
        case EPERM:
        case EROFS:
            fail(Trouble::denied, shown_, text);
        case ENOTDIR:
        case ELOOP:
            fail(Trouble::denied, shown_, text + "; a folder there is a link or no folder");
        case ENAMETOOLONG:
        case EINVAL:
            fail(Trouble::usage, shown_, text);
        default:
            fail(Trouble::unreachable, shown_, text);
    }
}

void FileRemote::check(CallClock &clock) const {
    const CallClock::State state = clock.look();
    if (state == CallClock::State::going) return;
    fail(Trouble::unreachable, shown_,
         state == CallClock::State::over ? "it took too long" : "it is too slow");
}

mode_t FileRemote::mode_of(int file) {
    struct stat status = {};
    return fstat(file, &status) == 0 ? status.st_mode : 0;
}

// Nobody makes it: a share that is not mounted would look empty, and fill the disk below it.
UniqueFd FileRemote::open_top() const {
    UniqueFd top(::open(top_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (top.valid()) return top;
    if (errno != ENOENT) fail_of(errno, "open the folder");
    fail(Trouble::unreachable, shown_,
         "there is no such folder: the share is not mounted, or `mkdir -p` has to make it");
}

UniqueFd FileRemote::open_folder(const std::string &folder, Make make) const {
    UniqueFd at = open_top();
    for (std::size_t begin = 0; at.valid() && begin < folder.size();) {
        const std::size_t end = std::min(folder.find('/', begin), folder.size());
        const std::string part = folder.substr(begin, end - begin);
        begin = end + 1;
        const bool is_made = make == Make::yes && mkdirat(at.get(), part.c_str(), 0777) == 0;
        if (make == Make::yes && !is_made && errno != EEXIST) {
            fail_of(errno, "make the folder " + folder);
        }
        UniqueFd next(
            openat(at.get(), part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!next.valid() && (errno != ENOENT || make == Make::yes)) {
            fail_of(errno, "open the folder " + folder);
        }
        // Those who share the folder above share this one, whatever the umask.
        if (is_made) (void)fchmod(next.get(), mode_of(at.get()) & 07777);
        at = std::move(next);
    }
    return at;
}

std::string FileRemote::read(int file, const std::string &name, std::uint64_t size) {
    CallClock clock(limits_);
    std::string content(size, '\0');
    for (std::size_t at = 0; at < size;) {
        check(clock);
        const ssize_t count = ::read(file, content.data() + at, std::min(kPieceSize, size - at));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail_of(errno, "read " + name);
        if (count == 0)
            fail(Trouble::unreachable, shown_, name + " became shorter while it was read");
        at += static_cast<std::size_t>(count);
        clock.moved(static_cast<std::uint64_t>(count));
    }
    traffic_.bytes_in += size;
    return content;
}

std::optional<std::string> FileRemote::get(const std::string &name, std::uint64_t size_max) {
    require_object_name(shown_, name);
    ++traffic_.requests;
    const Place place = places_of(name).front();
    const UniqueFd folder = open_folder(place.folder, Make::no);
    if (!folder.valid()) return std::nullopt;
    // A pipe would wait for its other end.
    const UniqueFd file(
        openat(folder.get(), place.entry.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.valid() && errno == ENOENT) return std::nullopt;
    if (!file.valid()) fail_of(errno, "open " + name);
    struct stat status = {};
    if (fstat(file.get(), &status) != 0) fail_of(errno, "look at " + name);
    if (S_ISDIR(status.st_mode)) return std::nullopt;
    if (!S_ISREG(status.st_mode)) fail(Trouble::denied, shown_, name + " is no regular file");
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > size_max) fail_too_large(shown_, name, size_max);
    return read(file.get(), name, size);
}

void FileRemote::write(int file, Bytes content) {
    CallClock clock(limits_);
    while (!content.empty()) {
        check(clock);
        const ssize_t count = ::write(file, content.data(), std::min(kPieceSize, content.size()));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail_of(errno, "write");
        content = content.subspan(static_cast<std::size_t>(count));
        clock.moved(static_cast<std::uint64_t>(count));
        traffic_.bytes_out += static_cast<std::uint64_t>(count);
    }
    if (fsync(file) != 0) fail_of(errno, "write");
}

void FileRemote::put(const std::string &name, Bytes content) {
    require_object_name(shown_, name);
    ++traffic_.requests;
    const Place place = places_of(name).front();
    const UniqueFd folder = open_folder(place.folder, Make::yes);
    const std::string temporary = temporary_name();
    const UniqueFd file(openat(folder.get(), temporary.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!file.valid()) fail_of(errno, "write " + name);
    try {
        write(file.get(), content);
        (void)fchmod(file.get(), mode_of(folder.get()) & 0666);
        struct stat status = {};
        if (fstat(file.get(), &status) == 0) {
            server_ahead_s_ = status.st_mtim.tv_sec - std::time(nullptr);
        }
        if (renameat(folder.get(), temporary.c_str(), folder.get(), place.entry.c_str()) != 0) {
            fail_of(errno, "write " + name);
        }
    } catch (const RemoteFailure &) {
        unlinkat(folder.get(), temporary.c_str(), 0);
        throw;
    }
    // Some file systems cannot; the object is there all the same.
    (void)fsync(folder.get());
}

void FileRemote::remove_if_stale(int folder, const char *name, std::int64_t modified_s) const {
    // Only its writer and the folder's owner may; for others it stays, and is in nobody's way.
    if (now_s() - modified_s > kTemporaryAgeMaxS) (void)unlinkat(folder, name, 0);
}

std::vector<Listed> FileRemote::list(const std::string &folder) {
    require_folder_name(shown_, folder);
    ++traffic_.requests;
    CallClock clock(limits_);
    UniqueFd opened = open_folder(folder, Make::no);
    std::vector<Listed> found;
    if (!opened.valid()) return found;
    const std::unique_ptr<DIR, int (*)(DIR *)> stream(fdopendir(opened.get()), closedir);
    if (!stream) fail_of(errno, "list " + folder);
    const int directory = opened.release();
    for (;;) {
        if (clock.look() == CallClock::State::over) check(clock);
        errno = 0;
        const dirent *entry = readdir(stream.get());
        if (entry == nullptr && errno != 0) fail_of(errno, "list " + folder);
        if (entry == nullptr) return found;
        const std::string name = entry->d_name;
        if (!is_object_name_part(name) && !is_temporary(name)) continue;
        struct stat status = {};
        // It may be gone since.
        if (fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        const std::int64_t modified_s = status.st_mtim.tv_sec;
        if (is_temporary(name)) {
            if (S_ISREG(status.st_mode)) remove_if_stale(directory, name.c_str(), modified_s);
            continue;
        }
        if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) continue;
        if (found.size() == limits_.listed_max) fail_too_many(shown_, folder, limits_.listed_max);
        const std::int64_t age_s = std::max<std::int64_t>(now_s() - modified_s, 0);
        found.push_back(
            {S_ISDIR(status.st_mode) ? name + "/" : name, static_cast<std::uint64_t>(age_s)});
    }
}

void FileRemote::remove(const std::string &name) {
    require_object_name(shown_, name);
    ++traffic_.requests;
    const Place place = places_of(name).front();
    const UniqueFd folder = open_folder(place.folder, Make::no);
    if (!folder.valid()) return;
    if (unlinkat(folder.get(), place.entry.c_str(), 0) == 0 || errno == ENOENT) return;
    // What Linux says of a folder, which is no object.
    if (errno != EISDIR) fail_of(errno, "remove " + name);
}

}  // namespace

std::unique_ptr<Remote> open_file(const Url &url, const Limits &limits) {
    url.require_options({});
    return std::make_unique<FileRemote>(url, limits);
}

}  // namespace cairn::remotes
