// One file per entry, in 256 folders, written beside and renamed.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "bench/engines/engine.h"

namespace bench {
namespace {

bool write_all(int fd, Bytes bytes) {
    while (!bytes.empty()) {
        ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
        if (wrote <= 0) {
            return false;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    }
    return true;
}

class FilesEngine final : public Engine {
  public:
    ~FilesEngine() override { close(); }

    bool open(const OpenOptions &options) override {
        dir_ = ::open(options.dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir_ < 0) {
            return fail(std::strerror(errno));
        }
        return !options.create || create_folders();
    }

    void close() override {
        if (dir_ >= 0) {
            ::close(dir_);
            dir_ = -1;
        }
    }

    std::int64_t get(Bytes key, std::span<std::byte> buffer) override {
        Name name(key);
        int fd = ::openat(dir_, name.path.data(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            return kMiss;
        }
        struct stat info;
        ssize_t got = kMiss;
        if (::fstat(fd, &info) == 0 && static_cast<std::size_t>(info.st_size) <= buffer.size()) {
            got = ::read(fd, buffer.data(), static_cast<std::size_t>(info.st_size));
        }
        ::close(fd);
        return got;
    }

    View view(Bytes key) override {
        Name name(key);
        int fd = ::openat(dir_, name.path.data(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            return {};
        }
        struct stat info;
        void *data = MAP_FAILED;
        std::size_t size = 0;
        if (::fstat(fd, &info) == 0) {
            size = static_cast<std::size_t>(info.st_size);
            data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
        }
        ::close(fd);
        if (data == MAP_FAILED) {
            return {};
        }
        return {static_cast<const std::byte *>(data), size, data};
    }

    void release(View view) override { ::munmap(view.owner, view.size); }

    bool put(Bytes key, Bytes value) override {
        Name name(key);
        std::array<char, 64> beside;
        std::snprintf(beside.data(), beside.size(), "%.2s/.%d", name.path.data(), ::getpid());
        int fd = ::openat(dir_, beside.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0) {
            return false;
        }
        bool written = write_all(fd, value);
        ::close(fd);
        if (!written || ::renameat(dir_, beside.data(), dir_, name.path.data()) != 0) {
            ::unlinkat(dir_, beside.data(), 0);
            return false;
        }
        return true;
    }

  private:
    // "ab/cdef...": the key in hexadecimal digits, its first byte naming the folder.
    struct Name {
        explicit Name(Bytes key) {
            constexpr char kDigits[] = "0123456789abcdef";
            std::size_t at = 0;
            for (std::size_t i = 0; i < key.size(); ++i) {
                auto byte = std::to_integer<unsigned>(key[i]);
                path[at++] = kDigits[byte >> 4];
                path[at++] = kDigits[byte & 15];
                if (i == 0) {
                    path[at++] = '/';
                }
            }
            path[at] = 0;
        }
        std::array<char, 2 * kKeySize + 2> path;
    };

    // All at once: making a folder takes ext4 milliseconds here, which no put is to be charged
    // with.
    bool create_folders() {
        for (unsigned first = 0; first < 256; ++first) {
            std::array<char, 3> folder;
            std::snprintf(folder.data(), folder.size(), "%02x", first);
            if (::mkdirat(dir_, folder.data(), 0700) != 0 && errno != EEXIST) {
                return fail(std::strerror(errno));
            }
        }
        return true;
    }

    int dir_ = -1;
};

}  // namespace

void add_files(std::vector<EngineKind> &kinds) {
    kinds.push_back({"files",
                     "one file per entry, written beside and renamed, nothing verified",
                     // Removing a million files takes minutes, and opening a folder does not depend
                     // on how many are in it.
                     {.views = true, .entries_max = 100000},
                     [] { return std::make_unique<FilesEngine>(); }});
}

}  // namespace bench
