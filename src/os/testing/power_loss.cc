// SPDX-License-Identifier: MIT
#include "os/testing/power_loss.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "os/system_calls.h"

namespace cairn::testing {
namespace {

constexpr std::size_t kSector = 512;
constexpr std::string_view kBootIdPath = "/proc/sys/kernel/random/boot_id";

using Content = std::vector<std::uint8_t>;

[[noreturn]] void fail(const char *what) {
    std::perror(what);
    std::abort();
}

// A sequence of numbers that a seed repeats.
class Chance {
  public:
    explicit Chance(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
    std::uint64_t next() {
        state_ += 0x9E3779B97F4A7C15u;
        std::uint64_t x = state_;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
        return x ^ (x >> 31);
    }
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

  private:
    std::uint64_t state_;
};

Content read_all(int fd) {
    struct stat status = {};
    if (::fstat(fd, &status) != 0) fail("fstat");
    Content content(static_cast<std::size_t>(status.st_size));
    std::size_t done = 0;
    while (done < content.size()) {
        const ssize_t count =
            ::pread(fd, content.data() + done, content.size() - done, static_cast<off_t>(done));
        if (count < 0) fail("pread");
        if (count == 0) break;
        done += static_cast<std::size_t>(count);
    }
    content.resize(done);
    return content;
}

void write_all(const std::string &path, const Content &content) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) fail(path.c_str());
    std::size_t done = 0;
    while (done < content.size()) {
        const ssize_t count = ::write(fd, content.data() + done, content.size() - done);
        if (count <= 0) fail("write");
        done += static_cast<std::size_t>(count);
    }
    ::close(fd);
}

std::uint8_t byte_at(const Content &content, std::size_t i) {
    return i < content.size() ? content[i] : std::uint8_t{0};
}

// ------------------------------------------------------------------------------------------------
// what is on the disk

struct Node;
using NodeRef = std::shared_ptr<Node>;
using Names = std::map<std::string, NodeRef>;

// A change of a directory's entries.
struct Change {
    std::string removed;  // "": none
    std::string added;    // "": none
    NodeRef node;         // what the added name leads to
};

struct Node {
    bool is_directory = false;
    int fd = -1;  // of a file, with a description of its own: locks belong to descriptions
    Content durable;
    Content current;  // in a capture
    Names durable_names;
    Names names;
    std::vector<Change> changes;  // since the last fsync

    ~Node() {
        if (fd >= 0) ::close(fd);
    }
};

void perform(Names &names, const Change &change) {
    if (!change.removed.empty()) names.erase(change.removed);
    if (!change.added.empty()) names[change.added] = change.node;
}

// Chooses what is in one sector after the loss.
void choose_sector(Content &out, const Content &durable, const Content &current, std::size_t begin,
                   std::size_t end, Chance &chance) {
    const std::size_t kind = chance.below(10);
    const std::size_t cut = begin + chance.below(end - begin + 1);
    const bool noise = chance.below(2) == 0;
    const bool reversed = chance.below(2) == 0;
    for (std::size_t i = begin; i < end; ++i) {
        const std::uint8_t before = byte_at(durable, i);
        const std::uint8_t after = byte_at(current, i);
        if (kind < 4 || before == after) {
            out[i] = before;
        } else if (kind < 8) {
            out[i] = after;
        } else if (kind < 9) {
            out[i] = (i < cut) == reversed ? before : after;
        } else {
            out[i] = noise ? static_cast<std::uint8_t>(chance.next()) : std::uint8_t{0};
        }
    }
}

// One of the contents that a file may have after the power loss.
Content choose_content(const Content &durable, const Content &current, Chance &chance) {
    const std::size_t kind = chance.below(8);
    if (kind == 0) return durable;
    if (kind == 1) return current;
    Content out(chance.below(2) == 0 ? durable.size() : current.size());
    for (std::size_t begin = 0; begin < out.size(); begin += kSector) {
        const std::size_t end = std::min(begin + kSector, out.size());
        choose_sector(out, durable, current, begin, end, chance);
    }
    return out;
}

// One of the sets of entries that a directory may have.
Names choose_names(const Node &directory, Chance &chance) {
    Names names = directory.durable_names;
    const std::size_t kind = chance.below(4);
    const std::size_t moment = chance.below(directory.changes.size() + 1);
    for (std::size_t i = 0; i < directory.changes.size(); ++i) {
        const bool happened = kind == 0   ? false
                              : kind == 1 ? true
                              : kind == 2 ? i < moment
                                          : chance.below(2) == 0;
        if (happened) perform(names, directory.changes[i]);
    }
    return names;
}

void materialise_directory(const Node &directory, const std::string &path, Chance &chance,
                           std::map<const Node *, Content> &chosen) {
    if (::mkdir(path.c_str(), 0700) != 0) fail(path.c_str());
    for (const auto &[name, node] : choose_names(directory, chance)) {
        const std::string below = path + "/" + name;
        if (node->is_directory) {
            materialise_directory(*node, below, chance, chosen);
            continue;
        }
        // Several names of one file lead to one content.
        const auto [place, is_new] = chosen.try_emplace(node.get());
        if (is_new) place->second = choose_content(node->durable, node->current, chance);
        write_all(below, place->second);
    }
}

}  // namespace

