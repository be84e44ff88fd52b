// What the scenarios need of a window system. A client has one of them: egl.cc, whose display has
// no windows, or glx.cc, with a connection to the X server of DISPLAY. Each is compiled twice:
// linked to its library (CLIENT_LINKED), and loading it at run time.
// SPDX-License-Identifier: MIT
//
// Thread safety: load_window_system() is called once, at the start; the others by any thread.
// Failure: aborts where a scenario could not go on.
#pragma once

#include <span>

namespace client {

enum class Api {
    es2,
    es3,
    es3_debug,
    core,
    compatibility,
    plain,  // desktop GL, without any attribute
};

// A context and what it needs to be current. Each window system defines its own.
struct NativeContext;

void load_window_system();
// Opens the display if it is not open yet.
void open_display();
void close_display();
void *proc_address(const char *name);

NativeContext *create_context(Api api, const NativeContext *share);
// Also ends the context of a thread that has it current.
void destroy_context(NativeContext *context);
// Null: none.
void make_current(const NativeContext *context);
// This thread will make no more calls.
void release_thread();

// How many programs the display's cache in memory holds, and -1 where no function says so.
int held_programs();

struct Scenario {
    const char *name;
    void (*play)();
};

// Those that are about this window system and no other.
std::span<const Scenario> own_scenarios();

}  // namespace client
