// SPDX-License-Identifier: MIT
// GLVND's handshake with its GLX vendor libraries.
//
// As the EGL front end, this library never ends: it is linked so that dlclose leaves it in memory,
// and frees nothing.
#include <cstring>

#include "common/crash_guard.h"
#include "common/run_report.h"
#include "gl/contexts.h"
#include "gl/driver_cache.h"
#include "gl/hook.h"
#include "gl/hooks.h"
#include "gl/settings.h"
#include "gl/slots.h"
#include "glx_hooks.h"
#include "os/environment.h"
#include "vendor.h"

namespace cairn::glx {
namespace {

// Null where it is not the name of a function, or there is none of this name.
void *get_proc_address(const GLubyte *function_name) {
    const char *name = reinterpret_cast<const char *>(function_name);
    const auto find = [name] {
        if (strncmp(name, "glX", 3) == 0) return glx_function(name);
        void *hook = gl::gl_hook(name);
        // The vendor of a server that is not known yet may have it.
        if (has_several_vendors()) return hook != nullptr ? hook : gl::slot_of(name);
        void *function = vendor().find(name);
        const bool is_there = function != nullptr || gl::is_own_function(name);
        return is_there && hook != nullptr ? hook : function;
    };
    return guarded(find, [] { return static_cast<void *>(nullptr); });
}

Bool is_screen_supported(Display *display, int screen) {
    return guarded(
        [=] {
            return vendor_of_screen(display, screen).imports.isScreenSupported(display, screen);
        },
        [] { return Bool{False}; });
}

// Whether GLVND is to report the error.
Bool notify_error(Display *display, unsigned char error, XID id, unsigned char opcode,
                  Bool is_core) {
    const auto notify = vendor().imports.notifyError;
    return notify == nullptr ? Bool{True} : notify(display, error, id, opcode, is_core);
}

// Patching is not offered: a vendor that rewrites GLVND's entry points would bypass us.
void fill_imports(__GLXapiImports &imports) {
    imports.isScreenSupported = is_screen_supported;
    imports.getProcAddress = get_proc_address;
    imports.getDispatchAddress = [](const GLubyte *name) {
        return guarded([=] { return dispatch_function(name); },
                       [] { return static_cast<void *>(nullptr); });
    };
    imports.setDispatchIndex = [](const GLubyte *name, int index) {
        gl::attempt([=] { set_dispatch_index(name, index); });
    };
    imports.notifyError = notify_error;
    imports.patchThreadAttach = [] {
        if (const auto attach = vendor().imports.patchThreadAttach) attach();
    };
}

// Where we are switched off, GLVND takes the server's vendor; or the user's, which only we know.
Bool start(const Host &host, __GLXapiImports &imports) {
    gl::load_settings("glx");
    const InsideFrontEnd inside;
    const std::string wanted = environment_variable("CAIRN_GLX_VENDOR").value_or("");
    const gl::Settings &settings = gl::settings();
    if (settings.disabled && wanted.empty()) return False;
    gl::attempt([] { gl::begin_driver_cache(); });
    if (!start_probable_vendor(host, wanted, settings.disabled)) return False;
    if (settings.disabled) {
        imports = vendor().imports;
        return True;
    }
    (void)gl::has_contexts();  // makes the registry while a lack of memory can still be told
    if (!settings.report.empty()) attach_counters(settings.report.c_str());
    fill_imports(imports);
    return True;
}

}  // namespace
}  // namespace cairn::glx

extern "C" __attribute__((visibility("default"))) Bool __glx_Main(uint32_t version,
                                                                  const __GLXapiExports *exports,
                                                                  __GLXvendorInfo *vendor,
                                                                  __GLXapiImports *imports) {
    using namespace cairn::glx;
    if (GLX_VENDOR_ABI_GET_MAJOR_VERSION(version) != GLX_VENDOR_ABI_MAJOR_VERSION) return False;
    return cairn::guarded(
        [&] {
            return start({version, exports, vendor}, *imports);
        },
        [] { return Bool{False}; });
}
