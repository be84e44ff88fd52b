// SPDX-License-Identifier: MIT
// Draws with one program after the other without a window, and prints a line for each: its number
// and a sum of its picture. Usage: picture FIRST COUNT [GO]: with GO, a name, it stops after the
// first half until a file of that name is there.
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES2/gl2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SIDE = 64 };

static void require(int is_true, const char *what) {
    if (is_true) return;
    fprintf(stderr, "picture: %s failed\n", what);
    exit(1);
}

static GLuint shader(GLenum kind, const char *source) {
    const GLuint name = glCreateShader(kind);
    GLint is_ok = 0;
    glShaderSource(name, 1, &source, NULL);
    glCompileShader(name);
    glGetShaderiv(name, GL_COMPILE_STATUS, &is_ok);
    require(is_ok, "compiling");
    return name;
}

static uint32_t draw(int number) {
    char source[512];
    snprintf(source, sizeof source,
             "precision highp float; varying vec2 at; void main() {"
             " float d = length(at - vec2(%d.0 / 64.0, 0.25));"
             " gl_FragColor = vec4(d, fract(d * %d.0), at.x * at.y, 1.0); }",
             number % 64, number + 2);
    const GLuint program = glCreateProgram();
    GLint is_ok = 0;
    glAttachShader(program,
                   shader(GL_VERTEX_SHADER,
                          "attribute vec2 place; varying vec2 at; void main() {"
                          " at = place * 0.5 + 0.5; gl_Position = vec4(place, 0.0, 1.0); }"));
    glAttachShader(program, shader(GL_FRAGMENT_SHADER, source));
    glBindAttribLocation(program, 0, "place");
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &is_ok);
    require(is_ok, "linking");
    static const GLfloat places[] = {-1, -1, 3, -1, -1, 3};
    glUseProgram(program);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glEnableVertexAttribArray(0);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    static unsigned char pixels[SIDE * SIDE * 4];
    glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    require(glGetError() == GL_NO_ERROR, "drawing");
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < sizeof pixels; i++) sum = (sum ^ pixels[i]) * 16777619u;
    glDeleteProgram(program);
    return sum;
}

int main(int argc, char **argv) {
    require(argc >= 3, "reading the arguments");
    const int first = atoi(argv[1]), count = atoi(argv[2]);
    const EGLDisplay display =
        eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    require(eglInitialize(display, NULL, NULL), "eglInitialize");
    static const EGLint config_attributes[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT,
                                               EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_NONE};
    EGLConfig config;
    EGLint configs = 0;
    require(eglChooseConfig(display, config_attributes, &config, 1, &configs) && configs == 1,
            "eglChooseConfig");
    static const EGLint surface_attributes[] = {EGL_WIDTH, SIDE, EGL_HEIGHT, SIDE, EGL_NONE};
    static const EGLint context_attributes[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
    const EGLSurface surface = eglCreatePbufferSurface(display, config, surface_attributes);
    const EGLContext context =
        eglCreateContext(display, config, EGL_NO_CONTEXT, context_attributes);
    require(eglMakeCurrent(display, surface, surface, context), "eglMakeCurrent");
    for (int i = 0; i < count; i++) {
        printf("%d %08x\n", first + i, draw(first + i));
        fflush(stdout);
        while (argc > 3 && i == count / 2 - 1 && access(argv[3], F_OK) != 0) usleep(20000);
    }
    eglTerminate(display);
    return 0;
}
