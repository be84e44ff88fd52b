// The functions of the adapter for EGL_ANDROID_blob_cache, called by ANGLE on SwiftShader. The
// first process stores what ANGLE makes of a program, and the second one finds it.
// Usage: angle LIBEGL ROOT
// SPDX-License-Identifier: MIT
#include <GLES3/gl3.h>
#include <adapters/egl_blob_cache.h>
#include <dlfcn.h>

#include "check.h"

namespace {

void *library;
PFNEGLGETPROCADDRESSPROC get_proc_address;

template <typename Function>
Function find(const char *name) {
    void *found = dlsym(library, name);
    if (!found) found = reinterpret_cast<void *>(get_proc_address(name));
    if (!found) std::fprintf(stderr, "ANGLE has no %s\n", name);
    CHECK(found);
    return reinterpret_cast<Function>(found);
}
#define FIND(type, name) find<type>(#name)

GLuint shader(GLenum type, const char *source) {
    const GLuint made = FIND(PFNGLCREATESHADERPROC, glCreateShader)(type);
    FIND(PFNGLSHADERSOURCEPROC, glShaderSource)(made, 1, &source, nullptr);
    FIND(PFNGLCOMPILESHADERPROC, glCompileShader)(made);
    return made;
}

void link_and_draw() {
    const GLuint program = FIND(PFNGLCREATEPROGRAMPROC, glCreateProgram)();
    const auto attach = FIND(PFNGLATTACHSHADERPROC, glAttachShader);
    attach(program, shader(GL_VERTEX_SHADER, "void main() { gl_Position = vec4(0.5); }"));
    attach(program, shader(GL_FRAGMENT_SHADER, "void main() { gl_FragColor = vec4(0.25); }"));
    FIND(PFNGLLINKPROGRAMPROC, glLinkProgram)(program);
    GLint is_linked = GL_FALSE;
    FIND(PFNGLGETPROGRAMIVPROC, glGetProgramiv)(program, GL_LINK_STATUS, &is_linked);
    CHECK(is_linked == GL_TRUE);
    FIND(PFNGLUSEPROGRAMPROC, glUseProgram)(program);
    FIND(PFNGLDRAWARRAYSPROC, glDrawArrays)(GL_POINTS, 0, 1);
    FIND(PFNGLFINISHPROC, glFinish)();
}

}  // namespace

int main(int argc, char **argv) {
    CHECK(argc == 3);
    library = dlopen(argv[1], RTLD_NOW);
    CHECK(library);
    get_proc_address = FIND(PFNEGLGETPROCADDRESSPROC, eglGetProcAddress);
    cairn::Options options;
    options.identifier = "angle";
    options.root = argv[2];
    auto [cache, status] = cairn::Cache::open(options);
    CHECK(status == cairn::Status::ok);

    // ANGLE's platform, on Vulkan, on SwiftShader.
    const EGLAttrib swiftshader[] = {0x3203, 0x3450, 0x3209, 0x3487, EGL_NONE};
    EGLDisplay display = FIND(PFNEGLGETPLATFORMDISPLAYPROC, eglGetPlatformDisplay)(
        0x3202, EGL_DEFAULT_DISPLAY, swiftshader);
    CHECK(FIND(PFNEGLINITIALIZEPROC, eglInitialize)(display, nullptr, nullptr));
    cairn_adapter_blob_use(cache.handle());
    FIND(PFNEGLSETBLOBCACHEFUNCSANDROIDPROC, eglSetBlobCacheFuncsANDROID)
    (display, cairn_adapter_blob_set, cairn_adapter_blob_get);

    const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    CHECK(FIND(PFNEGLCHOOSECONFIGPROC, eglChooseConfig)(display, wanted, &config, 1, &count));
    CHECK(count == 1);
    const EGLint size[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
    EGLSurface surface =
        FIND(PFNEGLCREATEPBUFFERSURFACEPROC, eglCreatePbufferSurface)(display, config, size);
    const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 2, EGL_NONE};
    EGLContext context =
        FIND(PFNEGLCREATECONTEXTPROC, eglCreateContext)(display, config, EGL_NO_CONTEXT, version);
    CHECK(FIND(PFNEGLMAKECURRENTPROC, eglMakeCurrent)(display, surface, surface, context));
    link_and_draw();
    CHECK(FIND(PFNEGLMAKECURRENTPROC, eglMakeCurrent)(display, EGL_NO_SURFACE, EGL_NO_SURFACE,
                                                      EGL_NO_CONTEXT));
    CHECK(FIND(PFNEGLTERMINATEPROC, eglTerminate)(display));
    cairn_adapter_blob_use(nullptr);

    const cairn_stats stats = cache.stats();
    std::printf("%s: hits %d puts %d\n", stats.hits > 0 ? "found" : "stored",
                static_cast<int>(stats.hits), static_cast<int>(stats.puts));
}
