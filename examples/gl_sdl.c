/* How a program that links GL programs by itself uses Cairn: two calls around its own link. Makes
 * 12 programs in a window of SDL's and says how long that took. Run it twice; without a screen, with
 * SDL_VIDEODRIVER=offscreen.
 * SPDX-License-Identifier: MIT
 *
 * cc gl_sdl.c $(pkg-config --cflags --libs cairn sdl2 glesv2)
 */
#include <SDL.h>
#include <SDL_opengles2.h>
#include <cairn/cairn_gl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *vertex_source =
    "#version 300 es\n"
    "in vec2 corner;\n"
    "void main() { gl_Position = vec4(corner, 0.0, 1.0); }\n";

/* A fragment shader that takes some time to compile; each number makes another one. */
static void write_fragment_source(char *source, size_t size, int number) {
    snprintf(source, size,
             "#version 300 es\n"
             "precision highp float;\n"
             "out vec4 color;\n"
             "void main() {\n"
             "    vec2 z = gl_FragCoord.xy / 256.0;\n"
             "    for (int i = 0; i < %d; ++i)\n"
             "        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + sin(z.yx * %d.0);\n"
             "    color = vec4(z, 0.5, 1.0);\n"
             "}\n",
             4 + number, number);
}

static void compile_and_attach(GLuint program, GLenum stage, const char *source) {
    GLuint shader = glCreateShader(stage);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glDeleteShader(shader);
}

/* An engine's function that makes a program, with Cairn. */
static GLuint make_program(cairn_gl *gl, const char *vertex, const char *fragment) {
    /* All that can change the result of the link; the driver is known to Cairn. */
    const cairn_gl_input inputs[] = {
        {vertex, strlen(vertex)},
        {fragment, strlen(fragment)},
        {"corner=0", 8},
    };
    cairn_gl_link link;
    GLuint program = glCreateProgram();

    if (cairn_gl_program_load(gl, program, inputs, 3, &link) != CAIRN_OK) {
        compile_and_attach(program, GL_VERTEX_SHADER, vertex);
        compile_and_attach(program, GL_FRAGMENT_SHADER, fragment);
        glBindAttribLocation(program, 0, "corner");
        glLinkProgram(program);
        cairn_gl_program_store(gl, program, &link);
    }
    return program;
}

static cairn_gl_function get_proc_address(const char *name) {
    return (cairn_gl_function)(uintptr_t)SDL_GL_GetProcAddress(name);
}

static void print_line(void *user, int severity, const char *line) {
    (void)user;
    (void)severity;
    fprintf(stderr, "cairn: %s\n", line);
}

int main(int argc, char **argv) {
    const cairn_gl_options options = {
        .size = sizeof(options),
        .application = "cairn-example-sdl",
        .get_proc_address = get_proc_address,
        .log = print_line,
    };
    cairn_gl_stats stats = {.size = sizeof(stats)};
    cairn_gl *gl;
    (void)argc;
    (void)argv;

    SDL_Init(SDL_INIT_VIDEO);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, SDL_GL_CONTEXT_PROFILE_ES);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 3);
    SDL_Window *window = SDL_CreateWindow("Cairn", SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED,
                                          256, 256, SDL_WINDOW_OPENGL);
    SDL_GLContext context = window == NULL ? NULL : SDL_GL_CreateContext(window);
    if (context == NULL) {
        fprintf(stderr, "no GL ES 3: %s\n", SDL_GetError());
        return 1;
    }

    /* An error leaves `gl` NULL: then every load misses, and the program runs all the same. */
    const int result = cairn_gl_open(&options, &gl);
    if (result != CAIRN_OK) fprintf(stderr, "no cache: %s\n", cairn_result_string(result));

    const Uint64 begin = SDL_GetPerformanceCounter();
    for (int number = 0; number < 12; ++number) {
        char fragment[512];
        write_fragment_source(fragment, sizeof(fragment), number);
        glUseProgram(make_program(gl, vertex_source, fragment));
        glDrawArrays(GL_TRIANGLES, 0, 3);
    }
    glFinish();
    const double seconds =
        (double)(SDL_GetPerformanceCounter() - begin) / (double)SDL_GetPerformanceFrequency();
    SDL_GL_SwapWindow(window);

    cairn_gl_stats_get(gl, &stats);
    printf("%d programs compiled, %d loaded, in %.1f ms\n", (int)stats.missed, (int)stats.loaded,
           seconds * 1e3);
    cairn_gl_close(gl);
    SDL_GL_DeleteContext(context);
    SDL_DestroyWindow(window);
    SDL_Quit();
    return 0;
}
