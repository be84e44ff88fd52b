// SPDX-License-Identifier: MIT
// The facade around a real device.
#include <cairn/cairn_control.h>

#include <array>
#include <cstring>
#include <filesystem>

#include "row.h"
#include "support/files.h"

namespace conformance {
namespace {

ID3D12Device *wrap(Verdict &verdict, ID3D12Device *device, cairn_d3d12_options *options) {
    ID3D12Device *wrapped = nullptr;
    verdict.expect_result(CAIRN_TEST_FUNCTION(wrap_device)(device, options, &wrapped), kOk, "wrap");
    return wrapped;
}

void arguments(Verdict &verdict, Stage &stage) {
    auto options = stage.options();
    ID3D12Device *wrapped = real_device();
    verdict.expect_result(CAIRN_TEST_FUNCTION(wrap_device)(nullptr, &options, &wrapped),
                          kInvalidArgument, "no device");
    verdict.expect(wrapped == nullptr, "the pointer is not null");
    verdict.expect_result(CAIRN_TEST_FUNCTION(wrap_device)(real_device(), &options, nullptr),
                          kPointer, "no pointer");
    options.size = 8;
    verdict.expect_result(CAIRN_TEST_FUNCTION(wrap_device)(real_device(), &options, &wrapped),
                          kInvalidArgument, "options of an unknown size");
    options = stage.options();
    options.root = "relative";
    verdict.expect_result(CAIRN_TEST_FUNCTION(wrap_device)(real_device(), &options, &wrapped),
                          kInvalidArgument, "a relative root");
}

void wrap_twice(Verdict &verdict, Stage &stage) {
    auto options = stage.options();
    const Com<ID3D12Device> one(wrap(verdict, real_device(), &options));
    const Com<ID3D12Device> again(wrap(verdict, one.get(), &options));
    verdict.expect(one.get() == again.get(), "a facade around the facade");
    verdict.expect(one.get() != real_device(), "no facade");
}

void reference(Verdict &verdict, Stage &stage) {
    auto options = stage.options();
    real_device()->AddRef();
    const ULONG before = real_device()->Release();
    {
        const Com<ID3D12Device> device(wrap(verdict, real_device(), &options));
        real_device()->AddRef();
        verdict.expect(real_device()->Release() > before, "no reference to the real one");
    }
    real_device()->AddRef();
    verdict.expect(real_device()->Release() == before, "the reference is not given back");
}

void interfaces(Verdict &verdict, Stage &stage) {
    auto *device = stage.device();
    Com<IUnknown> unknown;
    verdict.expect_result(device->QueryInterface(IID_IUnknown, unknown.receive()), kOk, "IUnknown");
    for (const IID *iid : {&IID_ID3D12Object, &IID_ID3D12Device, &IID_ID3D12Device9}) {
        Com<IUnknown> found;
        verdict.expect_result(device->QueryInterface(*iid, found.receive()), kOk, "an interface");
        verdict.expect(found.get() == unknown.get(), "another object");
    }
    for (const IID *iid : {&IID_ID3D12Device2, &IID_ID3D12Device5, &IID_ID3D12Device10}) {
        Com<IUnknown> real;
        Com<IUnknown> ours;
        const HRESULT expected = real_device()->QueryInterface(*iid, real.receive());
        verdict.expect_result(device->QueryInterface(*iid, ours.receive()), expected,
                              "an interface that the real device has or lacks");
    }
}

void passes_through(Verdict &verdict, Stage &stage) {
    ID3D12Device *ours = stage.device();
    ID3D12Device *real = real_device();
    verdict.expect(ours->GetNodeCount() == real->GetNodeCount(), "GetNodeCount");
    verdict.expect(ours->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_SAMPLER) ==
                       real->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_SAMPLER),
                   "GetDescriptorHandleIncrementSize");
    D3D12_FEATURE_DATA_ARCHITECTURE one = {};
    D3D12_FEATURE_DATA_ARCHITECTURE other = {};
    verdict.expect_result(
        ours->CheckFeatureSupport(D3D12_FEATURE_ARCHITECTURE, &one, sizeof one),
        real->CheckFeatureSupport(D3D12_FEATURE_ARCHITECTURE, &other, sizeof other),
        "CheckFeatureSupport");
    verdict.expect(std::memcmp(&one, &other, sizeof one) == 0, "another architecture");
    verdict.expect_result(ours->GetDeviceRemovedReason(), kOk, "GetDeviceRemovedReason");
    verdict.expect_result(ours->SetName(L"device"), kOk, "SetName");

