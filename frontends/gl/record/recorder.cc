// SPDX-License-Identifier: MIT
#include "record/recorder.h"

#include <cairn/cairn_program_cache.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <unordered_set>

#include "common/run_report.h"
#include "common/words.h"
#include "gl/caches.h"
#include "gl/hook.h"
#include "gl/settings.h"
#include "os/file.h"

namespace cairn::gl::record {
namespace {

constexpr unsigned kStatesMax = 64;  // of a program, in a process

// Questions may take so much of the time, and so much before that.
constexpr uint64_t kShare = 33;  // one part of so many
constexpr uint64_t kAtOnceNs = 100'000'000;

// The process's time for questions, and where recipes go.
class Writer {
  public:
    Writer() : start_ns_(monotonic_ns()), cache_(recipes_cache()) {
        if (cache_ == nullptr) return;
        recipe::Application application;
        application.executable = executable_path();
        application.invocation = program_invocation_name;
        put(recipe::key_of_application(), recipe::encode(application));
    }

    bool has_time() const {
        return spent_ns_.load(std::memory_order_relaxed) <
               kAtOnceNs + (monotonic_ns() - start_ns_) / kShare;
    }
    void spend(uint64_t ns) { spent_ns_.fetch_add(ns, std::memory_order_relaxed); }

    bool has_put(const std::string &key) {
        const MutexLock lock(mutex_);
        return written_.contains(key);
    }
    // Stores what is not there yet. False: it is there, or cannot be stored.
    bool put(const std::string &key, const std::string &value) {
        if (cache_ == nullptr || !is_caching_on()) return false;
        {
            const MutexLock lock(mutex_);
            if (!written_.insert(key).second) return false;
        }
        const bool is_known =
            key.size() > 1 && cairn_contains(cache_, key.data(), key.size()) == CAIRN_OK;
        return is_known || cairn_put(cache_, key.data(), key.size(), value.data(), value.size(),
                                     nullptr) == CAIRN_OK;
    }

