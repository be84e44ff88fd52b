// SPDX-License-Identifier: MIT
#include "damage/damages.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "support/files.h"

namespace cairn_test {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kPlacesMax = 50;

std::string name_of(const std::string &path) {
    return std::filesystem::path(path).filename().string();
}

bool is_index(const std::string &path) {
    return path.ends_with(".idx");
}
bool is_segment(const std::string &path) {
    return path.ends_with(".val");
}

class Damager {
  public:
    Damager(std::string directory, std::string foreign, Index index, Random &random)
        : directory_(std::move(directory)),
          foreign_(std::move(foreign)),
          index_(index),
          random_(random) {}

    void apply(Damage damage);
    Damaged &&result() { return std::move(damaged_); }

  private:
    std::string pick(const std::vector<std::string> &paths) {
        return paths.empty() ? "" : paths[random_.below(paths.size())];
    }
    // A file of the cache: often the index, at times the small ones.
    std::string pick_file() {
        if (random_.one_in(3)) return directory_ + "/cache.idx";
        return pick(files_in(directory_));
    }
    void touch(const std::string &path, std::uint64_t begin, std::uint64_t end) {
        damaged_.ranges.push_back({name_of(path), begin, end});
    }
    void note(const char *what, const std::string &path) {
        damaged_.what += std::string(what) + " " + name_of(path) + "; ";
    }
    void flip();
    void write_pages(bool zeros);
    void cut_one();
    void extend();
    void swap();
    void replace_by_foreign();
    void remove();

    const std::string directory_;
    const std::string foreign_;
    const Index index_;
    Random &random_;
    Damaged damaged_;
};

void Damager::apply(Damage damage) {
    switch (damage) {
        case Damage::flips:
            return flip();
        case Damage::zeros:
            return write_pages(true);
        case Damage::garbage:
            return write_pages(false);
        case Damage::cut:
            return cut_one();
        case Damage::extension:
            return extend();
        case Damage::swap:
            return swap();
        case Damage::foreign:
            return replace_by_foreign();
        case Damage::deletion:
            return remove();
        default:
            break;
    }
    const std::uint64_t count = 2 + random_.below(4);
    for (std::uint64_t i = 0; i < count; ++i)
        apply(static_cast<Damage>(random_.below(static_cast<unsigned>(Damage::mixture))));
}

void Damager::flip() {
    const std::uint64_t count = 1 + random_.below(kPlacesMax);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::string path = pick_file();
        const std::uint64_t size = file_size(path);
        if (size == 0) continue;
        const std::uint64_t bit = random_.below(size * 8);
        flip_bit(path, bit);
        touch(path, bit / 8, bit / 8 + 1);
    }
    damaged_.what += std::to_string(count) + " bits flipped; ";
}

void Damager::write_pages(bool zeros) {
    const std::uint64_t count = 1 + random_.below(kPlacesMax);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::string path = pick_file();
        const std::uint64_t size = file_size(path);
        if (size == 0) continue;
        const std::uint64_t begin = random_.below((size + kPage - 1) / kPage) * kPage;
        std::uint64_t length = std::min(kPage, size - begin);
        if (!zeros) length = 1 + random_.below(length);
        ByteVector bytes(length);
        if (!zeros) random_.fill(bytes);
        overwrite(path, begin, bytes);
        touch(path, begin, begin + length);
    }
    damaged_.what += std::to_string(count) + (zeros ? " pages zeroed; " : " pages of garbage; ");
}

void Damager::cut_one() {
    const std::string path = pick_file();
    if (index_ == Index::mapped && is_index(path)) return;
    const std::uint64_t size = random_.one_in(4) ? 0 : random_.below(file_size(path) + 1);
    cut(path, size);
    touch(path, size, UINT64_MAX);
    note(("cut to " + std::to_string(size) + " bytes").c_str(), path);
}

void Damager::extend() {
    const std::string path = pick_file();
    ByteVector bytes(1 + random_.below(random_.one_in(2) ? 100 : 100000));
    if (!random_.one_in(3)) random_.fill(bytes);
    append(path, bytes);
    note(("extended by " + std::to_string(bytes.size()) + " bytes").c_str(), path);
}

void Damager::swap() {
    const std::string one = pick(files_in(directory_, ".val"));
    const std::string other = pick(files_in(random_.one_in(2) ? foreign_ : directory_, ".val"));
    if (one.empty() || other.empty() || one == other) return;
    [[maybe_unused]] const int result =
        renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
    touch(one, 0, UINT64_MAX);
    touch(other, 0, UINT64_MAX);
    note("swapped", one);
    note("with", other);
}

// Renames a copy over the file, so that processes keep what they have mapped.
void Damager::replace_by_foreign() {
    const std::string path = pick_file();
    const std::string copy = directory_ + "/foreign.tmp";
    const std::string like =
        is_segment(path) ? pick(files_in(foreign_, ".val")) : foreign_ + "/" + name_of(path);
    if (path.empty() || file_size(like) == 0) return;
    write_file(copy, read_file(like));
    [[maybe_unused]] const int result = rename(copy.c_str(), path.c_str());
    touch(path, 0, UINT64_MAX);
    note("replaced by another cache's", path);
}

void Damager::remove() {
    const std::string path = pick_file();
    unlink(path.c_str());
    touch(path, 0, UINT64_MAX);
    note("deleted", path);
}

}  // namespace

const char *damage_name(Damage damage) {
    constexpr const char *kNames[] = {"flips", "zeros",   "garbage",  "cut",    "extension",
                                      "swap",  "foreign", "deletion", "mixture"};
    static_assert(std::size(kNames) == static_cast<unsigned>(Damage::count));
    return kNames[static_cast<unsigned>(damage)];
}

Damaged damage_cache(Damage damage, const std::string &directory, const std::string &foreign,
                     Index index, Random &random) {
    Damager damager(directory, foreign, index, random);
    damager.apply(damage);
    return damager.result();
}

}  // namespace cairn_test
