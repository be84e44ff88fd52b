// SPDX-License-Identifier: MIT
// ShaderCacheControl, and the messages that say why.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "d3d12/peer.h"
#include "row.h"

namespace conformance {
namespace {

constexpr unsigned kApplication = D3D12_SHADER_CACHE_KIND_FLAG_APPLICATION_MANAGED;
constexpr unsigned kAllKinds = 0xF;
constexpr unsigned kDisable = D3D12_SHADER_CACHE_CONTROL_FLAG_DISABLE;
constexpr unsigned kEnable = D3D12_SHADER_CACHE_CONTROL_FLAG_ENABLE;
constexpr unsigned kClear = D3D12_SHADER_CACHE_CONTROL_FLAG_CLEAR;

void developer_mode(Verdict &verdict, Stage &stage) {
    const Session session = open(verdict, stage, disk_desc());
    store(session, "key", std::string("value"));
    stage.messages();
    for (const unsigned flags : {kDisable, kEnable, kClear}) {
        verdict.expect_result(stage.control(kApplication, flags), kInvalidCall, "a control");
        verdict.expect(stage.said(1286), "no message");
    }
    verdict.expect(find(session, "key") == "value", "it had an effect");
    const auto lines = stage.log_lines();
    verdict.expect(std::ranges::any_of(lines,
                                       [](const std::string &line) {
                                           return line.find("CAIRN_DEVELOPER_MODE") !=
                                                  std::string::npos;
                                       }),
                   "no line says how to switch it on");
}

void invalid_flags(Verdict &verdict, Stage &stage) {
    const DeveloperMode on;
    const unsigned wrong[][2] = {{kApplication, 0},
                                 {kApplication, kDisable | kEnable},
                                 {kApplication, kDisable | kEnable | kClear},
                                 {kApplication, 0x8},
                                 {0, kClear},
                                 {0x10, kClear}};
    for (const auto &[kinds, flags] : wrong) {
        verdict.expect_result(stage.control(kinds, flags), kInvalidArgument, "a wrong control");
        verdict.expect(stage.said(1287), "no message");
    }
}

void disabled(Verdict &verdict, Stage &stage) {
    const DeveloperMode on;
    for (const Desc &desc : {memory_desc(), disk_desc()}) {
        const Session session = open(verdict, stage, desc);
        store(session, "key", std::string("value"));
        verdict.expect_result(stage.control(kApplication, kDisable), kOk, "disable");
        stage.messages();
        verdict.expect_result(look(session, "key"), kNotCurrentlyAvailable, "find");
        verdict.expect(stage.said(1295), "no message from find");
        verdict.expect_result(store(session, "other", std::string("value")), kNotCurrentlyAvailable,
                              "store");
        verdict.expect(stage.said(1295), "no message from store");
        for (Desc again : {desc, memory_desc(9), disk_desc(9)}) {
            void *none = &again;
            verdict.expect_result(stage.create(&again, &IID_ID3D12ShaderCacheSession, &none),
                                  kNotCurrentlyAvailable, "create");
            verdict.expect(none == nullptr, "the pointer is not null");
            verdict.expect(stage.said(1284), "no message from create");
        }
        verdict.expect_result(stage.control(kApplication, kEnable), kOk, "enable");
        verdict.expect(find(session, "key") == "value", "the entry is gone");
        verdict.expect_result(look(session, "other"), kNotFound, "what was refused");
        verdict.expect_result(store(session, "other", std::string("value")), kOk, "store again");
    }
}

void other_kinds(Verdict &verdict, Stage &stage) {
    const DeveloperMode on;
    const Session session = open(verdict, stage, disk_desc());
    for (const unsigned kind : {0x1u, 0x2u}) {
        verdict.expect_result(stage.control(kind, kDisable), kOk, "another kind");
        verdict.expect_result(store(session, std::to_string(kind), std::string("value")), kOk,
                              "a store");
        verdict.expect_result(stage.control(kind, kEnable), kOk, "another kind");
    }
}

void already_set(Verdict &verdict, Stage &stage) {
    const DeveloperMode on;
    verdict.expect_result(stage.control(kApplication, kEnable), kOk, "enabled already");
    verdict.expect(stage.said(1288), "no message");
    verdict.expect_result(stage.control(kApplication, kDisable), kOk, "disable");
    verdict.expect(!stage.said(1288), "a message for a change");
    verdict.expect_result(stage.control(kApplication, kDisable), kOk, "disabled already");
    verdict.expect(stage.said(1288), "no message");
    verdict.expect_result(stage.control(kApplication, kEnable), kOk, "enable");
}

void clear_sessions(Verdict &verdict, Stage &stage) {
    const DeveloperMode on;
    const Session memory = open(verdict, stage, memory_desc());
    const Session disk = open(verdict, stage, disk_desc());
    for (const Session *session : {&memory, &disk}) {
        store(*session, "key", std::string("value"));
    }
    verdict.expect_result(stage.control(kApplication, kClear), kOk, "clear");
    for (const Session *session : {&memory, &disk}) {
        verdict.expect_result(look(*session, "key"), kNotFound, "after clearing");
        verdict.expect_result(store(*session, "key", std::string("new")), kOk, "a store");
        verdict.expect(find(*session, "key") == "new", "another value");
    }
}

void clear_on_disk(Verdict &verdict, Stage &stage) {
    const DeveloperMode on;
    for (const unsigned identifier : {1u, 2u}) {
        store(open(verdict, stage, disk_desc(identifier)), "key", std::string("value"));
    }
    verdict.expect_result(stage.control(kApplication, kClear), kOk, "clear");
    for (const unsigned identifier : {1u, 2u}) {
        verdict.expect_result(look(open(verdict, stage, disk_desc(identifier)), "key"), kNotFound,
                              "a cache that nobody had open");
    }
}

class WorkingDirectory {
  public:
    WorkingDirectory() : before_(std::filesystem::current_path()) {
        std::filesystem::current_path(directory_.path());
    }
    ~WorkingDirectory() { std::filesystem::current_path(before_); }

