// ID3D12ShaderCacheSession.
// SPDX-License-Identifier: MIT
//
// Thread safety: all methods at once. Ownership: reference counted; holds one reference to its
// device.
// Failure: the rows of docs/conformance/d3d12.md.
#pragma once

#include <memory>

#include "com/object.h"
#include "com/private_data.h"
#include "com/types.h"
#include "session_cache.h"
#include "setting.h"

namespace cairn::d3d12 {

// As on Windows, IID_IUnknown gives another pointer than the other interfaces. Both have all
// methods, for programs that take the one for the other without asking.
enum class Pointer { session, unknown };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
template <Pointer kPointer>
class SessionPointer : public ShaderCacheSession {
  protected:
    ~SessionPointer() = default;
};
#pragma GCC diagnostic pop

class Session final : public SessionPointer<Pointer::session>,
                      public SessionPointer<Pointer::unknown> {
  public:
    // As ID3D12Device9::CreateShaderCacheSession. `device` may be null.
    static Result create(const SettingRef &setting, Unknown *device, const SessionDesc *desc,
                         const Guid *iid, void **session);

    Result CAIRN_COM QueryInterface(const Guid *iid, void **object) override;
    uint32_t CAIRN_COM AddRef() override { return references_.add(); }
    uint32_t CAIRN_COM Release() override;
    Result CAIRN_COM GetPrivateData(const Guid *guid, uint32_t *size, void *data) override;
    Result CAIRN_COM SetPrivateData(const Guid *guid, uint32_t size, const void *data) override;
    Result CAIRN_COM SetPrivateDataInterface(const Guid *guid, const void *object) override;
    Result CAIRN_COM SetName(const wchar_t *name) override;
    Result CAIRN_COM GetDevice(const Guid *iid, void **device) override;
    Result CAIRN_COM FindValue(const void *key, uint32_t key_size, void *value,
                               uint32_t *value_size) override;
    Result CAIRN_COM StoreValue(const void *key, uint32_t key_size, const void *value,
                                uint32_t value_size) override;
    void CAIRN_COM SetDeleteOnDestroy() override;
    CAIRN_D3D12_VALUE(SessionDesc, GetDesc, ()) override;

  private:
    Session(SettingRef setting, Unknown *device, const SessionDesc &desc);
    ~Session() = default;

    ReferenceCount references_;
    PrivateData private_data_;

    // Constant after creation.
    const SettingRef setting_;
    const std::unique_ptr<Unknown, ReleaseReference> device_;  // may be null
    const SessionDesc desc_;
    std::shared_ptr<SessionCache> cache_;
};

}  // namespace cairn::d3d12
