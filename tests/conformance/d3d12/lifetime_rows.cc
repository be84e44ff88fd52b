// SPDX-License-Identifier: MIT
// Versions, what is left when sessions end, and SetDeleteOnDestroy.
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <thread>

#include "d3d12/peer.h"
#include "row.h"

namespace conformance {
namespace {

void memory_ends(Verdict &verdict, Stage &stage) {
    const Desc desc = memory_desc();
    {
        Session one = open(verdict, stage, desc);
        const Session other = open(verdict, stage, desc);
        store(one, "key", std::string("value"));
        one.reset();
        verdict.expect(find(other, "key") == "value", "gone with the first session");
    }
    verdict.expect_result(look(open(verdict, stage, desc), "key"), kNotFound, "after the last");
}

void memory_versions(Verdict &verdict, Stage &stage) {
    Desc desc = memory_desc();
    for (const UINT64 version : {UINT64{1}, UINT64{2}, UINT64{1}}) {
        desc.Version = version;
        const Session session = open(verdict, stage, desc);
        verdict.expect_result(look(session, "key"), kNotFound, "a new version");
        store(session, "key", std::string("value"));
    }
}

void disk_stays(Verdict &verdict, Stage &stage) {
    { store(open(verdict, stage, disk_desc()), "key", std::string("value")); }
    verdict.expect(find(open(verdict, stage, disk_desc()), "key") == "value", "not found again");
    const HRESULT result = in_other_process([&] {
        Session session;
        if (stage.create_without_device(disk_desc(), session) != kOk) return kCacheCorrupt;
        return find(session, "key") == "value" ? kOk : kNotFound;
    });
    verdict.expect_result(result, kOk, "in another process");
}

void disk_versions(Verdict &verdict, Stage &stage) {
    Desc desc = disk_desc();
    for (const UINT64 version : {UINT64{1}, UINT64{2}, UINT64{1}}) {
        desc.Version = version;
        const Session session = open(verdict, stage, desc);
        verdict.expect_result(look(session, "key"), kNotFound, "a new version");
        verdict.expect_result(store(session, "key", std::string("value")), kOk, "a store");
    }
    verdict.expect(find(open(verdict, stage, desc), "key") == "value", "the same version");
}

void delete_one_of_two(Verdict &verdict, Stage &stage) {
    for (const bool is_marked_first : {true, false}) {
        Session one = open(verdict, stage, disk_desc());
        Session other = open(verdict, stage, disk_desc());
        store(one, "key", std::string("value"));
        one->SetDeleteOnDestroy();
        verdict.expect(find(one, "key") == "value", "gone at once");
        (is_marked_first ? one : other).reset();
        const Session &left = is_marked_first ? other : one;
        verdict.expect(find(left, "key") == "value", "gone with the first of two");
        verdict.expect_result(store(left, "more", std::string("value")), kOk, "a store");
        verdict.expect(stage.entries_on_disk() == 2, "not on disk before the last goes");
        (is_marked_first ? other : one).reset();
        verdict.expect(stage.entries_on_disk() == 0, "still on disk after the last");
        const Session again = open(verdict, stage, disk_desc());
        verdict.expect_result(look(again, "key"), kNotFound, "after the last");
        verdict.expect_result(look(again, "more"), kNotFound, "what was stored later");
    }
}

void delete_once(Verdict &verdict, Stage &stage) {
    { open(verdict, stage, disk_desc())->SetDeleteOnDestroy(); }
    { store(open(verdict, stage, disk_desc()), "key", std::string("value")); }
    verdict.expect(find(open(verdict, stage, disk_desc()), "key") == "value",
                   "the wish outlives the deletion");
}

void delete_memory(Verdict &verdict, Stage &stage) {
    Session session = open(verdict, stage, memory_desc());
    session->SetDeleteOnDestroy();
    store(session, "key", std::string("value"));
    verdict.expect(find(session, "key") == "value", "gone at once");
}

void delete_with_last_elsewhere(Verdict &verdict, Stage &stage) {
    Session session;
    Session theirs;
    Peer peer([&] { return stage.create_without_device(disk_desc(), theirs); },
              [&] {
                  const bool found = find(theirs, "key") == "value";
                  theirs.reset();
                  return found ? kOk : kNotFound;
              });
    verdict.expect_result(peer.begun(), kOk, "in another process");
    session = open(verdict, stage, disk_desc());
    store(session, "key", std::string("value"));
    session->SetDeleteOnDestroy();
    session.reset();
    verdict.expect_result(peer.finish(), kOk, "the other process goes on");
    verdict.expect(stage.entries_on_disk() == 0, "still on disk after the last");
    verdict.expect_result(look(open(verdict, stage, disk_desc()), "key"), kNotFound,
                          "after the last, there");
}

void delete_marked_elsewhere(Verdict &verdict, Stage &stage) {
    Session session = open(verdict, stage, disk_desc());
    store(session, "key", std::string("value"));
    const HRESULT result = in_other_process([&] {
        Session theirs;
        const HRESULT created = stage.create_without_device(disk_desc(), theirs);
        if (created == kOk) theirs->SetDeleteOnDestroy();
        theirs.reset();
        return created;
    });
    verdict.expect_result(result, kOk, "in another process");
    verdict.expect(find(session, "key") == "value", "gone with the other process");
    session.reset();
    verdict.expect_result(look(open(verdict, stage, disk_desc()), "key"), kNotFound,
                          "after the last, here");
}

void delete_process_dies(Verdict &verdict, Stage &stage) {
    Session theirs;
    Peer peer(
        [&] {
            const HRESULT created = stage.create_without_device(disk_desc(), theirs);
            if (created != kOk) return created;
            theirs->SetDeleteOnDestroy();
            return store(theirs, "key", std::string("value"));
        },
        [] { return kOk; });
    verdict.expect_result(peer.begun(), kOk, "in another process");
    peer.kill();
    verdict.expect_result(look(open(verdict, stage, disk_desc()), "key"), kNotFound,
                          "after its death");
}

void delete_other_process_dies(Verdict &verdict, Stage &stage) {
    Session session = open(verdict, stage, disk_desc());
    store(session, "key", std::string("value"));
    Session theirs;
    Peer peer(
        [&] {
            const HRESULT created = stage.create_without_device(disk_desc(), theirs);
            if (created == kOk) theirs->SetDeleteOnDestroy();
            return created;
        },
        [] { return kOk; });
    verdict.expect_result(peer.begun(), kOk, "in another process");
    peer.kill();
    verdict.expect(find(session, "key") == "value", "gone with the process");
    verdict.expect_result(look(open(verdict, stage, disk_desc()), "key"), kOk, "a new session");
    session.reset();
    verdict.expect_result(look(open(verdict, stage, disk_desc()), "key"), kNotFound,
                          "after the last");
}

void delete_not_possible(Verdict &verdict, Stage &stage) {
    { store(open(verdict, stage, disk_desc()), "key", std::string("value")); }
    const std::string cache = stage.caches().at(0);
    const HRESULT result = where_reading_only(stage.root(), cache, [&] {
        Session session;
        stage.messages();
        const HRESULT created = stage.create_without_device(disk_desc(), session);
        if (created != kOk) return created;
        session->SetDeleteOnDestroy();
        const bool is_told = stage.said(1326);
        return is_told && find(session, "key") == "value" ? kOk : kNotFound;
    });
    verdict.expect_result(result, kOk, "told, and going on");
}

void many_threads(Verdict &verdict, Stage &stage) {
    constexpr unsigned kThreads = 8;
    std::atomic<unsigned> stored = 0;
    std::atomic<unsigned> wrong = 0;
    const Session session = open(verdict, stage, disk_desc());
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t) {
        threads.emplace_back([&] {
            for (unsigned i = 0; i < 50; ++i) {
                const HRESULT result = store(session, std::to_string(i), std::string("value"));
                stored += result == kOk ? 1 : 0;
                wrong += result != kOk && result != kAlreadyExists ? 1 : 0;
                wrong += find(session, std::to_string(i)) != "value" ? 1 : 0;
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    verdict.expect(stored == 50, "not exactly one S_OK for each key");
    verdict.expect(wrong == 0, "other results");
}

// As the OpenCL runtime on D3D12 does: a session for the driver's version beside one without, two
// calls for each value, and clearing by deletion and creation from the session's own description.
void opencl_on_12(Verdict &verdict, Stage &stage) {
    Desc plain = disk_desc();
    plain.Version = 7;
    Desc versioned = plain;
    versioned.Flags = D3D12_SHADER_CACHE_FLAG_DRIVER_VERSIONED;
    const Session compiled = open(verdict, stage, plain);
    Session translated = open(verdict, stage, versioned);
    const std::string key = std::string("source") + '\0' + "options";
    verdict.expect_result(look(translated, key), kNotFound, "at first");
    verdict.expect_result(store(translated, key, bytes_of(1, 20'000)), kOk, "a store");
    verdict.expect_result(store(compiled, key, bytes_of(2, 5'000)), kOk, "a store beside it");
    verdict.expect(find(translated, key).size() == 20'000, "another size");

    translated->SetDeleteOnDestroy();
    const Desc own = desc_of(translated.get());
    translated.reset();
    translated = open(verdict, stage, own);
    verdict.expect_result(look(translated, key), kNotFound, "after clearing");
    verdict.expect(find(compiled, key).size() == 5'000, "the other was cleared, too");
    verdict.expect_result(store(translated, key, bytes_of(1, 20'000)), kOk, "a store again");
}

constexpr Native kSame = Native::same;
constexpr Needs kNothing = Needs::nothing;
constexpr std::array kRows = {
    Row{"memory.ends-with-last", kNothing, kSame, memory_ends},
    Row{"memory.versions", kNothing, kSame, memory_versions},
    Row{"disk.stays", kNothing, kSame, disk_stays},
    Row{"disk.versions", kNothing, kSame, disk_versions},
    Row{"delete.one-of-two", kNothing, kSame, delete_one_of_two},
    Row{"delete.once", kNothing, kSame, delete_once},
    Row{"delete.memory", kNothing, kSame, delete_memory},
    Row{"delete.with-last-elsewhere", kNothing, Native::differs, delete_with_last_elsewhere},
    Row{"delete.marked-elsewhere", kNothing, Native::differs, delete_marked_elsewhere},
    Row{"delete.process-dies", kNothing, kSame, delete_process_dies},
    Row{"delete.other-process-dies", kNothing, Native::differs, delete_other_process_dies},
    Row{"delete.not-possible", kNothing, kSame, delete_not_possible},
    Row{"threads.many", kNothing, kSame, many_threads},
    Row{"opencl-on-12", kNothing, kSame, opencl_on_12},
};

}  // namespace

std::span<const Row> lifetime_rows() {
    return kRows;
}

}  // namespace conformance