    // One call with many arguments, which gives an object.
    D3D12_HEAP_PROPERTIES heap = {};
    heap.Type = D3D12_HEAP_TYPE_UPLOAD;
    D3D12_RESOURCE_DESC buffer = {};
    buffer.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
    buffer.Width = 65536;
    buffer.Height = buffer.DepthOrArraySize = buffer.MipLevels = 1;
    buffer.SampleDesc.Count = 1;
    buffer.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
    void *resource = nullptr;
    verdict.expect_result(ours->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &buffer,
                                                        D3D12_RESOURCE_STATE_GENERIC_READ, nullptr,
                                                        IID_ID3D12Resource, &resource),
                          kOk, "CreateCommittedResource");
    if (resource != nullptr) {
        // As vkd3d has made it, in its own convention.
        using Release = ULONG(__attribute__((ms_abi)) *)(void *);
        constexpr unsigned kPlaceRelease = 2;
        (*static_cast<Release **>(resource))[kPlaceRelease](resource);
    }
}

// Methods that return structs, by their places: see desc_of().
template <typename Value, typename... Arguments>
Value value_from(ID3D12Device *device, unsigned place, Arguments... arguments) {
    Value value = {};
#if CAIRN_D3D12_VKD3D
    using Method = Value *(STDMETHODCALLTYPE *)(ID3D12Device *, Value *, Arguments...);
    (*reinterpret_cast<Method **>(device))[place](device, &value, arguments...);
#else
    using Method = Value (*)(ID3D12Device *, Arguments...);
    value = (*reinterpret_cast<Method **>(device))[place](device, arguments...);
#endif
    return value;
}

template <typename Value>
bool is_equal(const Value &one, const Value &other) {
    return std::memcmp(&one, &other, sizeof one) == 0;
}

