// SPDX-License-Identifier: MIT
// Mesa as another vendor, libGLX_twin.so.0, which says so in its answers, and tells how often it was
// asked to release a context. It has a Mesa of its own, from a copy of the file: Mesa starts once.
#include <GL/glx.h>
// After glx.h, which it completes.
#include <GL/glxext.h>
#include <dlfcn.h>
#include <glvnd/libglxabi.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace {

__GLXapiImports g_mesa;
int g_releases = 0;

template <typename Function>
Function mesa(const char *name) {
    return reinterpret_cast<Function>(
        g_mesa.getProcAddress(reinterpret_cast<const GLubyte *>(name)));
}

const GLubyte *get_string(GLenum name) {
    return name == GL_VENDOR ? reinterpret_cast<const GLubyte *>("Twin")
                             : mesa<decltype(&glGetString)>("glGetString")(name);
}

const char *get_client_string(Display *, int) {
    return "of the twin";
}

Bool make_current(Display *display, GLXDrawable drawable, GLXContext context) {
    g_releases += context == nullptr ? 1 : 0;
    return mesa<decltype(&glXMakeCurrent)>("glXMakeCurrent")(display, drawable, context);
}

Bool make_context_current(Display *display, GLXDrawable draw, GLXDrawable read,
                          GLXContext context) {
    g_releases += context == nullptr ? 1 : 0;
    return mesa<decltype(&glXMakeContextCurrent)>("glXMakeContextCurrent")(display, draw, read,
                                                                           context);
}

// Extensions' functions that tell a display, one that tells a context, and one that tells nothing.
const char *query_renderer_string(Display *, int, int, int) {
    return "renderer of the twin";
}
const char *get_screen_driver(Display *, int) {
    return "twin";
}
GLXContextID get_context_id(GLXContext) {
    return 4242;
}
int get_swap_interval() {
    return 100 + g_releases;
}

// The library, loaded once more. Null where that fails.
void *copy_of(const char *name) {
    void *library = dlopen(name, RTLD_NOW);
    link_map *map = nullptr;
    if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return nullptr;
    const int copy = memfd_create("copy", 0);
    std::ifstream file(map->l_name, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    if (write(copy, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
        return nullptr;
    }
    return dlopen(("/proc/self/fd/" + std::to_string(copy)).c_str(), RTLD_NOW);
}

void *get_proc_address(const GLubyte *function_name) {
    const char *name = reinterpret_cast<const char *>(function_name);
    const struct {
        const char *name;
        void *function;
    } own[] = {
        {"glGetString", reinterpret_cast<void *>(&get_string)},
        {"glXGetClientString", reinterpret_cast<void *>(&get_client_string)},
        {"glXMakeCurrent", reinterpret_cast<void *>(&make_current)},
        {"glXMakeContextCurrent", reinterpret_cast<void *>(&make_context_current)},
        {"glXQueryRendererStringMESA", reinterpret_cast<void *>(&query_renderer_string)},
        {"glXGetContextIDEXT", reinterpret_cast<void *>(&get_context_id)},
        {"glXGetScreenDriver", reinterpret_cast<void *>(&get_screen_driver)},
        {"glXGetSwapIntervalMESA", reinterpret_cast<void *>(&get_swap_interval)},
    };
    for (const auto &one : own) {
        if (strcmp(one.name, name) == 0) return one.function;
    }
    return g_mesa.getProcAddress(function_name);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) Bool __glx_Main(uint32_t version,
                                                                  const __GLXapiExports *exports,
                                                                  __GLXvendorInfo *vendor,
                                                                  __GLXapiImports *imports) {
    if (getenv("TWIN_TELLS") != nullptr) fputs("the twin starts\n", stderr);
    void *library = copy_of("libGLX_mesa.so.0");
    const auto mesa_main = reinterpret_cast<decltype(&__glx_Main)>(
        library == nullptr ? nullptr : dlsym(library, "__glx_Main"));
    if (mesa_main == nullptr || mesa_main(version, exports, vendor, imports) == False) return False;
    g_mesa = *imports;
    // Its address says which library the driver is.
    imports->getDispatchAddress = [](const GLubyte *name) {
        return g_mesa.getDispatchAddress(name);
    };
    imports->getProcAddress = get_proc_address;
    return True;
}