// ------------------------------------------------------------------------------------------------
// what happens to it

class PowerLoss::Disk {
  public:
    explicit Disk(const std::string &directory) : behind(system_calls) {
        root_ = scan(AT_FDCWD, directory);
    }

    // Counts a call, before it is made.
    void begin() {
        const std::lock_guard lock(mutex_);
        ++calls_;
        if (capture_number_ > 1)
            --capture_number_;
        else if (capture_number_ == 1 && std::this_thread::get_id() == capturer_)
            capture_for_it();
    }

    void capture_for_it() {
        capture_number_ = 0;
        capture_now();
        if (when_captured_) when_captured_();
    }

    // Calls that change names are made and taken down under one lock: another thread may act on a
    // name as soon as it is there.

    int open(int directory, const char *path, int flags, mode_t mode) {
        if (path == kBootIdPath) return open_boot_id();
        if ((flags & O_CREAT) == 0) return behind->openat(directory, path, flags, mode);
        const std::lock_guard lock(mutex_);
        const int fd = behind->openat(directory, path, flags, mode);
        if (fd < 0) return fd;
        const auto [parent, name] = find_parent(directory, path);
        if (parent == nullptr || parent->names.contains(name)) return fd;
        const NodeRef node = watch(fd);
        change(*parent, {"", name, node});
        return fd;
    }

