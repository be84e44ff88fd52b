// SPDX-License-Identifier: MIT
#include "damage/damage_kinds.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "support/files.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kLine = 64;
constexpr std::uint64_t kWord = 8;
constexpr std::uint64_t kSparseBytes = std::uint64_t{1} << 30;
// What is written at once, so that a file that was extended sparsely does not fill the memory. The
// files of a sample are smaller.
constexpr std::uint64_t kWrittenMax = 512 * 1024;

constexpr std::array<const char *, static_cast<std::size_t>(FileKind::count)> kFileKinds = {
    "index",  "segment", "lock",  "ghosts",  "reuse",   "about",
    "leases", "layer",   "order", "history", "crashes", "generation"};

bool is_mapped(FileKind file) {
    return file == FileKind::index || file == FileKind::history || file == FileKind::crashes;
}

}  // namespace

const char *file_kind_name(FileKind kind) {
    return kFileKinds[static_cast<unsigned>(kind)];
}

std::optional<FileKind> file_kind_of(std::string_view name) {
    if (name == "cache.idx") return FileKind::index;
    if (name == "cache.lock") return FileKind::lock;
    if (name.ends_with(".val")) return FileKind::segment;
    if (name.starts_with("layer-")) return FileKind::layer;
    for (unsigned i = 0; i < kFileKinds.size(); ++i) {
        if (name == kFileKinds[i] && i > 2) return static_cast<FileKind>(i);
    }
    return std::nullopt;
}

bool Damaged::touched(std::string_view file) const {
    return std::ranges::any_of(ranges, [&](const Range &range) { return range.file == file; });
}

namespace {

ByteVector read_part(const std::string &path, std::uint64_t begin, std::uint64_t count) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) return {};
    ByteVector bytes(std::min(count, file_size(path) - std::min(begin, file_size(path))));
    const ssize_t done = pread(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(begin));
    close(descriptor);
    bytes.resize(done > 0 ? static_cast<std::size_t>(done) : 0);
    return bytes;
}

}  // namespace

// One damage of one file.
class Damager {
  public:
    Damager(const DamageScene &scene, std::string name, Random &random)
        : scene_(scene),
          name_(std::move(name)),
          path_(path_in_cache(scene.directory, name_)),
          rng_(random) {
        struct stat info = {};
        is_file_ = lstat(path_.c_str(), &info) == 0 && S_ISREG(info.st_mode);
        size_ = is_file_ ? static_cast<std::uint64_t>(info.st_size) : 0;
        links_ = is_file_ ? info.st_nlink : 0;
        inode_ = info.st_ino;
    }

    bool is_file() const { return is_file_; }
    bool is_mapped() const { return std::ranges::count(scene_.mapped, inode_) != 0; }
    std::uint64_t size() const { return size_; }
    const std::string &path() const { return path_; }
    const DamageScene &scene() const { return scene_; }
    Random &random() { return rng_; }
    Damaged &&result() { return std::move(damaged_); }
    FileKind kind() const { return file_kind_of(name_).value_or(FileKind::about); }

