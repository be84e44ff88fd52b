// SPDX-License-Identifier: MIT
#include "history/outcome.h"

namespace cairn {
namespace {

struct Words {
    const char *name;
    const char *for_people;
};

constexpr std::array<Words, kOutcomes> kWords = {{
    {"hit-memory", "from memory"},
    {"hit-disk", "from disk"},
    {"hit-pack", "from a pack"},
    {"never-seen", "never seen before"},
    {"other-driver", "seen with another driver"},
    {"other-context", "seen in another context"},
    {"other-settings", "seen with other settings"},
    {"evicted", "evicted to make room"},
    {"cleared", "the cache was cleared"},
    {"damaged", "damaged on disk"},
    {"refused", "refused by the driver"},
    {"kept-out", "kept out after a crash"},
    {"not-cacheable", "cannot be cached"},
    {"unusable", "the cache could not be used"},
    {"late", "did not come in time"},
    {"unknown", "not known why"},
}};

}  // namespace

const char *outcome_name(Outcome outcome) {
    return kWords[static_cast<std::size_t>(outcome) % kOutcomes].name;
}

const char *outcome_words(Outcome outcome) {
    return kWords[static_cast<std::size_t>(outcome) % kOutcomes].for_people;
}

const char *detail_words(Detail detail) {
    switch (detail) {
        case Detail::none:
            break;
        case Detail::switched_off:
            return "caching is switched off (`cairn control`)";
        case Detail::memory_off:
            return "the application gave its cache no room";
        case Detail::no_binaries:
            return "the driver gives no program binary";
        case Detail::contexts_differ:
            return "contexts that share objects compile differently";
        case Detail::sources_replaced:
            return "MESA_SHADER_READ_PATH replaces sources";
        case Detail::includes_others:
            return "a source includes others";
        case Detail::shader_not_known:
            return "a shader failed, or is of a kind that is not cached";
        case Detail::program_not_known:
            return "the program was changed by other means than its sources";
        case Detail::linked_before:
            return "the program was linked before and may be in use";
        case Detail::not_linked:
            return "the driver refused to link it";
        case Detail::hash_collision:
            return "another key of the same hash is in the way";
        case Detail::not_opened:
            return "the cache could not be opened";
        case Detail::not_stored:
            return "it could not be stored when it was made last";
        case Detail::in_memory_only:
            return "programs are kept in memory only";
        case Detail::behind_a_broker:
            return "the process is in a sandbox";
        case Detail::not_remembered:
            return "the memory of earlier runs could not be opened";
        case Detail::gone:
            return "it was made before and is no longer there";
        case Detail::dropped_once:
            return "dropped once";
        case Detail::leased:
            return "another process was making it";
        case Detail::made_meanwhile:
            return "another process or thread made it at the same time";
        case Detail::asked:
            return "the agent did not answer in time";
    }
    return "";
}

}  // namespace cairn
