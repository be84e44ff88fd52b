// SPDX-License-Identifier: MIT
#include "damage/torture_sample.h"

#include <cairn/cairn_program_cache.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "history/history.h"
#include "pack/testing/packs.h"
#include "support/files.h"
#include "support/random.h"
#include "support/stamped_value.h"

namespace cairn_test {
namespace fs = std::filesystem;
namespace {

// Far from what the cache takes, so that nothing is evicted.
constexpr std::uint64_t kLimit = 64u << 20;
constexpr std::uint64_t kOlderKeys = TortureSample::kKeys * 2 / 3;
constexpr std::uint64_t kOtherFamily = 72;
constexpr std::uint64_t kPackKeys = 6, kPackKeysRemoved = 3;

[[noreturn]] void give_up(const char *what) {
    std::fprintf(stderr, "the sample of the damage torture cannot be made: %s\n", what);
    std::abort();
}
void must(bool done, const char *what) {
    if (!done) give_up(what);
}

CacheOptions options_in(const std::string &root, const std::string &identifier) {
    CacheOptions options;
    options.root = root;
    options.identifier = identifier;
    options.limit_bytes = kLimit;
    options.flags = CAIRN_OPEN_NO_LAYERS;
    return options;
}

// Which keys are stored anew, removed, or both.
std::vector<SampleStep> steps_of(std::uint64_t key) {
    using What = SampleStep::What;
    if (key % 8 == 1) return {{What::put}, {What::put}};
    if (key % 8 == 2) return {{What::put}, {What::remove}};
    if (key % 8 == 5) return {{What::put}, {What::remove}, {What::put}};
    return {{What::put}};
}

cairn_cache *open_programs(const std::string &root, const char *identity) {
    cairn_program_cache_options options = {};
    options.size = sizeof options;
    options.root = root.c_str();
    options.application = "torture";
    options.identity = identity;
    options.version = 1;
    options.flags = CAIRN_OPEN_NO_LAYERS;
    options.unused_days = UINT32_MAX;
    options.limit_bytes = kLimit;
    options.total_bytes = CAIRN_NONE;
    cairn_cache *cache = nullptr;
    return cairn_program_cache_open(&options, &cache) == CAIRN_OK ? cache : nullptr;
}

// A generation of the application, and its identifier.
std::string make_programs(const std::string &root, const char *identity) {
    cairn_cache *const cache = open_programs(root, identity);
    must(cache != nullptr, "a program cache");
    const std::string identifier = cairn_program_cache_identifier(cache);
    for (std::uint64_t i = 0; i < 4; ++i) {
        const ByteVector key = numbered_key(kOtherFamily, i);
        const ByteVector value = stamped_value({i, 0, 0, 0}, 300);
        must(cairn_put(cache, key.data(), key.size(), value.data(), value.size(), nullptr) ==
                 CAIRN_OK,
             "a program");
        std::uint32_t ticket = 0;
        (void)cairn_use_begin(cache, key.data(), key.size(), &ticket);
        if (i != 0) cairn_use_end(cache, ticket);
        cairn_blob *blob = nullptr;
        (void)cairn_get(cache, key.data(), key.size(), &blob);
        cairn_blob_free(blob);
    }
    cairn_close(cache);
    auto history = cairn::History::open({root, identifier, 1, kLimit});
    must(history.ok(), "a history");
    for (std::uint64_t i = 0; i < 20; ++i) {
        const auto part = static_cast<std::uint32_t>(i);
        (*history)->note({mix(i), i, part, part}, true);
    }
    return identifier;
}

void apply(Cache &cache, std::uint64_t key, std::uint64_t version, SampleStep::What what) {
    if (what == SampleStep::What::remove) {
        must(cache.remove(TortureSample::key(key)) == CAIRN_OK, "remove");
    } else {
        must(cache.put(TortureSample::key(key), TortureSample::value(key, version)) == CAIRN_OK,
             "put");
    }
}

}  // namespace

ByteVector TortureSample::key(std::uint64_t number) {
    return numbered_key(kFamily, number, 200);
}

// Mostly small. Every thirty-second is so large that its slot does not tell its size.
ByteVector TortureSample::value(std::uint64_t number, std::uint64_t version) {
    const std::uint64_t mixed = mix(number, version);
    std::size_t size = kStampSize + mixed % 1500;
    if (mixed % 8 == 3) size = kStampSize + mixed / 8 % 6000;
    if (number % 32 == 7) size = 62000 + mixed % 9000;
    return stamped_value({number, 0, version, 0}, size);
}

TortureSample::TortureSample(SampleKind kind, const std::string &directory) : kind_(kind) {
    if (directory.empty()) temporary_ = std::make_unique<TempDirectory>();
    root_ = temporary_ != nullptr ? temporary_->path()
                                  : directory + (kind == SampleKind::plain ? "/plain" : "/program");
    pack_ = root_ + "/test.pack";
    chmod(root_.c_str(), 0755);  // cases of another user read the pack
    for (std::uint64_t i = 0; i < kKeys; ++i) steps_.push_back(steps_of(i));
    const ByteVector known = read_file(root_ + "/identifier");
    if (known.empty()) {
        fs::create_directories(root_);
        make();
        write_file(root_ + "/identifier", as_bytes(identifier_));
    } else {
        identifier_ = as_string(known);
    }
    for (const auto &path : files_in(this->directory())) {
        const std::string name = fs::path(path).filename().string();
        names_.push_back(name);
        contents_[name] = read_file(path);
    }
    locate();
}

void TortureSample::make() {
    identifier_ = kind_ == SampleKind::plain ? "test" : make_programs(root_, "driver 1");
    const auto options = options_in(root_, identifier_);
    leave_a_sample_of_reuse();
    for (const std::uint64_t begin : {std::uint64_t{0}, kOlderKeys}) {
        // Each handle that is open at the same time writes a segment of its own.
        std::vector<Cache> caches(kSegments);
        for (Cache &cache : caches) must(cache.open(options) == CAIRN_OK, "open");
        const std::uint64_t end = begin == 0 ? kOlderKeys : kKeys;
        for (std::uint64_t i = begin; i < end; ++i)
            apply(caches[i % kSegments], i, 1, SampleStep::What::put);
        if (begin == 0) {
            for (Cache &cache : caches) cache.close();
            make_companions();
            copy_directory(directory(), older());
            continue;
        }
        for (std::uint64_t i = 0; i < kKeys; ++i) {
            for (std::size_t j = 1; j < steps_[i].size(); ++j)
                apply(caches[(i + j) % kSegments], i, j + 1, steps_[i][j].what);
        }
    }
    make_other();
}

void TortureSample::make_companions() const {
    Cache cache(options_in(root_, identifier_));
    cairn_lease *lease = nullptr;
    const ByteVector absent = numbered_key(kOtherFamily, 99);
    must(cairn_lease_acquire(cache.handle(), absent.data(), absent.size(), 0, &lease) == CAIRN_OK,
         "a lease");
    cairn_lease_release(lease);
    cache.close();
    leave_a_ghost();
    if (kind_ != SampleKind::plain) return;
    // cairn_open writes it for those who have something to say.
    write_file(directory() + "/about", as_bytes("A cache that is going to be damaged.\n"));
    make_pack();
}

ByteVector TortureSample::ghost_key() {
    return numbered_key(kOtherFamily, 100);
}

// Evicting makes it: entries that do not fit into a limit that was lowered.
void TortureSample::leave_a_sample_of_reuse() const {
    CacheOptions options = options_in(root_, identifier_);
    for (const std::uint64_t limit : {kLimit, std::uint64_t{1} << 20}) {
        options.limit_bytes = limit;
        Cache cache(options);
        for (std::uint64_t i = 0; limit == kLimit && i < 6; ++i) {
            must(cache.put(numbered_key(kOtherFamily, 101 + i),
                           stamped_value({101 + i, 0, 0, 0}, 300'000)) == CAIRN_OK,
                 "put");
        }
    }
    Cache cache(options_in(root_, identifier_));
    for (std::uint64_t i = 0; i < 6; ++i) (void)cache.remove(numbered_key(kOtherFamily, 101 + i));
    must(file_size(path_in_cache(directory(), "reuse")) != 0, "a sample of reuse");
}

// An entry whose value is damaged, and that a look-up has dropped.
void TortureSample::leave_a_ghost() const {
    const ByteVector key = ghost_key();
    const ByteVector value = stamped_value({100, 0, 0, 0}, 400);
    {
        Cache cache(options_in(root_, identifier_));
        must(cache.put(key, value) == CAIRN_OK, "put");
    }
    const auto record = find_record(segments_in(directory()), key, value);
    must(record.has_value(), "a record");
    flip_bit(path_in_cache(directory(), record->file), (record->end - 100) * 8);
    Cache cache(options_in(root_, identifier_));
    must(!cache.get(key), "a miss");
    must(file_size(path_in_cache(directory(), "ghosts")) != 0, "a ghost");
}

void TortureSample::make_pack() const {
    cairn::testing::PackedPart part;
    part.identifier = identifier_;
    for (std::uint64_t i = 0; i < kPackKeys; ++i)
        part.entries["packed " + std::to_string(i)] = "value " + std::to_string(i);
    cairn::testing::write_pack(pack_, {part});
    cairn_options options = {};
    options.size = sizeof options;
    options.root = root_.c_str();
    options.identifier = identifier_.c_str();
    options.version = 1;
    options.limit_bytes = kLimit;
    const char *const path = pack_.c_str();
    options.layers = &path;
    options.layer_count = 1;
    cairn_cache *cache = nullptr;
    must(cairn_open(&options, &cache) == CAIRN_OK, "open with a pack");
    for (std::uint64_t i = 0; i < kPackKeysRemoved; ++i) {
        const std::string key = "packed " + std::to_string(i);
        must(cairn_remove(cache, key.data(), key.size()) == CAIRN_OK, "hide");
    }
    cairn_close(cache);
}

// Of the same sort, with another name.
void TortureSample::make_other() const {
    const std::string root = root_ + "/others";
    fs::create_directory(root);
    const std::string name =
        kind_ == SampleKind::plain ? "foreign" : make_programs(root, "driver 2");
    std::vector<Cache> caches(kSegments);
    for (Cache &cache : caches) must(cache.open(options_in(root, name)) == CAIRN_OK, "open");
    for (std::uint64_t i = 0; i < kKeys; ++i) {
        const ByteVector key = numbered_key(kOtherFamily, i, 200);
        must(caches[i % kSegments].put(key, stamped_value({i, 1, 1, 0}, 48 + i * 40)) == CAIRN_OK,
             "put");
    }
    for (Cache &cache : caches) cache.close();
    for (const auto &path : files_in(directory())) {
        const std::string file = fs::path(path).filename().string();
        const std::string like = path_in_cache(root + "/" + name, file);
        if (!file.ends_with(".val") && file_size(like) == 0) write_file(like, read_file(path));
    }
    fs::rename(root + "/" + name, other());
}

void TortureSample::locate() {
    const FileContents segments = segments_in(directory());
    for (std::uint64_t i = 0; i < kKeys; ++i) {
        for (std::size_t j = 0; j < steps_[i].size(); ++j) {
            SampleStep &step = steps_[i][j];
            if (step.what == SampleStep::What::remove) {
                step.record = steps_[i][j - 1].record;
                continue;
            }
            const auto record = find_record(segments, key(i), value(i, j + 1));
            must(record.has_value(), "a record is not found in the files");
            step.record = *record;
        }
    }
}

void TortureSample::copy_to(const std::string &root) const {
    const std::string to = root + "/" + identifier_;
    mkdir(to.c_str(), 0700);
    mkdir(store_files(to).c_str(), 0700);
    for (const auto &[name, bytes] : contents_) write_file(path_in_cache(to, name), bytes);
}

int use_as_programs(const std::string &root, std::uint64_t rounds) {
    cairn_cache *const cache = open_programs(root, "driver 1");
    if (cache == nullptr) return 1;
    int result = 0;
    for (std::uint64_t i = 0; i < rounds; ++i) {
        const std::uint64_t number = 200 + i;
        const ByteVector key = numbered_key(kOtherFamily, number);
        const ByteVector value = stamped_value({number, 2, 0, 0}, 500);
        std::uint32_t ticket = 0;
        (void)cairn_use_begin(cache, key.data(), key.size(), &ticket);
        cairn_use_end(cache, ticket);
        (void)cairn_put(cache, key.data(), key.size(), value.data(), value.size(), nullptr);
        cairn_blob *blob = nullptr;
        if (cairn_get(cache, key.data(), key.size(), &blob) == CAIRN_OK) {
            const ByteView bytes(static_cast<const std::uint8_t *>(cairn_blob_data(blob)),
                                 cairn_blob_size(blob));
            const auto stamp = read_stamp(bytes);
            if (!stamp || stamp->key != number) result = 2;
            cairn_blob_free(blob);
        }
    }
    const std::string identifier = cairn_program_cache_identifier(cache);
    auto history = cairn::History::open({root, identifier, 1, kLimit});
    if (history.ok()) (*history)->note({mix(rounds), rounds, 1, 1}, true);
    cairn_close(cache);
    return result;
}

}  // namespace cairn_test