    void say(const std::string &text) { damaged_.what += text; }
    void touch(std::uint64_t begin, std::uint64_t end) {
        say(" " + std::to_string(begin) + "+" + std::to_string(end - begin));
        damaged_.ranges.push_back({name_, begin, end});
        if (links_ > 1) touch_other_names(begin, end);
    }
    void touch_all() {
        damaged_.ranges.push_back({name_, 0, UINT64_MAX});
        if (links_ > 1) touch_other_names(0, UINT64_MAX);
    }
    void touch_all_of(const std::string &path) {
        damaged_.ranges.push_back({std::filesystem::path(path).filename().string(), 0, UINT64_MAX});
    }
    void write(std::uint64_t begin, ByteView bytes) {
        overwrite(path_, begin, bytes);
        touch(begin, begin + bytes.size());
    }
    ByteVector read(std::uint64_t begin, std::uint64_t count) const {
        const ByteVector all = read_file(path_);
        if (begin >= all.size()) return {};
        const auto from = all.begin() + static_cast<std::ptrdiff_t>(begin);
        return {from, from + static_cast<std::ptrdiff_t>(
                                 std::min<std::uint64_t>(count, all.size() - begin))};
    }
    // The begin of a random unit of the file, or 0.
    std::uint64_t place(std::uint64_t unit) {
        return size_ < unit ? 0 : rng_.below((size_ + unit - 1) / unit) * unit;
    }
    // A name beside the file that nothing reads, for what takes its place.
    // Where to make what is to take the file's place: never a file that somebody has mapped.
    std::string aside() const { return path_ + ".new"; }
    // Puts what was made at aside() in the file's place.
    void move_in() {
        if (!is_file_) remove_tree(path_);
        [[maybe_unused]] const int result = rename(aside().c_str(), path_.c_str());
        touch_all();
    }
    std::string pick(std::vector<std::string> paths) {
        std::erase(paths, path_);
        return paths.empty() ? "" : paths[rng_.below(paths.size())];
    }
    // A file of the same kind in a directory.
    std::string like_in(const std::string &directory) {
        if (directory.empty()) return "";
        std::vector<std::string> alike;
        for (const auto &path : files_in(directory)) {
            if (file_kind_of(std::filesystem::path(path).filename().string()) == kind())
                alike.push_back(path);
        }
        return pick(alike);
    }
    std::string of_another_kind() {
        std::vector<std::string> others;
        for (const auto &path : files_in(scene_.directory)) {
            const auto other = file_kind_of(std::filesystem::path(path).filename().string());
            if (other && other != kind() && !is_older_index(path)) others.push_back(path);
        }
        return pick(others);
    }

  private:
    // A copy that was made as a segment: no state of the index takes its place, see can_have().
    bool is_older_index(const std::string &path) const {
        const std::string index = path_in_cache(scene_.other, "cache.idx");
        return kind() == FileKind::index && !scene_.other.empty() &&
               read_part(path, 0, 8) == read_part(index, 0, 8);
    }
    void touch_other_names(std::uint64_t begin, std::uint64_t end) {
        for (const auto &path : files_in(scene_.directory)) {
            struct stat info = {};
            if (lstat(path.c_str(), &info) == 0 && info.st_ino == inode_)
                damaged_.ranges.push_back(
                    {std::filesystem::path(path).filename().string(), begin, end});
        }
    }

    const DamageScene &scene_;
    const std::string name_;
    const std::string path_;
    Random &rng_;
    bool is_file_ = false;
    std::uint64_t size_ = 0;
    std::uint64_t links_ = 0;
    std::uint64_t inode_ = 0;
    Damaged damaged_;
};

namespace {

// ---- what is written over

enum Pattern : unsigned { zeros, ones, fives, noise };
enum Extent : unsigned { byte, word, line, sector, page, pages, tail, all };

constexpr unsigned fill_of(Pattern pattern, Extent extent) {
    return pattern * 8 + extent;
}

ByteVector filled(Pattern pattern, std::uint64_t size, Random &random) {
    constexpr std::uint8_t kBytes[] = {0x00, 0xFF, 0x55, 0};
    ByteVector bytes(size, kBytes[pattern]);
    if (pattern == noise) random.fill(bytes);
    return bytes;
}

// A file that is shorter than the extent gets it from its beginning.
void fill(Damager &file, unsigned argument) {
    constexpr std::uint64_t kUnits[] = {1, kWord, kLine, 512, kPage, kPage, 1, kPage};
    const auto pattern = static_cast<Pattern>(argument / 8);
    const auto extent = static_cast<Extent>(argument % 8);
    std::uint64_t begin = extent == all ? 0 : file.place(kUnits[extent]);
    std::uint64_t size = kUnits[extent];
    if (extent == pages) size *= 2 + file.random().below(7);
    if (extent == tail || extent == all) size = UINT64_MAX;
    // A last unit that the file has only in part does not make it longer.
    if (begin < file.size()) size = std::min(size, file.size() - begin);
    if (size == UINT64_MAX) size = kPage;
    file.write(begin, filled(pattern, std::min(size, kWrittenMax), file.random()));
}

void flip_bits(Damager &file, unsigned count_max) {
    if (file.size() == 0) return file.write(0, ByteVector(1, 0x10));
    const std::uint64_t count = count_max == 1 ? 1 : 2 + file.random().below(count_max - 1);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t bit = file.random().below(file.size() * 8);
        flip_bit(file.path(), bit);
        file.touch(bit / 8, bit / 8 + 1);
    }
}

