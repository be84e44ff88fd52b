// SPDX-License-Identifier: MIT
#include "faults/workload.h"

#include <cairn/cairn.h>

#include <array>

#include "store/index_file.h"
#include "store/index_format.h"
#include "support/files.h"

namespace cairn_test {
namespace {

constexpr std::uint64_t kLimit = 8 << 20;  // segments of 128 KiB
constexpr std::size_t kGrowthKeys = cairn::kSlotsPerBucket + 2;
constexpr std::size_t kLargeValue = 300'000;  // its segment is its own

std::string value_of(unsigned serial, std::size_t size) {
    std::string value = "value " + std::to_string(serial) + " ";
    while (value.size() < size) value += static_cast<char>('a' + (value.size() * 7 + serial) % 26);
    value.resize(size);
    return value;
}

std::string brief(const std::optional<std::string> &value) {
    if (!value) return "nothing";
    return "'" + value->substr(0, 12) + "' of " + std::to_string(value->size()) + " bytes";
}

// The answers that cairn.h names for a call that the system refuses something.
bool sensible(int result) {
    switch (result) {
        case CAIRN_OK:
        case CAIRN_MISS:
        case CAIRN_EXISTS:
        case CAIRN_ERROR_NO_SPACE:
        case CAIRN_ERROR_NO_MEMORY:
        case CAIRN_ERROR_DENIED:
        case CAIRN_ERROR_READ_ONLY:
        case CAIRN_ERROR_BUSY:
        case CAIRN_ERROR_IO:
            return true;
        default:
            return false;
    }
}

}  // namespace

Workload::Workload(const std::string &root) {
    options_.root = root;
    options_.limit_bytes = kLimit;
    fill();
    choose_growth_keys();
}

void Workload::complain(const std::string &text) {
    complaints_.push_back(text);
}

void Workload::judge_result(const char *call, int result) {
    if (result < 0) errors_.insert(result);
    if (!sensible(result)) {
        complain(std::string(call) + " answers " + cairn_result_string(result));
    }
}

bool Workload::reopen(Faults faults) {
    cache_.close();
    const int result = cache_.open(options_);
    judge_result("open", result);
    if (result != CAIRN_OK && faults == Faults::over) {
        complain(std::string("cannot be opened again: ") + cairn_result_string(result));
    }
    return result == CAIRN_OK;
}

// Entries that are there before anything fails.
void Workload::fill() {
    if (!reopen(Faults::over)) return;
    for (int i = 0; i < 6; ++i) put("old" + std::to_string(i), value_of(serial_++, 500));
    put("old large", value_of(serial_++, kLargeValue));
    put("old medium", value_of(serial_++, 70'000));
    if (!errors_.empty()) complain("the cache cannot be filled");
    cache_.close();
}

// Keys that share a bucket of the first level, so that a few of them make the index grow.
void Workload::choose_growth_keys() {
    const auto directory =
        cairn::Directory::open(cairn_test::store_files(options_.root + "/" + options_.identifier));
    if (!directory.ok()) return complain("no directory");
    const auto file = directory.value().open_file(cairn::kIndexFileName, cairn::Access::read_only);
    if (!file.ok()) return complain("no index");
    const auto identity = cairn::read_index_identity(file.value(), options_.identifier);
    if (!identity.ok()) return complain("no identity");
    for (unsigned i = 0; growth_keys_.size() < kGrowthKeys; ++i) {
        const std::string key = "grow" + std::to_string(i);
        const std::uint64_t hash =
            cairn::keyed_hash(cairn::as_bytes(key), identity.value().hash_seed);
        if ((hash & (cairn::kFirstLevelBuckets - 1)) == 0) growth_keys_.push_back(key);
    }
}

void Workload::put(const std::string &key, const std::string &value, std::uint32_t flags) {
    const int result = cache_.put(as_bytes(key), as_bytes(value), flags);
    judge_result("put", result);
    auto &acceptable = acceptable_[key];
    if (acceptable.empty()) acceptable.insert(std::nullopt);
    if (result == CAIRN_EXISTS) {
        acceptable.erase(std::nullopt);
        if (acceptable.empty()) complain("put: there is no " + key + ", but it is said to exist");
        return;
    }
    if (result == CAIRN_OK) {
        // A caller that asked for it to be absent may not have replaced an entry.
        if ((flags & CAIRN_PUT_IF_ABSENT) != 0 && !acceptable.contains(std::nullopt)) {
            complain("put: replaces " + key + ", which is there");
        }
        acceptable.clear();
    }
    acceptable.insert(value);
}

void Workload::remove(const std::string &key) {
    const int result = cache_.remove(as_bytes(key));
    judge_result("remove", result);
    auto &acceptable = acceptable_[key];
    if (result == CAIRN_MISS && !acceptable.contains(std::nullopt) && !acceptable.empty()) {
        complain("remove: says there is no " + key);
    }
    if (result == CAIRN_OK || result == CAIRN_MISS) acceptable.clear();
    acceptable.insert(std::nullopt);
}

void Workload::judge(const char *call, const std::string &key, const Value &value, Faults faults) {
    const auto &acceptable = acceptable_[key];
    if (acceptable.contains(value) || (acceptable.empty() && !value)) return;
    if (!value && faults == Faults::possible) return;
    std::string text = std::string(call) + " of " + key + " gives " + brief(value) + ", not";
    for (const auto &other : acceptable) text += " " + brief(other);
    complain(text);
}

void Workload::look_up(const std::string &key, Faults faults) {
    const auto text = [](const auto &blob) -> Value {
        if (!blob) return std::nullopt;
        return as_string(blob->bytes());
    };
    int result = 0;
    judge("get", key, text(cache_.get(as_bytes(key), &result)), faults);
    judge_result("get", result);
    judge("second get", key, text(cache_.get(as_bytes(key), &result)), faults);
    judge_result("second get", result);
    const auto bytes = cache_.get_into(as_bytes(key), kLargeValue + 1, &result);
    judge("get_into", key, bytes ? Value(as_string(*bytes)) : std::nullopt, faults);
    judge_result("get_into", result);
    const int there = cache_.contains(as_bytes(key));
    judge_result("contains", there);
    const auto &acceptable = acceptable_[key];
    const bool must = !acceptable.empty() && !acceptable.contains(std::nullopt);
    const bool must_not = acceptable.empty() || (acceptable.size() == 1 && !must);
    if (there == CAIRN_OK && must_not) complain("contains: " + key + ", which is not there");
    if (there == CAIRN_MISS && must && faults == Faults::over) complain("contains: no " + key);
}

void Workload::run() {
    if (!reopen(Faults::possible)) return;
    const auto text = [this](std::size_t size) { return value_of(serial_++, size); };
    put("new", text(1000));
    put("old0", text(700));
    look_up("old1", Faults::possible);
    look_up("old large", Faults::possible);
    put("old1", text(20), CAIRN_PUT_IF_ABSENT);
    put("new2", text(20), CAIRN_PUT_IF_ABSENT);
    remove("old3");
    put("old large", text(kLargeValue));
    for (const std::string &key : growth_keys_) put(key, text(60));
    for (int i = 0; i < 4; ++i) put("roll" + std::to_string(i), text(50'000));
    look_up("old medium", Faults::possible);
    look_up("old0", Faults::possible);
    judge_result("sync", cache_.sync());
    (void)cache_.stats();
    if (!reopen(Faults::possible)) return;
    look_up("new", Faults::possible);
    look_up("old2", Faults::possible);
    put("new", text(90));
    look_up(growth_keys_.back(), Faults::possible);
}

void Workload::compress() {
    if (!reopen(Faults::possible)) return;
    remove("old3");
    judge_result("compress", cache_.compress());
    look_up("old medium", Faults::possible);
    look_up("old1", Faults::possible);
    put("old1", value_of(serial_++, 700));
}

void Workload::clear() {
    if (!reopen(Faults::possible)) return;
    const int result = cache_.clear();
    judge_result("clear", result);
    for (auto &[key, acceptable] : acceptable_) {
        if (result == CAIRN_OK) acceptable.clear();
        acceptable.insert(std::nullopt);
    }
    put("after", value_of(serial_++, 100));
}

void Workload::check() {
    if (!cache_.is_open() && !reopen(Faults::over)) return;
    for (int round = 0; round < 2; ++round) {
        for (const auto &[key, acceptable] : acceptable_) look_up(key, Faults::over);
        const std::string value = value_of(serial_++, 200);
        // A cache that was opened while nothing could be written stays open for reading.
        const bool writable = cache_.put(as_bytes("last"), as_bytes(value)) == CAIRN_OK;
        if (!writable && !reopen(Faults::over)) return;
        if (!writable && cache_.put(as_bytes("last"), as_bytes(value)) != CAIRN_OK) {
            complain("nothing can be stored any more");
        }
        acceptable_["last"] = {value};
        look_up("last", Faults::over);
        if (!reopen(Faults::over)) return;
    }
}

}  // namespace cairn_test
