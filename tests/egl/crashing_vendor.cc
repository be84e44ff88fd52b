// SPDX-License-Identifier: MIT
// Mesa with a defect: the process dies when glProgramBinary gets the binary that stands in the file
// CRASHING_BINARY: by a fault, or with CRASHING_HOW=exit by exit(). With CRASHING_HOW=link it dies
// of each link.
#include <EGL/egl.h>
#include <GL/gl.h>
// After gl.h, which it completes.
#include <GL/glext.h>
#include <dlfcn.h>
#include <glvnd/libeglabi.h>
#include <signal.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace {

__EGLapiImports g_mesa;
PFNGLPROGRAMBINARYPROC g_program_binary = nullptr;

bool is_crashing(const void *binary, GLsizei size) {
    const char *path = getenv("CRASHING_BINARY");
    if (path == nullptr) {
        return false;
    }
    std::ifstream file(path, std::ios::binary);
    const std::string crashing(std::istreambuf_iterator<char>(file), {});
    return crashing.size() == static_cast<size_t>(size) &&
           memcmp(crashing.data(), binary, crashing.size()) == 0;
}

void program_binary(GLuint program, GLenum format, const void *binary, GLsizei size) {
    if (is_crashing(binary, size)) {
        const char *how = getenv("CRASHING_HOW");
        if (how != nullptr && strcmp(how, "exit") == 0) {
            exit(1);
        }
        raise(SIGSEGV);
    }
    g_program_binary(program, format, binary, size);
}

void die(GLuint) {
    raise(SIGSEGV);
}

void *get_proc_address(const char *name) {
    void *function = g_mesa.getProcAddress(name);
    const char *how = getenv("CRASHING_HOW");
    if (strcmp(name, "glLinkProgram") == 0 && how != nullptr && strcmp(how, "link") == 0) {
        return reinterpret_cast<void *>(&die);
    }
    if (function == nullptr || strcmp(name, "glProgramBinary") != 0) {
        return function;
    }
    g_program_binary = reinterpret_cast<PFNGLPROGRAMBINARYPROC>(function);
    return reinterpret_cast<void *>(&program_binary);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) EGLBoolean __egl_Main(
    uint32_t version, const __EGLapiExports *exports, __EGLvendorInfo *vendor,
    __EGLapiImports *imports) {
    void *library = dlopen("libEGL_mesa.so.0", RTLD_NOW);
    const auto mesa_main = reinterpret_cast<EGLBoolean (*)(uint32_t, const __EGLapiExports *,
                                                           __EGLvendorInfo *, __EGLapiImports *)>(
        library == nullptr ? nullptr : dlsym(library, "__egl_Main"));
    if (mesa_main == nullptr || mesa_main(version, exports, vendor, imports) == EGL_FALSE) {
        return EGL_FALSE;
    }
    g_mesa = *imports;
    imports->getProcAddress = get_proc_address;
    return EGL_TRUE;
}
