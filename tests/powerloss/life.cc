// SPDX-License-Identifier: MIT
#include "powerloss/life.h"

#include <cairn/cairn.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "os/environment.h"
#include "os/system_calls.h"
#include "store/index_file.h"
#include "store/index_format.h"
#include "support/files.h"

namespace cairn_test {
namespace {

std::string brief(const std::optional<std::string> &value) {
    if (!value) return "nothing";
    return "'" + value->substr(0, value->find('|')) + "' of " + std::to_string(value->size()) +
           " bytes";
}

}  // namespace

Life::Life(const LifeOptions &options, std::uint64_t seed) : options_(options), random_(seed) {
    cache_options_.limit_bytes = options.evicts ? CAIRN_LIMIT_BYTES_MIN : 64 << 20;
    cache_options_.memory_bytes = random_.one_in(2) ? 0 : UINT64_MAX;
}

std::string Life::run() {
    disk_path_ = scratch_ / "disk0";
    std::filesystem::create_directory(disk_path_);
    for (unsigned i = 0; i < options_.boots && complaint_.empty(); ++i) boot(i);
    return complaint_;
}

// One start of the system: from what the last power loss left to the next one.
void Life::boot(unsigned number) {
    where_ = "boot " + std::to_string(number);
    cairn::testing::PowerLoss disk(disk_path_);
    disk_ = &disk;
    disk.set_boot(number + 1);
    cache_options_.root = disk_path_ + "/root";
    searched_ = number == 0;
    // Anywhere: while opening, too.
    const std::uint64_t moment = 1 + random_.below(random_.one_in(4) ? 60 : 2000);
    disk.capture_at(moment, [this] { at_power_loss_ = expectations_; });
    open();
    if (!options_.busy || random_.one_in(2)) check_all();
    for (unsigned i = 0; i < options_.operations && !disk.captured() && complaint_.empty(); ++i) {
        operate();
    }
    if (!disk.captured()) {
        at_power_loss_ = expectations_;
        disk.capture();
    }
    if (options_.evicts) forget_evicted();
    if (random_.one_in(2)) check_all();
    cache_.close();
    const std::string next = scratch_ / ("disk" + std::to_string(number + 1));
    disk.materialise(next, random_.next());
    disk_ = nullptr;
    std::filesystem::remove_all(disk_path_);
    disk_path_ = next;
    expectations_ = at_power_loss_;
    for (auto &[key, expectation] : expectations_) expectation.now = expectation.after_power_loss;
}

void Life::complain(const std::string &text) {
    if (complaint_.empty())
        complaint_ = where_ + ", call " + std::to_string(disk_->calls()) + ": " + text;
}

std::string Life::cache_directory() const {
    return store_files(cache_options_.root + "/" + cache_options_.identifier);
}

void Life::open() {
    cache_options_.flags = random_.one_in(4) ? CAIRN_OPEN_SYNC_ON_CLOSE : 0;
    if (random_.one_in(4)) cache_options_.flags |= CAIRN_OPEN_COMPRESS;
    const int result = cache_.open(cache_options_);
    if (result != CAIRN_OK) complain(std::string("does not open: ") + cairn_result_string(result));
}

// ------------------------------------------------------------------------------------------------
// what a program does

void Life::operate() {
    if (random_.one_in(6)) disk_->write_back(random_.next());
    const std::uint64_t what = random_.below(200);
    if (what < 90) {
        const std::string key = choose_key();
        put(key, new_value(key), random_.one_in(8) ? CAIRN_PUT_IF_ABSENT : 0);
    } else if (what < 150) {
        get(choose_key());
    } else if (what < 170) {
        remove(choose_key());
    } else if (what < 190) {
        sync();
    } else if (what < 196) {
        open();
    } else if (what < 197) {
        // Another thread may be at it, and what is near the limit may find no room.
        (void)cache_.compress();
    } else if (what < 198) {
        delete_index();
    } else if (what < 199) {
        clear();
    } else if (options_.many) {
        for (int i = 0; i < 1500 && !disk_->captured(); ++i) {
            const std::string key = "many" + std::to_string(i);
            put(key, key + "#" + std::to_string(serial_++) + "|", 0);
        }
    }
}

std::string Life::choose_key() {
    return "key" + std::to_string(random_.below(options_.keys));
}

std::string Life::new_value(const std::string &key) {
    std::string value = key + "#" + std::to_string(serial_++) + "|";
    std::size_t size = random_.below(options_.value_size);
    if (random_.one_in(10)) size *= 8;
    if (random_.one_in(60)) size *= 40;
    while (value.size() < size) value += static_cast<char>('a' + random_.below(26));
    return value;
}

void Life::put(const std::string &key, const std::string &value, std::uint32_t flags) {
    Expectation &expectation = expectations_[key];
    expectation.ever.insert(value);
    expectation.after_power_loss.insert(value);
    // The cache may have evicted the replaced entry before, or to make room for this one.
    if (options_.evicts) expectation.after_power_loss.insert(std::nullopt);
    const int result = cache_.put(as_bytes(key), as_bytes(value), flags);
    if (!searched_) return allow_anything(key);
    if (result == CAIRN_OK) {
        expectation.now = {value};
    } else if (result == CAIRN_EXISTS && (flags & CAIRN_PUT_IF_ABSENT) != 0) {
        expectation.now.erase(std::nullopt);
        if (expectation.now.empty()) complain(key + " is said to exist");
    } else if (result == CAIRN_ERROR_FULL && value.size() > cache_options_.limit_bytes / 2) {
        // Whether the largest fit depends on what is being written at that moment.
    } else if (result != CAIRN_ERROR_TOO_LARGE) {
        complain("put of " + key + ": " + cairn_result_string(result));
    }
}

void Life::remove(const std::string &key) {
    Expectation &expectation = expectations_[key];
    expectation.after_power_loss.insert(std::nullopt);
    const int result = cache_.remove(as_bytes(key));
    if (!searched_) return allow_anything(key);
    if (result == CAIRN_MISS && !options_.evicts && !expectation.now.contains(std::nullopt)) {
        complain("remove does not find " + key);
    }
    if (result == CAIRN_OK) {
        expectation.now = {std::nullopt};
    } else if (result == CAIRN_MISS) {
        expectation.now = {std::nullopt};
    } else {
        complain("remove of " + key + ": " + cairn_result_string(result));
    }
}

Life::Value Life::look_up(const std::string &key) {
    const auto blob = cache_.get(as_bytes(key));
    if (!blob) return std::nullopt;
    return as_string(blob->bytes());
}

void Life::get(const std::string &key) {
    judge(key, look_up(key), !searched_ || options_.evicts);
}

void Life::judge(const std::string &key, const Value &value, bool may_be_missing) {
    const auto found = expectations_.find(key);
    const std::set<Value> now =
        found == expectations_.end() ? std::set<Value>{std::nullopt} : found->second.now;
    if (now.contains(value) || (may_be_missing && !value)) return;
    // When a value was given up, an older one whose record was not yet marked can come back.
    if (options_.evicts && found != expectations_.end() && found->second.ever.contains(value))
        return;
    std::string text = key + " gives " + brief(value) + ", not";
    for (const Value &other : now) text += " " + brief(other);
    complain(text);
}

void Life::sync() {
    const int result = cache_.sync();
    if (result != CAIRN_OK) return complain(std::string("sync: ") + cairn_result_string(result));
    for (auto &[key, expectation] : expectations_) expectation.after_power_loss = expectation.now;
}

void Life::clear() {
    // Files are deleted in no order that a power loss would keep: older ones may be left.
    for (auto &[key, expectation] : expectations_) expectation.after_power_loss = expectation.ever;
    const int result = cache_.clear();
    if (result != CAIRN_OK) return complain(std::string("clear: ") + cairn_result_string(result));
    for (auto &[key, expectation] : expectations_) expectation.now = {std::nullopt};
}

// By hand, while the cache is open: entries are found again in the segments.
void Life::delete_index() {
    const auto directory = cairn::Directory::open(cache_directory());
    if (!directory.ok()) return complain("the cache's directory is gone");
    (void)directory.value().remove_file(cairn::kIndexFileName);
    open();
    searched_ = false;
    if (!options_.busy && cache_.is_open()) wait_until_searched();
}

// ------------------------------------------------------------------------------------------------
// what must be true

// Whether the segments hold what the index may lack, and have not been searched to the end.
bool Life::search_is_due() const {
    const std::string path = cache_directory() + "/" + cairn::kIndexFileName;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    std::uint64_t reason = 1;
    const auto offset = static_cast<off_t>(cairn::counter_offset(cairn::Counter::rebuild));
    const bool read = ::pread(fd, &reason, sizeof reason, offset) == sizeof reason;
    if (fd >= 0) ::close(fd);
    return read && reason != cairn::nothing_due(cairn::kNewestFormat);
}

void Life::wait_until_searched() {
    // The first look-up after a system start notices it.
    (void)cache_.get(as_bytes("what nobody stored"));
    while (search_is_due()) {
        (void)cache_.get(as_bytes("what nobody stored"));
        cairn::sleep_us(200);
    }
    searched_ = true;
}

// While the segments are being searched, an entry that is changed may change back to an older one.
void Life::allow_anything(const std::string &key) {
    Expectation &expectation = expectations_[key];
    expectation.now = expectation.ever;
    expectation.after_power_loss = expectation.ever;
}

// Every key has a value that it may have; from now on it has that one.
void Life::check_all() {
    if (!cache_.is_open() || !complaint_.empty()) return;
    wait_until_searched();
    for (auto &[key, expectation] : expectations_) {
        const Value value = look_up(key);
        judge(key, value, options_.evicts);
        // An evicted entry can come back as it was if its segment is still there.
        if (options_.evicts && !value) {
            expectation.now.insert(std::nullopt);
        } else {
            expectation.now = {value};
        }
    }
    const std::string value = new_value("last");
    if (value.size() < 100'000) put("last", value, 0);
    get("last");
}

// The cache has evicted the entries that are missing, before or after the power loss.
void Life::forget_evicted() {
    if (!cache_.is_open()) return;
    wait_until_searched();
    for (auto &[key, expectation] : at_power_loss_) {
        if (look_up(key)) continue;
        expectation.after_power_loss.insert(std::nullopt);
        expectations_[key].now.insert(std::nullopt);
    }
}

}  // namespace cairn_test
