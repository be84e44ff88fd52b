// Records how programs are made and in which states they draw (docs/recipes.md).
// SPDX-License-Identifier: MIT
//
// A Recording belongs to a context, and its writer to the process.
//
// Thread safety: a Recording is used on the thread on which its context is current; record_source()
// and record_program() by any thread. Ownership: the context's. Failure: what cannot be recorded is
// not; nothing that the application sees changes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gl/program.h"
#include "gl/shader.h"
#include "record/questions.h"

namespace cairn::gl::record {

// Whether this process records: constant after settings were loaded.
bool is_recording();

// The driver that was seen to make programs.
struct DriverName {
    recipe::Key hash = {};  // the same for all its contexts
    std::string name;       // for people
};
// By the text that tells it from others (gl/identity.h).
DriverName driver_name(std::string_view identity, std::string_view renderer);

class Recording {
  public:
    // Of a context of this kind and version (100 * major + minor).
    Recording(const GlFunctions &gl, const Functions &more, const recipe::ContextKind &kind,
              int version, DriverName driver, std::shared_ptr<Objects> objects);

    Tracker &tracker() { return tracker_; }
    const recipe::ContextKind &kind() const { return kind_; }
    const DriverName &driver() const { return driver_; }

    // To be called before each draw.
    void before_draw(const Draw &draw) {
        tracker_.end_steps();
        if (list_mode_ != 0) return;
        const uint64_t state = tracker_.hash();
        const uint64_t call =
            uint64_t{draw.mode} << 32 | draw.index_type << 1 | (draw.is_instanced ? 1u : 0u);
        const uint64_t hash = mixed(mixed(state, call), tracker_.hash_of_program()) | 1;
        if (hash == last_) return;
        uint64_t &seen = seen_.at(hash);
        if (seen == kDone || look(draw, seen)) last_ = hash;
    }
    // While a list of commands is made: of glNewList's modes one, otherwise 0.
    GLenum list_mode() const { return list_mode_; }
    void set_list_mode(GLenum mode) { list_mode_ = mode; }
    // The application asks for an error: one that was there before questions were asked.
    GLenum take_error() { return std::exchange(error_, GLenum{GL_NO_ERROR}); }

  private:
    static constexpr uint64_t kDone = 1;
    static constexpr size_t kSeenMax = 1u << 16;

    // False: there was no time for it.
    bool look(const Draw &draw, uint64_t &seen);
    void store_state(const Draw &draw, GLuint name, LinkedProgram program);

    const GlFunctions &gl_;
    const Functions &more_;
    const recipe::ContextKind kind_;
    const DriverName driver_;
    Questions questions_;
    Tracker tracker_;
    NumberMap seen_;     // hashes at which nothing new is to be found
    uint64_t last_ = 0;  // one of them
    GLenum error_ = GL_NO_ERROR;
    GLenum list_mode_ = 0;
};

// A source that is compiled. REQUIRES: its text is whole.
void record_source(const Source &source);

// What a program was linked from.
struct LinkedStage {
    GLenum type;
    Key source;
};
// A link that succeeded, of a kind that is understood.
void record_program(Recording &recording, GLuint name, std::vector<LinkedStage> stages,
                    std::span<const Call> settings, bool is_separable);
// What has this name now was made in a way that is not recorded. A null recording: nothing to do.
void record_other_link(Recording *recording, GLuint name);

}  // namespace cairn::gl::record
