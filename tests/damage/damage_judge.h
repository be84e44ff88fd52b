// Whether what a process of a damage case found or missed keeps every promise. What does not is noted in
// the findings of the case.
// SPDX-License-Identifier: MIT
//
// Thread safety: any process, while nobody changes the key in question.
//
// An older value, or a removed entry, that is back is *stale* where both the record that says better and
// the index were touched: no reader can tell then. Everything else of that sort is wrong.
#pragma once

#include <cstdint>

#include "damage/damage_actors.h"

namespace cairn_test {

struct Found {
    bool is_there = false;
    std::uint64_t version = 0;  // 0: the bytes are no value of the key
    std::size_t size = 0;
};

// Whether the cache is opened as a program cache, too.
bool is_used_by_programs(const CaseScene &scene);

Found found_of(std::uint64_t key, ByteView value);

void judge_found(const CaseScene &scene, const char *when, std::uint64_t key, const Found &found);
// Whether damage, a removal or eviction may have taken what is stored under the key.
bool may_be_missing(const CaseScene &scene, std::uint64_t key);
void judge_miss(const CaseScene &scene, std::uint64_t key);
void judge_enumerated(const CaseScene &scene, const ByteVector &key);
// Of a call that opens the cache and fails, and of a put.
void judge_open(const CaseScene &scene, int result);
void judge_refusal(const CaseScene &scene, std::uint64_t key, int result);

void complain_wrong(const CaseScene &scene, const char *what, std::uint64_t key,
                    std::uint64_t version);
void complain_lost(const CaseScene &scene, const char *what, std::uint64_t key);

}  // namespace cairn_test
