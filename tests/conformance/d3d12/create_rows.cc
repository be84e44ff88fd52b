// SPDX-License-Identifier: MIT
// CreateShaderCacheSession: arguments and what they give.
#include <sys/stat.h>

#include <array>
#include <cstring>

#include "d3d12/peer.h"
#include "row.h"

namespace conformance {
namespace {

int g_untouched;
void *const g_place = &g_untouched;

// The result of a refused description, and whether it left the pointer alone.
void expect_refused(Verdict &verdict, Stage &stage, const Desc *desc, const char *what) {
    void *session = g_place;
    verdict.expect_result(stage.create(desc, &IID_ID3D12ShaderCacheSession, &session),
                          kInvalidArgument, what);
    verdict.expect(session == g_place, std::string(what) + ": the pointer was written to");
    verdict.expect(stage.said(1283), std::string(what) + ": no message");
}

void desc_null(Verdict &verdict, Stage &stage) {
    expect_refused(verdict, stage, nullptr, "a null description");
}

void identifier_zero(Verdict &verdict, Stage &stage) {
    Desc desc = memory_desc();
    desc.Identifier = {};
    expect_refused(verdict, stage, &desc, "an identifier of zeros");
}

void desc_before_pointers(Verdict &verdict, Stage &stage) {
    Desc desc = memory_desc();
    desc.Identifier = {};
    verdict.expect_result(stage.create(&desc, &IID_ID3D12ShaderCacheSession, nullptr),
                          kInvalidArgument, "with a null pointer");
    const IID other = IID_ID3D12Device;
    void *session = g_place;
    verdict.expect_result(stage.create(&desc, &other, &session), kInvalidArgument,
                          "with another interface");
    verdict.expect(session == g_place, "the pointer was written to");
}

void mode_unknown(Verdict &verdict, Stage &stage) {
    Desc desc = memory_desc();
    const int unknown = 2;
    std::memcpy(&desc.Mode, &unknown, sizeof unknown);
    expect_refused(verdict, stage, &desc, "mode 2");
}

void flags_unknown(Verdict &verdict, Stage &stage) {
    for (const unsigned flags : {0x4u, 0x80000000u, 0x5u}) {
        Desc desc = disk_desc();
        std::memcpy(&desc.Flags, &flags, sizeof flags);
        expect_refused(verdict, stage, &desc, "an unknown flag");
    }
}

void file_size_too_large(Verdict &verdict, Stage &stage) {
    for (Desc desc : {memory_desc(), disk_desc()}) {
        desc.MaximumValueFileSizeBytes = 1024 * 1024 * 1024 + 1;
        expect_refused(verdict, stage, &desc, "a file size above 1 GiB");
        desc.MaximumValueFileSizeBytes = 1024 * 1024 * 1024;
        (void)open(verdict, stage, desc);
    }
}

void pointer_null(Verdict &verdict, Stage &stage) {
    const Desc desc = disk_desc();
    verdict.expect_result(stage.create(&desc, &IID_ID3D12ShaderCacheSession, nullptr), kFalse,
                          "a null pointer");
    verdict.expect(stage.caches().empty(), "a cache was made");
}

void pointer_null_other_version(Verdict &verdict, Stage &stage) {
    Desc desc = memory_desc();
    const Session session = open(verdict, stage, desc);
    desc.Version = 2;
    verdict.expect_result(stage.create(&desc, &IID_ID3D12ShaderCacheSession, nullptr), kFalse,
                          "a null pointer");
}

void pointer_null_iid_null(Verdict &verdict, Stage &stage) {
    const Desc desc = memory_desc();
    const auto options = stage.options();
    verdict.expect_result(
        CAIRN_TEST_FUNCTION(create_session)(real_device(), &options, &desc, nullptr, nullptr),
        kFalse, "both null");
}

void iid_null(Verdict &verdict, Stage &stage) {
    const Desc desc = memory_desc();
    const auto options = stage.options();
    void *session = g_place;
    verdict.expect_result(
        CAIRN_TEST_FUNCTION(create_session)(real_device(), &options, &desc, nullptr, &session),
        kPointer, "a null interface");
    verdict.expect(session == nullptr, "the pointer is not null");
}

void iid_wrong(Verdict &verdict, Stage &stage) {
    const Desc desc = disk_desc();
    void *session = g_place;
    verdict.expect_result(stage.create(&desc, &IID_ID3D12Device, &session), kNoInterface,
                          "another interface");
    verdict.expect(session == nullptr, "the pointer is not null");
    verdict.expect(stage.caches().empty(), "a cache was made");
}

void every_interface(Verdict &verdict, Stage &stage) {
    const Desc desc = memory_desc();
    for (const IID *iid : {&IID_IUnknown, &IID_ID3D12Object, &IID_ID3D12DeviceChild,
                           &IID_ID3D12ShaderCacheSession}) {
        Session session;
        verdict.expect_result(stage.create(&desc, iid, session.receive()), kOk, "an interface");
        verdict.expect(session && desc_of(session.get()).Identifier == desc.Identifier,
                       "it is no session");
    }
}

void other_version(Verdict &verdict, Stage &stage) {
    for (Desc desc : {memory_desc(), disk_desc()}) {
        desc.Version = 1;
        const Session session = open(verdict, stage, desc);
        store(session, "key", std::string("value"));
        stage.messages();
        desc.Version = 2;
        void *other = g_place;
        verdict.expect_result(stage.create(&desc, &IID_ID3D12ShaderCacheSession, &other),
                              kAlreadyExists, "another version");
        verdict.expect(other == nullptr, "the pointer is not null");
        verdict.expect(stage.said(1285), "no message");
        verdict.expect(find(session, "key") == "value", "the open session lost its entry");
    }
}

void other_version_elsewhere(Verdict &verdict, Stage &stage) {
    Desc desc = disk_desc();
    desc.Version = 1;
    const Session session = open(verdict, stage, desc);
    const HRESULT result = in_other_process([&] {
        Session other;
        desc.Version = 2;
        return stage.create_without_device(desc, other);
    });
    verdict.expect_result(result, kAlreadyExists, "another version in another process");
}

void other_process(Verdict &verdict, Stage &stage) {
    const Desc desc = disk_desc();
    const Session session = open(verdict, stage, desc);
    store(session, "key", std::string("value"));
    const HRESULT result = in_other_process([&] {
        Session other;
        const HRESULT created = stage.create_without_device(desc, other);
        if (created != kOk) return created;
        if (find(other, "key") != "value") return kNotFound;
        return store(other, "other", std::string("theirs"));
    });
    verdict.expect_result(result, kOk, "in another process");
    verdict.expect(find(session, "other") == "theirs", "what it stored is not found");
}

void cannot_be_opened(Verdict &verdict, Stage &stage) {
    // Writable by everybody: not a place to take programs from.
    mkdir(stage.root().c_str(), 0700);
    chmod(stage.root().c_str(), 0777);
    void *session = g_place;
    const Desc desc = disk_desc();
    verdict.expect_result(stage.create(&desc, &IID_ID3D12ShaderCacheSession, &session),
                          kCacheCorrupt, "an unsafe directory");
    verdict.expect(session == nullptr, "the pointer is not null");
    verdict.expect(stage.said(1294), "no message");
    verdict.expect(!stage.log_lines().empty(), "no line says why");
}

void defaults(Verdict &verdict, Stage &stage) {
    for (const Desc &asked : {memory_desc(), disk_desc()}) {
        const Session session = open(verdict, stage, asked);
        const Desc desc = desc_of(session.get());
        verdict.expect(desc.Identifier == asked.Identifier && desc.Mode == asked.Mode &&
                           desc.Flags == asked.Flags && desc.Version == asked.Version,
                       "what was asked for is not told");
        verdict.expect(desc.MaximumInMemoryCacheSizeBytes == 1048576, "bytes in memory");
        verdict.expect(desc.MaximumInMemoryCacheEntries == 128, "entries in memory");
        verdict.expect(desc.MaximumValueFileSizeBytes == 134217728, "bytes on disk");
    }
}

void given_values(Verdict &verdict, Stage &stage) {
    Desc asked = disk_desc();
    asked.Flags = D3D12_SHADER_CACHE_FLAG_DRIVER_VERSIONED;
    asked.MaximumInMemoryCacheSizeBytes = 7;
    asked.MaximumInMemoryCacheEntries = 3;
    asked.MaximumValueFileSizeBytes = 4096;
    asked.Version = 0x123456789abcdef0;
    const Session session = open(verdict, stage, asked);
    const Desc desc = desc_of(session.get());
    verdict.expect(desc.Flags == asked.Flags && desc.Version == asked.Version &&
                       desc.MaximumInMemoryCacheSizeBytes == 7 &&
                       desc.MaximumInMemoryCacheEntries == 3 &&
                       desc.MaximumValueFileSizeBytes == 4096,
                   "what was asked for is not told");
}

void extreme_sizes(Verdict &verdict, Stage &stage) {
    unsigned identifier = 1;
    for (const UINT size : {UINT{0xffffffff}, UINT{1}, UINT{1073741825}}) {
        for (Desc desc : {memory_desc(++identifier), disk_desc(++identifier)}) {
            desc.MaximumInMemoryCacheSizeBytes = size;
            desc.MaximumInMemoryCacheEntries = size;
            const Session session = open(verdict, stage, desc);
            verdict.expect_result(store(session, "key", std::string("value")), kOk, "a store");
        }
    }
}

void same_again(Verdict &verdict, Stage &stage) {
    for (const Desc &desc : {memory_desc(), disk_desc()}) {
        const Session one = open(verdict, stage, desc);
        const Session other = open(verdict, stage, desc);
        verdict.expect(one.get() != other.get(), "it is the same object");
        verdict.expect_result(store(one, "key", std::string("value")), kOk, "a store");
        verdict.expect(find(other, "key") == "value", "the contents are not shared");
        verdict.expect_result(store(other, "key", std::string("value")), kAlreadyExists,
                              "the same in the other");
    }
}

void options_size(Verdict &verdict, Stage &stage) {
    auto options = stage.options();
    options.size = 8;
    const Desc desc = memory_desc();
    void *session = g_place;
    verdict.expect_result(CAIRN_TEST_FUNCTION(create_session)(
                              nullptr, &options, &desc, &IID_ID3D12ShaderCacheSession, &session),
                          kInvalidArgument, "options of an unknown size");
    verdict.expect(session == g_place, "the pointer was written to");
}

void root_relative(Verdict &verdict, Stage &stage) {
    const DeveloperMode on;
    auto options = stage.options();
    for (const char *root : {"", "cache", "./cache", "../cache"}) {
        options.root = root;
        for (const Desc &desc : {memory_desc(), disk_desc()}) {
            void *session = g_place;
            verdict.expect_result(
                CAIRN_TEST_FUNCTION(create_session)(nullptr, &options, &desc,
                                                    &IID_ID3D12ShaderCacheSession, &session),
                kInvalidArgument, std::string("a session in '") + root + "'");
            verdict.expect(session == g_place, "the pointer was written to");
        }
        verdict.expect_result(CAIRN_TEST_FUNCTION(shader_cache_control)(&options, 8, 4),
                              kInvalidArgument, std::string("control of '") + root + "'");
    }
}

constexpr Native kSame = Native::same;
constexpr std::array kRows = {
    Row{"create.desc-null", Needs::nothing, kSame, desc_null},
    Row{"create.identifier-zero", Needs::nothing, kSame, identifier_zero},
    Row{"create.desc-before-pointers", Needs::nothing, kSame, desc_before_pointers},
    Row{"create.mode-unknown", Needs::nothing, kSame, mode_unknown},
    Row{"create.flags-unknown", Needs::nothing, kSame, flags_unknown},
    Row{"create.file-size-too-large", Needs::nothing, kSame, file_size_too_large},
    Row{"create.pointer-null", Needs::nothing, kSame, pointer_null},
    Row{"create.pointer-null-other-version", Needs::nothing, kSame, pointer_null_other_version},
    Row{"create.pointer-null-iid-null", Needs::nothing, kSame, pointer_null_iid_null},
    Row{"create.iid-null", Needs::nothing, Native::differs, iid_null},
    Row{"create.iid-wrong", Needs::nothing, kSame, iid_wrong},
    Row{"create.every-interface", Needs::nothing, kSame, every_interface},
    Row{"create.other-version", Needs::nothing, kSame, other_version},
    Row{"create.other-version-elsewhere", Needs::nothing, Native::differs, other_version_elsewhere},
    Row{"create.other-process", Needs::nothing, Native::differs, other_process},
    Row{"create.cannot-be-opened", Needs::nothing, kSame, cannot_be_opened},
    Row{"create.defaults", Needs::nothing, kSame, defaults},
    Row{"create.given-values", Needs::nothing, kSame, given_values},
    Row{"create.extreme-sizes", Needs::nothing, kSame, extreme_sizes},
    Row{"create.same-again", Needs::nothing, kSame, same_again},
    Row{"create.options-size", Needs::nothing, kSame, options_size},
    Row{"create.root-relative", Needs::nothing, kSame, root_relative},
};

}  // namespace

std::span<const Row> create_rows() {
    return kRows;
}

}  // namespace conformance