void passes_structs_through(Verdict &verdict, Stage &stage) {
    constexpr unsigned kGetResourceAllocationInfo = 25;
    constexpr unsigned kGetCustomHeapProperties = 26;
    constexpr unsigned kGetAdapterLuid = 43;
    ID3D12Device *ours = stage.device();
    ID3D12Device *real = real_device();
    D3D12_RESOURCE_DESC buffer = {};
    buffer.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
    buffer.Width = 100'000;
    buffer.Height = buffer.DepthOrArraySize = buffer.MipLevels = 1;
    buffer.SampleDesc.Count = 1;
    buffer.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
    const D3D12_RESOURCE_DESC *descs = &buffer;
    const auto info =
        value_from<D3D12_RESOURCE_ALLOCATION_INFO>(ours, kGetResourceAllocationInfo, 0u, 1u, descs);
    verdict.expect(info.SizeInBytes >= 100'000, "GetResourceAllocationInfo");
    verdict.expect(is_equal(info, value_from<D3D12_RESOURCE_ALLOCATION_INFO>(
                                      real, kGetResourceAllocationInfo, 0u, 1u, descs)),
                   "another allocation");
    const auto heap = value_from<D3D12_HEAP_PROPERTIES>(ours, kGetCustomHeapProperties, 0u,
                                                        D3D12_HEAP_TYPE_UPLOAD);
    verdict.expect(heap.Type == D3D12_HEAP_TYPE_CUSTOM, "GetCustomHeapProperties");
    verdict.expect(is_equal(heap, value_from<D3D12_HEAP_PROPERTIES>(real, kGetCustomHeapProperties,
                                                                    0u, D3D12_HEAP_TYPE_UPLOAD)),
                   "other properties");
    verdict.expect(
        is_equal(value_from<LUID>(ours, kGetAdapterLuid), value_from<LUID>(real, kGetAdapterLuid)),
        "GetAdapterLuid");
}

void lacks(Verdict &verdict, Stage &stage) {
    Com<IUnknown> newer;
    if (real_device()->QueryInterface(IID_ID3D12Device5, newer.receive()) == kOk) {
        return;
    }
    void *object = nullptr;
    verdict.expect_result(
        stage.device()->CreateStateObject(nullptr, IID_ID3D12StateObject, &object), kNotImplemented,
        "a method that the real device lacks");
    stage.device()->RemoveDevice();
}

UINT features(Verdict &verdict, Stage &stage) {
    D3D12_FEATURE_DATA_SHADER_CACHE data = {};
    verdict.expect_result(
        stage.device()->CheckFeatureSupport(D3D12_FEATURE_SHADER_CACHE, &data, sizeof data), kOk,
        "the feature");
    return static_cast<UINT>(data.SupportFlags);
}

void support_flags(Verdict &verdict, Stage &stage) {
    D3D12_FEATURE_DATA_SHADER_CACHE real = {};
    if (real_device()->CheckFeatureSupport(D3D12_FEATURE_SHADER_CACHE, &real, sizeof real) != kOk) {
        real.SupportFlags = D3D12_SHADER_CACHE_SUPPORT_NONE;
    }
    const UINT ours = features(verdict, stage);
    verdict.expect((ours & 0x60) == 0x60, "SHADER_CONTROL_CLEAR, SHADER_SESSION_DELETE");
    verdict.expect((ours & 0xf) == (static_cast<UINT>(real.SupportFlags) & 0xf),
                   "not what the real device says of itself");
    verdict.expect((ours & 0x10) == (static_cast<UINT>(real.SupportFlags) & 0x10),
                   "DRIVER_MANAGED_CACHE without a driver that has registered one");
}

// A driver's side that counts what it is asked to do.
struct Driver {
    std::vector<uint32_t> asked;
    static int receive(void *self, uint32_t flag) {
        static_cast<Driver *>(self)->asked.push_back(flag);
        return CAIRN_OK;
    }
};

void driver_managed(Verdict &verdict, Stage &stage) {
    const DeveloperMode on;
    Driver driver;
    cairn_driver_cache cache = {};
    cache.size = sizeof cache;
    cache.driver_managed_shader_cache_present = 1;
    cache.implicit_shader_cache_control = Driver::receive;
    cache.driver = &driver;
    auto options = stage.options();
    options.driver_cache = &cache;
    const Com<ID3D12Device> wrapped(wrap(verdict, real_device(), &options));
    Com<ID3D12Device9> device;
    wrapped->QueryInterface(IID_ID3D12Device9, device.receive());
    D3D12_FEATURE_DATA_SHADER_CACHE data = {};
    device->CheckFeatureSupport(D3D12_FEATURE_SHADER_CACHE, &data, sizeof data);
    verdict.expect((data.SupportFlags & D3D12_SHADER_CACHE_SUPPORT_DRIVER_MANAGED_CACHE) != 0,
                   "DRIVER_MANAGED_CACHE is not told");
    constexpr auto kDriver = D3D12_SHADER_CACHE_KIND_FLAG_IMPLICIT_DRIVER_MANAGED;
    for (const auto flag :
         {D3D12_SHADER_CACHE_CONTROL_FLAG_DISABLE, D3D12_SHADER_CACHE_CONTROL_FLAG_ENABLE}) {
        verdict.expect_result(device->ShaderCacheControl(kDriver, flag), kOk, "control");
    }
    verdict.expect(driver.asked == std::vector<uint32_t>({1, 2}), "the driver was not asked");

    cache.implicit_shader_cache_control = nullptr;
    ID3D12Device *refused = nullptr;
    verdict.expect_result(CAIRN_TEST_FUNCTION(wrap_device)(real_device(), &options, &refused),
                          kInvalidArgument, "a driver with a cache and without the function");
}

void support_arguments(Verdict &verdict, Stage &stage) {
    UINT64 data = 0x1122334455667788;
    verdict.expect_result(
        stage.device()->CheckFeatureSupport(D3D12_FEATURE_SHADER_CACHE, &data, sizeof data),
        kInvalidArgument, "another size");
    verdict.expect(data == 0x1122334455667788, "it was written to");
    verdict.expect_result(
        stage.device()->CheckFeatureSupport(D3D12_FEATURE_SHADER_CACHE, nullptr, sizeof(UINT)),
        kInvalidArgument, "null");
}

// A device that says what its adapter and driver are: nothing in the options.
void adapter_from_device(Verdict &verdict, Stage &stage) {
    auto options = stage.options();
    options.adapter = nullptr;
    options.driver_version = nullptr;
    const Com<ID3D12Device> wrapped(wrap(verdict, real_device(), &options));
    Com<ID3D12Device9> device;
    wrapped->QueryInterface(IID_ID3D12Device9, device.receive());
    Desc desc = disk_desc();
    desc.Flags = D3D12_SHADER_CACHE_FLAG_DRIVER_VERSIONED;
    Session session;
    verdict.expect_result(
        device->CreateShaderCacheSession(&desc, IID_ID3D12ShaderCacheSession, session.receive()),
        kOk, "create");
    const auto caches = stage.caches();
    std::string about;
    if (FILE *file = caches.empty() ? nullptr : fopen((caches[0] + "/about").c_str(), "r")) {
        char text[1024];
        about.assign(text, fread(text, 1, sizeof text, file));
        fclose(file);
    }
    const size_t adapter = about.find("adapter: ");
    const size_t driver = about.find("driver: ");
    verdict.expect(adapter != std::string::npos && about[adapter + 9] != '\n' &&
                       driver != std::string::npos && about[driver + 8] != '\n',
                   "nothing was found out: " + about);
}

// The names of the adapter and the driver that a new process prints with these manifests of Vulkan
// drivers; "" stands for those of the system.
std::string names_by(const std::string &manifests) {
    const std::string driver_files = manifests.empty() ? "" : "VK_DRIVER_FILES=" + manifests;
    return said_by(own_file(), "-u VK_DRIVER_FILES -u VK_ICD_FILENAMES " + driver_files, "--names");
}

std::string adapter_in(const std::string &names) {
    return names.substr(0, names.find('\n'));
}

// The manifests that a Vulkan loader is given on its own: those of the system one by one, and for
// each another one, of the same driver under another name.
std::vector<std::string> single_manifests(const std::string &directory) {
    std::vector<std::string> manifests;
    std::error_code none;
    for (const auto &entry : std::filesystem::directory_iterator("/usr/share/vulkan/icd.d", none)) {
        std::string text = cairn_test::as_string(cairn_test::read_file(entry.path()));
        const std::string member = R"("library_path": ")";
        const size_t begin = text.find(member) + member.size();
        const std::string library = text.substr(begin, text.find('"', begin) - begin);
        manifests.push_back(entry.path());
        if (!library.starts_with('/')) {
            continue;
        }
        const std::string other = directory + "/" + entry.path().stem().string();
        std::filesystem::create_symlink(library, other + "-driver.so");
        text.replace(begin, library.size(), other + "-driver.so");
        cairn_test::write_file(other + ".json", cairn_test::as_bytes(text));
        manifests.push_back(other + ".json");
    }
    return manifests;
}

