// SPDX-License-Identifier: MIT
#include "last_vendor.h"

#include "egl_hooks.h"
#include "vendors.h"

namespace cairn::egl {
namespace {

const char *client_extensions() {
    return route_query_string(EGL_NO_DISPLAY, EGL_EXTENSIONS);
}

}  // namespace
}  // namespace cairn::egl

extern "C" __attribute__((visibility("default"))) const cairn::egl::LastVendorHost *
cairn_egl_last_vendor() {
    using namespace cairn::egl;
    static const LastVendorHost kHost = {&supports_api, &client_extensions, &take_devices};
    return are_vendors_loaded() ? &kHost : nullptr;
}
