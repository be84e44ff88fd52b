// SPDX-License-Identifier: MIT
// Entries that one process leaves and the next one finds when it starts.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "row.h"
#include "scenes.h"

namespace conformance {
namespace {

std::string g_own_path;

// "SIZE after start, SIZE after the link, colour": of one program.
int link_and_tell() {
    const EGLDisplay display = get_display();
    egl.Initialize(display, nullptr, nullptr);
    const EGLint before = count(display);
    const Context context(display);
    const GLuint program = link({.variant = 44});
    const int colour = drawn_by(program);
    gl.DeleteProgram(program);
    std::printf("%d %d %d\n", before, count(display), colour);
    return 0;
}

int link_again() {
    const EGLDisplay display = get_display();
    egl.Initialize(display, nullptr, nullptr);
    const Context context(display);
    link_once({.variant = 44});
    const GLuint program = link({.variant = 44});
    std::printf("%d\n", drawn_by(program));
    return 0;
}

// Puts nonsense under the key of a program that was linked.
int populate_nonsense() {
    const EGLDisplay display = fresh_display();
    const Context context(display);
    link_once({.variant = 44});
    const Entry entry = contents(display).at(0);
    const Bytes nonsense(50, 1);
    egl.Populate(display, entry.key.data(), 20, nonsense.data(), 50);
    populate(display, 9, 60);
    std::puts("populated");
    return 0;
}

int tell_maximum() {
    const EGLDisplay display = get_display();
    egl.Initialize(display, nullptr, nullptr);
    populate(display, 1, 32 << 20);
    const EGLint at_limit = count(display);
    populate(display, 2, (32 << 20) + 1);
    const Context context(display);
    std::printf("%d %d %d\n", at_limit, order(display).at(0),
                gl.IsEnabled(GL_PROGRAM_CACHE_ENABLED_ANGLE));
    return 0;
}

// Prints whether GL says that it caches, and whether it does.
int tell_enabled() {
    const EGLDisplay display = get_display();
    egl.Initialize(display, nullptr, nullptr);
    const Context context(display, {EGL_CONTEXT_PROGRAM_BINARY_CACHE_ENABLED_ANGLE, EGL_TRUE});
    GLint formats = 0;
    gl.GetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &formats);
    const bool enabled = is_enabled();
    const bool agree = gl.IsEnabled(GL_PROGRAM_CACHE_ENABLED_ANGLE) == enabled;
    link_once({});
    std::printf("%s: %d %d %d\n", formats > 0 ? "binaries" : "none", enabled, agree,
                count(display));
    return 0;
}

int without_extension() {
    const EGLDisplay display = get_display();
    egl.Initialize(display, nullptr, nullptr);
    const bool is_named = std::strstr(egl.QueryString(display, EGL_EXTENSIONS),
                                      "EGL_ANGLE_program_cache_control") != nullptr;
    const EGLContext context =
        create_context(display, {EGL_CONTEXT_PROGRAM_BINARY_CACHE_ENABLED_ANGLE, EGL_TRUE});
    std::printf("%d %d %#x\n", is_named, context != EGL_NO_CONTEXT,
                static_cast<unsigned>(egl.GetError()));
    return 0;
}

// Populates, queries, trims, empties and counts, all the time. How many answers are wrong.
int call_often(EGLDisplay display, int who) {
    constexpr EGLint kRoom = 1 << 20;
    int wrong = 0;
    for (int i = 0; i < 300; ++i) {
        populate(display, 10 * who + i % 7, static_cast<size_t>(1 + i % 500));
        Key key = {};
        Bytes binary(500);
        EGLint key_size = 20;
        EGLint size = 500;
        egl.Query(display, i % 5, key.data(), &key_size, binary.data(), &size);
        const EGLint error = egl.GetError();
        const bool is_whole = size <= 0 || size > 500 ||
                              std::all_of(binary.begin(), binary.begin() + size,
                                          [&](uint8_t b) { return b == key[0]; });
        wrong += error == EGL_SUCCESS && !is_whole;
        const bool empties = i % 9 == 0;
        egl.Resize(display, empties ? kRoom : 20'000,
                   empties ? EGL_PROGRAM_CACHE_RESIZE_ANGLE : EGL_PROGRAM_CACHE_TRIM_ANGLE);
        count(display);
    }
    return wrong;
}

int link_often(EGLDisplay display, int who) {
    int wrong = 0;
    const Context context(display);
    for (int i = 0; i < 20; ++i) {
        const int variant = 10 * who + i % 3;
        const GLuint program = link({.variant = variant});
        wrong += drawn_by(program) != variant;
        gl.DeleteProgram(program);
    }
    return wrong;
}

int play_threads() {
    const EGLDisplay display = fresh_display(1 << 20);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> all;
    all.reserve(32);
    for (int who = 0; who < 24; ++who) {
        all.emplace_back([&, who] { wrong += call_often(display, who); });
    }
    for (int who = 0; who < 8; ++who) {
        all.emplace_back([&, who] { wrong += link_often(display, who); });
    }
    for (std::thread &thread : all) {
        thread.join();
    }
    std::printf("%d\n", wrong.load());
    return 0;
}

constexpr Scene kScenes[] = {
    {"link", link_and_tell},   {"link-again", link_again},          {"populate", populate_nonsense},
    {"maximum", tell_maximum}, {"no-extension", without_extension}, {"threads", play_threads},
    {"enabled", tell_enabled},
};

void comes_back(Verdict &verdict) {
    Stage stage;
    const std::string cold = stage.play("link");
    verdict.expect(cold == "0 1 44\n", "cold: " + cold);
    verdict.expect(stage.report.hits == 0 && stage.report.driver_links == 1, "cold: a hit");
    const std::string warm = stage.play("link");
    verdict.expect(warm == "0 1 44\n", "warm: " + warm);
    verdict.expect(stage.report.hits == 1 && stage.report.driver_links == 0, "warm: no hit");
}

void memory_only(Verdict &verdict) {
    Stage stage;
    for (int turn = 0; turn < 2; ++turn) {
        const std::string played = stage.play("link", {{"CAIRN_EGL_PERSIST", "0"}});
        verdict.expect(played == "0 1 44\n", played);
        verdict.expect(stage.report.hits == 0 && stage.report.stored == 0, "it was kept");
        verdict.expect(stage.is_empty(), "there is a directory");
    }
    const std::string again = stage.play("link-again", {{"CAIRN_EGL_PERSIST", "0"}});
    verdict.expect(again == "44\n" && stage.report.hits == 1, "no hit in memory: " + again);
}

void no_poison(Verdict &verdict) {
    Stage stage;
    verdict.expect(stage.play("populate") == "populated\n", "populating");
    const std::string played = stage.play("link");
    verdict.expect(played == "0 1 44\n", played);
    verdict.expect(stage.report.hits == 1 && stage.report.rejected == 0, "it is on disk");
}

void on_by_default(Verdict &verdict) {
    Stage stage;
    const std::string played = stage.play("maximum");
    verdict.expect(played == "1 1 1\n", played);
}

void disabled_process(Verdict &verdict) {
    Stage stage;
    const std::string played = stage.play("no-extension", {{"CAIRN_DISABLE", "1"}});
    if (played == "1 1 0x3000\n") {
        return verdict.cannot("the driver has the extension itself");
    }
    verdict.expect(played == "0 0 0x3004\n", played);
}

void without_binaries(Verdict &verdict) {
    Stage stage;
    const std::string played = stage.play("enabled", {{"MESA_SHADER_CACHE_DISABLE", "true"}});
    if (played == "binaries: 1 1 1\n") {
        return verdict.cannot("the driver gives program binaries all the same");
    }
    verdict.expect(played == "none: 0 1 0\n", played);
}

// Without a disk, what is found was stored beside all the calls.
void threads(Verdict &verdict) {
    Stage stage;
    const std::string played = stage.play("threads", {{"CAIRN_EGL_PERSIST", "0"}});
    verdict.expect(played == "0\n", "results are wrong: " + played);
    verdict.expect(stage.report.hits > 0, "no link finds anything");
}

constexpr Row kRows[] = {
    {"persist.comes-back", Reference::absent, comes_back},
    {"persist.switched-off", Reference::absent, memory_only},
    {"persist.populate-stays-in-memory", Reference::absent, no_poison},
    {"maximum.default", Reference::absent, on_by_default},
    {"context.extension-absent", Reference::absent, disabled_process},
    {"gl.enabled-without-binaries", Reference::absent, without_binaries},
    // ANGLE locks only some of its paths.
    {"threads.all-calls", Reference::absent, threads},
};

std::string read_all(FILE *pipe) {
    std::string text;
    std::array<char, 256> buffer = {};
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
        text += buffer.data();
    }
    return text;
}

}  // namespace