    int make_directory(int directory, const char *path, mode_t mode) {
        const std::lock_guard lock(mutex_);
        const int result = behind->mkdirat(directory, path, mode);
        if (result != 0) return result;
        const auto [parent, name] = find_parent(directory, path);
        if (parent == nullptr) return result;
        struct stat status = {};
        if (::fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW) != 0) fail(path);
        const NodeRef node = std::make_shared<Node>();
        node->is_directory = true;
        nodes_[key_of(status)] = node;
        change(*parent, {"", name, node});
        return result;
    }

    int unlink(int directory, const char *path, int flags) {
        const std::lock_guard lock(mutex_);
        const int result = behind->unlinkat(directory, path, flags);
        if (result != 0) return result;
        const auto [parent, name] = find_parent(directory, path);
        if (parent != nullptr) change(*parent, {name, "", nullptr});
        return result;
    }

    int link(int old_directory, const char *old_path, int directory, const char *path) {
        const std::lock_guard lock(mutex_);
        const int result = behind->linkat(old_directory, old_path, directory, path);
        if (result != 0) return result;
        const auto [old_parent, old_name] = find_parent(old_directory, old_path);
        const auto [parent, name] = find_parent(directory, path);
        if (parent == nullptr) return result;
        assert(old_parent != nullptr);
        change(*parent, {"", name, old_parent->names.at(old_name)});
        return result;
    }

    int rename(int old_directory, const char *old_path, int directory, const char *path) {
        const std::lock_guard lock(mutex_);
        const int result = behind->renameat(old_directory, old_path, directory, path);
        if (result != 0) return result;
        const auto [old_parent, old_name] = find_parent(old_directory, old_path);
        const auto [parent, name] = find_parent(directory, path);
        if (parent == nullptr) return result;
        assert(old_parent == parent);  // moving between directories is not modelled
        change(*parent, {old_name, name, parent->names.at(old_name)});
        return result;
    }

    void synced(int fd) {
        const std::lock_guard lock(mutex_);
        const NodeRef node = find(fd);
        if (node == nullptr) return;
        if (!node->is_directory) {
            node->durable = read_all(node->fd);
            return;
        }
        for (const Change &change : node->changes) perform(node->durable_names, change);
        node->changes.clear();
        drop_unreachable();
    }

    void set_boot(std::uint64_t boot) {
        const std::lock_guard lock(mutex_);
        boot_ = boot;
    }
    void capture_at(std::uint64_t number, std::function<void()> captured) {
        const std::lock_guard lock(mutex_);
        capture_number_ = number;
        capturer_ = std::this_thread::get_id();
        when_captured_ = std::move(captured);
    }
    void capture() {
        const std::lock_guard lock(mutex_);
        capture_now();
    }
    void write_back(std::uint64_t seed) {
        const std::lock_guard lock(mutex_);
        Chance chance(seed);
        for (const auto &[key, node] : nodes_) {
            if (!node->is_directory && chance.below(2) == 0) write_back_file(*node, chance);
        }
    }
    const Node *captured() const { return captured_.get(); }
    std::uint64_t calls() const { return calls_; }

    const SystemCalls *const behind;

  private:
    using Key = std::pair<dev_t, ino_t>;
    static Key key_of(const struct stat &status) { return {status.st_dev, status.st_ino}; }

    // Takes in what is there.
    NodeRef scan(int parent, const std::string &name) {
        NodeRef node = std::make_shared<Node>();
        const int fd = ::openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        struct stat status = {};
        if (fd < 0 || ::fstat(fd, &status) != 0) fail(name.c_str());
        nodes_[key_of(status)] = node;
        node->is_directory = S_ISDIR(status.st_mode);
        if (!node->is_directory) {
            node->fd = fd;
            node->durable = read_all(fd);
            return node;
        }
        DIR *stream = ::fdopendir(fd);
        while (const dirent *entry = ::readdir(stream)) {
            const std::string_view below = entry->d_name;
            if (below != "." && below != "..") node->names[entry->d_name] = scan(fd, entry->d_name);
        }
        ::closedir(stream);
        node->durable_names = node->names;
        return node;
    }

    // A new file.
    NodeRef watch(int fd) {
        NodeRef node = std::make_shared<Node>();
        struct stat status = {};
        const std::string path = "/proc/self/fd/" + std::to_string(fd);
        node->fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (node->fd < 0 || ::fstat(node->fd, &status) != 0) fail(path.c_str());
        nodes_[key_of(status)] = node;
        return node;
    }

    NodeRef find(int fd) const {
        struct stat status = {};
        if (::fstat(fd, &status) != 0) return nullptr;
        const auto found = nodes_.find(key_of(status));
        return found == nodes_.end() ? nullptr : found->second;
    }

    // The watched directory in which a path's last part is; null when it is not watched.
    std::pair<NodeRef, std::string> find_parent(int directory, const std::string &path) const {
        const std::size_t slash = path.rfind('/');
        const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
        std::string parent = slash == std::string::npos ? "." : path.substr(0, slash);
        if (parent.empty()) parent = "/";
        struct stat status = {};
        if (::fstatat(directory, parent.c_str(), &status, 0) != 0) return {nullptr, name};
        const auto found = nodes_.find(key_of(status));
        return {found == nodes_.end() ? nullptr : found->second, name};
    }

    static void change(Node &directory, Change change) {
        perform(directory.names, change);
        directory.changes.push_back(std::move(change));
    }

    // A file that no name leads to any more, nor would after a power loss, can be forgotten. Until
    // then its descriptor keeps its inode from being used again.
    void drop_unreachable() {
        std::erase_if(nodes_, [](const auto &entry) {
            return entry.second.use_count() == 1 && !entry.second->is_directory;
        });
    }

    static void write_back_file(Node &file, Chance &chance) {
        const Content current = read_all(file.fd);
        if (current.size() > file.durable.size() && chance.below(2) == 0) {
            file.durable.resize(current.size());
        }
        const std::size_t size = std::min(current.size(), file.durable.size());
        for (std::size_t begin = 0; begin < size; begin += kSector) {
            const std::size_t end = std::min(begin + kSector, size);
            if (chance.below(2) == 0) continue;
            std::copy(current.begin() + static_cast<std::ptrdiff_t>(begin),
                      current.begin() + static_cast<std::ptrdiff_t>(end),
                      file.durable.begin() + static_cast<std::ptrdiff_t>(begin));
        }
    }

    void capture_now() {
        std::map<const Node *, NodeRef> copies;
        captured_ = copy(root_, copies);
    }

    // Of everything that a power loss may leave.
    static NodeRef copy(const NodeRef &node, std::map<const Node *, NodeRef> &copies) {
        if (node == nullptr) return nullptr;
        NodeRef &place = copies[node.get()];
        if (place != nullptr) return place;
        NodeRef result = place = std::make_shared<Node>();
        result->is_directory = node->is_directory;
        if (!node->is_directory) {
            result->durable = node->durable;
            result->current = read_all(node->fd);
            return result;
        }
        for (const auto &[name, below] : node->durable_names) {
            result->durable_names[name] = copy(below, copies);
        }
        for (const Change &change : node->changes) {
            result->changes.push_back({change.removed, change.added, copy(change.node, copies)});
        }
        return result;
    }

    int open_boot_id() {
        const int fd = ::memfd_create("boot_id", MFD_CLOEXEC);
        if (fd < 0) return fd;
        char text[64];
        const std::lock_guard lock(mutex_);
        Chance chance(boot_);  // as random as the kernel's
        const int size = std::snprintf(text, sizeof text, "%08llx-0000-4000-8000-%012llx\n",
                                       static_cast<unsigned long long>(chance.next() >> 32),
                                       static_cast<unsigned long long>(chance.next() >> 16));
        if (::pwrite(fd, text, static_cast<std::size_t>(size), 0) != size) fail("boot_id");
        return fd;
    }

    mutable std::mutex mutex_;
    std::map<Key, NodeRef> nodes_;
    NodeRef root_;
    NodeRef captured_;
    std::uint64_t boot_ = 1;
    std::uint64_t calls_ = 0;
    std::uint64_t capture_number_ = 0;  // calls up to the capture; 0: none is wanted
    std::thread::id capturer_;
    std::function<void()> when_captured_;
};

