// SPDX-License-Identifier: MIT
#include "cached.h"

#include <cairn/cairn_program_cache.h>

#include <algorithm>

#include "counters.h"
#include "log.h"
#include "switch.h"
#include "trace.h"

namespace cairn::egl {

Found::Found(cairn_cache *cache, std::string_view key) {
    if (cache != nullptr && cairn_get(cache, key.data(), key.size(), &blob_) != CAIRN_OK) {
        blob_ = nullptr;
    }
    if (blob_ != nullptr) {
        trace_entry(key, bytes().size(), cost_ns());
    }
}

Found::Found(cairn_cache *cache, uint64_t index, ProgramKey &key) {
    size_t size = 0;
    if (cairn_get_nth(cache, index, key.data(), key.size(), &size, &blob_) != CAIRN_OK) {
        blob_ = nullptr;
    }
}

std::span<const std::byte> Found::bytes() const {
    if (blob_ == nullptr) {
        return {};
    }
    return {static_cast<const std::byte *>(cairn_blob_data(blob_)), cairn_blob_size(blob_)};
}

Stored store(cairn_cache *cache, std::string_view key, std::string_view value, uint64_t cost_ns) {
    // Caching may have been switched off since the look-up.
    if (!is_caching_on()) {
        return Stored::no;
    }
    cairn_put_options options = {};
    options.size = sizeof options;
    options.cost_us = static_cast<uint32_t>(std::min<uint64_t>(cost_ns / 1000, UINT32_MAX));
    const int result =
        cairn_put(cache, key.data(), key.size(), value.data(), value.size(), &options);
    const bool stored = result == CAIRN_OK;
    count(stored ? &RunReport::stored : &RunReport::store_failed);
    trace_entry(key, value.size(), cost_ns);
    if (!stored) {
        log_line("an entry of %zu bytes is not stored: %s", value.size(),
                 cairn_result_string(result));
        note_problem(kProblemNotStored, cairn_result_string(result));
    }
    return stored ? Stored::yes : result == CAIRN_KEPT_OUT ? Stored::kept_out : Stored::no;
}

InUse::InUse(cairn_cache *cache, std::string_view key) : cache_(cache) {
    if (cache_ != nullptr &&
        cairn_use_begin(cache_, key.data(), key.size(), &ticket_) != CAIRN_OK) {
        cache_ = nullptr;
    }
}

InUse::~InUse() {
    cairn_use_end(cache_, ticket_);
}

}  // namespace cairn::egl
