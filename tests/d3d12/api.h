// D3D12 as applications see it, from DirectX-Headers, in the calling convention under test.
// SPDX-License-Identifier: MIT
//
// vkd3d's headers of this Debian lack ID3D12ShaderCacheSession; those of DirectX say the same but
// for the calling convention, which is put in here. Structs that methods return are the one thing
// that takes more: see desc_of().
#pragma once

// Each header needs what the one before it defines.
// clang-format off
#include <basetsd.h>
#if CAIRN_D3D12_VKD3D
#undef STDMETHODCALLTYPE
#define STDMETHODCALLTYPE __attribute__((ms_abi))
#endif
#include <unknwn.h>
#include <d3d12.h>
// clang-format on

#include <cairn/cairn_d3d12.h>

#include <cstring>
#include <utility>

namespace d3d12_test {

// The parts of winerror.h and dxgi.h that the headers for WSL lack.
inline constexpr HRESULT kInvalidCall = static_cast<HRESULT>(0x887A0001);
inline constexpr HRESULT kNotFound = static_cast<HRESULT>(0x887A0002);
inline constexpr HRESULT kMoreData = static_cast<HRESULT>(0x887A0003);
inline constexpr HRESULT kNotCurrentlyAvailable = static_cast<HRESULT>(0x887A0022);
inline constexpr HRESULT kCacheCorrupt = static_cast<HRESULT>(0x887A0033);
inline constexpr HRESULT kCacheFull = static_cast<HRESULT>(0x887A0034);
inline constexpr HRESULT kHashCollision = static_cast<HRESULT>(0x887A0035);
inline constexpr HRESULT kAlreadyExists = static_cast<HRESULT>(0x887A0036);
inline constexpr HRESULT kOk = 0;
inline constexpr HRESULT kFalse = 1;
inline constexpr HRESULT kNotImplemented = static_cast<HRESULT>(0x80004001);
inline constexpr HRESULT kNoInterface = static_cast<HRESULT>(0x80004002);
inline constexpr HRESULT kPointer = static_cast<HRESULT>(0x80004003);
inline constexpr HRESULT kFail = static_cast<HRESULT>(0x80004005);
inline constexpr HRESULT kAccessDenied = static_cast<HRESULT>(0x80070005);
inline constexpr HRESULT kInvalidArgument = static_cast<HRESULT>(0x80070057);

using Desc = D3D12_SHADER_CACHE_SESSION_DESC;
using SessionInterface = ID3D12ShaderCacheSession;

#if CAIRN_D3D12_VKD3D
#define CAIRN_TEST_FUNCTION(name) cairn_vkd3d_##name
inline constexpr const char *kAbi = "vkd3d";
#else
#define CAIRN_TEST_FUNCTION(name) cairn_d3d12_##name
inline constexpr const char *kAbi = "d3d12";
#endif

// GetDesc, by its place in the table: in C++, GCC's ms_abi puts the place for the result before
// `this`, and the original behind.
inline Desc desc_of(SessionInterface *session) {
#if CAIRN_D3D12_VKD3D
    using GetDesc = Desc *(STDMETHODCALLTYPE *)(SessionInterface *, Desc *);
    constexpr unsigned kPlace = 11;
    GetDesc const *table;
    std::memcpy(&table, static_cast<void *>(session), sizeof table);
    Desc desc = {};
    return *table[kPlace](session, &desc);
#else
    return session->GetDesc();
#endif
}

// Owns one reference.
template <typename Interface>
class Com {
  public:
    Com() = default;
    explicit Com(Interface *object) : object_(object) {}
    ~Com() { reset(); }
    Com(Com &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Com &operator=(Com &&other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }

    void reset() {
        if (object_ != nullptr) {
            std::exchange(object_, nullptr)->Release();
        }
    }
    Interface *get() const { return object_; }
    Interface *operator->() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }
    // For a call that gives a reference.
    void **receive() {
        reset();
        return reinterpret_cast<void **>(&object_);
    }

  private:
    Interface *object_ = nullptr;
};

using Session = Com<SessionInterface>;

}  // namespace d3d12_test
