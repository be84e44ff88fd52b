// SPDX-License-Identifier: MIT
// Links and the calls of EGL_ANGLE_program_cache_control from many threads at once, under
// ThreadSanitizer: with a driver that is a few tables of each thread's own.
#include <cairn/eglext_cairn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "caches.h"
#include "display_cache.h"
#include "program_hooks.h"
#include "shader_hooks.h"
#include "testing/front_end.h"

namespace cairn::egl {
namespace {

constexpr GLint kFormat = 0x1234;

// A program is its shaders' sources, its binary "BIN:" and that.
struct Driver {
    GLuint last_name = 0;
    std::map<GLuint, std::string> sources;
    std::map<GLuint, std::vector<GLuint>> attached;
    std::map<GLuint, std::string> linked;
};
thread_local Driver t_driver;

const GLubyte *get_string(GLenum name) {
    const char *text = name == GL_VERSION ? "OpenGL ES 3.0 fake" : "fake";
    return reinterpret_cast<const GLubyte *>(text);
}

void get_integer(GLenum name, GLint *value) {
    switch (name) {
        case GL_NUM_PROGRAM_BINARY_FORMATS:
            *value = 1;
            break;
        case GL_PROGRAM_BINARY_FORMATS:
            *value = kFormat;
            break;
        default:
            *value = 0;
    }
}

void get_program(GLuint program, GLenum name, GLint *value) {
    const auto linked = t_driver.linked.find(program);
    const bool is_linked = linked != t_driver.linked.end();
    switch (name) {
        case GL_ATTACHED_SHADERS:
            *value = static_cast<GLint>(t_driver.attached[program].size());
            break;
        case GL_LINK_STATUS:
            *value = is_linked ? GL_TRUE : GL_FALSE;
            break;
        case GL_PROGRAM_BINARY_LENGTH:
            *value = is_linked ? static_cast<GLint>(linked->second.size() + 4) : 0;
            break;
        default:
            *value = 0;
    }
}

void get_shader(GLuint shader, GLenum name, GLint *value) {
    *value = name == GL_COMPILE_STATUS ? GL_TRUE
             : name == GL_SHADER_SOURCE_LENGTH
                 ? static_cast<GLint>(t_driver.sources[shader].size() + 1)
                 : 0;
}

void get_shader_source(GLuint shader, GLsizei capacity, GLsizei *size, GLchar *source) {
    const std::string &text = t_driver.sources[shader];
    *size = static_cast<GLsizei>(text.copy(source, static_cast<size_t>(capacity) - 1));
    source[*size] = '\0';
}

void get_attached_shaders(GLuint program, GLsizei capacity, GLsizei *count, GLuint *shaders) {
    const std::vector<GLuint> &all = t_driver.attached[program];
    *count = std::min(capacity, static_cast<GLsizei>(all.size()));
    std::copy_n(all.begin(), *count, shaders);
}

void link_program_of_driver(GLuint program) {
    std::string all;
    for (const GLuint shader : t_driver.attached[program]) {
        all += t_driver.sources[shader];
    }
    t_driver.linked[program] = all;
}

void get_program_binary(GLuint program, GLsizei capacity, GLsizei *size, GLenum *format,
                        void *binary) {
    const std::string all = "BIN:" + t_driver.linked[program];
    *size = static_cast<GLsizei>(all.copy(static_cast<char *>(binary), size_t(capacity)));
    *format = kFormat;
}

void program_binary_of_driver(GLuint program, GLenum, const void *binary, GLsizei size) {
    const std::string all(static_cast<const char *>(binary), static_cast<size_t>(size));
    t_driver.linked.erase(program);
    if (all.starts_with("BIN:")) {
        t_driver.linked[program] = all.substr(4);
    }
}

uintptr_t nothing() {
    return 0;
}

void fill(GlFunctions &gl) {
    auto *const does_nothing = reinterpret_cast<void *>(&nothing);
#define X(name, type) gl.name = reinterpret_cast<type>(does_nothing);
    GL_FUNCTIONS(X)
#undef X
    gl.CreateProgram = []() -> GLuint { return ++t_driver.last_name; };
    gl.CreateShader = [](GLenum) -> GLuint { return ++t_driver.last_name; };
    gl.GetAttachedShaders = get_attached_shaders;
    gl.GetIntegerv = get_integer;
    gl.GetProgramBinary = get_program_binary;
    gl.GetProgramiv = get_program;
    gl.GetShaderSource = get_shader_source;
    gl.GetShaderiv = get_shader;
    gl.GetString = get_string;
    gl.LinkProgram = link_program_of_driver;
    gl.ProgramBinary = program_binary_of_driver;
}

class ThreadsTest : public ::testing::Test {
  protected:
    static constexpr int kLinkers = 12;
    static constexpr int kCallers = 20;
    static constexpr int kRounds = 150;

    ThreadsTest() {
        testing::start_front_end();
        setenv("CAIRN_DIR", folder_.c_str(), 1);
        fill(vendor_.gl);
    }
    // The cache stays open, as it does in applications.
    ~ThreadsTest() override {
        flush_caches();
        std::filesystem::remove_all(folder_);
    }

