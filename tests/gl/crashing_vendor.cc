// SPDX-License-Identifier: MIT
// Mesa with a defect, as a vendor of EGL and of GLX: the process dies when glProgramBinary gets the
// binary that stands in the file CRASHING_BINARY: by a fault, or with CRASHING_HOW=exit by exit().
// With CRASHING_HOW=ask it dies of glGetProgramBinary. With CRASHING_HOW=nvidia it also does as
// NVIDIA's driver where that does otherwise than Mesa: it has no function of a name that it does not
// know, and a mode of display lists also where none is made.
#include <EGL/egl.h>
#include <GL/gl.h>
// After gl.h, which it completes.
#include <GL/glext.h>
#include <dlfcn.h>
#include <glvnd/libeglabi.h>
#include <glvnd/libglxabi.h>
#include <signal.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace {

__EGLapiImports g_egl_mesa;
__GLXapiImports g_glx_mesa;
PFNGLPROGRAMBINARYPROC g_program_binary = nullptr;
decltype(&glGetIntegerv) g_get_integer = nullptr;

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

void die(GLuint, GLsizei, GLsizei *, GLenum *, void *) {
    raise(SIGSEGV);
}

void get_integer(GLenum name, GLint *value) {
    g_get_integer(name, value);
    if (name == GL_LIST_MODE && *value == 0) *value = GL_COMPILE;
}

// `function` is Mesa's of this name.
void *with_defect(const char *name, void *function) {
    const char *set = getenv("CRASHING_HOW");
    const std::string how = set == nullptr ? "" : set;
    if (strcmp(name, "glGetProgramBinary") == 0 && how == "ask") {
        return reinterpret_cast<void *>(&die);
    }
    if (how == "nvidia" && strstr(name, "CAIRN") != nullptr) return nullptr;
    if (how == "nvidia" && strcmp(name, "glGetIntegerv") == 0) {
        g_get_integer = reinterpret_cast<decltype(g_get_integer)>(function);
        return reinterpret_cast<void *>(&get_integer);
    }
    if (function == nullptr || strcmp(name, "glProgramBinary") != 0) {
        return function;
    }
    g_program_binary = reinterpret_cast<PFNGLPROGRAMBINARYPROC>(function);
    return reinterpret_cast<void *>(&program_binary);
}

void *egl_proc_address(const char *name) {
    return with_defect(name, g_egl_mesa.getProcAddress(name));
}

void *glx_proc_address(const GLubyte *name) {
    return with_defect(reinterpret_cast<const char *>(name), g_glx_mesa.getProcAddress(name));
}

template <typename Main>
Main *main_of(const char *library, const char *name) {
    void *mesa = dlopen(library, RTLD_NOW);
    return reinterpret_cast<Main *>(mesa == nullptr ? nullptr : dlsym(mesa, name));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) EGLBoolean __egl_Main(
    uint32_t version, const __EGLapiExports *exports, __EGLvendorInfo *vendor,
    __EGLapiImports *imports) {
    const auto mesa_main = main_of<decltype(__egl_Main)>("libEGL_mesa.so.0", "__egl_Main");
    if (mesa_main == nullptr || mesa_main(version, exports, vendor, imports) == EGL_FALSE) {
        return EGL_FALSE;
    }
    g_egl_mesa = *imports;
    imports->getProcAddress = egl_proc_address;
    return EGL_TRUE;
}

extern "C" __attribute__((visibility("default"))) Bool __glx_Main(uint32_t version,
                                                                  const __GLXapiExports *exports,
                                                                  __GLXvendorInfo *vendor,
                                                                  __GLXapiImports *imports) {
    const auto mesa_main = main_of<decltype(__glx_Main)>("libGLX_mesa.so.0", "__glx_Main");
    if (mesa_main == nullptr || mesa_main(version, exports, vendor, imports) == False) {
        return False;
    }
    g_glx_mesa = *imports;
    imports->getProcAddress = glx_proc_address;
    return True;
}