  private:
    cairn_test::TempDirectory directory_;
    std::filesystem::path before_;
};

void clear_working_directory(Verdict &verdict, Stage &stage) {
    const DeveloperMode on;
    const WorkingDirectory here;
    Desc desc = disk_desc();
    desc.Flags = D3D12_SHADER_CACHE_FLAG_USE_WORKING_DIR;
    { store(open(verdict, stage, desc), "key", std::string("value")); }
    verdict.expect_result(stage.control(kApplication, kClear), kOk, "clear");
    const Session session = open(verdict, stage, desc);
    verdict.expect(find(session, "key") == "value", "a cache that is not open was touched");
    verdict.expect_result(stage.control(kApplication, kClear), kOk, "clear");
    verdict.expect_result(look(session, "key"), kNotFound, "an open one");
}

void clear_and_disable(Verdict &verdict, Stage &stage) {
    const DeveloperMode on;
    const Session session = open(verdict, stage, disk_desc());
    for (const unsigned with : {kDisable, kEnable}) {
        store(session, "key", std::string("value"));
        verdict.expect_result(stage.control(kApplication, kClear | with), kOk, "together");
        verdict.expect_result(look(session, "key"),
                              with == kDisable ? kNotCurrentlyAvailable : kNotFound, "then");
        verdict.expect_result(stage.control(kApplication, kEnable), kOk, "enable");
        verdict.expect_result(look(session, "key"), kNotFound, "at last");
    }
}

void all_processes(Verdict &verdict, Stage &stage) {
    const DeveloperMode on;
    Session theirs;
    Session their_memory;
    Peer peer(
        [&] {
            HRESULT result = stage.create_without_device(disk_desc(), theirs);
            if (result == kOk) result = stage.create_without_device(memory_desc(), their_memory);
            if (result == kOk) result = store(theirs, "key", std::string("value"));
            if (result == kOk) result = store(their_memory, "key", std::string("value"));
            return result;
        },
        [&] {
            if (look(theirs, "key") != kNotCurrentlyAvailable) return kFalse;
            const auto options = stage.options();
            if (CAIRN_TEST_FUNCTION(shader_cache_control)(&options, kApplication, kEnable) != kOk) {
                return kInvalidCall;
            }
            const bool gone =
                look(theirs, "key") == kNotFound && look(their_memory, "key") == kNotFound;
            return gone ? kOk : kNotFound;
        });
    verdict.expect_result(peer.begun(), kOk, "in another process");
    verdict.expect_result(stage.control(kApplication, kDisable | kClear), kOk, "here");
    // Without a file to look at, another process may notice a tenth of a second later.
    usleep(150'000);
    verdict.expect_result(peer.finish(), kOk, "there");
}

void lasts(Verdict &verdict, Stage &stage) {
    const DeveloperMode on;
    const HRESULT result = in_other_process([&] {
        const auto options = stage.options();
        return CAIRN_TEST_FUNCTION(shader_cache_control)(&options, kApplication, kDisable);
    });
    verdict.expect_result(result, kOk, "in a process that has ended");
    Session session;
    verdict.expect_result(stage.create(disk_desc(), session), kNotCurrentlyAvailable, "create");
    verdict.expect_result(stage.control(kAllKinds & ~0x4u, kEnable), kOk, "enable");
    verdict.expect_result(stage.create(disk_desc(), session), kOk, "create again");
}

void created_and_destroyed(Verdict &verdict, Stage &stage) {
    Session session = open(verdict, stage, memory_desc());
    verdict.expect(stage.messages() == std::vector<int>{1280}, "not just 1280");
    session.reset();
    verdict.expect(stage.messages() == std::vector<int>{1282}, "not just 1282");
}

// How many entries a cache of GL programs has after one was stored and a kind was cleared.
uint64_t programs_after_clear(Verdict &verdict, Stage &stage, unsigned kinds) {
    cairn_options options = {};
    options.size = sizeof options;
    options.root = stage.root().c_str();
    options.identifier = "gl-a_program";
    cairn_cache *cache = nullptr;
    verdict.expect(cairn_open(&options, &cache) == CAIRN_OK, "no cache of GL programs");
    verdict.expect(cairn_put(cache, "key", 3, "value", 5, nullptr) == CAIRN_OK, "a put");
    verdict.expect_result(stage.control(kinds, kClear), kOk, "clear");
    cairn_stats stats = {};
    stats.size = sizeof stats;
    cairn_stats_get(cache, &stats);
    cairn_close(cache);
    return stats.entries;
}

void cache_for_driver(Verdict &verdict, Stage &stage) {
    const DeveloperMode on;
    const Session session = open(verdict, stage, disk_desc());
    store(session, "key", std::string("value"));
    verdict.expect(programs_after_clear(verdict, stage, 0x2) == 1, "conversions are GL programs");
    verdict.expect(programs_after_clear(verdict, stage, 0x1) == 0, "GL programs are not cleared");
    verdict.expect(find(session, "key") == "value", "a session was cleared");
}

constexpr Native kSame = Native::same;
constexpr Needs kNothing = Needs::nothing;
constexpr std::array kRows = {
    Row{"control.developer-mode", kNothing, kSame, developer_mode},
    Row{"control.invalid-flags", kNothing, kSame, invalid_flags},
    Row{"control.disabled", kNothing, kSame, disabled},
    Row{"control.other-kinds", kNothing, kSame, other_kinds},
    Row{"control.already-set", kNothing, kSame, already_set},
    Row{"control.clear-sessions", kNothing, kSame, clear_sessions},
    Row{"control.clear-on-disk", kNothing, kSame, clear_on_disk},
    Row{"control.clear-working-directory", kNothing, kSame, clear_working_directory},
    Row{"control.clear-and-disable", kNothing, kSame, clear_and_disable},
    Row{"control.all-processes", kNothing, kSame, all_processes},
    Row{"control.cache-for-driver", kNothing, Native::differs, cache_for_driver},
    Row{"control.lasts", kNothing, kSame, lasts},
    Row{"messages.created-and-destroyed", kNothing, kSame, created_and_destroyed},
};

}  // namespace

std::span<const Row> control_rows() {
    return kRows;
}

}  // namespace conformance
