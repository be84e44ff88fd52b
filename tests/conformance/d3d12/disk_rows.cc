// SPDX-License-Identifier: MIT
// Entries leave the disk, or are damaged there, while DISK sessions are open.
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <optional>

#include "d3d12/peer.h"
#include "row.h"
#include "support/files.h"

namespace conformance {
namespace {

namespace fs = std::filesystem;

const std::string kFirst = "the value that was stored first";
const std::string kSecond = "the value that was stored next";
const std::string kThird = "the value that was stored last";

using Handle = std::unique_ptr<cairn_cache, decltype(&cairn_close)>;

// The one cache of the stage, as a tool opens it.
Handle open_as_tool(const Stage &stage, unsigned flags = 0) {
    const std::string path = stage.caches().at(0);
    const std::string identifier = path.substr(path.rfind('/') + 1);
    cairn_options options = {};
    options.size = sizeof options;
    options.root = stage.root().c_str();
    options.identifier = identifier.c_str();
    options.flags = CAIRN_OPEN_EXISTING | CAIRN_OPEN_ANY_VERSION | flags;
    cairn_cache *cache = nullptr;
    if (cairn_open(&options, &cache) != CAIRN_OK) {
        throw std::runtime_error("the cache cannot be opened");
    }
    return {cache, cairn_close};
}

void clear(const Stage &stage) {
    if (cairn_clear(open_as_tool(stage).get()) != CAIRN_OK) {
        throw std::runtime_error("the cache cannot be cleared");
    }
}

void remove_entries(const Stage &stage) {
    const Handle cache = open_as_tool(stage);
    const auto remove = [](void *user, const cairn_entry *entry) {
        return cairn_remove(static_cast<cairn_cache *>(user), entry->key, entry->key_size);
    };
    if (cairn_enumerate(cache.get(), remove, cache.get()) != CAIRN_OK) {
        throw std::runtime_error("the entries cannot be removed");
    }
}

// As people do: everything, or what the specification of D3D12 names.
void delete_all_files(const Stage &stage) {
    for (const std::string &file : cairn_test::files_in(stage.caches().at(0))) {
        fs::remove(file);
    }
}

void delete_named_files(const Stage &stage) {
    for (const char *extension : {".idx", ".val", ".lock"}) {
        for (const std::string &file : cairn_test::files_in(stage.caches().at(0), extension)) {
            fs::remove(file);
        }
    }
}

// Every place of a value on disk gets other bytes.
void damage(const Stage &stage, const std::string &value) {
    unsigned places = 0;
    for (const std::string &file : cairn_test::files_in(stage.caches().at(0), ".val")) {
        const auto bytes = cairn_test::read_file(file);
        const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
        for (size_t at = text.find(value); at != std::string_view::npos;
             at = text.find(value, at + 1)) {
            cairn_test::flip_bit(file, (at + value.size() / 2) * 8);
            ++places;
        }
    }
    if (places == 0) {
        throw std::runtime_error("the value is not on disk");
    }
}

using Loss = void (*)(const Stage &stage);
constexpr std::array<std::pair<const char *, Loss>, 4> kLosses = {{
    {"cleared", clear},
    {"removed", remove_entries},
    {"all files deleted", delete_all_files},
    {"*.idx, *.val and *.lock deleted", delete_named_files},
}};

// Another process, with a session of its own, stores the key.
HRESULT store_elsewhere(Stage &stage, const std::string &value) {
    return in_other_process([&] {
        Session session;
        const HRESULT created = stage.create_without_device(disk_desc(), session);
        return created == kOk ? store(session, "key", value) : created;
    });
}

bool is_found_elsewhere(Stage &stage, const std::string &value) {
    return in_other_process([&] {
               Session session;
               const HRESULT created = stage.create_without_device(disk_desc(), session);
               return created == kOk && find(session, "key") == value ? kOk : kFail;
           }) == kOk;
}

// A session that has stored and found the first value, and so may have it in memory.
Session with_first(Verdict &verdict, Stage &stage) {
    Session session = open(verdict, stage, disk_desc());
    verdict.expect_result(store(session, "key", kFirst), kOk, "the first store");
    verdict.expect(find(session, "key") == kFirst && find(session, "key") == kFirst,
                   "the first value is not found");
    return session;
}

void lost(Verdict &verdict, Stage &) {
    for (const auto &[name, lose] : kLosses) {
        Stage stage;
        const Session session = with_first(verdict, stage);
        lose(stage);
        verdict.expect_result(look(session, "key"), kNotFound, name);
    }
}

void stored_again(Verdict &verdict, Stage &) {
    for (const auto &[name, lose] : kLosses) {
        Stage stage;
        const Session session = with_first(verdict, stage);
        lose(stage);
        verdict.expect_result(store(session, "key", kSecond), kOk, name);
        verdict.expect(find(session, "key") == kSecond, name + std::string(": not found here"));
        verdict.expect(is_found_elsewhere(stage, kSecond), name + std::string(": not elsewhere"));
    }
}

void stored_again_elsewhere(Verdict &verdict, Stage &) {
    for (const auto &[name, lose] : kLosses) {
        Stage stage;
        const Session session = with_first(verdict, stage);
        lose(stage);
        verdict.expect_result(store_elsewhere(stage, kSecond), kOk, name);
        verdict.expect(find(session, "key") == kSecond, name + std::string(": not found here"));
        verdict.expect_result(store(session, "key", kThird), kAlreadyExists, name);
        lose(stage);
        verdict.expect_result(look(session, "key"), kNotFound, name + std::string(", twice"));
    }
}

// The other process had its session, and the value in its memory, before.
void stored_again_by_open_session(Verdict &verdict, Stage &) {
    for (const auto &[name, lose] : kLosses) {
        Stage stage;
        { const Session made = open(verdict, stage, disk_desc()); }
        Session theirs;
        Peer peer(
            [&] {
                const HRESULT created = stage.create_without_device(disk_desc(), theirs);
                return created == kOk ? store(theirs, "key", kFirst) : created;
            },
            [&] {
                const HRESULT stored = store(theirs, "key", kSecond);
                return stored == kOk && find(theirs, "key") != kSecond ? kFail : stored;
            });
        verdict.expect_result(peer.begun(), kOk, "the other process");
        const Session session = open(verdict, stage, disk_desc());
        verdict.expect(find(session, "key") == kFirst, "the first value is not found");
        lose(stage);
        verdict.expect_result(peer.finish(), kOk, name);
        verdict.expect(find(session, "key") == kSecond, name + std::string(": not found here"));
    }
}

void damaged(Verdict &verdict, Stage &stage) {
    const Session session = with_first(verdict, stage);
    damage(stage, kFirst);
    verdict.expect_result(store_elsewhere(stage, kSecond), kOk, "the entry is damaged");
    verdict.expect(find(session, "key") == kSecond, "not found here");
    verdict.expect(is_found_elsewhere(stage, kSecond), "not found elsewhere");
}

// An entry that is damaged on disk and found all the same was in memory.
void in_memory(Verdict &verdict, Stage &stage) {
    const Session session = with_first(verdict, stage);
    damage(stage, kFirst);
    verdict.expect(find(session, "key") == kFirst, "it was not kept");
}

void in_memory_bounds(Verdict &verdict, Stage &stage) {
    Desc desc = disk_desc();
    desc.MaximumInMemoryCacheSizeBytes = 1;
    const Session session = open(verdict, stage, desc);
    store(session, "key", kFirst);
    verdict.expect(find(session, "key") == kFirst, "it is not found on disk");
    damage(stage, kFirst);
    verdict.expect_result(look(session, "key"), kNotFound, "it was kept");
}

constexpr Needs kNothing = Needs::nothing;
constexpr std::array kRows = {
    Row{"lost.found-no-more", kNothing, Native::differs, lost},
    Row{"lost.stored-again", kNothing, Native::same, stored_again},
    Row{"lost.stored-again-elsewhere", kNothing, Native::same, stored_again_elsewhere},
    Row{"lost.stored-again-by-open-session", kNothing, Native::same, stored_again_by_open_session},
    Row{"lost.damaged", kNothing, Native::same, damaged},
    Row{"temporary.found", kNothing, Native::same, in_memory},
    Row{"temporary.bounds", kNothing, Native::differs, in_memory_bounds},
};

}  // namespace

std::span<const Row> disk_rows() {
    return kRows;
}

}  // namespace conformance