void flip_bit_in_each_page(Damager &file, unsigned) {
    if (file.size() == 0) return file.write(0, ByteVector(1, 0x01));
    for (std::uint64_t begin = 0; begin < std::min(file.size(), kWrittenMax); begin += kPage) {
        const std::uint64_t size = std::min(kPage, file.size() - begin);
        const std::uint64_t bit = begin * 8 + file.random().below(size * 8);
        flip_bit(file.path(), bit);
        file.touch(bit / 8, bit / 8 + 1);
    }
}

enum WordChange : unsigned { incremented, reversed };

void change_word(Damager &file, unsigned change) {
    const std::uint64_t begin = file.place(kWord);
    ByteVector bytes = file.read(begin, kWord);
    bytes.resize(kWord);
    if (change == reversed) {
        std::reverse(bytes.begin(), bytes.end());
    } else {
        for (std::uint8_t &octet : bytes) {
            if (++octet != 0) break;
        }
    }
    file.write(begin, bytes);
}

void exchange_units(Damager &file, unsigned unit) {
    const std::uint64_t one = file.place(unit), other = file.place(unit);
    const ByteVector first = file.read(one, unit), second = file.read(other, unit);
    if (one == other || first.size() != second.size()) return file.say(" the same");
    file.write(one, second);
    file.write(other, first);
}

void rotate_page(Damager &file, unsigned by) {
    const std::uint64_t begin = file.place(kPage);
    ByteVector bytes = file.read(begin, kPage);
    if (bytes.size() <= by) return file.write(begin, ByteVector(by, 0x80));
    std::rotate(bytes.begin(), bytes.begin() + by, bytes.end());
    file.write(begin, bytes);
}

// ---- its size

enum Cut : unsigned { nothing, one_byte, inside_header, at_page, anywhere, but_one };

void cut_file(Damager &file, unsigned to) {
    const std::uint64_t size = file.size();
    std::uint64_t left = 0;
    if (to == one_byte) left = 1;
    if (to == inside_header) left = 2 + file.random().below(62);
    if (to == at_page) left = file.place(kPage);
    if (to == anywhere) left = file.random().below(size + 1);
    if (to == but_one) left = size == 0 ? 0 : size - 1;
    left = std::min(left, size);
    cut(file.path(), left);
    file.touch(left, UINT64_MAX);
}

constexpr std::uint64_t kOwnBytesMax = 4 << 20;

enum Extension : unsigned { by_byte, by_page, by_noise, by_itself, sparsely };

void extend(Damager &file, unsigned by) {
    file.say(" behind " + std::to_string(file.size()));
    if (by == sparsely) return cut(file.path(), kSparseBytes);
    // Not all of one that is a GiB of holes by now: that would go beyond the limit, and evict the rest.
    if (by == by_itself) return append(file.path(), file.read(0, kOwnBytesMax));
    ByteVector bytes(1, 0x5A);
    if (by == by_page) bytes.resize(kPage);
    if (by == by_noise) bytes.resize(1 + file.random().below(100000));
    if (by != by_byte) file.random().fill(bytes);
    append(file.path(), bytes);
}

enum Hole : unsigned { of_a_page, in_the_middle, everywhere };

void punch(Damager &file, unsigned where) {
    const std::uint64_t size = file.size();
    std::uint64_t begin = 0, end = size;
    if (where == of_a_page) begin = file.place(kPage), end = std::min(size, begin + kPage);
    if (where == in_the_middle) begin = size / 4, end = size - size / 4;
    if (begin == end) return file.say(" it is empty");
    const int descriptor = open(file.path().c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                  static_cast<off_t>(end - begin)) != 0) {
        overwrite(file.path(), begin, ByteVector(std::min(end - begin, kWrittenMax)));
    }
    close(descriptor);
    file.touch(begin, end);
}

// ---- other files in its place

enum Source : unsigned { other_cache, other_kind, same_kind, older_state };

std::string source(Damager &file, unsigned from) {
    std::string path;
    if (from == other_cache) path = file.like_in(file.scene().other);
    if (from == other_kind) path = file.of_another_kind();
    if (from == same_kind) path = file.like_in(file.scene().directory);
    if (from == older_state && !file.scene().older.empty())
        path = file.scene().older + file.path().substr(file.path().rfind('/'));
    file.say(path.empty() ? " there is none"
                          : " " + std::filesystem::path(path).filename().string());
    return path;
}