void manifests(Verdict &verdict, Stage &stage) {
    const std::string expected = names_by("");
    unsigned compared = 0;
    std::filesystem::create_directories(stage.root());
    for (const std::string &manifest : single_manifests(stage.root())) {
        const std::string names = names_by(manifest);
        if (adapter_in(names) != adapter_in(expected)) {
            continue;  // of a driver without a device here, or with another one
        }
        ++compared;
        verdict.expect(names == expected, manifest + ": " + names + " is not " + expected);
    }
    verdict.expect(compared > 0, "no manifest leads to the device");
}

constexpr Native kSame = Native::same;
constexpr std::array kRows = {
    Row{"device.arguments", Needs::device, kSame, arguments},
    Row{"device.wrap-twice", Needs::device, kSame, wrap_twice},
    Row{"device.reference", Needs::device, kSame, reference},
    Row{"device.interfaces", Needs::device, Native::differs, interfaces},
    Row{"device.passes-through", Needs::device, kSame, passes_through},
    Row{"device.passes-structs-through", Needs::device, kSame, passes_structs_through},
    Row{"device.lacks", Needs::device, kSame, lacks},
    Row{"device.support-flags", Needs::device, kSame, support_flags},
    Row{"device.driver-managed", Needs::device, kSame, driver_managed},
    Row{"device.support-arguments", Needs::device, kSame, support_arguments},
    Row{"device.adapter", Needs::device, kSame, adapter_from_device},
    Row{"device.manifests", Needs::device, kSame, manifests},
};

}  // namespace

std::span<const Row> device_rows() {
    return kRows;
}

}  // namespace conformance
