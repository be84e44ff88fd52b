// SPDX-License-Identifier: MIT
#include "warm_set.h"

#include <cairn/cairn.h>
#include <cairn/cairn_egl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/bytes.h"

namespace cairn::cli {
namespace {

constexpr std::string_view kMagic = "CAIRNSET";
constexpr uint32_t kFormatVersion = 1;
constexpr size_t kCheckSize = CAIRN_PROGRAM_KEY_SIZE;
constexpr size_t kAboutSizeMax = 65536;

template <typename Number>
void put(std::string &bytes, Number number) {
    std::array<std::byte, sizeof number> raw;
    put_le(MutableBytes(raw), 0, number);
    bytes.append(reinterpret_cast<const char *>(raw.data()), raw.size());
}

std::string check_of(std::string_view bytes) {
    std::string check(kCheckSize, '\0');
    cairn_key_builder *builder = cairn_key_begin("cairn-warm-set/1");
    cairn_key_add(builder, 1, bytes.data(), bytes.size());
    cairn_key_finish(builder, reinterpret_cast<uint8_t *>(check.data()));
    return check;
}

// Takes numbers and texts off the front; after the first that is not there, all are empty.
class WarmSetReader {
  public:
    explicit WarmSetReader(std::string_view bytes) : rest_(bytes) {}

    std::string_view take(size_t size) {
        ok_ = ok_ && size <= rest_.size();
        const std::string_view front = rest_.substr(0, ok_ ? size : 0);
        rest_.remove_prefix(front.size());
        return front;
    }
    template <typename Number>
    Number number() {
        const std::string_view bytes = take(sizeof(Number));
        return ok_ ? get_le<Number>(as_bytes(bytes), 0) : 0;
    }
    size_t rest() const { return rest_.size(); }
    bool ok() const { return ok_; }

  private:
    std::string_view rest_;
    bool ok_ = true;
};

// An entry's key, cost and size, without the binary.
constexpr size_t kEntryHeadSize = CAIRN_EGL_KEY_SIZE + 4 + 4;

bool read_entry(WarmSetReader &reader, WarmEntry &entry) {
    const std::string_view key = reader.take(entry.key.size());
    std::copy(key.begin(), key.end(), entry.key.begin());
    entry.cost_us = reader.number<uint32_t>();
    const uint64_t size = reader.number<uint32_t>();
    if (!reader.ok() || size > kWarmBinarySizeMax) return false;
    entry.binary = reader.take(size);
    return reader.ok() &&
           cairn_egl_entry_check(entry.key.data(), entry.key.size(), entry.binary.data(),
                                 entry.binary.size()) == CAIRN_OK;
}

// Why this cannot be such a file; empty when it may be one.
std::string envelope_problem(std::string_view bytes) {
    if (!bytes.starts_with(kMagic)) return "it is no file of `cairn export`";
    WarmSetReader reader(bytes.substr(kMagic.size()));
    const uint64_t version = reader.number<uint32_t>();
    if (reader.ok() && version != kFormatVersion) {
        return fmt::format("it has format version {}, and this `cairn` reads {}", version,
                           kFormatVersion);
    }
    const size_t end = bytes.size() - std::min(kCheckSize, bytes.size());
    if (end < kMagic.size() || check_of(bytes.substr(0, end)) != bytes.substr(end)) {
        return "it is damaged or not complete";
    }
    return "";
}

}  // namespace

std::string encode_warm_set(const WarmSet &set) {
    std::string bytes(kMagic);
    const std::string about = set.about.substr(0, kAboutSizeMax);
    put(bytes, kFormatVersion);
    put(bytes, static_cast<uint32_t>(set.entries.size()));
    put(bytes, set.version);
    put(bytes, static_cast<uint32_t>(set.identifier.size()));
    put(bytes, static_cast<uint32_t>(about.size()));
    bytes.append(set.identifier).append(about);
    for (const WarmEntry &entry : set.entries) {
        bytes.append(entry.key.begin(), entry.key.end());
        put(bytes, entry.cost_us);
        put(bytes, static_cast<uint32_t>(entry.binary.size()));
        bytes.append(entry.binary);
    }
    return bytes + check_of(bytes);
}

uint64_t encoded_size(const WarmEntry &entry) {
    return kEntryHeadSize + entry.binary.size();
}

bool begins_as_warm_set(std::string_view bytes) {
    return bytes.starts_with(kMagic.substr(0, bytes.size()));
}

std::optional<WarmSet> decode_warm_set(std::span<const std::byte> file, std::string &problem) {
    const std::string_view bytes(reinterpret_cast<const char *>(file.data()), file.size());
    problem = envelope_problem(bytes);
    if (!problem.empty()) return std::nullopt;
    WarmSetReader reader(bytes.substr(0, bytes.size() - kCheckSize));
    reader.take(kMagic.size() + 4);
    const uint64_t count = reader.number<uint32_t>();
    WarmSet set;
    set.version = reader.number<uint64_t>();
    const uint64_t identifier_size = reader.number<uint32_t>();
    const uint64_t about_size = reader.number<uint32_t>();
    set.identifier = reader.take(std::min<uint64_t>(identifier_size, SIZE_MAX));
    set.about = reader.take(about_size);
    // A hostile author can write any number and a good check: take memory for real bytes only.
    if (!reader.ok() || identifier_size > CAIRN_IDENTIFIER_SIZE_MAX || about_size > kAboutSizeMax ||
        count > reader.rest() / kEntryHeadSize) {
        problem = "its head makes no sense";
        return std::nullopt;
    }
    for (uint64_t i = 0; i < count; ++i) {
        WarmEntry entry;
        if (!read_entry(reader, entry)) {
            problem = fmt::format("its entry {} of {} is not a program's", i + 1, count);
            return std::nullopt;
        }
        set.entries.push_back(std::move(entry));
    }
    if (reader.rest() != 0) {
        problem = "there is more in it than its entries";
        return std::nullopt;
    }
    return set;
}

}  // namespace cairn::cli
