// SPDX-License-Identifier: MIT
#include "last_vendor.h"

#include "egl_hooks.h"
#include "vendors.h"

namespace cairn::egl {
namespace {

const char *client_extensions() {
    return EglEntry<&route_query_string>::call(EGL_NO_DISPLAY, EGL_EXTENSIONS);
}

}  // namespace
}  // namespace cairn::egl

extern "C" __attribute__((visibility("default"))) const cairn::egl::LastVendorHost *
cairn_egl_last_vendor() {
    using namespace cairn::egl;
    static const LastVendorHost kHost = {&supports_api, &client_extensions,
                                         &EglEntry<&take_devices>::call};
    return are_vendors_loaded() ? &kHost : nullptr;
}
