// SPDX-License-Identifier: MIT
#include "slots.h"

#include <string>
#include <unordered_map>
#include <vector>

#include "mutex.h"
#include "settings.h"

// More than the functions of all of OpenGL and OpenGL ES with their extensions, which GLVND asks
// for.
#define CAIRN_GL_SLOTS 6144
#define CAIRN_GL_SLOT_SIZE 16

// Two registers carry no argument and are free at a function's entry: one for the slot's number, one
// for the way to the table.
#if defined(__x86_64__)
#define CAIRN_GL_SLOT_ENTRY "endbr64\n movl $cairn_gl_slot_index, %r11d"
#define CAIRN_GL_SLOT_JUMP                            \
    "movq cairn_gl_slot_table@gottpoff(%rip), %r10\n" \
    "movq %fs:(%r10), %r10\n"                         \
    "jmpq *(%r10,%r11,8)\n"
#elif defined(__i386__)
#define CAIRN_GL_SLOT_ENTRY "endbr32\n movl $cairn_gl_slot_index, %eax"
#define CAIRN_GL_SLOT_JUMP                             \
    "call cairn_gl_slot_here\n"                        \
    "addl $_GLOBAL_OFFSET_TABLE_, %ecx\n"              \
    "movl cairn_gl_slot_table@gotntpoff(%ecx), %ecx\n" \
    "movl %gs:(%ecx), %ecx\n"                          \
    "jmpl *(%ecx,%eax,4)\n"                            \
    "cairn_gl_slot_here:\n"                            \
    "movl (%esp), %ecx\n"                              \
    "ret\n"
#endif

#ifdef CAIRN_GL_SLOT_ENTRY

namespace {
constexpr unsigned kDriversMax = 8;
// An entry is written before its slot is handed out.
void *g_tables[kDriversMax][CAIRN_GL_SLOTS] = {};
}  // namespace

// The current driver's table, which the code below finds by a fixed offset from the thread pointer.
extern "C" {
__attribute__((visibility("hidden"),
               tls_model("initial-exec"))) thread_local void *const *cairn_gl_slot_table =
    g_tables[0];
extern const char cairn_gl_slot_code[] __attribute__((visibility("hidden")));
}

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
    )" CAIRN_GL_SLOT_ENTRY R"(
    jmp cairn_gl_slot_jump
    .set cairn_gl_slot_index, cairn_gl_slot_index + 1
    .endr
    .balign 16
cairn_gl_slot_jump:
    )" CAIRN_GL_SLOT_JUMP R"(
    .size cairn_gl_slot_code, . - cairn_gl_slot_code
    .popsection
)");

#endif

namespace cairn::gl {

#ifdef CAIRN_GL_SLOT_ENTRY
namespace {

struct Slots {
    Mutex mutex;
    // Guarded by mutex.
    std::vector<const Driver *> drivers;
    std::unordered_map<std::string, size_t> by_name;
};

void *code_of(size_t slot) {
    return const_cast<char *>(cairn_gl_slot_code) + slot * CAIRN_GL_SLOT_SIZE;
}

void fill(const Driver &driver, size_t slot, const char *name) {
    g_tables[driver.table][slot] = or_missing(driver.find(name));
}

}  // namespace

bool add_to_slots(Driver &driver) {
    auto &all = the_only<Slots>();
    const MutexLock lock(all.mutex);
    if (all.drivers.size() >= kDriversMax) return false;
    driver.table = static_cast<unsigned>(all.drivers.size());
    for (const auto &[name, slot] : all.by_name) {
        fill(driver, slot, name.c_str());
    }
    all.drivers.push_back(&driver);
    return true;
}

void *slot_of(const char *name) {
    auto &all = the_only<Slots>();
    const MutexLock lock(all.mutex);
    const auto known = all.by_name.find(name);
    if (known != all.by_name.end()) return code_of(known->second);
    const size_t slot = all.by_name.size();
    if (slot >= CAIRN_GL_SLOTS) {
        log().write(Severity::warning, "no slot is left for %s", name);
        return nullptr;
    }
    for (const Driver *driver : all.drivers) {
        fill(*driver, slot, name);
    }
    all.by_name.emplace(name, slot);
    return code_of(slot);
}

void use_slots_of(const Driver &driver) {
    cairn_gl_slot_table = g_tables[driver.table];
}

#else

namespace {
const Driver *g_first = nullptr;
}  // namespace

bool add_to_slots(Driver &driver) {
    g_first = g_first == nullptr ? &driver : g_first;
    return true;
}

void *slot_of(const char *name) {
    return g_first->find(name);
}

void use_slots_of(const Driver &) {}

#endif

}  // namespace cairn::gl
