// SPDX-License-Identifier: MIT
#include "bench/harness/folders.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRemovers = 16;
constexpr char kDropCaches[] = "/proc/sys/vm/drop_caches";

class Descriptor {
  public:
    Descriptor(const fs::path &path, int flags, mode_t mode = 0600)
        : fd_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {
        if (fd_ < 0) {
            throw std::runtime_error(path.string() + ": " + std::strerror(errno));
        }
    }
    ~Descriptor() { ::close(fd_); }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    int get() const { return fd_; }

  private:
    int fd_;
};

void add_blocks(const fs::path &path, Usage &usage) {
    struct stat info;
    if (::lstat(path.c_str(), &info) == 0) {
        usage.bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
        usage.files += S_ISREG(info.st_mode) ? 1 : 0;
    }
}

void copy_range(int from, int to, Extent extent) {
    auto in = static_cast<off_t>(extent.offset);
    auto out = in;
    for (std::uint64_t left = extent.size; left > 0;) {
        ssize_t copied = ::copy_file_range(from, &in, to, &out, left, 0);
        if (copied <= 0) {
            throw std::runtime_error(std::string("copying a store: ") + std::strerror(errno));
        }
        left -= static_cast<std::uint64_t>(copied);
    }
}

void copy_one(const fs::path &from, const fs::path &to) {
    Descriptor in(from, O_RDONLY);
    Descriptor out(to, O_WRONLY | O_CREAT | O_EXCL);
    for (Extent extent : data_extents(from)) {
        copy_range(in.get(), out.get(), extent);
    }
    if (::ftruncate(out.get(), static_cast<off_t>(fs::file_size(from))) != 0) {
        throw std::runtime_error(to.string() + ": " + std::strerror(errno));
    }
}

}  // namespace

Usage disk_usage(const fs::path &dir) {
    Usage usage;
    add_blocks(dir, usage);
    std::error_code error;
    for (fs::recursive_directory_iterator at(dir, error), end; at != end && !error;
         at.increment(error)) {
        add_blocks(at->path(), usage);
    }
    return usage;
}

std::vector<fs::path> regular_files(const fs::path &dir) {
    std::vector<fs::path> files;
    for (const auto &item : fs::recursive_directory_iterator(dir)) {
        if (item.is_regular_file() && !item.is_symlink()) {
            files.push_back(item.path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<Extent> data_extents(const fs::path &file) {
    Descriptor in(file, O_RDONLY);
    std::vector<Extent> extents;
    for (off_t at = 0;;) {
        off_t data = ::lseek(in.get(), at, SEEK_DATA);
        if (data < 0) {
            return extents;
        }
        at = ::lseek(in.get(), data, SEEK_HOLE);
        extents.push_back(
            {static_cast<std::uint64_t>(data), static_cast<std::uint64_t>(at - data)});
    }
}

void copy_folder(const fs::path &from, const fs::path &to) {
    fs::create_directories(to);
    fs::permissions(to, fs::status(from).permissions());
    for (const auto &item : fs::directory_iterator(from)) {
        fs::path target = to / item.path().filename();
        if (item.is_directory()) {
            copy_folder(item.path(), target);
        } else if (item.is_regular_file()) {
            copy_one(item.path(), target);
        }
    }
}

void remove_folder(const fs::path &dir) {
    std::error_code error;
    if (!fs::exists(dir, error)) {
        return;
    }
    const std::vector<fs::path> files = regular_files(dir);
    std::vector<std::thread> threads;
    for (std::size_t first = 0; first < kRemovers; ++first) {
        // Neighbours share a folder, which is locked for each removal: so each thread has a part of
        // its own.
        threads.emplace_back([&files, first] {
            const std::size_t begin = files.size() * first / kRemovers;
            const std::size_t end = files.size() * (first + 1) / kRemovers;
            for (std::size_t i = begin; i < end; ++i) {
                ::unlink(files[i].c_str());
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    fs::remove_all(dir, error);
}

void sync_folder(const fs::path &dir) {
    Descriptor folder(dir, O_RDONLY | O_DIRECTORY);
    ::syncfs(folder.get());
}

bool can_drop_caches() {
    return ::access(kDropCaches, W_OK) == 0;
}

void make_cold(const fs::path &dir) {
    for (const fs::path &path : regular_files(dir)) {
        Descriptor file(path, O_RDONLY);
        ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
    }
    if (can_drop_caches()) {
        Descriptor all(kDropCaches, O_WRONLY);
        if (::write(all.get(), "3", 1) != 1) {
            throw std::runtime_error("writing to drop_caches failed");
        }
    }
}

}  // namespace bench
