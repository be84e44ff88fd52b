// SPDX-License-Identifier: MIT
// A driver's own cache: served by the front end, by an embedder's one call, or by the application.
#include <cairn/cairn_egl.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "row.h"
#include "scenes.h"

namespace conformance {
namespace {

constexpr EGLint kEnabled = EGL_CONTEXT_PROGRAM_BINARY_CACHE_ENABLED_ANGLE;

using Cache = std::unique_ptr<cairn_cache, decltype(&cairn_close)>;

bool has_blobs(EGLDisplay display) {
    return std::strstr(egl.QueryString(display, EGL_EXTENSIONS), "EGL_ANDROID_blob_cache") !=
           nullptr;
}

cairn_egl_function get_proc_address(const char *name) {
    return reinterpret_cast<cairn_egl_function>(egl.GetProcAddress(name));
}

Cache memory_cache() {
    cairn_options options = {};
    options.size = sizeof options;
    options.identifier = "blobs";
    options.mode = CAIRN_MODE_MEMORY;
    cairn_cache *cache = nullptr;
    cairn_open(&options, &cache);
    return {cache, cairn_close};
}

cairn_stats stats_of(const Cache &cache) {
    cairn_stats stats = {};
    stats.size = sizeof stats;
    cairn_stats_get(cache.get(), &stats);
    return stats;
}

// Links by the driver alone: neither the front end's cache nor ANGLE's is to have it.
int link_plain() {
    const EGLDisplay display = get_display();
    egl.Initialize(display, nullptr, nullptr);
    {
        const Context context(display, {kEnabled, EGL_FALSE});
        link_once({.variant = 44});
    }
    egl.Terminate(display);
    std::puts("linked");
    return 0;
}

std::atomic<int> g_sets = 0;
std::atomic<int> g_gets = 0;

void own_set(const void *, EGLsizeiANDROID, const void *, EGLsizeiANDROID) {
    ++g_sets;
}
EGLsizeiANDROID own_get(const void *, EGLsizeiANDROID, void *, EGLsizeiANDROID) {
    ++g_gets;
    return 0;
}

// The errors of setting none, own ones, own ones again; then whether they are called.
int own_blobs() {
    const EGLDisplay display = get_display();
    egl.Initialize(display, nullptr, nullptr);
    const auto set = reinterpret_cast<PFNEGLSETBLOBCACHEFUNCSANDROIDPROC>(
        egl.GetProcAddress("eglSetBlobCacheFuncsANDROID"));
    set(display, nullptr, nullptr);
    std::printf("%x ", static_cast<unsigned>(egl.GetError()));
    set(display, own_set, own_get);
    std::printf("%x ", static_cast<unsigned>(egl.GetError()));
    set(display, own_set, own_get);
    std::printf("%x ", static_cast<unsigned>(egl.GetError()));
    {
        const Context context(display);
        link_once({.variant = 44});
    }
    std::printf("%d %d\n", g_sets > 0, g_gets > 0);
    return 0;
}

constexpr Scene kScenes[] = {{"link-plain", link_plain}, {"own-blobs", own_blobs}};

// When each entry of the one cache below a root was stored.
std::map<std::string, uint64_t> entries_below(const std::string &root) {
    std::map<std::string, uint64_t> times;
    for (const auto &folder : std::filesystem::directory_iterator(root)) {
        cairn_options options = {};
        const std::string identifier = folder.path().filename().string();
        options.size = sizeof options;
        options.root = root.c_str();
        options.identifier = identifier.c_str();
        options.flags = CAIRN_OPEN_ANY_VERSION | CAIRN_OPEN_EXISTING | CAIRN_OPEN_READ_ONLY;
        cairn_cache *cache = nullptr;
        if (cairn_open(&options, &cache) != CAIRN_OK) {
            continue;
        }
        const auto note = [](void *user, const cairn_entry *entry) {
            const std::string key(static_cast<const char *>(entry->key), entry->key_size);
            (*static_cast<std::map<std::string, uint64_t> *>(user))[key] = entry->stored_at_ms;
            return 0;
        };
        cairn_enumerate(cache, note, &times);
        cairn_close(cache);
    }
    return times;
}

void front_end_attaches(Verdict &verdict) {
    if (!has_blobs(fresh_display())) {
        return verdict.cannot("the driver has no EGL_ANDROID_blob_cache");
    }
    Stage stage;
    verdict.expect(stage.play("link-plain") == "linked\n", "it does not link");
    const auto cold = entries_below(stage.root());
    verdict.expect(!cold.empty(), "nothing is kept");
    verdict.expect(stage.play("link-plain") == "linked\n", "it does not link again");
    const auto warm = entries_below(stage.root());
    // The driver does not store an entry that it found.
    size_t found = 0;
    for (const auto &[key, time] : cold) {
        found += warm.contains(key) && warm.at(key) == time;
    }
    verdict.expect(warm.size() == cold.size() && found > 0, "nothing is found");
}

void own_functions(Verdict &verdict) {
    if (!has_blobs(fresh_display())) {
        return verdict.cannot("the driver has no EGL_ANDROID_blob_cache");
    }
    for (const char *persist : {"1", "0"}) {
        Stage stage;
        const std::string played = stage.play("own-blobs", {{"CAIRN_EGL_PERSIST", persist}});
        verdict.expect(played == "300c 3000 300c 1 1\n", played);
        const bool is_kept = !stage.is_empty() && !entries_below(stage.root()).empty();
        verdict.expect(stage.report.stored == 0, "programs are kept on disk");
        verdict.expect(*persist == '1' || !is_kept, "blobs are kept without persistence");
    }
}

void attach_call(Verdict &verdict) {
    const EGLDisplay display = fresh_display(0);
    const Cache cache = memory_cache();
    const int attached = cairn_egl_blob_cache_attach(display, cache.get(), get_proc_address);
    if (!has_blobs(display)) {
        verdict.expect(attached == CAIRN_ERROR_UNSUPPORTED, "it attaches to nothing");
        return;
    }
    verdict.expect(attached == CAIRN_OK, cairn_result_string(attached));
    for (int turn = 0; turn < 2; ++turn) {
        const Context context(display);
        link_once({.variant = 91});
    }
    const cairn_stats stats = stats_of(cache);
    verdict.expect(stats.entries > 0, "nothing is kept");
    verdict.expect(stats.hits > 0, "nothing is found");
    verdict.expect(cairn_egl_blob_cache_detach(display) == CAIRN_OK, "it does not detach");
    const Context context(display);
    link_once({.variant = 92});
    verdict.expect(stats_of(cache).puts == stats.puts, "it is still used");
}

void attach_to_context(Verdict &verdict) {
    const EGLDisplay display = fresh_display(0);
    const Context context(display);
    const std::string words = reinterpret_cast<const char *>(gl.GetString(GL_EXTENSIONS));
    if (words.find("GL_ANGLE_blob_cache") == std::string::npos) {
        return verdict.cannot("the driver has no GL_ANGLE_blob_cache");
    }
    const Cache cache = memory_cache();
    verdict.expect(cairn_gl_blob_cache_attach(cache.get(), get_proc_address) == CAIRN_OK,
                   "it does not attach");
    verdict.expect(gl.GetError() == GL_NO_ERROR, "a GL error");
    link_once({.variant = 93});
    verdict.expect(stats_of(cache).entries > 0, "nothing is kept");
    link_once({.variant = 93});
    verdict.expect(stats_of(cache).hits > 0, "nothing is found");
    const auto set = reinterpret_cast<void (*)(void *, void *, const void *)>(
        egl.GetProcAddress("glBlobCacheCallbacksANGLE"));
    set(nullptr, nullptr, nullptr);
}

void set_own(EGLDisplay display) {
    const auto set = reinterpret_cast<PFNEGLSETBLOBCACHEFUNCSANDROIDPROC>(
        egl.GetProcAddress("eglSetBlobCacheFuncsANDROID"));
    set(display, own_set, own_get);
}

// A display keeps the callbacks that it is given for as long as it is initialised.
void own_functions_once(Verdict &verdict) {
    for (int turn = 0; turn < 2; ++turn) {
        const EGLDisplay display = fresh_display();
        if (!has_blobs(display)) {
            return verdict.cannot("the driver has no EGL_ANDROID_blob_cache");
        }
        set_own(display);
        verdict.expect_error(EGL_SUCCESS, "own functions");
        set_own(display);
        verdict.expect_error(EGL_BAD_PARAMETER, "own functions again");
        egl.Terminate(display);
    }
}

// The same where the display ends no earlier than its context is released.
void own_functions_until_release(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    if (!has_blobs(display)) {
        return verdict.cannot("the driver has no EGL_ANDROID_blob_cache");
    }
    set_own(display);
    {
        const Context context(display);
        egl.Terminate(display);
        release_current(display);
    }
    egl.Initialize(display, nullptr, nullptr);
    set_own(display);
    verdict.expect_error(EGL_SUCCESS, "own functions of the next one");
    g_gets = 0;
    {
        const Context context(display);
        link_once({.variant = 45});
    }
    verdict.expect(g_gets > 0, "they are not called");
    egl.Terminate(display);
}

void own_set_of_context(const void *, GLsizeiptr, const void *, GLsizeiptr, const void *) {}
GLsizeiptr own_get_of_context(const void *, GLsizeiptr, void *, GLsizeiptr, const void *) {
    return 0;
}

// ANGLE gives such functions all that it would have kept.
void own_functions_and_memory(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    if (!has_blobs(display)) {
        return verdict.cannot("the driver has no EGL_ANDROID_blob_cache");
    }
    {
        const Context context(display);
        const auto set = reinterpret_cast<void (*)(decltype(&own_set_of_context),
                                                   decltype(&own_get_of_context), const void *)>(
            egl.GetProcAddress("glBlobCacheCallbacksANGLE"));
        set(own_set_of_context, own_get_of_context, nullptr);
        verdict.expect(link_once({.variant = 46}) && programs(display).size() == 1,
                       "beside a context's functions it is not in the display's cache");
        set(nullptr, nullptr, nullptr);
    }
    set_own(display);
    {
        const Context context(display);
        verdict.expect(link_once({.variant = 47}) && programs(display).size() == 2,
                       "beside a display's functions it is not in the display's cache");
    }
    egl.Terminate(display);
}

constexpr Row kRows[] = {
    {"blob.front-end-attaches", Reference::absent, front_end_attaches},
    {"blob.application-sets-its-own", Reference::absent, own_functions},
    {"blob.own-functions-once", Reference::same, own_functions_once},
    {"blob.own-functions-until-release", Reference::same, own_functions_until_release},
    {"blob.own-functions-and-memory", Reference::differs, own_functions_and_memory},
    {"blob.attach-call", Reference::same, attach_call},
    {"blob.attach-to-context", Reference::same, attach_to_context},
};

}  // namespace

std::span<const Scene> blob_scenes() {
    return kScenes;
}

std::span<const Row> blob_rows() {
    return kRows;
}

}  // namespace conformance
