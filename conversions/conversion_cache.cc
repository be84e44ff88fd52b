// SPDX-License-Identifier: MIT
#include "conversions/conversion_cache.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace cairn::conversions {
namespace {

// The numbers are part of every stored key: they are never reused for something else.
enum Tag : std::uint32_t { kId = 1, kVersion = 2, kOption = 3, kValue = 4, kInput = 5 };

// Raised when entries of an older layout would be misread.
constexpr std::uint64_t kLayout = 1;
constexpr std::uint32_t kMagic = 0x31564E43;  // "CNV1"
constexpr std::size_t kHeadSize = 8;
constexpr const char *kAbout =
    "Converted shaders, by `cairn convert`\n"
    "The keys hold converter, version, options and input; docs/convert.md has the entries.\n";

void add(cairn_key_builder *builder, Tag tag, std::string_view text) {
    cairn_key_add(builder, tag, text.data(), text.size());
}

// Empty without memory.
std::string key_of(const Converter &converter, const Options &options, std::string_view input) {
    cairn_key_builder *builder = cairn_key_begin("conversion/1");
    if (builder == nullptr) return {};
    add(builder, kId, converter.id());
    add(builder, kVersion, converter.version());
    for (const auto &[name, value] : options) {
        add(builder, kOption, name);
        add(builder, kValue, value);
    }
    add(builder, kInput, input);
    std::array<std::uint8_t, CAIRN_PROGRAM_KEY_SIZE> key;
    cairn_key_finish(builder, key.data());
    return {reinterpret_cast<const char *>(key.data()), key.size()};
}

void put_le32(std::string &text, std::uint32_t number) {
    for (unsigned i = 0; i < 4; ++i) text.push_back(static_cast<char>(number >> (8 * i) & 0xFF));
}

std::uint32_t get_le32(std::string_view text, std::size_t at) {
    std::uint32_t number = 0;
    for (unsigned i = 0; i < 4; ++i) {
        number |= std::uint32_t{static_cast<std::uint8_t>(text[at + i])} << (8 * i);
    }
    return number;
}

cairn_control *open_control(const std::string &root) {
    cairn_control_options options = {};
    options.size = sizeof options;
    options.root = root.c_str();
    cairn_control *control = nullptr;
    return cairn_control_open(&options, &control) == CAIRN_OK ? control : nullptr;
}

cairn_cache *open_cache(const std::string &root, FirstLine &log, std::string &problem) {
    cairn_options options = {};
    options.size = sizeof options;
    options.root = root.c_str();
    options.identifier = kIdentifier;
    options.version = kLayout;
    options.about = kAbout;
    options.memory_bytes = UINT64_MAX;
    options.log = FirstLine::keep;
    options.log_user = &log;
    cairn_cache *cache = nullptr;
    if (const int result = cairn_open(&options, &cache); result != CAIRN_OK) {
        const std::lock_guard lock(log.mutex);
        problem = log.text.empty() ? cairn_result_string(result) : log.text;
    }
    return cache;
}

}  // namespace

void FirstLine::keep(void *user, int severity, const char *line) {
    auto &log = *static_cast<FirstLine *>(user);
    const std::lock_guard lock(log.mutex);
    if (log.text.empty() && severity <= CAIRN_LOG_WARNING) log.text = line;
}

ConversionCache::ConversionCache(const std::string &root, const Limits &limits)
    : limits_(limits), control_(open_control(root)), cache_(open_cache(root, log_, problem_)) {
    if (cache_ != nullptr && !is_on()) {
        problem_ =
            "conversions are switched off; `cairn control --kind conversions --enable` "
            "switches them on";
    }
}

bool ConversionCache::is_on() const {
    return cache_ != nullptr &&
           (cairn_control_disabled(control_.get()) & CAIRN_KIND_CONVERSIONS) == 0;
}

Result ConversionCache::convert(const Converter &converter, const Options &options,
                                std::string_view input) {
    Result result;
    const std::string key = key_of(converter, options, input);
    const bool may_look = !key.empty() && is_on();
    if (may_look && look_up(key, result.converted)) {
        result.source = Source::cache;
        return result;
    }
    const auto begin = std::chrono::steady_clock::now();
    result.converted = convert_in_child(converter, options, input, limits_);
    const auto took = std::chrono::steady_clock::now() - begin;
    const auto cost_us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    // It may have been switched off meanwhile.
    if (result.converted.ok && may_look && is_on() &&
        store(key, result.converted, static_cast<std::uint64_t>(cost_us))) {
        result.source = Source::converter;
    }
    return result;
}

bool ConversionCache::look_up(std::string_view key, Converted &found) const {
    cairn_blob *blob = nullptr;
    if (cairn_get(cache_.get(), key.data(), key.size(), &blob) != CAIRN_OK) return false;
    const std::string_view entry(static_cast<const char *>(cairn_blob_data(blob)),
                                 cairn_blob_size(blob));
    bool is_whole = entry.size() >= kHeadSize && get_le32(entry, 0) == kMagic;
    const std::size_t messages_size = is_whole ? get_le32(entry, 4) : 0;
    is_whole = is_whole && messages_size <= entry.size() - kHeadSize;
    if (is_whole) {
        found.ok = true;
        found.messages = entry.substr(kHeadSize, messages_size);
        found.output = entry.substr(kHeadSize + messages_size);
    }
    cairn_blob_free(blob);
    return is_whole;
}

bool ConversionCache::store(std::string_view key, const Converted &made,
                            std::uint64_t cost_us) const {
    std::string entry;
    entry.reserve(kHeadSize + made.messages.size() + made.output.size());
    put_le32(entry, kMagic);
    put_le32(entry, static_cast<std::uint32_t>(made.messages.size()));
    entry.append(made.messages).append(made.output);
    cairn_put_options options = {};
    options.size = sizeof options;
    options.cost_us = static_cast<std::uint32_t>(std::min<std::uint64_t>(cost_us, UINT32_MAX));
    return cairn_put(cache_.get(), key.data(), key.size(), entry.data(), entry.size(), &options) ==
           CAIRN_OK;
}

}  // namespace cairn::conversions