void replace_by(Damager &file, unsigned from) {
    const std::string path = source(file, from);
    struct stat info = {};
    if (path.empty() || lstat(path.c_str(), &info) != 0) return;
    write_file(file.aside(), read_part(path, 0, kWrittenMax));
    file.move_in();
}

// In place, so that descriptors and mappings see it; as long as the file was, or longer.
void overwrite_by(Damager &file, unsigned from) {
    const std::string path = source(file, from);
    if (path.empty()) return;
    file.write(0, read_part(path, 0, kWrittenMax));
}

void swap_with(Damager &file, unsigned from) {
    const std::string path = source(file, from);
    if (path.empty()) return;
    [[maybe_unused]] const int result =
        renameat2(AT_FDCWD, file.path().c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE);
    file.touch_all();
    file.touch_all_of(path);
}

enum Thing : unsigned {
    empty_file,
    text_file,
    directory,
    link_to_nowhere,
    link_to_null,
    link_to_like,
    fifo,
    unix_socket
};

void make_socket(const std::string &path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) return;
    path.copy(address.sun_path, path.size());
    const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    [[maybe_unused]] const int result =
        bind(descriptor, reinterpret_cast<const sockaddr *>(&address), sizeof(address));
    close(descriptor);
}

void replace_by_thing(Damager &file, unsigned thing) {
    const std::string path = file.path();
    if (thing == empty_file) write_file(file.aside(), {});
    if (thing == text_file) write_file(file.aside(), as_bytes("This is no file of a cache.\n"));
    if (thing == empty_file || thing == text_file) return file.move_in();
    const std::string like = file.like_in(file.scene().directory);
    remove_tree(path);
    [[maybe_unused]] int result = 0;
    if (thing == directory) result = mkdir(path.c_str(), 0700);
    if (thing == link_to_nowhere) result = symlink("nowhere", path.c_str());
    if (thing == link_to_null) result = symlink("/dev/null", path.c_str());
    if (thing == link_to_like)
        result = symlink(like.empty() ? file.scene().other.c_str() : like.c_str(), path.c_str());
    if (thing == fifo) result = mkfifo(path.c_str(), 0600);
    if (thing == unix_socket) make_socket(path);
    file.touch_all();
}

// What is written to one is written to the other: both count as touched.
void replace_by_hard_link(Damager &file, unsigned) {
    const std::string path =
        file.random().one_in(2) ? file.of_another_kind() : file.like_in(file.scene().directory);
    if (path.empty()) return file.say(" there is none");
    file.say(" to " + std::filesystem::path(path).filename().string());
    if (link(path.c_str(), file.aside().c_str()) != 0) return;
    file.move_in();
    file.touch_all_of(path);
}

void remove_file(Damager &file, unsigned) {
    remove_tree(file.path());
    file.touch_all();
}

void rename_aside(Damager &file, unsigned) {
    [[maybe_unused]] const int result =
        rename(file.path().c_str(), (file.path() + ".aside").c_str());
    file.touch_all();
}

void copy_as_segment(Damager &file, unsigned) {
    char name[32];
    std::snprintf(name, sizeof name, "%08x.val",
                  static_cast<unsigned>(16 + file.random().below(100000)));
    file.say(name);
    write_file(path_in_cache(file.scene().directory, name), file.read(0, UINT64_MAX));
}

// Who may not read a file has lost what is in it, and who may not write it has lost nothing.
void change_mode(Damager &file, unsigned mode) {
    chmod(file.path().c_str(), mode);
    if ((mode & 0400) == 0) file.touch_all();
}

#define FILLS(pattern, name)                                   \
    {"a byte of " name, fill, fill_of(pattern, byte)},         \
        {"a word of " name, fill, fill_of(pattern, word)},     \
        {"a line of " name, fill, fill_of(pattern, line)},     \
        {"a sector of " name, fill, fill_of(pattern, sector)}, \
        {"a page of " name, fill, fill_of(pattern, page)},     \
        {"pages of " name, fill, fill_of(pattern, pages)},     \
        {"a tail of " name, fill, fill_of(pattern, tail)}, {   \
        "all of " name, fill, fill_of(pattern, all)            \
    }

