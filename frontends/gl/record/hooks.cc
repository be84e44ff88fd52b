// SPDX-License-Identifier: MIT
// The functions that the front end stands in front of while it records: those that draw, and those
// that change a state. Each notes the call, leaves the front end, and calls the driver's.
#include "common/crash_guard.h"
#include "gl/contexts.h"
#include "gl/hook.h"
#include "record/functions.h"
#include "record/notes.h"

namespace cairn::gl::record {
namespace {

// The recording of the context that is current; null: it has none.
Recording *recording() {
    Context *context = bound_context();
    if (context != nullptr && !context->is_prepared) context = current_context();
    return context == nullptr ? nullptr : context->recording.get();
}

const Functions &driver() {
    return *current_driver().recorded;
}

// Notes a call by kNote, which has the arguments behind a Tracker or a Recording.
template <auto kMember, auto kNote, typename Function>
struct Hooked;
template <auto kMember, auto kNote, typename R, typename... A>
struct Hooked<kMember, kNote, R (*)(A...)> {
    static R function(A... arguments) {
        {
            const InsideFrontEnd inside;
            attempt([&] {
                Recording *here = recording();
                // What goes into a list of commands only, happens later or never.
                if (here == nullptr || here->list_mode() == GL_COMPILE) return;
                if constexpr (std::is_invocable_v<decltype(kNote), Tracker &, A...>) {
                    kNote(here->tracker(), arguments...);
                } else {
                    kNote(*here, arguments...);
                }
            });
        }
        return (driver().*kMember)(arguments...);
    }
};

// The application's own error, which questions have taken from the driver, comes first.
GLenum get_error() {
    Context *context = bound_context();
    if (context != nullptr && context->recording != nullptr) {
        const GLenum kept = context->recording->take_error();
        if (kept != GL_NO_ERROR) return kept;
    }
    return driver().GetError();
}

// What is asked while commands go into a list would change what is in it. The call may have failed.
void find_list_mode() {
    const InsideFrontEnd inside;
    attempt([] {
        Recording *here = recording();
        if (here == nullptr) return;
        GLint list = 0, mode = 0;
        current_gl().GetIntegerv(GL_LIST_INDEX, &list);
        // Without a list a driver may answer with the mode of the one before.
        if (list != 0) current_gl().GetIntegerv(GL_LIST_MODE, &mode);
        here->set_list_mode(static_cast<GLenum>(mode));
    });
}

void new_list(GLuint list, GLenum mode) {
    driver().NewList(list, mode);
    find_list_mode();
}

void end_list() {
    driver().EndList();
    find_list_mode();
}

#define BEFORE(name, like, note) \
    {"gl" #name,                 \
     reinterpret_cast<void *>(&Hooked<&Functions::name, note, decltype(&::gl##like)>::function)},
#define NOTED(name, like, of, keys) BEFORE(name, like, (Note<Of::of, keys, number_of(#like)>{}))
#define DRAWN(name, like, index_type, instances) \
    BEFORE(name, like, (NoteDraw<index_type, instances>{}))
#define HOOKED(name, like, hook) BEFORE(name, like, &hooks::hook)
#define CALLED(name, like)
const NamedFunction kHooks[] = {
    {"glGetError", reinterpret_cast<void *>(&get_error)},
    {"glNewList", reinterpret_cast<void *>(&new_list)},
    {"glEndList", reinterpret_cast<void *>(&end_list)},
    RECORD_FUNCTIONS(NOTED, DRAWN, HOOKED, CALLED)  //
};
#undef BEFORE
#undef NOTED
#undef DRAWN
#undef HOOKED
#undef CALLED

}  // namespace

const Functions *functions_of(void *(*find)(const char *name)) {
    auto *functions = new Functions;
#define X(name, like, ...) \
    functions->name = reinterpret_cast<decltype(&::gl##like)>(or_missing(find("gl" #name)));
    RECORD_FUNCTIONS(X, X, X, X)
#undef X
    return functions;
}

void *hook_of(const char *name) {
    return function_of_name(kHooks, name);
}

}  // namespace cairn::gl::record