PowerLoss::Disk *PowerLoss::current_ = nullptr;

// The functions of the table.
struct PowerLossCalls {
    using Disk = PowerLoss::Disk;

    static Disk &begin() {
        PowerLoss::current_->begin();
        return *PowerLoss::current_;
    }
    // One that changes nothing that the model does not see by itself.
    template <auto kMember>
    struct Passing;
    template <typename Result, typename... Arguments, Result (*SystemCalls::*kMember)(Arguments...)>
    struct Passing<kMember> {
        static Result call(Arguments... arguments) {
            return (begin().behind->*kMember)(arguments...);
        }
    };

    static int sync_data(int fd) {
        // Simulated; there is no need to wait for a real disk.
        begin().synced(fd);
        return 0;
    }

    static SystemCalls table(const SystemCalls &behind) {
        SystemCalls calls = behind;
        calls.openat = [](int directory, const char *path, int flags, mode_t mode) {
            return begin().open(directory, path, flags, mode);
        };
        calls.mkdirat = [](int directory, const char *path, mode_t mode) {
            return begin().make_directory(directory, path, mode);
        };
        calls.unlinkat = [](int directory, const char *path, int flags) {
            return begin().unlink(directory, path, flags);
        };
        calls.linkat = [](int old_directory, const char *old_path, int directory,
                          const char *path) {
            return begin().link(old_directory, old_path, directory, path);
        };
        calls.renameat = [](int old_directory, const char *old_path, int directory,
                            const char *path) {
            return begin().rename(old_directory, old_path, directory, path);
        };
        // As on a file system without exchanges.
        calls.renameat2 = [](int, const char *, int, const char *, unsigned) {
            errno = EINVAL;
            return -1;
        };
        calls.fdatasync = sync_data;
        calls.fsync = sync_data;
        calls.fallocate = Passing<&SystemCalls::fallocate>::call;
        calls.ftruncate = Passing<&SystemCalls::ftruncate>::call;
        calls.pwritev = Passing<&SystemCalls::pwritev>::call;
        calls.fstat = Passing<&SystemCalls::fstat>::call;
        calls.fstatat = Passing<&SystemCalls::fstatat>::call;
        calls.pread = Passing<&SystemCalls::pread>::call;
        calls.mmap = Passing<&SystemCalls::mmap>::call;
        return calls;
    }
};

namespace {
SystemCalls simulated;
}  // namespace

PowerLoss::PowerLoss(const std::string &directory) : disk_(std::make_unique<Disk>(directory)) {
    assert(current_ == nullptr);
    current_ = disk_.get();
    simulated = PowerLossCalls::table(*disk_->behind);
    system_calls = &simulated;
}

PowerLoss::~PowerLoss() {
    assert(system_calls == &simulated);
    system_calls = disk_->behind;
    current_ = nullptr;
}

void PowerLoss::set_boot(std::uint64_t boot) {
    disk_->set_boot(boot);
}

void PowerLoss::capture_at(std::uint64_t number, std::function<void()> captured) {
    disk_->capture_at(number, std::move(captured));
}

void PowerLoss::capture() {
    disk_->capture();
}

bool PowerLoss::captured() const {
    return disk_->captured() != nullptr;
}

void PowerLoss::write_back(std::uint64_t seed) {
    disk_->write_back(seed);
}

void PowerLoss::materialise(const std::string &target, std::uint64_t seed) const {
    assert(captured());
    Chance chance(seed);
    std::map<const Node *, Content> chosen;
    materialise_directory(*disk_->captured(), target, chance, chosen);
}

std::uint64_t PowerLoss::calls() const {
    return disk_->calls();
}

}  // namespace cairn::testing