void set_own_path(const char *path) {
    g_own_path = path;
}

int play_scene(const std::string &name) {
    for (const std::span<const Scene> scenes : {std::span<const Scene>(kScenes), blob_scenes()}) {
        for (const Scene &scene : scenes) {
            if (name == scene.name) {
                return scene.play();
            }
        }
    }
    return 2;
}

std::string Stage::play(const std::string &scene, std::map<std::string, std::string> more) {
    const cairn_test::RunReport counters;
    more["CAIRN_DIR"] = root();
    more["MESA_SHADER_CACHE_DIR"] = directory_ / ("mesa" + std::to_string(++turn_));
    more["CAIRN_REPORT"] = counters.path();
    std::string text = play_elsewhere(scene, more);
    report = counters.read();
    return text;
}

std::string play_elsewhere(const std::string &scene,
                           const std::map<std::string, std::string> &environment) {
    std::string command = "env";
    for (const auto &[name, value] : environment) {
        command += " " + name + "='" + value + "'";
    }
    command += " '" + g_own_path + "' --play " + scene + " cairn libEGL.so.1 2>/dev/null";
    FILE *pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) {
        return "no process";
    }
    const std::string text = read_all(pipe);
    const int status = pclose(pipe);
    return status == 0 ? text : "ended with " + std::to_string(status);
}

std::span<const Row> process_rows() {
    return kRows;
}

}  // namespace conformance