constexpr DamageKind kKinds[] = {
    FILLS(zeros, "0x00"),
    FILLS(ones, "0xFF"),
    FILLS(fives, "0x55"),
    FILLS(noise, "noise"),
    {"a bit", flip_bits, 1},
    {"bits", flip_bits, 50},
    {"a bit in each page", flip_bit_in_each_page},
    {"a word incremented", change_word, incremented},
    {"a word reversed", change_word, reversed},
    {"words exchanged", exchange_units, kWord},
    {"lines exchanged", exchange_units, kLine},
    {"pages exchanged", exchange_units, kPage},
    {"a page shifted by a line", rotate_page, kLine},
    {"cut to nothing", cut_file, nothing, true},
    {"cut to a byte", cut_file, one_byte, true},
    {"cut inside a header", cut_file, inside_header, true},
    {"cut at a page", cut_file, at_page, true},
    {"cut anywhere", cut_file, anywhere, true},
    {"cut by a byte", cut_file, but_one, true},
    {"extended by a byte", extend, by_byte},
    {"extended by a page", extend, by_page},
    {"extended by noise", extend, by_noise},
    {"extended by itself", extend, by_itself},
    {"extended sparsely to 1 GiB", extend, sparsely},
    {"a hole of a page", punch, of_a_page},
    {"a hole in the middle", punch, in_the_middle},
    {"nothing but a hole", punch, everywhere},
    {"replaced by another cache's", replace_by, other_cache},
    {"replaced by another kind", replace_by, other_kind},
    {"replaced by its like", replace_by, same_kind},
    {"replaced by an older state", replace_by, older_state},
    {"overwritten by another cache's", overwrite_by, other_cache},
    {"overwritten by another kind", overwrite_by, other_kind},
    {"swapped with another kind", swap_with, other_kind},
    {"swapped with its like", swap_with, same_kind},
    {"replaced by an empty file", replace_by_thing, empty_file},
    {"replaced by a text", replace_by_thing, text_file},
    {"replaced by a directory", replace_by_thing, directory},
    {"replaced by a link to nowhere", replace_by_thing, link_to_nowhere},
    {"replaced by a link to /dev/null", replace_by_thing, link_to_null},
    {"replaced by a link to its like", replace_by_thing, link_to_like},
    {"replaced by a pipe", replace_by_thing, fifo},
    {"replaced by a socket", replace_by_thing, unix_socket},
    {"replaced by a hard link", replace_by_hard_link},
    {"deleted", remove_file},
    {"renamed aside", rename_aside},
    {"copied as a segment", copy_as_segment},
    {"may not be read or written", change_mode, 0000, false, true},
    {"may not be read", change_mode, 0200, false, true},
    {"may not be written", change_mode, 0400, false, true},
};

#undef FILLS

}  // namespace

std::span<const DamageKind> damage_kinds() {
    return kKinds;
}

const DamageKind *find_damage_kind(std::string_view name) {
    for (const DamageKind &kind : kKinds) {
        if (name == kind.name) return &kind;
    }
    return nullptr;
}

bool can_have(const DamageKind &kind, FileKind file, Use use) {
    if (kind.apply == replace_by && kind.argument == older_state) return file != FileKind::index;
    return use == Use::at_rest || !kind.shortens || !is_mapped(file);
}

void note_mapped(DamageScene &scene) {
    for (const char *name : {"cache.idx", "history", "crashes"}) {
        struct stat info = {};
        if (lstat(path_in_cache(scene.directory, name).c_str(), &info) == 0)
            scene.mapped.push_back(info.st_ino);
    }
}

Damaged damage_file(const DamageKind &kind, const DamageScene &scene, const std::string &name,
                    Random &random) {
    Damager damager(scene, name, random);
    damager.say(name + ": " + kind.name);
    // A pipe would block who opens it, and a link would lead to a file of somebody else.
    if (!damager.is_file()) {
        damager.say(", but it is no file by now");
    } else if (kind.shortens && damager.is_mapped()) {
        damager.say(", but it is mapped under another name");
    } else {
        kind.apply(damager, kind.argument);
    }
    damager.say("; ");
    return damager.result();
}

}  // namespace cairn_test
