// SPDX-License-Identifier: MIT
#include "gl_slots.h"

#include <string>
#include <unordered_map>

#include "gl/mutex.h"
#include "gl/settings.h"

// More than the functions of all of OpenGL and OpenGL ES with their extensions, which GLVND asks
// for.
#define CAIRN_GL_SLOTS 6144
#define CAIRN_GL_SLOT_SIZE 16

#if defined(__x86_64__)

// The current vendor's table, which the code below finds by a fixed offset from the thread pointer.
// Before the first eglMakeCurrent it is null, and so nothing but a GL call without a context could
// meet it: GLVND answers those itself.
extern "C" {
__attribute__((visibility("hidden"),
               tls_model("initial-exec"))) thread_local void *const *cairn_gl_slot_table = nullptr;
extern const char cairn_gl_slot_code[] __attribute__((visibility("hidden")));
}

// r10 and r11 are free at a function's entry: they carry no argument.
asm(R"(
    .pushsection .text.cairn_gl_slots, "ax", @progbits
    .balign 16
    .hidden cairn_gl_slot_code
    .globl cairn_gl_slot_code
    .type cairn_gl_slot_code, @function
cairn_gl_slot_code:
    .set cairn_gl_slot_index, 0
    .rept 6144
    .balign 16
    endbr64
    movl $cairn_gl_slot_index, %r11d
    jmp cairn_gl_slot_jump
    .set cairn_gl_slot_index, cairn_gl_slot_index + 1
    .endr
    .balign 16
cairn_gl_slot_jump:
    movq cairn_gl_slot_table@gottpoff(%rip), %r10
    movq %fs:(%r10), %r10
    jmpq *(%r10,%r11,8)
    .size cairn_gl_slot_code, . - cairn_gl_slot_code
    .popsection
)");

#endif

namespace cairn::egl {

#if defined(__x86_64__)
namespace {

struct Slots {
    gl::Mutex mutex;
    std::unordered_map<std::string, size_t> by_name;  // guarded by mutex
};

// An entry is written before its slot is handed out.
void *g_tables[kVendorsMax][CAIRN_GL_SLOTS] = {};

void *code_of(size_t slot) {
    return const_cast<char *>(cairn_gl_slot_code) + slot * CAIRN_GL_SLOT_SIZE;
}

bool fill(size_t slot, const char *name) {
    bool found = false;
    for (const Vendor *vendor : vendors()) {
        void *function = vendor->function(name);
        found |= function != nullptr;
        g_tables[vendor->index][slot] = gl::or_missing(function);
    }
    return found;
}

}  // namespace

void *gl_slot(const char *name) {
    auto &all = gl::the_only<Slots>();
    const MutexLock lock(all.mutex);
    const auto known = all.by_name.find(name);
    if (known != all.by_name.end()) return code_of(known->second);
    const size_t slot = all.by_name.size();
    if (slot >= CAIRN_GL_SLOTS) {
        gl::log().write(Severity::warning, "no slot is left for %s", name);
        return nullptr;
    }
    if (!fill(slot, name)) return nullptr;
    all.by_name.emplace(name, slot);
    return code_of(slot);
}

void use_gl_slots_of(const Vendor &vendor) {
    if (has_several_vendors()) {
        cairn_gl_slot_table = g_tables[vendor.index];
    }
}

#else

void *gl_slot(const char *name) {
    return vendors().front()->function(name);
}

void use_gl_slots_of(const Vendor &) {}

#endif

}  // namespace cairn::egl
