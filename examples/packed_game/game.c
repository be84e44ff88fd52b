/* A game that knows nothing of Cairn and is warm at its first start all the same: a pack lies beside
 * it. It makes eight programs, draws a picture with each into a texture, and says how long that took
 * and what came out. It needs no screen.
 * SPDX-License-Identifier: MIT
 */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PROGRAMS = 8, SIZE = 128 };

static const char *vertex_source =
    "#version 300 es\n"
    "void main() {\n"
    "    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;\n"
    "    gl_Position = vec4(corner, 0.0, 1.0);\n"
    "}\n";

/* A material: each number makes another program. */
static void write_fragment_source(char *source, size_t size, int number) {
    snprintf(source, size,
             "#version 300 es\n"
             "precision highp float;\n"
             "out vec4 color;\n"
             "void main() {\n"
             "    vec2 z = gl_FragCoord.xy / 128.0;\n"
             "    for (int i = 0; i < %d; ++i)\n"
             "        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + sin(z.yx * %d.0);\n"
             "    color = vec4(fract(z), 0.5, 1.0);\n"
             "}\n",
             4 + number, 1 + number);
}

static void give_up(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void compile_and_attach(GLuint program, GLenum stage, const char *source) {
    GLuint shader = glCreateShader(stage);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glDeleteShader(shader);
}

static GLuint make_program(int number) {
    char source[512];
    GLuint program = glCreateProgram();
    GLint is_linked = 0;
    write_fragment_source(source, sizeof(source), number);
    compile_and_attach(program, GL_VERTEX_SHADER, vertex_source);
    compile_and_attach(program, GL_FRAGMENT_SHADER, source);
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &is_linked);
    if (!is_linked) give_up("a program does not link");
    return program;
}

static void open_display(void) {
    EGLDisplay display =
        eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
    if (!eglInitialize(display, NULL, NULL)) give_up("no display");
    eglBindAPI(EGL_OPENGL_ES_API);
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
        give_up("no OpenGL ES 3");
    }
}

/* What all drawing goes to. */
static void make_target(void) {
    GLuint texture, target;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, SIZE, SIZE);
    glGenFramebuffers(1, &target);
    glBindFramebuffer(GL_FRAMEBUFFER, target);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    glViewport(0, 0, SIZE, SIZE);
}

/* A number for all that has been drawn so far. */
static unsigned add_picture(unsigned number) {
    static unsigned char pixels[SIZE * SIZE * 4];
    glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    for (size_t i = 0; i < sizeof(pixels); ++i) number = number * 31 + pixels[i];
    return number;
}

static double now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

int main(void) {
    unsigned pictures = 0;
    open_display();
    make_target();
    const double begin = now_ms();
    for (int number = 0; number < PROGRAMS; ++number) {
        glUseProgram(make_program(number));
        glDrawArrays(GL_TRIANGLES, 0, 3);
        pictures = add_picture(pictures);
    }
    fprintf(stderr, "%d programs in %.1f ms\n", PROGRAMS, now_ms() - begin);
    printf("pictures %08x\n", pictures);
    eglTerminate(eglGetCurrentDisplay());
    return 0;
}