    // One of a few programs, again and again; every result is what the sources say.
    void link_often(int who) {
        int object = 0;
        const EGLContext handle = &object;
        context_created(vendor_, display_, handle, EGL_NO_CONTEXT, EGL_OPENGL_ES_API, nullptr,
                        &cache_);
        context_made_current(vendor_, display_, handle);
        disk_ = current_context()->disk;
        for (int round = 0; round < kRounds; ++round) {
            const GLuint shader = create_shader<&GlFunctions::CreateShader>(GL_VERTEX_SHADER);
            const GLuint program = create_program<&GlFunctions::CreateProgram>();
            const std::string source = "source " + std::to_string((who + round) % 5) +
                                       std::string(static_cast<size_t>(round % 50), '.');
            t_driver.sources[shader] = source;
            compile_shader_hook<&GlFunctions::CompileShader>(shader);
            t_driver.attached[program] = {shader};
            link_program_hook<&GlFunctions::LinkProgram>(program);
            wrong_ += t_driver.linked[program] != source;
        }
        LeavingContext(display_, handle).destroyed();
        context_made_current(vendor_, display_, handle);  // unknown by now: nothing is current
    }

    // Takes an entry, and puts it back whole, damaged, or under another key.
    void give_back(int round) {
        ProgramKey key = {};
        std::string binary(4096, '\0');
        EGLint key_size = 20;
        auto size = static_cast<EGLint>(binary.size());
        const EGLint error = cache_.query(round % 4, key.data(), &key_size, binary.data(), &size);
        if (error != EGL_SUCCESS) {
            wrong_ += error != EGL_BAD_PARAMETER && error != EGL_BAD_ACCESS;
            return;
        }
        const auto bytes = static_cast<size_t>(size);
        binary[static_cast<size_t>(round * 7) % bytes] ^= static_cast<char>(round % 3);
        key[19] ^= static_cast<uint8_t>(round % 4 == 3);
        cache_.populate(key.data(), 20, binary.data(), size - round % 2);
    }

    void call_often(int who) {
        for (int round = 0; round < kRounds; ++round) {
            give_back(round + who);
            EGLint value = 0;
            const int turn = (who + round) % 16;
            const EGLint mode =
                turn == 0 ? EGL_PROGRAM_CACHE_RESIZE_ANGLE : EGL_PROGRAM_CACHE_TRIM_ANGLE;
            cache_.resize(turn == 1 ? 0 : 3000, mode, value);
            wrong_ += value < 0;
            cache_.attribute(EGL_PROGRAM_CACHE_SIZE_ANGLE, value);
            wrong_ += value < 0;
            if (turn == 2) {
                cache_.clear();
            }
        }
    }

    const std::string folder_ =
        (std::filesystem::temp_directory_path() / ("cairn-threads-" + std::to_string(getpid())))
            .string();
    Vendor vendor_;
    EGLDisplay display_ = &vendor_;
    DisplayCache cache_;
    std::atomic<cairn_cache *> disk_ = nullptr;
    std::atomic<int> wrong_ = 0;
};

TEST_F(ThreadsTest, LinksAndCallsOfManyThreads) {
    const RunReport before = testing::read_report();
    std::vector<std::thread> threads;
    for (int who = 0; who < kLinkers; ++who) {
        threads.emplace_back([this, who] { link_often(who); });
    }
    for (int who = 0; who < kCallers; ++who) {
        threads.emplace_back([this, who] { call_often(who); });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong_, 0);
    const RunReport after = testing::read_report();
    EXPECT_EQ(after.link_calls - before.link_calls, uint64_t{kLinkers} * kRounds);
    EXPECT_GT(after.hits, before.hits);
    EXPECT_NE(disk_, nullptr) << "not on disk, too";
}

// BAD_PARAMETER where it was not there before, BAD_ACCESS where it went while it was asked for.
TEST(DisplayCacheThreadsTest, AnEntryMayVanishBetweenItsCountAndItsQuery) {
    DisplayCache cache;
    std::atomic<bool> done = false;
    std::thread other([&] {
        const ProgramKey key = {1};
        while (!done) {
            cache.put(key, "binary", 0);
            cache.remove(key);
        }
    });
    std::map<EGLint, int> seen;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (seen[EGL_BAD_ACCESS] == 0 && std::chrono::steady_clock::now() < end) {
        ProgramKey key = {};
        char binary[6];
        EGLint key_size = 20;
        EGLint size = sizeof binary;
        ++seen[cache.query(0, key.data(), &key_size, binary, &size)];
    }
    done = true;
    other.join();
    EXPECT_GT(seen[EGL_BAD_ACCESS], 0);
    seen.erase(EGL_BAD_ACCESS);
    seen.erase(EGL_BAD_PARAMETER);
    seen.erase(EGL_SUCCESS);
    EXPECT_TRUE(seen.empty());
}

}  // namespace
}  // namespace cairn::egl
