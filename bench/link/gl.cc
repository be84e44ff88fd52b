// SPDX-License-Identifier: MIT
#include "bench/link/gl.h"

#include <stdexcept>

namespace bench {

Gl gl;

namespace {

template <typename Function>
void take(const FindFunction &find, const std::string &name, Function &function) {
    function = reinterpret_cast<Function>(find("gl" + name));
    if (function == nullptr) throw std::runtime_error("no function gl" + name);
}

}  // namespace

void load_gl(const FindFunction &find, EntryPoints entry_points) {
    const bool is_arb = entry_points == EntryPoints::arb;
#define X(name) take(find, is_arb ? #name "ARB" : #name, gl.name);
    BENCH_GL_SAME_ARB_NAMES(X)
#undef X
#define X(name, arb_name) take(find, is_arb ? #arb_name : #name, gl.name);
    BENCH_GL_OTHER_ARB_NAMES(X)
#undef X
#define X(name) take(find, #name, gl.name);
    BENCH_GL_PLAIN(X)
#undef X
}

}  // namespace bench
