// SPDX-License-Identifier: MIT
#include "model/store_model.h"

#include <algorithm>

#include "model/model.h"

namespace cairn_test {

Model::Model(ByteView input, const std::string &root) : in_(input) {
    options_.root = root;
    options_.identifier = "model";
}

ModelResult Model::run(std::size_t operations_max) {
    configure();
    check(open(handles_[0], 0), "the first open failed");
    while (!in_.empty() && failure_.empty() && operations_ < operations_max) {
        step();
        ++operations_;
    }
    operation_ = "at the end";
    if (failure_.empty()) check_everything();
    if (failure_.empty()) check_held();
    return {failure_, operations_};
}

void Model::configure() {
    const std::uint8_t choice = in_.byte();
    options_.mode = choice % 4 == 0 ? CAIRN_MODE_MEMORY : CAIRN_MODE_DISK;
    constexpr std::array<std::uint64_t, 4> kMemory = {0, UINT64_MAX, 65536, 1};
    options_.memory_bytes = kMemory[choice / 4 % 4];
    if (choice / 16 % 4 == 3) {
        options_.limit_bytes = CAIRN_LIMIT_BYTES_MIN;
        missing_ = Missing::when_evicted;
    }
    options_.version = in_.byte();
}

void Model::step() {
    const unsigned choice = in_.byte();
    current_ = &pick();
    if (choice < 100) {
        storing(choice);
    } else if (choice < 190) {
        looking_up(choice - 100);
    } else if (choice < 225) {
        looking_at(choice - 190);
    } else {
        opening(choice - 225);
    }
}

void Model::storing(unsigned choice) {
    if (choice < 70) return put();
    if (choice < 90) return remove();
    if (choice < 93) return put_invalid();
    if (choice < 95) return put_too_large();
    if (choice < 96) return clear();
    if (choice < 97) return enumerate_and_remove();
    const std::uint64_t rare = in_.below(4);
    if (rare == 0) return sync();
    if (rare == 1) compress();
}

void Model::looking_up(unsigned choice) {
    if (choice < 30) return get();
    if (choice < 50) return get_and_hold();
    if (choice < 75) return get_into();
    contains();
}

void Model::looking_at(unsigned choice) {
    if (choice < 12) return enumerate_all();
    if (choice < 18) return enumerate_until_stopped();
    if (choice < 27) return check_stats();
    check_held();
}

void Model::opening(unsigned choice) {
    if (choice < 6) return reopen(0);
    if (choice < 8) return reopen(CAIRN_OPEN_COMPRESS);
    if (choice < 14) return reopen(CAIRN_OPEN_READ_ONLY);
    if (choice < 16) return reopen(CAIRN_OPEN_SYNC_ON_CLOSE);
    if (choice < 18) return reopen(CAIRN_OPEN_EXISTING);
    if (choice < 24) return open_second();
    if (choice < 26) return reopen_in_other_version();
    if (choice < 28) return read_in_other_version();
    if (choice < 29) return open_in_any_version();
    if (choice < 30) return open_missing();
    check_everything();
}

// ---- storing

void Model::put() {
    const ByteVector key = pick_key();
    const std::uint8_t size_choice = in_.byte();
    const std::uint8_t how = in_.byte();
    const ByteVector value = model_value(size_choice, in_.byte(), key.size());
    const std::uint32_t flags = how & (CAIRN_PUT_IF_ABSENT | CAIRN_PUT_PINNED);
    const std::uint32_t cost_us = how / 4 * 1000u;
    operation_ = "put of " + std::to_string(key.size()) + " + " + std::to_string(value.size()) +
                 " bytes, flags " + std::to_string(flags);
    const int result = current_->cache.put(key, value, flags, cost_us);
    const bool exists = entries_.contains(key);
    const bool if_absent = (flags & CAIRN_PUT_IF_ABSENT) != 0;
    if (current_->read_only) {
        check_result("put", result, {CAIRN_ERROR_READ_ONLY});
    } else if (result == CAIRN_ERROR_FULL && missing_ == Missing::when_evicted) {
        check_refused_put(key, result);
    } else if (if_absent && exists && missing_ == Missing::never) {
        check_result("put if absent", result, {CAIRN_EXISTS});
    } else if (if_absent && exists) {
        check_result("put if absent", result, {CAIRN_EXISTS, CAIRN_OK});
    } else {
        check_result("put", result, {CAIRN_OK});
    }
    if (result != CAIRN_OK) return;
    ++current_->puts;
    entries_[key] = ModelEntry{value, cost_us, (flags & CAIRN_PUT_PINNED) != 0};
    // The entry that was just stored is there.
    const auto found = current_->cache.get(key);
    check(found && std::ranges::equal(found->bytes(), value), "the value just put is not found");
    if (found) ++current_->hits_min;
}

// "After an error the older entry, if any, is still there."
void Model::check_refused_put(const ByteVector &key, int result) {
    const auto older = entries_.find(key);
    if (older == entries_.end()) return;
    int got = 0;
    const auto found = current_->cache.get(key, &got);
    if (found) ++current_->hits_min;
    if (got == CAIRN_MISS) return;  // it may have been evicted before
    check(found && std::ranges::equal(found->bytes(), older->second.value),
          "the older entry changed although the put gave " + std::to_string(result));
}

void Model::put_invalid() {
    operation_ = "invalid put";
    cairn_cache *cache = current_->cache.handle();
    static const ByteVector bytes(CAIRN_KEY_SIZE_MAX + 1, 'k');
    const cairn_put_options unknown = {sizeof(unknown), 1u << 31, 0};
    int result = CAIRN_OK;
    switch (in_.below(6)) {
        case 0:
            result = cairn_put(cache, bytes.data(), 0, "v", 1, nullptr);
            break;
        case 1:
            result = cairn_put(cache, bytes.data(), bytes.size(), "v", 1, nullptr);
            break;
        case 2:
            result = cairn_put(cache, nullptr, 4, "v", 1, nullptr);
            break;
        case 3:
            result = cairn_put(cache, "key", 3, nullptr, 1, nullptr);
            break;
        case 4:
            result = cairn_put(cache, "key", 3, "v", 1, &unknown);
            break;
        default:
            result = cairn_put(cache, "key", 3, "v", size_t{CAIRN_VALUE_SIZE_MAX} + 1, nullptr);
    }
    if (current_->read_only) {
        check_result("put", result, {CAIRN_ERROR_INVALID_ARGUMENT, CAIRN_ERROR_READ_ONLY});
    } else {
        check_result("put", result, {CAIRN_ERROR_INVALID_ARGUMENT});
    }
}

void Model::put_too_large() {
    operation_ = "put of more than the limit";
    if (missing_ == Missing::never || current_->read_only) return;
    static const ByteVector value(2 * CAIRN_LIMIT_BYTES_MIN, 'v');
    check_result("put", current_->cache.put(pick_key(), value), {CAIRN_ERROR_TOO_LARGE});
}

void Model::remove() {
    operation_ = "remove";
    const ByteVector key = pick_key();
    const int result = current_->cache.remove(key);
    if (current_->read_only) {
        check_result("remove", result, {CAIRN_ERROR_READ_ONLY});
        return;
    }
    const bool exists = entries_.erase(key) != 0;
    if (!exists) {
        check_result("remove", result, {CAIRN_MISS});
    } else if (missing_ == Missing::never) {
        check_result("remove", result, {CAIRN_OK});
    } else {
        check_result("remove", result, {CAIRN_OK, CAIRN_MISS});
    }
    check_result("contains after remove", current_->cache.contains(key), {CAIRN_MISS});
}

void Model::clear() {
    operation_ = "clear";
    const int result = current_->cache.clear();
    if (current_->read_only) {
        check_result("clear", result, {CAIRN_ERROR_READ_ONLY});
        return;
    }
    if (!check_result("clear", result, {CAIRN_OK})) return;
    entries_.clear();
    check(current_->cache.stats().entries == 0, "stats count entries after clear");
    // The space is there again.
    check_result("put after clear", current_->cache.put(as_bytes("x"), as_bytes("y")), {CAIRN_OK});
    ++current_->puts;
    check_result("remove", current_->cache.remove(as_bytes("x")), {CAIRN_OK});
}

void Model::sync() {
    operation_ = "sync";
    if (current_->read_only) return;
    check_result("sync", current_->cache.sync(), {CAIRN_OK});
}

void Model::compress() {
    operation_ = "compress";
    const int result = current_->cache.compress();
    if (current_->read_only) {
        check_result("compress", result, {CAIRN_ERROR_READ_ONLY});
    } else if (missing_ == Missing::never) {
        check_result("compress", result, {CAIRN_OK, CAIRN_ERROR_BUSY});
    } else {
        check_result("compress", result, {CAIRN_OK, CAIRN_ERROR_BUSY, CAIRN_ERROR_FULL});
    }
}

// ---- opening

bool Model::open(ModelHandle &handle, std::uint32_t flags) {
    CacheOptions options = options_;
    options.flags = flags;
    const int result = handle.cache.open(options);
    handle.read_only = (flags & CAIRN_OPEN_READ_ONLY) != 0;
    handle.puts = 0;
    handle.hits_min = 0;
    return check_result("open", result, {CAIRN_OK});
}

void Model::reopen(std::uint32_t flags) {
    operation_ = "reopen, flags " + std::to_string(flags);
    if (!disk()) {
        // A memory cache ends with its handle, and cannot be opened where there is none.
        flags = 0;
        entries_.clear();
    }
    current_->cache.close();
    if (open(*current_, flags)) check_everything();
}

void Model::open_second() {
    operation_ = "open or close the second handle";
    if (!disk()) return;
    ModelHandle &second = handles_[1];
    if (second.cache.is_open()) {
        second.cache.close();
        current_ = handles_.data();
    } else {
        const std::uint32_t read_only = CAIRN_OPEN_READ_ONLY;
        open(second, in_.below(4) == 0 ? read_only : 0);
    }
}

void Model::reopen_in_other_version() {
    operation_ = "reopen in another version";
    const bool held_by_other = handles_[0].cache.is_open() && handles_[1].cache.is_open();
    current_->cache.close();
    CacheOptions options = options_;
    options.version = options_.version + 1 + in_.byte();
    const int result = current_->cache.open(options);
    if (disk() && held_by_other) {
        check_result("open in another version than others", result, {CAIRN_ERROR_BUSY});
        check(!current_->cache.is_open(), "a handle without CAIRN_OK");
        open(*current_, 0);
        return check_everything();
    }
    if (!check_result("open", result, {CAIRN_OK})) return;
    options_.version = options.version;
    *current_ = ModelHandle{std::move(current_->cache), false, 0, 0};
    entries_.clear();
    check_everything();
}

// To read in another version than that on disk finds nothing, and destroys nothing.
void Model::read_in_other_version() {
    operation_ = "read-only open in another version";
    if (!disk()) return;
    current_->cache.close();
    CacheOptions options = options_;
    options.version = options_.version + 1;
    options.flags = CAIRN_OPEN_READ_ONLY;
    const int result = current_->cache.open(options);
    check_result("open", result,
                 {CAIRN_OK, CAIRN_ERROR_BUSY, CAIRN_ERROR_NOT_FOUND, CAIRN_ERROR_READ_ONLY});
    for (const auto &[key, entry] : entries_) {
        if (!current_->cache.is_open()) break;
        check_result("get in another version", current_->cache.contains(key), {CAIRN_MISS});
    }
    current_->cache.close();
    if (open(*current_, 0)) check_everything();
}

void Model::open_in_any_version() {
    operation_ = "open in any version";
    if (!disk()) return;
    current_->cache.close();
    CacheOptions options = options_;
    options.version = options_.version + 1;
    options.flags = CAIRN_OPEN_ANY_VERSION | CAIRN_OPEN_READ_ONLY;
    if (check_result("open", current_->cache.open(options), {CAIRN_OK})) {
        check(current_->cache.stats().version == options_.version, "not the version on disk");
        check_everything();
    }
    current_->cache.close();
    open(*current_, 0);
}

void Model::open_missing() {
    operation_ = "open of a cache that does not exist";
    if (!disk()) return;
    CacheOptions options = options_;
    options.identifier = "missing";
    options.flags = CAIRN_OPEN_EXISTING;
    Cache missing;
    check_result("open", missing.open(options), {CAIRN_ERROR_NOT_FOUND});
    check(!missing.is_open(), "a handle without CAIRN_OK");
    options.flags = 0;
    for (const char *identifier : {"", ".", "..", ".hidden", "a/b", "a b", "\xC3\xA4"}) {
        options.identifier = identifier;
        check_result("open of an invalid name", missing.open(options),
                     {CAIRN_ERROR_INVALID_ARGUMENT});
    }
}

// ---- helpers

ModelHandle &Model::pick() {
    if (!handles_[1].cache.is_open()) return handles_[0];
    return handles_[in_.below(2)];
}

bool Model::check(bool right, const std::string &what) {
    if (!right && failure_.empty()) {
        failure_ = "operation " + std::to_string(operations_) + " (" + operation_ +
                   (current_->read_only ? ", read-only" : "") + "): " + what;
    }
    return right;
}

bool Model::check_result(const std::string &call, int result, std::initializer_list<int> allowed) {
    return check(std::ranges::find(allowed, result) != allowed.end(),
                 call + ": " + cairn_result_string(result) + " (" + std::to_string(result) + ")");
}

ModelResult run_store_model(ByteView input, const std::string &root, std::size_t operations_max) {
    return Model(input, root).run(operations_max);
}

}  // namespace cairn_test