  private:
    const uint64_t start_ns_;
    std::atomic<uint64_t> spent_ns_ = 0;
    cairn_cache *const cache_;
    Mutex mutex_;
    std::unordered_set<std::string> written_;  // guarded by mutex_
};

Writer &writer() {
    return the_only<Writer>();
}

void enter(Recording &recording, GLuint name, const recipe::Key *key) {
    Objects &objects = recording.tracker().objects();
    const MutexLock lock(objects.mutex());
    ProgramObject &program = objects.program(name);
    program.linked = LinkedProgram();
    program.units.clear();
    if (key != nullptr) {
        program.linked.has_recipe = true;
        program.linked.key = *key;
    }
    // Whatever was found of this name before, is of another program.
    program.links.fetch_add(1, std::memory_order_relaxed);
}

GLuint limit(const GlFunctions &gl, GLenum name, GLint otherwise) {
    GLint value = 0;
    gl.GetIntegerv(name, &value);
    return static_cast<GLuint>(std::clamp(value, otherwise, 1024));
}

// REQUIRES: the context has this version.
Limits limits_of(const GlFunctions &gl, bool is_es, int version) {
    Limits limits = {.units = limit(gl, GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, 8), .draw_buffers = 1};
    if (!is_es || version >= 300) limits.draw_buffers = limit(gl, GL_MAX_DRAW_BUFFERS, 1);
    if (version >= (is_es ? 301 : 403)) {
        limits.vertex_buffers = limit(gl, GL_MAX_VERTEX_ATTRIB_BINDINGS, 16);
    }
    if (version >= (is_es ? 301 : 402)) limits.images = limit(gl, GL_MAX_IMAGE_UNITS, 0);
    return limits;
}

}  // namespace

bool is_recording() {
    return settings().records_recipes;
}

DriverName driver_name(std::string_view identity, std::string_view renderer) {
    // What a context of it says of itself is not the driver's.
    constexpr std::string_view kOfDriver[] = {"GL_VENDOR", "GL_RENDERER", "library:", "processor"};
    std::string lines;
    while (!identity.empty()) {
        const std::string_view line = identity.substr(0, identity.find('\n'));
        if (starts_with_any(line, kOfDriver)) lines.append(line).append("\n");
        identity.remove_prefix(std::min(line.size() + 1, identity.size()));
    }
    return {recipe::hash_of(as_bytes(lines)),
            std::string(renderer.substr(0, recipe::kSeenNameMax))};
}

Recording::Recording(const GlFunctions &gl, const Functions &more, const recipe::ContextKind &kind,
                     int version, DriverName driver, std::shared_ptr<Objects> objects)
    : gl_(gl),
      more_(more),
      kind_(kind),
      driver_(std::move(driver)),
      questions_(gl, more, kind.is_es != 0, version),
      tracker_(std::move(objects), limits_of(gl, kind.is_es != 0, version)) {
    (void)writer();
}

void Recording::store_state(const Draw &draw, GLuint name, LinkedProgram program) {
    Objects &objects = tracker_.objects();
    if (program.interface == nullptr) program.interface = questions_.list(name);
    const std::string state =
        recipe::encode(questions_.ask(draw, name, *program.interface, objects));
    const bool is_new = writer().put(recipe::key_of_state(program.key, as_bytes(state)), state);
    const MutexLock lock(objects.mutex());
    LinkedProgram &known = objects.program(name).linked;
    if (!known.has_recipe || known.key != program.key) return;  // linked anew meanwhile
    known.interface = program.interface;
    if (is_new) ++known.states;
}

bool Recording::look(const Draw &draw, uint64_t &seen) {
    Writer &all = writer();
    if (!all.has_time()) return false;
    const uint64_t start = monotonic_ns();
    const GLuint name = tracker_.program();
    const LinkedProgram program = [&] {
        const MutexLock lock(tracker_.objects().mutex());
        return tracker_.objects().program(name).linked;
    }();
    if (name != 0 && program.has_recipe && program.states < kStatesMax) {
        // Errors of questions are not the application's, which still gets those that it made.
        const GLenum before = more_.GetError();
        if (error_ == GL_NO_ERROR) error_ = before;
        // Nor are messages about them, which a callback of the application's would get.
        const bool has_output = gl_.IsEnabled(GL_DEBUG_OUTPUT) != GL_FALSE;
        if (has_output) more_.Disable(GL_DEBUG_OUTPUT);
        attempt([&] { store_state(draw, name, program); });
        if (has_output) more_.Enable(GL_DEBUG_OUTPUT);
        // A lost context has errors for ever.
        for (int i = 0; i < 64 && more_.GetError() != GL_NO_ERROR; ++i) continue;
    }
    seen = kDone;
    if (seen_.size() > kSeenMax) seen_.clear();
    const uint64_t spent = monotonic_ns() - start;
    all.spend(spent);
    count(&RunReport::overhead_ns, spent);
    return true;
}

void record_source(const Source &source) {
    const std::string key = recipe::key_of_source(source.hash);
    if (writer().has_put(key)) return;
    recipe::Source strings;
    for (size_t i = 0; i < source.strings.size(); ++i) {
        strings.emplace_back(source.strings[i], static_cast<size_t>(source.sizes[i]));
    }
    (void)writer().put(key, recipe::encode(strings));
}

void record_program(Recording &recording, GLuint name, std::vector<LinkedStage> stages,
                    std::span<const Call> settings, bool is_separable) {
    recipe::Program program;
    program.context = recording.kind();
    program.is_separable = is_separable ? 1 : 0;
    std::ranges::stable_sort(stages, std::greater(), &LinkedStage::type);
    for (const LinkedStage &stage : stages) program.stages.push_back({stage.type, stage.source});
    for (const Call &call : settings) {
        program.settings.push_back({static_cast<uint32_t>(*call.setting), *call.arguments});
    }
    const std::string encoded = recipe::encode(program);
    const recipe::Key key = recipe::hash_of(as_bytes(encoded));
    (void)writer().put(recipe::key_of_program(key), encoded);
    const DriverName &driver = recording.driver();
    (void)writer().put(recipe::key_of_seen(key, driver.hash), driver.name);
    enter(recording, name, &key);
}

void record_other_link(Recording *recording, GLuint name) {
    if (recording == nullptr) return;
    attempt([&] { enter(*recording, name, nullptr); });
}

}  // namespace cairn::gl::record
