// SPDX-License-Identifier: MIT
// An application that writes down what EGL shows it before it has a display of its own, and what it
// gets by default and of each device; on each display it links a program. With the argument
// `display` it initialises one, and no more.
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES2/gl2.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

template <typename Function>
Function find(const char *name) {
    return reinterpret_cast<Function>(eglGetProcAddress(name));
}

const char *or_none(const void *text) {
    return text == nullptr ? "none" : static_cast<const char *>(text);
}

GLuint compiled(GLenum type, const char *source) {
    const GLuint shader = glCreateShader(type);
    glShaderSource(shader, 1, &source, nullptr);
    glCompileShader(shader);
    return shader;
}

GLint link_program() {
    const GLuint program = glCreateProgram();
    glAttachShader(
        program, compiled(GL_VERTEX_SHADER, "attribute vec4 p; void main() { gl_Position = p; }"));
    glAttachShader(program, compiled(GL_FRAGMENT_SHADER,
                                     "precision mediump float; uniform vec4 c;"
                                     "void main() { gl_FragColor = c; }"));
    glLinkProgram(program);
    GLint is_linked = 0;
    glGetProgramiv(program, GL_LINK_STATUS, &is_linked);
    return is_linked;
}

void use(const char *what, EGLDisplay display) {
    std::printf("%s: %s, error %04x\n", what, display == EGL_NO_DISPLAY ? "no display" : "display",
                static_cast<unsigned>(eglGetError()));
    if (display == EGL_NO_DISPLAY || eglInitialize(display, nullptr, nullptr) == EGL_FALSE) {
        return;
    }
    std::printf("vendor %s\n", or_none(eglQueryString(display, EGL_VENDOR)));
    const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION, 2, EGL_NONE};
    eglBindAPI(EGL_OPENGL_ES_API);
    const EGLContext context =
        eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
    if (eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) == EGL_FALSE) {
        std::printf("no context\n");
        return;
    }
    std::printf("renderer %s\n", or_none(glGetString(GL_RENDERER)));
    std::printf("linked %d\n", link_program());
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display, context);
    eglTerminate(display);
}

std::vector<EGLDeviceEXT> devices() {
    const auto query = find<PFNEGLQUERYDEVICESEXTPROC>("eglQueryDevicesEXT");
    EGLint count = 0;
    if (query == nullptr || query(0, nullptr, &count) == EGL_FALSE) {
        return {};
    }
    std::printf("%d devices", count);
    std::vector<EGLDeviceEXT> all(static_cast<size_t>(count) + 1);
    query(count + 1, all.data(), &count);
    std::printf(", %d listed\n", count);
    all.resize(static_cast<size_t>(count));
    return all;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc > 1 && std::string(argv[1]) == "display") {
        return eglInitialize(eglGetDisplay(EGL_DEFAULT_DISPLAY), nullptr, nullptr) ? 0 : 1;
    }
    std::printf("client extensions %s\n", or_none(eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS)));
    use("default", eglGetDisplay(EGL_DEFAULT_DISPLAY));
    const auto string_of = find<PFNEGLQUERYDEVICESTRINGEXTPROC>("eglQueryDeviceStringEXT");
    for (const EGLDeviceEXT device : devices()) {
        std::printf("device %s\n", or_none(string_of(device, EGL_EXTENSIONS)));
        use("of it", eglGetPlatformDisplay(EGL_PLATFORM_DEVICE_EXT, device, nullptr));
    }
    use("unknown platform", eglGetPlatformDisplay(0x7fffffff, nullptr, nullptr));
}
