// SPDX-License-Identifier: MIT
// Sessions as objects.
#include <array>
#include <atomic>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "row.h"

namespace conformance {
namespace {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

// An object of the application.
class Counted final : public IUnknown {
  public:
    HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void **object) override {
        *object = this;
        AddRef();
        return kOk;
    }
    ULONG STDMETHODCALLTYPE AddRef() override {
        call_back();
        return ++references;
    }
    ULONG STDMETHODCALLTYPE Release() override {
        call_back();
        return --references;
    }

    std::atomic<ULONG> references = 1;
    SessionInterface *to_call = nullptr;  // with every call

  private:
    void call_back() const {
        UINT size = 0;
        if (to_call != nullptr) to_call->GetPrivateData(IID_IUnknown, &size, nullptr);
    }
};

#pragma GCC diagnostic pop

constexpr GUID kTag = {0x12345678, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};

void query_null(Verdict &verdict, Stage &stage) {
    const Session session = open(verdict, stage, memory_desc());
    verdict.expect_result(session->QueryInterface(IID_IUnknown, nullptr), kPointer, "null");
}

void query_interfaces(Verdict &verdict, Stage &stage) {
    const Session session = open(verdict, stage, memory_desc());
    Com<IUnknown> unknown;
    verdict.expect_result(session->QueryInterface(IID_IUnknown, unknown.receive()), kOk,
                          "IUnknown");
    for (const IID *iid :
         {&IID_ID3D12Object, &IID_ID3D12DeviceChild, &IID_ID3D12ShaderCacheSession}) {
        for (IUnknown *from : {static_cast<IUnknown *>(session.get()), unknown.get()}) {
            Com<IUnknown> found;
            verdict.expect_result(from->QueryInterface(*iid, found.receive()), kOk, "a base");
            verdict.expect(found.get() == static_cast<IUnknown *>(session.get()), "another object");
        }
    }
    for (const IID *iid : {&IID_ID3D12Pageable, &IID_ID3D12Device, &IID_ID3D12Resource}) {
        void *found = &verdict;
        verdict.expect_result(session->QueryInterface(*iid, &found), kNoInterface, "another");
        verdict.expect(found == nullptr, "the pointer is not null");
    }
}

void identity(Verdict &verdict, Stage &stage) {
    Com<IUnknown> created;
    const Desc desc = memory_desc();
    verdict.expect_result(stage.create(&desc, &IID_IUnknown, created.receive()), kOk, "create");
    Session session;
    verdict.expect_result(created->QueryInterface(IID_ID3D12ShaderCacheSession, session.receive()),
                          kOk, "session");
    verdict.expect(static_cast<IUnknown *>(session.get()) != created.get(), "one pointer for both");
    Com<IUnknown> from_session;
    Com<IUnknown> from_unknown;
    session->QueryInterface(IID_IUnknown, from_session.receive());
    created->QueryInterface(IID_IUnknown, from_unknown.receive());
    verdict.expect(from_session.get() == created.get(), "another IUnknown by the session");
    verdict.expect(from_unknown.get() == created.get(), "another IUnknown by itself");
    verdict.expect(created->AddRef() == 5, "not one count for all");
    verdict.expect(session->Release() == 4, "not one count for all");
    void *found = &verdict;
    verdict.expect_result(created->QueryInterface(IID_ID3D12Device, &found), kNoInterface, "other");
    verdict.expect(found == nullptr, "the pointer is not null");
}

void references(Verdict &verdict, Stage &stage) {
    const Session session = open(verdict, stage, memory_desc());
    verdict.expect(session->AddRef() == 2, "AddRef is not 2");
    verdict.expect(session->Release() == 1, "Release is not 1");
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (unsigned i = 0; i < 10'000; ++i) {
                session->AddRef();
                session->Release();
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    verdict.expect(session->AddRef() == 2 && session->Release() == 1, "a count is lost");
}

void private_data(Verdict &verdict, Stage &stage) {
    const Session session = open(verdict, stage, memory_desc());
    UINT size = 9;
    char data[16] = {};
    verdict.expect_result(session->GetPrivateData(kTag, &size, data), kNotFound, "nothing yet");
    verdict.expect(size == 0, "the size is not 0");
    verdict.expect_result(session->SetPrivateData(kTag, 6, "hello"), kOk, "set");
    verdict.expect_result(session->GetPrivateData(kTag, &size, nullptr), kOk, "the size");
    verdict.expect(size == 6, "another size");
    size = 5;
    verdict.expect_result(session->GetPrivateData(kTag, &size, data), kMoreData, "too small");
    verdict.expect(size == 6 && data[0] == 0, "the size, or the buffer, after too small");
    size = 16;
    verdict.expect_result(session->GetPrivateData(kTag, &size, data), kOk, "get");
    verdict.expect(size == 6 && std::strcmp(data, "hello") == 0, "other data");
    verdict.expect_result(session->SetPrivateData(kTag, 2, "x"), kOk, "replace");
    verdict.expect_result(session->GetPrivateData(kTag, &size, data), kOk, "get");
    verdict.expect(size == 2 && std::strcmp(data, "x") == 0, "the older data");
    verdict.expect_result(session->SetPrivateData(kTag, 0, nullptr), kOk, "remove");
    verdict.expect_result(session->SetPrivateData(kTag, 0, nullptr), kFalse, "remove again");
    verdict.expect_result(session->GetPrivateData(kTag, &size, data), kNotFound, "removed");
    verdict.expect_result(session->GetPrivateData(kTag, nullptr, data), kInvalidArgument, "null");
}

void private_interface(Verdict &verdict, Stage &stage) {
    Counted object;
    {
        const Session session = open(verdict, stage, memory_desc());
        object.to_call = session.get();
        verdict.expect_result(session->SetPrivateDataInterface(kTag, &object), kOk, "set");
        verdict.expect(object.references == 2, "no reference is held");
        IUnknown *found = nullptr;
        UINT size = sizeof(void *);
        verdict.expect_result(session->GetPrivateData(kTag, &size, &found), kOk, "get");
        verdict.expect(found == &object && object.references == 3, "no reference is given");
        object.Release();
        verdict.expect_result(session->SetPrivateDataInterface(kTag, nullptr), kOk, "remove");
        verdict.expect(object.references == 1, "the reference is not given back");
        session->SetPrivateDataInterface(kTag, &object);
        object.to_call = nullptr;
    }
    verdict.expect(object.references == 1, "the reference is kept after the end");
}

void name(Verdict &verdict, Stage &stage) {
    const Session session = open(verdict, stage, memory_desc());
    constexpr GUID kName = {
        0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};
#if CAIRN_D3D12_VKD3D
    constexpr std::u16string_view kText(u"a name\0", 7);  // as vkd3d's headers have it
#else
    constexpr std::wstring_view kText(L"a name\0", 7);
#endif
    constexpr UINT kSize = sizeof kText[0] * kText.size();
    verdict.expect_result(session->SetName(reinterpret_cast<const wchar_t *>(kText.data())), kOk,
                          "set");
    unsigned char found[64] = {};
    UINT size = sizeof found;
    verdict.expect_result(session->GetPrivateData(kName, &size, found), kOk, "get");
    verdict.expect(size == kSize && std::memcmp(found, kText.data(), kSize) == 0, "another");
}

void get_device_without(Verdict &verdict, Stage &stage) {
    Session session;
    verdict.expect_result(stage.create_without_device(memory_desc(), session), kOk, "create");
    void *device = &verdict;
    verdict.expect_result(session->GetDevice(IID_ID3D12Device, &device), kNotFound, "none");
    verdict.expect(device == nullptr, "the pointer is not null");
    verdict.expect_result(session->GetDevice(IID_ID3D12Device, nullptr), kPointer, "null");
}

void get_device(Verdict &verdict, Stage &stage) {
    const Session session = open(verdict, stage, memory_desc());
    Com<ID3D12Device9> device;
    verdict.expect_result(session->GetDevice(IID_ID3D12Device9, device.receive()), kOk, "get");
    verdict.expect(device.get() == stage.device(), "another device");
    void *other = &verdict;
    verdict.expect_result(session->GetDevice(IID_ID3D12Resource, &other), kNoInterface, "another");
}

ULONG references_of(IUnknown *object) {
    object->AddRef();
    return object->Release();
}

void device_reference(Verdict &verdict, Stage &stage) {
    const ULONG before = references_of(stage.device());
    {
        const Session one = open(verdict, stage, memory_desc());
        verdict.expect(references_of(stage.device()) == before + 1, "not one more");
        const Session other = open(verdict, stage, memory_desc());
        verdict.expect(references_of(stage.device()) == before + 2, "not one for each object");
        Com<IUnknown> same;
        one->QueryInterface(IID_IUnknown, same.receive());
        verdict.expect(references_of(stage.device()) == before + 2, "one more for an interface");
    }
    verdict.expect(references_of(stage.device()) == before, "not given back");
}

constexpr Native kSame = Native::same;
constexpr std::array kRows = {
    Row{"com.query-null", Needs::nothing, kSame, query_null},
    Row{"com.query-interfaces", Needs::nothing, kSame, query_interfaces},
    Row{"com.identity", Needs::nothing, kSame, identity},
    Row{"com.references", Needs::nothing, kSame, references},
    Row{"com.private-data", Needs::nothing, kSame, private_data},
    Row{"com.private-interface", Needs::nothing, kSame, private_interface},
    Row{"com.name", Needs::nothing, kSame, name},
    Row{"com.get-device-without", Needs::nothing, Native::differs, get_device_without},
    Row{"com.get-device", Needs::device, kSame, get_device},
    Row{"com.device-reference", Needs::device, kSame, device_reference},
};

}  // namespace

std::span<const Row> com_rows() {
    return kRows;
}

}  // namespace conformance
